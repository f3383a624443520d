// SPDX-License-Identifier: Apache-2.0
// Whose times of kernels a scenario gets.
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using Catch::Matchers::Contains;
using test::message_of;
using test::TemporaryFolder;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

/// A folder with a scenario, its model, and platforms of GPUs that are as the H100 but for their keys.
class Lab {
 public:
  Lab() {
    folder_.write("run.yaml",
                  "schema: 1\nmodel: vit\nplatform: box\njob: { gpus: 1, batch_per_gpu: 1 }\n"
                  "strategy: { kind: none }\n");
    folder_.write("models/vit.yaml",
                  "schema: 1\nsource: made up\nkind: vision_transformer\nimage_size: 32\npatch_size: 16\n"
                  "layers: 1\nheads: 1\nhidden: 16\nmlp: 16\nclasses: 2\n");
    platform("mine");
    gpu("mine", "");
    calibration("times", "mine");
  }

  void platform(const std::string& gpu, const std::string& more = "") const {
    folder_.write("platforms/box.yaml",
                  "schema: 1\nsource: made up\ngpu: " + gpu + "\nnode: { gpus: 1 }\n" + more);
  }
  void gpu(const std::string& name, const std::string& more) const {
    folder_.write(
        "platforms/gpus/" + name + ".yaml",
        "schema: 1\nsource: made up\ncompute_capability: 9.0\nmemory: 80 GB\nmemory_bandwidth: 3 TB/s\n"
        "peak: { fp32: 67 TFLOP/s }\nmatrix_efficiency: { fp32: 0.7 }\nmemory_efficiency: 0.9\n"
        "widen_efficiency: 0.4\nkernel_latency: 4 us\nlaunch_cost: 5 us\n" +
            more);
  }
  void calibration(const std::string& name, const std::string& gpu,
                   const std::string& rows = "    embedding 1x2x3 4.5\n") const {
    folder_.write("calibration/results/" + name + "/calibration.yaml",
                  "schema: 1\nsource: made up\nkernel_times:\n  gpu: " + gpu + "\n  rows: |\n" + rows);
  }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }

  Scenario load(const std::vector<Override>& overrides = {}, const DataPath& data = {}) const {
    return load_scenario((folder_.path() / "run.yaml").string(), overrides, data);
  }
  std::string message(const std::vector<Override>& overrides = {}) const {
    auto text = message_of([&] { return load(overrides); });
    const auto folder = folder_.path().string() + "/";
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
      text.erase(at, folder.size());
    return text;
  }

 private:
  TemporaryFolder folder_;
};

Scenario shipped(const std::vector<Override>& overrides) {
  return load_scenario("h200-4x/vit_l_32", overrides, DataPath{{root}});
}

}  // namespace

TEST_CASE("a GPU's own times of kernels come from the calibration that it names", "[config]") {
  const Lab lab;
  lab.gpu("mine", "kernel_times: times\n");
  const auto scenario = lab.load();
  REQUIRE(scenario.kernel_costs);
  CHECK(scenario.timed_on == "mine");
  const auto timed = operation("embedding", {1, 2, 3});
  const auto rule = datasheet_time(timed, scenario.platform.gpu_models.front());
  CHECK((rule * scenario.kernel_costs->factor(timed)).value() == Approx(4.5e-6));
  CHECK_FALSE(scenario.calibration.kernel_times);
  CHECK(scenario.warnings.empty());
}

TEST_CASE("the kernel times of another GPU stand in for missing ones, with a warning", "[config]") {
  const Lab lab;
  lab.gpu("mine", "kernel_times: times\n");
  lab.gpu("other", "kernel_times_like: mine\n");
  lab.platform("other");
  const auto scenario = lab.load();
  REQUIRE(scenario.kernel_costs);
  CHECK(scenario.timed_on == "mine");
}

TEST_CASE("a GPU takes the kernels that it lacks from another GPU", "[config]") {
  const Lab lab;
  lab.calibration("others", "other", "    embedding 1x2x3 9\n    embedding_backward 1x2x3 9\n");
  lab.gpu("other", "kernel_times: others\nkernel_times_like: mine\n");  // may refer to each other
  lab.calibration("times", "mine", "    embedding 1x2x3 4.5\n");
  lab.gpu("mine", "kernel_times: times\nkernel_times_like: other\n");
  const auto scenario = lab.load();
  REQUIRE(scenario.kernel_costs);
  CHECK(scenario.timed_on == "mine");
  const auto time_of = [&](const char* kernel) {
    const auto timed = operation(kernel, {1, 2, 3});
    return (datasheet_time(timed, scenario.platform.gpu_models.front()) *
            scenario.kernel_costs->factor(timed))
        .value();
  };
  CHECK(time_of("embedding") == Approx(4.5e-6));
  CHECK(time_of("embedding_backward") == Approx(9e-6));
}

TEST_CASE("the platform's calibration counts first, if it is of its GPU", "[config]") {
  const Lab lab;
  lab.gpu("mine", "kernel_times: times\n");
  lab.calibration("measured", "mine", "    embedding 1x2x3 7\n    embedding_backward 1x2x3 8\n");
  lab.platform("mine", "calibration: measured\n");
  const auto time_of = [](const Scenario& scenario) {
    const auto timed = operation("embedding", {1, 2, 3});
    return (datasheet_time(timed, scenario.platform.gpu_models.front()) *
            scenario.kernel_costs->factor(timed))
        .value();
  };
  CHECK(time_of(lab.load()) == Approx(7e-6));

  lab.calibration("measured", "another");
  const auto scenario = lab.load();
  CHECK(time_of(scenario) == Approx(4.5e-6));
  REQUIRE(scenario.warnings.size() == 1);
  CHECK(scenario.warnings[0].sentence ==
        "the calibration 'measured' has kernel times of another, which are not used for mine");
}

TEST_CASE("a GPU may have no times of kernels", "[config]") {
  const Lab lab;
  CHECK_FALSE(lab.load().kernel_costs);
}

TEST_CASE("times of kernels are read for models by layers only, and once for all points of a sweep",
          "[config]") {
  const Lab lab;
  lab.gpu("mine", "kernel_times: times\n");
  const auto data = with_file_cache({});
  const auto first = lab.load({}, data);
  const auto second = lab.load({{"job.batch_per_gpu", "2"}}, data);
  CHECK(first.kernel_costs == second.kernel_costs);
  CHECK(first.digest == lab.load().digest);

  lab.calibration("times", "mine", "    what is this\n");
  lab.write("models/timed.yaml",
            "schema: 1\nsource: made up\nkind: synthetic\noptimizer_time: 0 s\n"
            "layers: [{ name: a, forward: 1 ms, backward: 1 ms, parameters: 1 }]\n");
  CHECK_FALSE(lab.load({{"model", "timed"}}).kernel_costs);
  CHECK_THAT(lab.message(), Contains("invalid kind of timed kernel 'what'"));
}

TEST_CASE("wrong names of times of kernels are told with their place", "[config][errors]") {
  const Lab lab;
  lab.gpu("mine", "kernel_times: time\n");
  CHECK(lab.message() ==
        "platforms/gpus/mine.yaml:12:15: error: unknown calibration 'time': there is no "
        "'calibration/results/time/calibration.yaml' next to your file or in the data folders\n"
        "   12 | kernel_times: time\n"
        "      |               ^~~~\n"
        "  hint: did you mean 'times'?\n");
  lab.gpu("mine", "kernel_times_like: mini\n");
  CHECK_THAT(lab.message(), Contains("platforms/gpus/mine.yaml:12:20: error: unknown GPU 'mini'") &&
                                Contains("  hint: did you mean 'mine'?\n"));
  lab.gpu("mine", "kernel_times_like: mine\n");
  CHECK(lab.message() ==
        "platforms/gpus/mine.yaml:12:20: error: the GPU 'mine' has no 'kernel_times'\n"
        "   12 | kernel_times_like: mine\n"
        "      |                    ^~~~\n"
        "  hint: choose a GPU that has them\n");
  lab.gpu("mine", "kernel_times: times\n");
  lab.calibration("times", "h100-sxm");
  CHECK(lab.message() ==
        "platforms/gpus/mine.yaml:12:15: error: the calibration 'times' has kernel times of h100-sxm, not of "
        "mine\n"
        "   12 | kernel_times: times\n"
        "      |               ^~~~~\n"
        "  hint: write 'kernel_times_like: h100-sxm' in the GPU's file\n");
  lab.write("calibration/results/times/calibration.yaml", "schema: 1\nsource: made up\n");
  CHECK(lab.message() ==
        "platforms/gpus/mine.yaml:12:15: error: the calibration 'times' has no kernel times\n"
        "   12 | kernel_times: times\n"
        "      |               ^~~~~\n"
        "  hint: 'gradway calibrate fit' writes them from the output of "
        "calibration/torch/measure_kernels.py\n");
}

TEST_CASE("every shipped GPU has times of kernels, or a GPU that stands for it", "[config][catalogue]") {
  for (const auto& name : gpu_names("", DataPath{{root}})) {
    if (name == "ideal") continue;
    CAPTURE(name);
    const Lab lab;
    lab.platform(name);
    const auto scenario = lab.load({{"job.precision", "fp32"}}, DataPath{{root}});
    REQUIRE(scenario.kernel_costs);
    CHECK((scenario.timed_on == name) == (name == "h100-sxm" || name == "h200"));
  }
}

TEST_CASE("shipped scenarios get the times of their GPU, but for profiles and collectives", "[config]") {
  CHECK(shipped({{"model", "vit_l_32"}}).timed_on == "h200");
  CHECK_FALSE(shipped({{"strategy.kind", "collective"}, {"strategy.size", "1 MiB"}}).kernel_costs);
  CHECK_FALSE(shipped({{"model", "vit_l_32-h200"}}).kernel_costs);
}

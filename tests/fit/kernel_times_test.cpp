// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/kernels.hpp"

#include <catch2/catch.hpp>

#include "readers/fit/fit.hpp"
#include "readers/fit/predictions.hpp"
#include "sim/config/config.hpp"
#include "tests/support/config_files.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Samples timed(const std::string& gpus, const std::string& rows) {
  const auto node = gpus.empty() ? "" : R"({"kind": "node", "torch": "2.11", "gpus": [)" + gpus + "]},";
  return read_samples({{"a.json", "[" + node + rows + "]"}});
}

std::string row(const std::string& kernel, const std::string& size, const std::string& seconds) {
  return R"({"kind": "kernel_time", "kernel": ")" + kernel + R"(", "size": [)" + size + R"(], "seconds": )" +
         seconds + "}";
}

const std::string h100 = R"({"name": "NVIDIA H100 80GB HBM3"})";

const std::string some_rows = row("rows softmax bf16", "512, 1024", "1.5e-6") + "," +
                              row("product bf16 nt", "4096, 768, 768", "2e-5") + "," +
                              row("product bf16 nt", "512, 768, 768", "1e-5") + "," +
                              row("product bf16 nt", "4096, 768, 768", "4e-5") + "," +
                              row("product bf16 nt", "4096, 768, 768", "3e-5") + "," +
                              row("product bf16 nn", "4096, 768, 768", "0.0332589040");

}  // namespace

TEST_CASE("a fit keeps timed kernels in the order of files, each once", "[fit]") {
  const auto calibration = fit(timed(h100, some_rows), {"own", "2026-11-22"});
  REQUIRE(calibration.kernel_times);
  CHECK(calibration.kernel_times->gpu == "h100-sxm");
  CHECK(calibration.kernel_times->source == "own");
  CHECK_THAT(text_of(calibration), Catch::EndsWith("kernel_times:\n"
                                                   "  gpu: h100-sxm\n"
                                                   "  rows: |\n"
                                                   "    product bf16 nn 4096x768x768 33260\n"
                                                   "    product bf16 nt 512x768x768  10.00\n"
                                                   "    product bf16 nt 4096x768x768 30.00\n"
                                                   "    rows softmax bf16 512x1024 1.500\n"));
}

TEST_CASE("timed kernels are unchanged after writing and reading", "[fit]") {
  const auto calibration = fit(timed(h100, some_rows), {"own", "2026-11-22"});
  const TemporaryFolder folder;
  folder.write("back.yaml", text_of(calibration));
  const auto back = load_calibration((folder.path() / "back.yaml").string(), {});
  REQUIRE(back.kernel_times);
  CHECK(back.kernel_times->gpu == "h100-sxm");
  CHECK(back.kernel_times->source == "own");
  REQUIRE(back.kernel_times->rows.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& read = back.kernel_times->rows[i];
    const auto& fitted = calibration.kernel_times->rows[i];
    CHECK(read.kernel == fitted.kernel);
    CHECK(read.size == fitted.size);
    CHECK(read.time.value() == Approx(fitted.time.value()).epsilon(5e-4));
  }
  CHECK(text_of(back) == text_of(calibration));
}

TEST_CASE("a timed kernel is compared with its own row", "[fit]") {
  const auto samples = timed(h100, some_rows);
  auto calibration = fit(samples, {"own", "2026-11-22"});
  calibration.kernel_times->rows.pop_back();
  const auto rows = predict_samples(calibration, samples, {});
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].what == "rows softmax bf16 512 x 1024");
  CHECK_FALSE(rows[0].predicted);
  CHECK(rows[3].what == "product bf16 nt 4096 x 768 x 768");
  CHECK(rows[3].error() == Approx(-0.25));
  const auto groups = errors_by_group(rows);
  REQUIRE(groups.size() == 1);
  CHECK(name_of(groups[0].group) == "timed kernels");
  CHECK(groups[0].rows == 5);
}

TEST_CASE("the shipped times of kernels are the fit of the shipped samples", "[fit]") {
  const std::string name = GENERATE("h100-kernels", "h200-kernels");
  const std::string folder = GRADWAY_SOURCE_DIR "/calibration/results/" + name;
  const auto shipped = load_calibration(name, DataPath{{GRADWAY_SOURCE_DIR}});
  std::vector<std::string> names{"full-clocks.json.gz", "kernels.json.gz", "grouped.json.gz",
                                 "batched.json.gz"};
  if (name == "h100-kernels")
    names.insert(names.end(), {"fp8-casts.json.gz", "fp8-products.json.gz", "fp8-rowwise.json.gz"});
  else
    names.insert(names.end(), {"captures.json.gz", "pyramids.json.gz", "fp8.json.gz", "heads.json.gz",
                               "narrow.json.gz", "broadcast.json.gz", "attention.json.gz"});
  std::vector<SampleFile> files;
  for (const auto& of : names) {
    files.push_back(read_sample_file(folder + "/samples/" + of));
    files.back().name = of;
  }

  const auto fitted = fit(read_samples(files), {shipped.source, shipped.date});

  std::ifstream stream{folder + "/calibration.yaml"};
  CHECK(text_of(fitted) == std::string{std::istreambuf_iterator<char>{stream}, {}});
  CHECK(fitted.kernel_times->rows.size() > 1900);
}

TEST_CASE("times of kernels need exactly one GPU model", "[fit][errors]") {
  const auto message = [](const std::string& gpus, const NodeFacts& node) {
    return message_of([&] { return fit(timed(gpus, some_rows), {"own", ""}, node); });
  };
  CHECK(message("", {}) ==
        "error: the samples contain times of kernels, but no row of kind node names the GPU\n"
        "  hint: name a platform with this GPU: --platform NAME\n");
  CHECK(message(h100 + R"(, {"name": "NVIDIA H200"})", {}) ==
        "error: the samples contain times of kernels on several GPU models: h100-sxm, h200\n"
        "  hint: make one calibration per GPU model\n");
  CHECK(message("", NodeFacts{.gpu = "l40s"}).empty());
  CHECK(fit(timed("", some_rows), {"own", ""}, NodeFacts{.gpu = "l40s"}).kernel_times->gpu == "l40s");
}

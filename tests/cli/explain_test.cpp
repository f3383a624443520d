// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;

namespace {

Json explained(std::vector<std::string> more, const std::string& scenario = "article/g6e") {
  more.insert(more.begin(), {"explain", scenario, "--json"});
  const auto outcome = run_gradway(more);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.errors.empty());
  return Json::parse(outcome.output);
}

Json answer(const Json& document, const std::string& name) {
  for (const auto* list : {"counterfactuals", "no_help"}) {
    for (const auto& one : document.at(list))
      if (one.at("name") == name) return one;
  }
  return {};
}

double step_of(const std::vector<std::string>& arguments, const World& world = {}) {
  const auto outcome = run_gradway(arguments, world);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output).at("metrics").at("step_time_s");
}

/// A shipped file with a part of its text replaced.
std::string changed(const std::string& file,
                    const std::vector<std::pair<std::string, std::string>>& changes) {
  auto text = content_of(std::string{GRADWAY_SOURCE_DIR} + "/" + file);
  for (const auto& [old, now] : changes) {
    CAPTURE(file, old);
    auto at = text.find(old);
    REQUIRE(at != std::string::npos);
    for (; at != std::string::npos; at = text.find(old, at + now.size())) text.replace(at, old.size(), now);
  }
  return text;
}

}  // namespace

TEST_CASE("host memory twice as fast is what run gives when platform and calibration are changed by hand",
          "[cli][explain]") {
  const auto document = explained({});
  CHECK_THAT(document.at("bottleneck").at("resource").get<std::string>(),
             Contains("host memory") && Contains("SHM"));

  // Of 587 ms the latency of the ring stays: 8.4 us, and 14 steps of 5.7 us over PCIe (NCCL's own figures for
  // its protocol Simple). The rest is halved.
  const double latency = 8.4e-6 + 14 * 5.7e-6;
  const auto time = fmt::format("time: {} s", latency + (0.587 - latency) / 2);
  const TemporaryFolder folder;
  folder.write("platforms/fast-memory.yaml",
               changed("platforms/aws-g6e.48xlarge.yaml",
                       {{"memory_bandwidth: 204.8 GB/s", "memory_bandwidth: 409.6 GB/s"},
                        {"pageable_copy: 13 GB/s", "pageable_copy: 26 GB/s"},
                        {"calibration: aws-g6e.48xlarge", "calibration: fast-memory"}}));
  folder.write("calibration/results/fast-memory/calibration.yaml",
               changed("calibration/results/aws-g6e.48xlarge/calibration.yaml", {{"time: 587 ms", time}}));
  const World world{.gradway_path = folder.path().string()};
  const auto by_hand =
      step_of({"run", "article/g6e", "--set", "platform=fast-memory", "--engine", "fluid", "--json"}, world);
  const auto one = answer(document, "host_memory_2x");
  CHECK(one.at("step_time_s").get<double>() == Approx(by_hand).epsilon(1e-6));
  CHECK(one.at("set") == Json{{"faster.host_memory", "2"}});
  CHECK(one.at("gain").get<double>() == Approx(0.4155).epsilon(1e-3));
}

TEST_CASE("an explanation of a job that does not fit begins with that", "[cli][explain]") {
  const std::vector<std::string> large{"--set", "job.batch_per_gpu=4096"};
  const auto outcome = run_gradway({"explain", "article/g6e", large[0], large[1]});
  CHECK(outcome.status == 0);
  CHECK(outcome.output.starts_with("does not fit: 372 of 48 GB on each l40s ("));
  CHECK(explained(large).at("fits") == false);
  CHECK(explained({}).at("fits") == true);
}

TEST_CASE("the document of an explanation is sufficient to repeat it", "[cli][explain]") {
  const auto document = explained({"--set", "strategy.bucket_cap=100 MiB", "--set", "faster.gpu=2"});
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  std::ranges::sort(keys);
  CHECK(keys == std::vector<std::string>{"basis", "bottleneck", "counterfactuals", "does_not_fit", "engine",
                                         "evidence", "exposed", "fits", "gradway", "interval",
                                         "memory_verdict", "no_help", "scenario", "schema", "slow_gpu",
                                         "step_time_s", "warning_codes", "warnings"});
  CHECK(document.at("schema") == 1);
  CHECK(document.at("scenario").at("faster") == Json{{"gpu", 2.0}});
  CHECK(document.at("warnings").at(0).get<std::string>().starts_with("this is a what-if: GPU kernels 2"));
  const double step = document.at("step_time_s");
  CHECK(step == step_of({"run", "article/g6e", "--engine", "fluid", "--json", "--set",
                         "strategy.bucket_cap=100 MiB", "--set", "faster.gpu=2"}));
  double before = 1;
  for (const auto& one : document.at("counterfactuals")) {
    const double gain = one.at("gain");
    CHECK(gain <= before);
    before = gain;
    CHECK(one.at("step_time_s").get<double>() == Approx(step * (1 - gain)));
    CHECK(one.at("gain_s").get<double>() == Approx(step * gain));
    CHECK(one.at("bound").get<bool>() == one.at("set").empty());
    if (one.at("bound") == true) {
      CHECK(one.at("name") == "perfect_overlap");
      continue;
    }
    std::vector<std::string> again{
        "run", "article/g6e", "--engine", "fluid", "--json", "--set", "strategy.bucket_cap=100 MiB"};
    if (!one.at("set").contains("faster.gpu")) again.insert(again.end(), {"--set", "faster.gpu=2"});
    for (const auto& [key, value] : one.at("set").items())
      again.insert(again.end(), {"--set", key + "=" + value.get<std::string>()});
    CHECK(one.at("step_time_s") == step_of(again));
  }
  // What the scenario has already counts.
  CHECK(answer(document, "gpu_2x").at("set") == Json{{"faster.gpu", "4"}});
}

TEST_CASE("an explanation has sentences and commands", "[cli][explain]") {
  const auto outcome =
      run_gradway({"explain", "article/g6e", "--set", "strategy.bucket_cap=2000 MiB", "--jobs", "1"});
  CHECK(outcome.status == 0);
  CHECK_THAT(
      outcome.output,
      Contains("  bottleneck   host memory (SHM)\n") && Contains("  what would help\n") &&
          Contains("41.6 % less  host memory and what NCCL copies through it\n") &&
          Contains("(a bound, not a") && Contains("  no help      less than 1 % gain each: ") &&
          Contains(
              "  commands to try\n    gradway run article/g6e --set 'strategy.bucket_cap=2000 MiB' --set") &&
          Contains("\n    gradway run article/g6e --set 'strategy.bucket_cap=2000 MiB' --set "
                   "faster.host_memory=2\n"));
  std::istringstream lines{outcome.output};
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    if (line.starts_with("    gradway ")) continue;  // whole, to be copied
    CHECK(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }) <= 80);
    CHECK_FALSE(line.ends_with(' '));
  }
}

TEST_CASE("an explanation ends with the settings that gain most", "[cli][explain]") {
  const auto commands = [](std::vector<std::string> words) {
    words.insert(words.begin(), "explain");
    const auto outcome = run_gradway(words);
    CHECK(outcome.status == 0);
    return outcome.output.substr(outcome.output.find("  commands to try\n"));
  };
  // The article's own remedies: the hook, then TF32 ahead of any faster part.
  CHECK_THAT(commands({"article/g6e"}),
             StartsWith("  commands to try\n    gradway run article/g6e --set strategy.comm_hook=bf16\n"
                        "    gradway run article/g6e --set job.precision=tf32\n"
                        "    gradway run article/g6e --set faster."));
  CHECK_THAT(commands({"article/g6e", "--set", "job.gpus=1"}), !Contains("comm_hook"));
  // Whole parameters where they fit, and lower stages.
  const auto sharded = explained({"--set", "strategy.kind=fsdp"});
  CHECK(answer(sharded, "ddp").at("set") == Json{{"strategy.kind", "ddp"}});
  CHECK(answer(explained({"--set", "strategy={kind: zero, stage: 3}"}), "stage_1").at("set") ==
        Json{{"strategy.stage", "1"}});
}

TEST_CASE("wrong speeds and arguments of explain are refused", "[cli][explain]") {
  const auto errors = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"explain", "article/g6e"});
    const auto outcome = run_gradway(more);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.errors;
  };
  CHECK(errors({"--set", "faster.host_memory=2x"}) ==
        "--set faster.host_memory=2x: error: '2x' is not a speed-up\n  hint: write 2\n");
  CHECK(errors({"--set", "faster.host=2"}) ==
        "--set faster.host=2: error: unknown key 'faster.host'\n"
        "  hint: did you mean 'faster.host_memory'?\n");
  CHECK(errors({"--set", "faster.nvlnk=2"}) ==
        "--set faster.nvlnk=2: error: unknown key 'faster.nvlnk'\n"
        "  hint: did you mean 'faster.nvlink'?\n");
  CHECK(errors({"--engine", "fluidd"}) ==
        "error: there is no engine 'fluidd'\n  hint: did you mean 'fluid'?\n");
}

TEST_CASE("a factor of one changes no byte of a report, and a sweep varies factors", "[cli][explain]") {
  const std::vector<std::string> plain{"run", "article/g6e", "--json"};
  auto ones = plain;
  ones.insert(ones.end(), {"--set", "faster={gpu: 1, cpu: 1, host_memory: 1, pcie: 1, network: 1.0}"});
  CHECK(run_gradway(ones).output == run_gradway(plain).output);

  const auto swept = run_gradway({"sweep", "article/p4d", "--vary", "faster.nvlink=1,2,4", "--json"});
  REQUIRE(swept.status == 0);
  const auto runs = Json::parse(swept.output).at("runs");
  REQUIRE(runs.size() == 3);
  CHECK_FALSE(runs[0].at("scenario").contains("faster"));
  CHECK(runs[2].at("scenario").at("faster") == Json{{"nvlink", 4.0}});
  CHECK(runs[1].at("metrics").at("step_time_s") < runs[0].at("metrics").at("step_time_s"));
}

TEST_CASE("what-ifs of staging say how long the epoch takes, not a step", "[cli][explain]") {
  const auto what_ifs = explained({}, "loading/staging").at("staging").at("counterfactuals");
  REQUIRE(what_ifs.size() == 2);
  for (const auto& what_if : what_ifs) {
    CHECK_FALSE(what_if.contains("step_time_s"));
    const auto saved = what_if.at("gain_s").get<double>();
    CHECK(what_if.at("gain").get<double>() == Approx(saved / (what_if.at("epoch_s").get<double>() + saved)));
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Json = nlohmann::json;

TEST_CASE("a sweep gives the runs of its points, in the order of the input", "[cli][sweep]") {
  const auto all = run_gradway({"sweep", "article/g6e", "--vary", "job.gpus=8,2", "--vary",
                                "strategy.comm_hook=bf16,none", "--jobs", "3", "--json"});
  REQUIRE(all.status == 0);
  const auto runs = Json::parse(all.output).at("runs");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].at("set") == Json{{"job.gpus", "8"}, {"strategy.comm_hook", "none"}});
  CHECK(runs[2].at("set") == Json{{"job.gpus", "2"}, {"strategy.comm_hook", "bf16"}});
  const auto alone = run_gradway({"run", "article/g6e", "--json"});
  CHECK(runs[1].at("metrics") == Json::parse(alone.output).at("metrics"));
}

TEST_CASE("a sweep gives the same bytes on one thread and on several", "[cli][sweep]") {
  const std::vector<std::string> sweep{"sweep",  "article/p4d",
                                       "--vary", "strategy.bucket_cap=25 MiB,50 MiB,100 MiB,200 MiB",
                                       "--json", "--jobs"};
  const auto with = [&](const char* jobs) {
    auto arguments = sweep;
    arguments.emplace_back(jobs);
    return run_gradway(arguments).output;
  };
  CHECK(with("1") == with("4"));
}

TEST_CASE("a point that fails stands beside the others", "[cli][sweep]") {
  const auto outcome = run_gradway({"sweep", "h200-4x/vit_l_32", "--vary", "job.gpus=9,4", "--csv"});
  CHECK(outcome.status == 2);
  CHECK(outcome.output.find("\n9,") != std::string::npos);
  CHECK(outcome.output.find("job.gpus 9, but the platform has 4 GPUs") != std::string::npos);
  CHECK(outcome.output.find("\n4,0.09") != std::string::npos);
  const auto table = run_gradway({"sweep", "h200-4x/vit_l_32", "--vary", "job.gpus=9,4"});
  CHECK(table.output.find("failed") != std::string::npos);
  CHECK(table.output.find("--vary job.gpus=9: error: job.gpus 9, but the platform has 4 GPUs") !=
        std::string::npos);
}

TEST_CASE("a second sweep into the same folder does only the rest", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "out").string();
  const auto sweep = [&](const std::string& vary, const std::string& set) {
    return run_gradway({"sweep", "article/g6e", "--vary", vary, "--set", set, "--out", out});
  };
  const auto first = sweep("job.gpus=2,4", "job.accumulate=1");
  CHECK(first.errors.find("0 of 2 points were there already") != std::string::npos);
  const auto second = sweep("job.gpus=2,4,8", "job.accumulate=1");
  CHECK(second.errors.find("2 of 3 points were there already") != std::string::npos);
  const auto other = sweep("job.gpus=2,4,8", "job.accumulate=2");
  CHECK(other.errors.find("0 of 3 points were there already") != std::string::npos);

  const auto fresh = run_gradway(
      {"sweep", "article/g6e", "--vary", "job.gpus=2,4,8", "--set", "job.accumulate=2", "--json"});
  CHECK(content_of(folder.path() / "out" / "sweep.json") == fresh.output);
  CHECK(content_of(folder.path() / "out" / "sweep.csv").starts_with("job.gpus,step_time_s,"));
}

TEST_CASE("a finished point that was damaged is run again", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "out").string();
  const std::vector<std::string> sweep{"sweep", "article/g6e", "--vary", "job.gpus=2,4", "--out", out};
  const auto first = run_gradway(sweep);
  for (const auto& file : std::filesystem::directory_iterator{folder.path() / "out" / "points"}) {
    std::filesystem::resize_file(file.path(), 20);
  }
  const auto second = run_gradway(sweep);
  CHECK(second.status == 0);
  CHECK(second.output == first.output);
  CHECK(second.errors.find("0 of 2 points were there already") != std::string::npos);
}

TEST_CASE("a sweep over steps that take no time has its table", "[cli][sweep]") {
  const auto outcome = run_gradway({"sweep", "scale/ring-all-reduce", "--vary", "job.gpus=1,2"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("nan") == std::string::npos);
}

TEST_CASE("a sweep says what is wrong with its arguments", "[cli][sweep]") {
  const auto errors = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"sweep", "article/g6e"});
    const auto outcome = run_gradway(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.errors;
  };
  CHECK(errors({}) == "error: 'gradway sweep' needs '--vary'\n  hint: as in '--vary job.gpus=1,2,4,8'\n");
  CHECK(errors({"--vary", "job.gpus=1,1"}) ==
        "error: '--vary job.gpus' has the value '1' twice\n  hint: give each key once, with values that "
        "differ\n");
  CHECK(errors({"--vary", "job.gpus=1,,2"}) ==
        "error: '--vary job.gpus' has an empty value\n  hint: give each key once, with values that differ\n");
  CHECK(errors({"--vary", "job.gpus=1", "--vary", "job.gpus=2"}) ==
        "error: '--vary job.gpus' is given twice\n  hint: give each key once, with values that differ\n");
  CHECK(errors({"--vary", "job.gpus"}) ==
        "error: '--vary job.gpus' is not a key and its values\n"
        "  hint: write '--vary KEY=VALUE,VALUE,...', as in '--vary job.gpus=1,2,4,8'\n");
  CHECK(errors({"--vary", "job.gpus=1,2", "--set", "job.gpus=4"}) ==
        "error: 'job.gpus' is set and varied\n  hint: leave out '--set' or '--vary' for it\n");
  CHECK(errors({"--vary", "job.gpus=1,2", "--json", "--csv"}) ==
        "error: '--json' and '--csv' are two forms of one output\n  hint: choose one\n");
}

TEST_CASE("a comma inside brackets or quotes belongs to the value", "[cli][sweep]") {
  const auto outcome = run_gradway(
      {"sweep", "article/p4d", "--vary", "nccl={NCCL_PROTO: 'LL,Simple'},{NCCL_PROTO: LL}", "--csv"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("\n\"{NCCL_PROTO: 'LL,Simple'}\",") != std::string::npos);
}

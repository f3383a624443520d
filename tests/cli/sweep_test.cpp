// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "sim/base/digest.hpp"
#include "sim/config/config.hpp"
#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

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

TEST_CASE("the points of a sweep are the runs of their settings, byte for byte", "[cli][sweep]") {
  // Equal steps are simulated once: the lists have points with equal steps and with different ones.
  const auto [scenario, key, values] = GENERATE(table<std::string, std::string, std::vector<std::string>>({
      {"article/g6e", "strategy.bucket_cap", {"50 MiB", "50.5 MiB", "25 MiB", "51 MiB"}},
      {"article/g6e", "strategy.static_graph", {"false", "true"}},
      {"article/g6e", "job.gpus", {"8", "2", "4"}},
      {"article/g6e", "job.batch_per_gpu", {"8", "9"}},
      {"article/g6e", "job.accumulate", {"1", "2"}},
      {"article/g6e", "job.precision", {"fp32", "bf16"}},
      {"article/g6e", "job.zero_grad", {"after_step", "before_backward"}},
      {"article/g6e", "platform", {"dgx-h100", "aws-p4d.24xlarge", "aws-g6e.48xlarge"}},
      {"article/g6e", "nccl.NCCL_ALGO", {"Ring", "Tree"}},
      {"article/g6e", "faster.gpu", {"1", "1.1"}},
      {"article/g6e", "optimizer", {"sgd", "adamw"}},
      {"h200-4x/gpt_small", "strategy.bucket_cap", {"100 MiB", "101 MiB", "30 MiB", "100.5 MiB"}},
      {"loading/resnet50", "input.loader_workers", {"4", "6"}},
      {"layouts/llama3_70b", "parallel.pipeline", {"4", "8"}},
      {"sharded/llama2_7b", "strategy.wrap", {"block", "2 blocks"}},
  }));
  CAPTURE(scenario, key);
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ",") + value;
  const auto sweep = run_gradway({"sweep", scenario, "--vary", key + "=" + list, "--jobs", "1", "--json"});
  REQUIRE(sweep.status == 0);
  const auto runs = nlohmann::ordered_json::parse(sweep.output).at("runs");
  REQUIRE(runs.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(values[i]);
    const auto alone =
        run_gradway({"run", scenario, "--set", key + "=" + values[i], "--engine", "fluid", "--json"});
    REQUIRE(alone.status == 0);
    auto of_sweep = runs[i];
    of_sweep.erase("set");
    CHECK(of_sweep.dump() == nlohmann::ordered_json::parse(alone.output).dump());
  }
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

TEST_CASE("a failed point does not affect the others", "[cli][sweep]") {
  const auto outcome = run_gradway({"sweep", "h200-4x/vit_l_32", "--vary", "job.gpus=9,4", "--csv"});
  CHECK(outcome.status == 2);
  CHECK(outcome.output.find("\n9,") != std::string::npos);
  CHECK(outcome.output.find("job.gpus 9 is more than the 4 GPUs of the platform") != std::string::npos);
  CHECK(outcome.output.find("\n4,0.09") != std::string::npos);
  const auto table = run_gradway({"sweep", "h200-4x/vit_l_32", "--vary", "job.gpus=9,4"});
  CHECK(table.output.find("failed") != std::string::npos);
  CHECK(table.output.find("--vary job.gpus=9: error: job.gpus 9 is more than the 4 GPUs of the platform") !=
        std::string::npos);
}

TEST_CASE("a second sweep into the same folder continues the first", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "out").string();
  const auto sweep = [&](const std::string& vary, const std::string& set) {
    return run_gradway({"sweep", "article/g6e", "--vary", vary, "--set", set, "--out", out});
  };
  const auto first = sweep("job.gpus=2,4", "job.accumulate=1");
  CHECK(first.errors.find("0 of 2 points were taken from an earlier run") != std::string::npos);
  const auto second = sweep("job.gpus=2,4,8", "job.accumulate=1");
  CHECK(second.errors.find("2 of 3 points were taken from an earlier run") != std::string::npos);
  const auto other = sweep("job.gpus=2,4,8", "job.accumulate=2");
  CHECK(other.errors.find("0 of 3 points were taken from an earlier run") != std::string::npos);

  const auto fresh = run_gradway(
      {"sweep", "article/g6e", "--vary", "job.gpus=2,4,8", "--set", "job.accumulate=2", "--json"});
  CHECK(content_of(folder.path() / "out" / "sweep.json") == fresh.output);
  CHECK(content_of(folder.path() / "out" / "sweep.csv").starts_with("job.gpus,step_time_s,"));
}

TEST_CASE("a damaged point is simulated again", "[cli][sweep]") {
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
  CHECK(second.errors.find("0 of 2 points were taken from an earlier run") != std::string::npos);
}

TEST_CASE("a finished point that cannot be what was written is run again", "[cli][sweep]") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const auto points = folder.path() / "out" / "points";
  const std::vector<std::string> sweep{"sweep",        "article/g6e", "--vary",
                                       "job.gpus=2,4", "--out",       (folder.path() / "out").string()};
  const auto first = run_gradway(sweep);
  std::vector<fs::path> files{fs::directory_iterator{points}, fs::directory_iterator{}};
  REQUIRE(files.size() == 2);
  const auto whole = content_of(files[0]);
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = whole;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  std::string deep = "{\"metrics\":";
  for (int i = 0; i < 200000; ++i) deep += "{\"a\":";
  const auto damaged =
      GENERATE_COPY(std::string{}, std::string{"{\"metrics\":{}}\n"}, deep, whole.substr(0, whole.size() - 1),
                    with("\"step_time_s\": ", "\"step_time_s\": -"),
                    with("\"samples_per_s\": ", "\"samples_per_s\": 9"), content_of(files[1]));
  CAPTURE(damaged.substr(0, 100));

  std::ofstream{files[0], std::ios::binary} << damaged;
  const auto second = run_gradway(sweep);

  CHECK(second.status == 0);
  CHECK(second.output == first.output);
  CHECK_THAT(second.errors, Contains("warning: 1 of the points in '" + points.string() +
                                     "' were damaged or changed, and were simulated again\n") &&
                                Contains("1 of 2 points were taken from an earlier run"));
  CHECK(content_of(files[0]) == whole);
}

TEST_CASE("the key of a stored point is a digest of the program, the scenario and the data", "[cli][sweep]") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  run_gradway({"sweep", "article/g6e", "--vary", "job.gpus=2", "--out", (folder.path() / "out").string()});
  const auto version = run_gradway({"--version"}).output;
  const fs::path source{GRADWAY_SOURCE_DIR};
  const auto scenario = gradway::load_scenario((source / "scenarios/article/g6e.yaml").string(),
                                               {{"job.gpus", "2"}}, {{source}});
  gradway::Digest key;
  key.add(version.substr(version.find("build ") + 6, 16));
  for (const auto& part : {std::string{"fluid"}, scenario.name, scenario.digest, std::string{"folded"}})
    key.add(part);
  CHECK(fs::exists(folder.path() / "out" / "points" / (key.hex() + ".json")));
}

TEST_CASE("a value that is wrong at every point is an error before anything runs", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const auto errors = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sweep");
    arguments.insert(arguments.end(), {"--out", out.string()});
    const auto outcome = run_gradway(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK_FALSE(std::filesystem::exists(out));
    return outcome.errors;
  };
  CHECK(
      errors({"article/g6e", "--vary", "strategy.bucket_cap=25 MiB,25 MiBB", "--vary", "job.gpus=2,four"}) ==
      "--vary job.gpus=four: error: 'four' is not a whole number\n"
      "--vary strategy.bucket_cap=25 MiBB: error: 'MiBB' is not a unit of data\n"
      "  hint: units: B kB MB GB TB KiB MiB GiB TiB\n");
  CHECK_THAT(errors({"article/g6e", "--vary", "platform=aws-g6e.48xlarge,aws-g6e.48xlrage"}),
             Catch::StartsWith("--vary platform=aws-g6e.48xlrage: error: unknown platform "));
  CHECK(errors({"article/g6ee", "--vary", "job.gpus=2,4"}) ==
        "article/g6ee: error: there is no such file\n  hint: did you mean 'article/g6e'?\n");
  CHECK(errors({"article/g6e", "--vary", "job.gpus=2,4", "--region", "mars"}) ==
        "--region mars: error: no price of 'aws-g6e.48xlarge' is known in the region 'mars'\n  hint: known: "
        "us-east-1\n");
  CHECK_THAT(errors({"article/g6e", "--vary", "job.gpus=2,4", "--set", "job.gups=4"}),
             Catch::StartsWith("--set job.gups=4: error: unknown key 'job.gups'\n"));
}

TEST_CASE("only the temporary files of a killed sweep are removed by the next one", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto left = {"out/.sweep.json.0123456789abcdef", "out/points/.00.json.fedcba9876543210"};
  const auto others = {"out/.sweep.json.0123456789abcdeg", "out/.notes", "out/points/0123456789abcdef"};
  for (const auto* name : left) folder.write(name, "");
  for (const auto* name : others) folder.write(name, "mine");
  const auto out = (folder.path() / "out").string();
  REQUIRE(run_gradway({"sweep", "article/p4d", "--vary", "job.gpus=2", "--out", out}).status == 0);
  for (const auto* name : left) CHECK_FALSE(std::filesystem::exists(folder.path() / name));
  for (const auto* name : others) CHECK(std::filesystem::exists(folder.path() / name));
}

TEST_CASE("a sweep of which no point runs writes nothing", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const auto outcome =
      run_gradway({"sweep", "h200-4x/vit_l_32", "--vary", "job.gpus=9,10", "--out", out.string()});
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors,
             Contains("--vary job.gpus=9: error: job.gpus 9 is more than the 4 GPUs of the platform") &&
                 Contains("--vary job.gpus=10: error: job.gpus 10 is more than the 4 GPUs of the platform"));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a value that is wrong at some points only is an error of these points", "[cli][sweep]") {
  const auto outcome = run_gradway({"sweep", "article/p4d", "--vary", "strategy.kind=none,ddp", "--vary",
                                    "strategy.bucket_cap=25 MiB,50 MiB", "--csv"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.output, Contains("\nddp,25 MiB,0.") && Contains("\nddp,50 MiB,0."));
  CHECK_THAT(outcome.output, Contains("\nnone,50 MiB,,"));
}

TEST_CASE("a sweep over steps that take no time has its table", "[cli][sweep]") {
  const auto outcome = run_gradway({"sweep", "scale/ring-all-reduce", "--vary", "job.gpus=1,2"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("nan") == std::string::npos);
}

TEST_CASE("wrong arguments of a sweep are refused with a hint", "[cli][sweep]") {
  const auto errors = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"sweep", "article/g6e"});
    const auto outcome = run_gradway(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.errors;
  };
  CHECK(errors({}) ==
        "error: 'gradway sweep' needs '--vary'\n  hint: give values of a key, such as '--vary "
        "job.gpus=1,2,4,8'\n");
  CHECK(errors({"--vary", "job.gpus=1,1"}) ==
        "error: '--vary job.gpus' has the value '1' twice\n  hint: give each key once, with different "
        "values\n");
  CHECK(errors({"--vary", "job.gpus=1,,2"}) ==
        "error: '--vary job.gpus' has an empty value\n  hint: give each key once, with different values\n");
  CHECK(errors({"--vary", "job.gpus=1", "--vary", "job.gpus=2"}) ==
        "error: '--vary job.gpus' is given twice\n  hint: give each key once, with different values\n");
  CHECK(errors({"--vary", "job.gpus"}) ==
        "error: '--vary job.gpus' is not a key and its values\n"
        "  hint: write '--vary KEY=VALUE,VALUE,...', such as '--vary job.gpus=1,2,4,8'\n");
  std::vector<std::string> too_many;
  for (const auto* key : {"job.gpus", "job.batch_per_gpu", "job.accumulate", "steps", "faster.gpu",
                          "faster.cpu", "faster.pcie", "faster.network"}) {
    std::string values{"1"};
    for (int i = 2; i <= 256; ++i) values += "," + std::to_string(i);
    too_many.insert(too_many.end(), {"--vary", std::string{key} + "=" + values});
  }
  CHECK(errors(too_many) ==
        "error: the sweep has more than 1000000 points\n"
        "  hint: vary fewer keys, or give fewer values\n");
  CHECK(errors({"--vary", "job.gpus=1,2", "--set", "job.gpus=4"}) ==
        "error: 'job.gpus' is set and varied\n  hint: leave out '--set' or '--vary' for it\n");
  CHECK(errors({"--vary", "job.gpus=1,2", "--json", "--csv"}) ==
        "error: '--json' and '--csv' are both given\n  hint: give one of them\n");
}

TEST_CASE("a comma inside brackets or quotes belongs to the value", "[cli][sweep]") {
  const auto outcome = run_gradway(
      {"sweep", "article/p4d", "--vary", "nccl={NCCL_PROTO: 'LL,Simple'},{NCCL_PROTO: LL}", "--csv"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("\n\"{NCCL_PROTO: 'LL,Simple'}\",") != std::string::npos);
}

TEST_CASE("a range is varied over its numbers", "[cli][sweep]") {
  const auto range = run_gradway({"sweep", "article/g6e", "--vary", "job.gpus=2..4", "--csv"});
  CHECK(range.status == 0);
  CHECK(range.output == run_gradway({"sweep", "article/g6e", "--vary", "job.gpus=2,3,4", "--csv"}).output);
}

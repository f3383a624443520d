// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

const std::string scenario = "campaign/llama2_7b-aws-p5";

Outcome play(std::vector<std::string> more) {
  more.insert(more.begin(), {"campaign", scenario, "--seeds", "50"});
  return run_gradway(more);
}

}  // namespace

TEST_CASE("a campaign says how long it takes, what it costs, where the time goes and what would help",
          "[cli][campaign]") {
  const auto outcome = play({"--deadline", "6 days", "--budget", "60k USD"});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  for (const auto* text : {"takes", "days (", "costs", "USD (", "goodput", "ETTR", "paid, on average", "Daly",
                           "what would help", "half the failures", "spot", "deadline", "of the runs"})
    CHECK_THAT(outcome.output, Contains(text));
}

TEST_CASE("the JSON of a campaign has parts that add up, with their definitions", "[cli][campaign]") {
  const auto outcome = play({"--json"});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.errors.empty());
  const auto report = Json::parse(outcome.output);
  double sum = 0;
  for (const auto& [key, seconds] : report["estimate"]["mean_buckets_s"].items()) {
    sum += seconds.get<double>();
    CHECK(report["definitions"].contains(key));
  }
  CHECK(sum == Approx(report["estimate"]["mean_s"].get<double>()).epsilon(1e-12));
  for (const auto* share : {"goodput", "effective_training_time", "ettr"}) {
    CHECK(report["definitions"].contains(share));
    CHECK(report["estimate"][share]["median"].get<double>() <= 1);
  }
  CHECK(report["scenario"]["campaign"]["failures"]["model"] == "llama3");
}

TEST_CASE("the same seed gives the same bytes on any number of threads, another seed others",
          "[cli][campaign]") {
  const auto one = play({"--json", "--jobs", "1"}), three = play({"--json", "--jobs", "3"});
  CHECK(one.output == three.output);
  const auto other = play({"--json", "--set", "campaign.seed=2"});
  CHECK(Json::parse(other.output)["estimate"]["mean_s"] != Json::parse(one.output)["estimate"]["mean_s"]);
}

TEST_CASE("the folder of --out holds the page and the document of a campaign", "[cli][campaign]") {
  const TemporaryFolder folder;
  const auto outcome = play({"--json", "--out", folder.path()});
  CHECK(content_of(folder.path() / "report.json") == outcome.output);
  CHECK_THAT(content_of(folder.path() / "report.html"), Contains(R"("kind":"campaign")"));
}

TEST_CASE("a campaign that is killed leaves nothing half-written", "[cli][campaign]") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const auto command = fmt::format(
      "timeout -s KILL 0.3 '{}' campaign '{}/scenarios/{}.yaml' --seeds 1000000 --out '{}' 2>/dev/null",
      GRADWAY_PROGRAM, GRADWAY_SOURCE_DIR, scenario, out.string());
  CHECK(std::system(command.c_str()) != 0);
  CHECK_FALSE(fs::exists(out / "report.json"));
  CHECK_FALSE(fs::exists(out / "report.html"));
  const auto full =
      run_gradway({"campaign", scenario, "--seeds", "10", "--out", out}, {.largest_file = 1000});
  CHECK(full.status != 0);
  CHECK_FALSE(fs::exists(out / "report.json"));
}

TEST_CASE("campaigns stand side by side, each as it is alone", "[cli][campaign]") {
  const auto outcome = play({"--vary", "campaign.checkpoint.interval=best,2 h", "--json"});
  REQUIRE(outcome.status == 0);
  const auto document = Json::parse(outcome.output);
  const auto alone = Json::parse(play({"--json", "--set", "campaign.checkpoint.interval=2 h"}).output);
  REQUIRE(document["runs"].size() == 2);
  CHECK(document["runs"][1]["estimate"] == alone["estimate"]);
  CHECK(document["runs"][1]["set"]["campaign.checkpoint.interval"] == "2 h");
  CHECK(document["fastest"] == 0);
  const auto table = play({"--vary", "campaign.terms=on_demand,spot"});
  CHECK_THAT(table.output, Contains("fastest") && Contains("cheapest") && Contains("nine of ten"));
  CHECK(play({"--vary", "campaign.sed=1,2"}).status == 2);
}

TEST_CASE("a scenario without a campaign is told what to add", "[cli][campaign]") {
  const auto outcome = run_gradway({"campaign", "article/g6e"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors,
             Contains("the scenario 'g6e' has no campaign: it is not told how much is trained on") &&
                 Contains("--set campaign.tokens=300B"));
  CHECK(run_gradway({"campaign", "article/g6e", "--set", "campaign.samples=90M", "--seeds", "5"}).status ==
        0);
}

TEST_CASE("impossible campaigns say why and what to do", "[cli][campaign]") {
  const auto hopeless = play({"--set", "campaign.failures.job_mttf=2 min", "--set",
                              "campaign.checkpoint.write=50 MB/s", "--set", "campaign.checkpoint.mode=sync"});
  CHECK(hopeless.status == 2);
  CHECK_THAT(hopeless.errors, Contains("the campaign gets nowhere") && Contains("hint: restart faster"));
  const auto long_write =
      play({"--set", "campaign.failures.job_mttf=30 min", "--set", "campaign.checkpoint.write=40 MB/s"});
  CHECK(long_write.status == 0);
  CHECK_THAT(long_write.output, Contains("something fails every"));
  const auto endless = play({"--set", "campaign.tokens=900T"});
  CHECK(endless.status == 2);
  CHECK_THAT(endless.errors, Contains("the steps alone take"));
}

TEST_CASE("a campaign without failures warns that real ones have some", "[cli][campaign]") {
  const auto outcome =
      run_gradway({"campaign", "sharded/llama2_7b", "--set", "campaign.tokens=1B", "--seeds", "5"});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("no failures are told of"));
}

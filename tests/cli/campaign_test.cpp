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
  for (const auto* text :
       {"takes", "days (", "costs", "USD (", "goodput", "ETTR", "total, on average", "Daly",
        "what would help", "half as many failures", "spot", "deadline", "of the runs"})
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

TEST_CASE("a platform's price on other terms is the basis of a campaign's cost", "[cli][campaign]") {
  const auto of = [](const std::string& terms) {
    const auto outcome =
        play({"--json", "--set", "platform=gcp-a2-highgpu-8g", "--set", "campaign.terms=" + terms});
    INFO(outcome.errors);
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.output);
  };
  const auto on_demand = of("on_demand"), reserved = of("reserved_3y");
  CHECK(reserved["price"]["terms"] == "reserved_3y");
  CHECK(reserved["usd_per_node_hour"] == 10.2857);
  CHECK(reserved["estimate"]["seconds"] == on_demand["estimate"]["seconds"]);
  CHECK(reserved["estimate"]["usd"]["median"].get<double>() ==
        Approx(on_demand["estimate"]["usd"]["median"].get<double>() * 10.2857 / 29.38708).epsilon(1e-9));
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

TEST_CASE("a killed campaign leaves no partial files", "[cli][campaign]") {
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

TEST_CASE("varied campaigns have the results of single campaigns", "[cli][campaign]") {
  const auto outcome = play({"--vary", "campaign.checkpoint.interval=best,2 h", "--json"});
  REQUIRE(outcome.status == 0);
  const auto document = Json::parse(outcome.output);
  const auto alone = Json::parse(play({"--json", "--set", "campaign.checkpoint.interval=2 h"}).output);
  REQUIRE(document["runs"].size() == 2);
  CHECK(document["runs"][1]["estimate"] == alone["estimate"]);
  CHECK(document["runs"][1]["set"]["campaign.checkpoint.interval"] == "2 h");
  const auto table = play({"--vary", "campaign.terms=on_demand,spot"});
  CHECK_THAT(table.output, Contains("fastest") && Contains("cheapest") && Contains("90 % interval"));
  CHECK(play({"--vary", "campaign.sed=1,2"}).status == 2);
}

TEST_CASE("a tier of storage gives checkpoints their time and their price", "[cli][campaign]") {
  const auto on = [](const std::string& tier) {
    return play({"--json", "--set",
                 fmt::format("campaign.checkpoint={{ storage: {}, mode: async, interval: 1 h }}", tier)});
  };
  const auto slow = Json::parse(on("aws-fsx-lustre-4.8tib").output),
             fast = Json::parse(on("aws-fsx-lustre-persistent-4.8tib").output);
  CHECK(slow["plan"]["checkpoint_write_s"].get<double>() >
        4.9 * fast["plan"]["checkpoint_write_s"].get<double>());
  // two checkpoints of 94.34 GB at 0.14 USD a month of 730 hours
  CHECK(slow["estimate"]["mean_storage_usd"].get<double>() ==
        Approx(2 * 94.34 * 0.14 * slow["estimate"]["mean_s"].get<double>() / 3600 / 730).epsilon(1e-4));
  const auto warned = play({"--set", "campaign.checkpoint={ storage: local-nvme }"});
  CHECK_THAT(warned.output, Contains("has no write rate") && Contains("are inside the nodes"));
}

TEST_CASE("samples from a bucket of another region cost egress and requests", "[cli][campaign]") {
  const auto on = [](const std::string& tier, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"campaign", "loading/resnet50", "--json", "--seeds", "3"};
    for (const auto& set : {std::string{"platform=aws-p5.48xlarge"}, std::string{"input.loader_workers=12"},
                            std::string{"input.dataset=imagenet-1k-shards"}, "input.storage=" + tier})
      arguments.insert(arguments.end(), {"--set", set});
    for (const auto& set : more) arguments.insert(arguments.end(), {"--set", set});
    return Json::parse(run_gradway(arguments).output)["estimate"];
  };
  const std::string ten_epochs = "campaign.samples=12811670";
  const auto here = on("s3-standard", {ten_epochs}), there = on("s3-other-region", {ten_epochs});
  const auto usd = [](const Json& estimate) { return estimate["mean_data_usd"].get<double>(); };
  const double gigabytes = 10 * 1281167 * 114660e-9;
  const double keeping = gigabytes / 10 * 0.023 * here["mean_s"].get<double>() / (365.25 / 12 * 86400);
  const double requests = 0.4e-6 * gigabytes * 1e9 / (8 << 20);
  CHECK(usd(here) == Approx(keeping + requests).epsilon(1e-3));
  CHECK(usd(there) == Approx(keeping + requests + 0.02 * gigabytes).epsilon(1e-3));
  CHECK(there["mean_usd"].get<double>() - here["mean_usd"].get<double>() ==
        Approx(0.02 * gigabytes).epsilon(0.01));

  // A cache that holds the dataset pays for the first epoch alone.
  const auto cached =
      on("s3-other-region", {ten_epochs, "input.cache=local_nvme", "input.cache_size=200 GB"});
  CHECK(usd(cached) == Approx(keeping + requests / 10 + 0.02 * gigabytes / 10).epsilon(1e-3));
}

TEST_CASE("a scenario without a campaign is refused with a hint", "[cli][campaign]") {
  const auto outcome = run_gradway({"campaign", "article/g6e"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("the scenario 'g6e' has no campaign") && Contains("'--tokens 300B'"));
  CHECK(run_gradway({"campaign", "article/g6e", "--samples", "90M", "--seeds", "5"}).output ==
        run_gradway({"campaign", "article/g6e", "--set", "campaign.samples=90M", "--seeds", "5"}).output);
  CHECK(run_gradway({"campaign", "article/g6e", "--set", "campaign.samples=90M", "--seeds", "5"}).status ==
        0);
}

TEST_CASE("impossible campaigns are refused with a reason and a hint", "[cli][campaign]") {
  const auto hopeless = play({"--set", "campaign.failures.job_mttf=2 min", "--set",
                              "campaign.checkpoint.write=50 MB/s", "--set", "campaign.checkpoint.mode=sync"});
  CHECK(hopeless.status == 2);
  CHECK_THAT(hopeless.errors, Contains("the campaign does not finish") && Contains("hint: restart faster"));
  const auto long_write =
      play({"--set", "campaign.failures.job_mttf=30 min", "--set", "campaign.checkpoint.write=40 MB/s"});
  CHECK(long_write.status == 0);
  CHECK_THAT(long_write.output, Contains("but the mean time to a failure is"));
  const auto endless = play({"--set", "campaign.tokens=900T"});
  CHECK(endless.status == 2);
  CHECK_THAT(endless.errors, Contains("the steps of the campaign take"));
}

TEST_CASE("a campaign without failures warns that real ones have some", "[cli][campaign]") {
  const auto outcome =
      run_gradway({"campaign", "sharded/llama2_7b", "--set", "campaign.tokens=1B", "--seeds", "5"});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("no failure model is configured"));
}

TEST_CASE("failures of the option are those of a plan, with its storage for checkpoints", "[cli][campaign]") {
  const auto play = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"campaign", "sharded/llama2_7b", "--gpus", "16", "--tokens",
                                       "10B",      "--seeds",           "20"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_gradway(arguments);
  };
  const auto added = play({"--failures", "llama3", "--json"});
  const auto written = play({"--set", "campaign.failures.model=llama3", "--set",
                             "campaign.checkpoint.write=1952 MB/s", "--json"});  // 122 MB/s for each GPU
  REQUIRE(added.status == 0);
  REQUIRE(written.status == 0);
  const auto estimate = Json::parse(added.output).at("estimate");
  CHECK(estimate == Json::parse(written.output).at("estimate"));
  CHECK(estimate != Json::parse(play({"--json"}).output).at("estimate"));
  const std::vector<std::string> vary{"--vary", "job.batch_per_gpu=1", "--json"};
  auto vary_with_failures = vary;
  vary_with_failures.insert(vary_with_failures.end(), {"--failures", "llama3"});
  CHECK(Json::parse(play(vary_with_failures).output).at("runs") != Json::parse(play(vary).output).at("runs"));
  CHECK(play({"--failures", "llama4"}).errors ==
        "--failures llama4: error: invalid failure model 'llama4'\n  hint: did you mean 'llama3'?\n");
  const auto twice = play({"--failures", "llama3", "--set", "campaign.failures.model=rsc-1", "--set",
                           "campaign.checkpoint.write=1 GB/s"});
  CHECK(twice.status == 2);
  CHECK_THAT(twice.errors, Contains("the campaign has failures already"));
}

TEST_CASE("a campaign with a hundred clients is compared with moving their data", "[cli][campaign]") {
  const auto outcome = run_gradway({"campaign", "campaign/federated", "--seeds", "20", "--json"});
  REQUIRE(outcome.status == 0);
  const auto report = Json::parse(outcome.output);
  CHECK(report["plan"]["nodes"] == 100);
  CHECK(report["plan"]["rounds"]["asked"] == 39);
  CHECK(report["estimate"]["mean_exchanges"] == 500);
  // every image once: 20 x 400 GB, 50 x 80 GB, 30 x 10 GB
  CHECK(report["moved_data"]["bytes"].get<double>() == Approx(12.3e12));
  // the model to all that are asked, at 0.09 USD/GB, and hours of clients
  CHECK(report["estimate"]["mean_usd"].get<double>() >
        0.09 * 39 * 500 * report["plan"]["rounds"]["model_bytes"].get<double>() / 1e9);
  const auto text = run_gradway({"campaign", "campaign/federated", "--seeds", "20"});
  CHECK_THAT(text.output, Contains("39 clients are selected per round") &&
                              Contains("uplinks twice as fast") &&
                              Contains("alternative: data in one place"));
}

TEST_CASE("run, explain and campaign report the outer loop of local SGD", "[cli][campaign]") {
  // 4 workers, 26.95 GB in fp32, three quarters of it twice over 5 GB/s, and three round trips of 71 ms
  const auto exchange = 6.738415616 * 4 * 1.5 / 4.957746 + 3 * 0.071;
  const auto run = Json::parse(run_gradway({"run", "campaign/llama2_7b-sites", "--json"}).output);
  CHECK(run["local_sgd"]["exchange_s"].get<double>() == Approx(exchange).epsilon(1e-5));
  const auto step = run["metrics"]["step_time_s"].get<double>();
  CHECK(run["local_sgd"]["use"].get<double>() == Approx(500 * step / (500 * step + exchange)).epsilon(1e-6));
  const auto explained = Json::parse(run_gradway({"explain", "campaign/llama2_7b-sites", "--json"}).output);
  for (const auto& one : explained["local_sgd"]["counterfactuals"]) {
    CHECK(one["mean_step_s"] < explained["local_sgd"]["mean_step_s"]);
    for (const auto& [key, value] : one["set"].items()) {
      const auto again = run_gradway(
          {"run", "campaign/llama2_7b-sites", "--json", "--set", key + "=" + value.get<std::string>()});
      CHECK(Json::parse(again.output)["local_sgd"]["mean_step_s"].get<double>() ==
            Approx(one["mean_step_s"].get<double>()).epsilon(1e-6));
    }
  }
  CHECK_THAT(run_gradway({"explain", "campaign/llama2_7b-sites"}).output,
             Contains("they compute 99.7 % of the time") && Contains("updates sent in int8"));
}

TEST_CASE("streaming fragments and sparse updates pause as long as their closed forms", "[cli][campaign]") {
  const auto loop = [](std::vector<std::string> set) {
    std::vector<std::string> arguments{"run", "campaign/llama2_7b-sites", "--json"};
    for (const auto& one : set) arguments.insert(arguments.end(), {"--set", one});
    return Json::parse(run_gradway(arguments).output)["local_sgd"];
  };
  // an eighth of the bytes each time, but all of its six half round trips; beside 2 steps nothing is left of
  // it
  const auto eighths = loop({"strategy.fragments=8"});
  CHECK(eighths["pause_s"].get<double>() ==
        Approx(6.738415616 * 4 * 1.5 / 4.957746 / 8 + 3 * 0.071).epsilon(1e-5));
  CHECK(eighths["sent_bytes"].get<double>() == Approx(6738415616 * 4 * 1.5));
  CHECK(loop({"strategy.fragments=8", "strategy.overlap_steps=2"})["pause_s"] == 0.0);
  // 1 % of the entries, in 8 bytes each, of each of the three others
  const auto sparse = loop({"strategy.top_k=1 %"});
  CHECK(sparse["exchange_s"].get<double>() ==
        Approx(6.738415616 * 0.01 * 8 * 3 / 4.957746 + 1.5 * 0.071).epsilon(1e-5));
}

TEST_CASE("a search over campaigns recommends the cheapest that keeps its limits", "[cli][campaign]") {
  const auto optimum = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"optimize", scenario, "--campaign", "--seeds", "60"});
    return run_gradway(more);
  };
  const auto outcome = optimum({"--deadline", "6 days", "--budget", "40k USD", "--json"});
  REQUIRE(outcome.status == 0);
  const auto document = Json::parse(outcome.output);
  REQUIRE(document["runs"].size() == 5);
  CHECK(document["vary"][0]["key"] == "campaign.spot.share");
  const auto& runs = document["runs"];
  CHECK(document["best"] == 0);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool keeps = runs[i]["limits"]["late_s"] <= 0 && runs[i]["limits"]["over_usd"] <= 0;
    if (keeps) CHECK(runs[i]["estimate"]["usd"]["median"] >= runs[0]["estimate"]["usd"]["median"]);
    CHECK(runs[i]["limits"]["over_usd"].get<double>() ==
          Approx(runs[i]["estimate"]["usd"]["median"].get<double>() - 40000));
    if (i > 0 && keeps) CHECK(runs[i - 1]["limits"]["over_usd"] <= 0);
  }
  // what it says of one is what that one says of itself
  const auto alone =
      run_gradway({"campaign", scenario, "--seeds", "60", "--json", "--set", "campaign.terms=spot", "--set",
                   "campaign.spot.share=" + runs[1]["set"]["campaign.spot.share"].get<std::string>()});
  CHECK(Json::parse(alone.output)["estimate"] == runs[1]["estimate"]);
  CHECK_THAT(optimum({"--deadline", "1 day"}).output,
             Contains("no point meets its limits") && Contains("+4."));
  CHECK(optimum({"--tokens", "3B"}).output == optimum({"--set", "campaign.tokens=3B"}).output);
  CHECK_THAT(optimum({"--sure", "90 %"}).errors, Contains("'--sure 90 %' is not possible"));
  CHECK_THAT(
      run_gradway({"optimize", "campaign/rsc-1", "--campaign", "--set", "campaign.checkpoint.interval=best"})
          .errors,
      Contains("there is nothing to search"));
}

TEST_CASE("a search over campaigns uses the fastest layout of each cluster", "[cli][campaign]") {
  const auto outcome = run_gradway({"optimize", scenario, "--campaign", "--layout", "--seeds", "20", "--over",
                                    "job.gpus=4,8", "--set", "campaign.terms=on_demand", "--json"});
  REQUIRE(outcome.status == 0);
  const auto run = Json::parse(outcome.output)["runs"][0];
  std::vector<std::string> again{
      "campaign", scenario, "--seeds", "20", "--json", "--set", "campaign.terms=on_demand"};
  for (const auto& [key, value] : run["set"].items())
    again.insert(again.end(), {"--set", key + "=" + value.get<std::string>()});
  CHECK(Json::parse(run_gradway(again).output)["estimate"] == run["estimate"]);
  CHECK_FALSE(run["layout"].get<std::string>().empty());
}

TEST_CASE("compared campaigns are ranked by cost, and missed limits have an amount", "[cli][campaign]") {
  const TemporaryFolder folder;
  const auto outcome =
      run_gradway({"compare", scenario, "--campaign", "--platforms", "aws-p5.48xlarge,aws-p4d.24xlarge",
                   "--seeds", "40", "--deadline", "10 days", "--out", folder.path(), "--json"});
  REQUIRE(outcome.status == 0);
  const auto document = Json::parse(outcome.output);
  CHECK(document["runs"][0]["set"]["platform"] == "aws-p5.48xlarge");
  CHECK(document["runs"][0]["limits"]["late_s"] < 0);
  const auto& late = document["runs"][1];
  CHECK(late["limits"]["late_s"].get<double>() ==
        Approx(late["estimate"]["seconds"]["median"].get<double>() - 864000));
  CHECK(late["limits"]["deadline_kept"].get<double>() < 0.5);
  CHECK_THAT(content_of(folder.path() / "report.html"), Contains(R"("kind":"campaigns")"));
  CHECK(content_of(folder.path() / "compare.json") == outcome.output);
  CHECK_THAT(
      run_gradway({"compare", scenario, "--campaign", "--platforms", "aws-p5.48xlarge", "--csv"}).errors,
      Contains("campaigns cannot be written as CSV"));
}

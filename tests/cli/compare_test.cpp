// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

const std::vector<std::string> the_article{"compare", "scenarios/article/p4d.yaml", "--platforms",
                                           "aws-g6e.48xlarge,aws-p4d.24xlarge"};

Outcome compare(std::vector<std::string> more, std::vector<std::string> arguments = the_article) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_gradway(arguments);
}

Json runs_of(const std::vector<std::string>& more) {
  auto arguments = more;
  arguments.emplace_back("--json");
  const auto outcome = compare(arguments);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output).at("runs");
}

std::string platform_of(const Json& run) {
  return run.at("scenario").at("platform");
}

}  // namespace

TEST_CASE("the cheaper machine of 2026 is the faster one for plain DDP, and PowerSGD turns the tables",
          "[cli][compare]") {
  const auto plain = runs_of({});
  REQUIRE(plain.size() == 2);
  CHECK(platform_of(plain[0]) == "aws-p4d.24xlarge");
  CHECK(plain[0].at("metrics").at("cost_usd_per_hour") == 21.957642);
  CHECK(plain[1].at("metrics").at("cost_usd_per_hour") == 30.13118);
  CHECK(plain[0].at("costs").at("cheapest") == true);
  CHECK(plain[0].at("costs").at("fastest") == true);
  CHECK(plain[1].at("bottleneck").at("resource") == "host memory (SHM)");

  const auto compressed = runs_of({"--set", "strategy.comm_hook=powersgd"});
  CHECK(platform_of(compressed[0]) == "aws-g6e.48xlarge");
  CHECK(compressed[0].at("costs").at("fastest") == true);
}

TEST_CASE("a comparison of faster hardware says that it is a what-if", "[cli][compare]") {
  CHECK_THAT(compare({"--set", "faster.gpu=2", "--set", "faster.network=4"}).output,
             Contains("\nwhat-if, not the real hardware: GPU kernels 2 times, network 4 times as fast\n"));
  CHECK_THAT(compare({}).output, !Contains("what if"));
}

TEST_CASE("costs follow the prices of the given date", "[cli][compare]") {
  const std::vector<std::string> compressed{"--set", "strategy.comm_hook=powersgd"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), compressed.begin(), compressed.end());
    return runs_of(more);
  };
  const auto now = with({});
  for (const auto& then :
       {with({"--price-date", "2025-03-01"}), with({"--prices", "aws-us-east-1-2025-01"})}) {
    CHECK(then[1].at("price").at("usd_per_node_hour") == 32.7726);
    CHECK(then[1].at("price").at("date") == "2025-01-15");
    CHECK(then[1].at("metrics").at("step_time_s") == now[1].at("metrics").at("step_time_s"));
    CHECK(
        then[1].at("metrics").at("cost_usd_per_million_samples").get<double>() ==
        Approx(now[1].at("metrics").at("cost_usd_per_million_samples").get<double>() * 32.7726 / 21.957642));
  }
}

TEST_CASE("a run of a comparison is the report of that run with its cost", "[cli][compare]") {
  const auto runs = runs_of({"--samples", "1.2e9"});
  const auto alone = Json::parse(run_gradway({"run", "article/p4d", "--engine", "fluid", "--json"}).output);
  CHECK(runs[0].at("metrics") == alone.at("metrics"));
  CHECK(runs[0].at("basis") == alone.at("basis"));
  CHECK(runs[0].at("interval").at("step_time_s") == alone.at("interval").at("step_time_s"));
  for (const auto& run : runs) {
    const auto& costs = run.at("costs");
    const auto& metrics = run.at("metrics");
    const auto per_hour = metrics.at("cost_usd_per_hour").get<double>();
    CHECK(costs.at("usd_per_step").get<double>() ==
          Approx(per_hour / 3600 * metrics.at("step_time_s").get<double>()));
    CHECK(costs.at("run_hours").get<double>() ==
          Approx(1.2e9 / metrics.at("samples_per_s").get<double>() / 3600));
    CHECK(costs.at("run_usd").get<double>() ==
          Approx(1200 * metrics.at("cost_usd_per_million_samples").get<double>()));
    const auto range = run.at("interval").at("run_usd").get<std::vector<double>>();
    CHECK(range.at(0) < costs.at("run_usd").get<double>());
    CHECK(range.at(1) > costs.at("run_usd").get<double>());
  }
}

TEST_CASE("impossible combinations are left out with the reason", "[cli][compare]") {
  const auto outcome =
      compare({"--gpus", "4,8"}, {"compare", "article/p4d", "--platforms", "h200-4x,aws-p4d.24xlarge"});
  CHECK(outcome.status == 0);
  CHECK_THAT(
      outcome.output,
      Contains("left out") &&
          Contains("h200-4x, 8 GPUs: job.gpus 8 is more than the 4 GPUs of the\n               platform"));
  // Without a price it stands last.
  CHECK(outcome.output.find("h200-4x") > outcome.output.find("aws-p4d.24xlarge"));

  const auto memory =
      compare({"--set", "model=gpt_small", "--set", "job.batch_per_gpu=40"},
              {"compare", "article/p4d", "--platforms", "h200-4x,aws-p4d.24xlarge", "--gpus", "4", "--csv"});
  CHECK(memory.status == 0);
  CHECK_THAT(memory.output, Contains("\nh200-4x,4,0.") && Contains("does not fit: ") &&
                                Contains(" of 42.9 GB on each a100-sxm-40gb ("));
}

TEST_CASE("indistinguishable platforms are tied, and none is marked as the best", "[cli][compare]") {
  const std::vector<std::string> twins{"compare", "article/p4d", "--platforms",
                                       "aws-p5.48xlarge,dgx-h100,aws-p4d.24xlarge"};
  const auto table = compare({}, twins).output;
  CHECK_THAT(table, Contains("  tied") && Contains("tied with") && !Contains("  fastest\n"));
  const auto json = Json::parse(compare({"--json"}, twins).output);
  CHECK(json.at("fastest").is_null());
  const auto& tied = json.at("tied").at("fastest");
  CHECK(tied.at("runs").size() == 2);
  CHECK(tied.at("first_is_ahead").at(0) == 0.5);
  CHECK(tied.at("first_is_ahead").at(1).get<double>() < 0.95);
  for (const auto& run : json.at("runs")) {
    CHECK(run.at("costs").at("fastest") == false);
    const bool is_tied = platform_of(run) != "aws-p4d.24xlarge";
    CHECK(run.at("costs").at("tied") == (is_tied ? Json{"speed"} : Json::array()));
  }
  CHECK_THAT(compare({"--csv"}, twins).output, Contains(",anchored,tied,,true,\n"));
}

TEST_CASE("between instances with the same GPUs the known price decides", "[cli][compare]") {
  const std::vector<std::string> alike{"compare", "article/p4d", "--platforms",
                                       "aws-p5.48xlarge,gcp-a3-highgpu-8g,azure-nd96isr-h100-v5"};
  const auto json = Json::parse(compare({"--json"}, alike).output);
  CHECK(json.at("tied").at("fastest").at("runs").size() == 3);
  CHECK(json.at("tied").at("cheapest").is_null());
  CHECK(platform_of(json.at("runs").at(json.at("cheapest").get<std::size_t>())) == "aws-p5.48xlarge");
  CHECK_THAT(compare({}, alike).output, Contains("cheapest     aws-p5.48xlarge, 8 GPUs on 1 node: ") &&
                                            Contains("cheaper than each of the"));
}

TEST_CASE("a comparison has the sources of prices, and the platforms without a price", "[cli][compare]") {
  const auto table = compare({}, {"compare", "article/p4d", "--platforms",
                                  "aws-p5.48xlarge,gcp-a3-highgpu-8g,dgx-h100,azure-nc96ads-a100-v4"})
                         .output;
  CHECK_THAT(table, Contains("- us-east-1, 2026-07-20: aws-p5.48xlarge\n") &&
                        Contains("gcp-a3-highgpu-8g\n") &&
                        Contains("  no price     dgx-h100: not ranked by cost;"));
  CHECK_THAT(table, Contains("azure-nc96ads-a100-v4     8      2  "));  // nodes of four GPUs
}

TEST_CASE("a comparison of a model of text shows tokens per second and GPU", "[cli][compare]") {
  const std::vector<std::string> text{"compare", "sharded/llama2_7b", "--platforms", "aws-p5.48xlarge"};
  const auto run = Json::parse(compare({"--json"}, text).output).at("runs").at(0);
  CHECK(run.at("metrics").at("tokens_per_s_per_gpu").get<double>() ==
        Approx(run.at("metrics").at("tokens_per_s").get<double>() /
               run.at("scenario").at("job").at("gpus").get<int>()));
  CHECK_THAT(compare({}, text).output, Contains("tokens/s/GPU") && !Contains("samples/s "));
}

TEST_CASE("a comparison of mixed provenance says so in the table", "[cli][compare]") {
  const std::vector<std::string> unlike{"compare", "article/p4d", "--platforms",
                                        "aws-p4d.24xlarge,aws-p5.48xlarge,aws-p6-b200.48xlarge"};
  const auto mixed = compare({}, unlike).output;
  CHECK_THAT(mixed, Contains(" ms+ ") && Contains("\n+ anchored: ") && Contains(" ms~ ") &&
                        Contains("\n~ moved: ") && Contains("\nno mark: measured"));
  const auto begins_a_letter = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  std::istringstream lines{mixed};  // text is wrapped; a table that goes into a file is as wide as it is
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("aws-") && !line.starts_with("platform"))
      CHECK(std::count_if(line.begin(), line.end(), begins_a_letter) <= 80);
  CHECK(Json::parse(compare({"--json"}, unlike).output).at("mixed_evidence") == true);
  CHECK_THAT(compare({}).output, !Contains("no mark: measured"));  // both of the article are measured
}

TEST_CASE("an unknown platform is an error, and nothing is compared", "[cli][compare]") {
  const auto wrong = compare({}, {"compare", "article/p4d", "--platforms", "aws-p4d.24xlarge,aws-p4"});
  CHECK(wrong.status == 2);
  CHECK(wrong.output.empty());
  CHECK_THAT(wrong.errors, Contains("--platforms aws-p4: error: unknown platform 'aws-p4'"));
}

TEST_CASE("all errors are reported if nothing runs", "[cli][compare]") {
  const auto wrong = compare({}, {"compare", "article/p4d", "--platforms", "aws-p4,aws-g6"});
  CHECK(wrong.status == 2);
  CHECK(wrong.output.empty());
  CHECK_THAT(wrong.errors, Contains("--platforms aws-p4: error: unknown platform 'aws-p4'") &&
                               Contains("--platforms aws-g6: error: unknown platform 'aws-g6'"));
  const auto large = compare({"--set", "model=gpt_small", "--set", "job.batch_per_gpu=64"});
  CHECK(large.status == 2);
  CHECK(large.output.empty());
  CHECK_THAT(
      large.errors,
      Contains(" of 42.9 GB on each a100-sxm-40gb (") &&
          Contains("hint: no platform has enough memory: use a smaller batch, or GPUs with more memory\n"));
}

TEST_CASE("a comparison gives the same bytes on one thread and on several, and cuts nothing",
          "[cli][compare]") {
  const std::vector<std::string> combinations{"--gpus", "2,4,8", "--samples", "3e8", "--jobs"};
  const auto with = [&](const char* jobs) {
    auto arguments = combinations;
    arguments.emplace_back(jobs);
    return compare(arguments).output;
  };
  const auto table = with("1");
  CHECK(table == with("4"));
  CHECK_THAT(table, !Contains("…"));
}

TEST_CASE("a comparison writes its files into a folder", "[cli][compare]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "out").string();
  const auto outcome = compare({"--out", out, "--csv"});
  CHECK(outcome.errors ==
        "wrote " + out + "/compare.json, " + out + "/compare.csv and " + out + "/report.html\n");
  CHECK(content_of(folder.path() / "out" / "compare.csv") == outcome.output);
  CHECK(Json::parse(content_of(folder.path() / "out" / "compare.json")).at("runs").size() == 2);
  const auto rows = outcome.output;
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  std::istringstream lines{rows};
  std::string head;
  std::getline(lines, head);
  for (std::string line; std::getline(lines, line);) CHECK(commas(line) == commas(head));
}

TEST_CASE("what misses a limit of the training is listed with the reason and not ranked", "[cli][compare]") {
  // 1.2e9 samples: 11.3 days on p4d, 38.3 days on g6e
  const auto both = Json::parse(compare({"--samples", "1.2e9", "--json"}).output);
  const auto seconds = [&](std::size_t run) {
    return both.at("runs").at(run).at("training").at("seconds").get<double>();
  };
  REQUIRE(seconds(0) < seconds(1));
  CHECK(both.at("runs").at(0).at("training").at("deadline_met").is_null());

  const auto limit = std::to_string((seconds(0) + seconds(1)) / 2) + " s";
  const auto limited = Json::parse(compare({"--samples", "1.2e9", "--deadline", limit, "--json"}).output);
  REQUIRE(limited.at("runs").size() == 1);
  CHECK(platform_of(limited.at("runs").at(0)) == "aws-p4d.24xlarge");
  CHECK(limited.at("runs").at(0).at("training").at("deadline_met") == "yes");
  const auto& left_out = limited.at("left_out").at(0);
  CHECK(left_out.at("platform") == "aws-g6e.48xlarge");
  CHECK(left_out.at("training").at("deadline_met") == "no");
  CHECK_FALSE(left_out.contains("fits"));

  const auto table = compare({"--samples", "1.2B", "--deadline", "20 days", "--budget", "100k USD"}).output;
  CHECK_THAT(table,
             Contains("  1.2 B samples  ") && Contains("  met  ") && Contains("  yes  ") &&
                 Contains("left out     aws-g6e.48xlarge: takes 38.31 days (32.1 to 46 days), but the\n"
                          "               deadline is 20 days"));
}

TEST_CASE("a comparison without a platform that keeps the limits has the reasons", "[cli][compare]") {
  const auto outcome = compare({"--samples", "1.2e9", "--budget", "$5"});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.output, Contains("\nno platform meets the limits of the training\n") &&
                                 Contains("is 5 USD") && !Contains("bound by"));
  const auto json = Json::parse(compare({"--samples", "1.2e9", "--budget", "$5", "--json"}).output);
  CHECK(json.at("runs").empty());
  CHECK(json.at("left_out").size() == 2);
  CHECK(json.at("fastest").is_null());
  CHECK_THAT(compare({"--samples", "1.2e9", "--budget", "$5", "--csv"}).output,
             Contains("aws-p4d.24xlarge,") && Contains(",true,\"costs "));
}

TEST_CASE("GPUs that are paid for and have no rank are named, and instances with one GPU have none",
          "[cli][compare]") {
  const std::vector<std::string> one{
      "compare", "article/p4d", "--platforms", "aws-p5.48xlarge,aws-p5.4xlarge,aws-g5.xlarge", "--gpus", "1"};
  const auto runs = Json::parse(compare({"--json"}, one).output).at("runs");
  REQUIRE(runs.size() == 3);
  for (const auto& run : runs) {
    const bool is_large = platform_of(run) == "aws-p5.48xlarge";
    CHECK(run.at("metrics").at("idle_gpus") == (is_large ? 7 : 0));
    if (platform_of(run) != "aws-g5.xlarge")
      CHECK(run.at("metrics").at("cost_usd_per_hour") == (is_large ? 55.04 : 6.88));
  }
  CHECK(platform_of(runs.back()) == "aws-p5.48xlarge");
  CHECK_THAT(compare({}, one).output, Contains("are paid for on aws-p5.48xlarge (7 of 8)"));
  CHECK_THAT(run_gradway({"run", "article/p4d", "--gpus", "7"}).output,
             Contains("USD per million samples; 1 GPU is paid and\n"));
}

TEST_CASE("platforms are chosen by their GPU, by a pattern or a name", "[cli][compare]") {
  const auto platforms = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"compare", "article/p4d", "--gpus", "8", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<std::string> found;
    const auto document = Json::parse(run_gradway(arguments).output);
    for (const auto& run : document.at("runs")) found.push_back(platform_of(run));
    std::ranges::sort(found);
    return found;
  };
  const std::vector<std::string> h100{"aws-p5.48xlarge", "azure-nd96isr-h100-v5"};
  CHECK(platforms({"--gpu", "h100", "--platforms", "aws-p5.48*,azure-*"}) == h100);
  CHECK(platforms({"--platforms", "aws-p5.48*,azure-*h100*"}) == h100);
  CHECK(std::ranges::includes(platforms({"--platforms", "*h100*"}), h100));
  // An L40S is no L4.
  CHECK(platforms({"--gpu", "l4", "--platforms", "aws-*48*"}) == std::vector<std::string>{"aws-g6.48xlarge"});
  CHECK_THAT(run_gradway({"compare", "article/p4d", "--gpu", "h1000"}).errors,
             Contains("error: no platform has the GPU 'h1000'\n  hint: did you mean 'h100'?"));
}

TEST_CASE("a pattern selects all platforms with a matching name once", "[cli][compare]") {
  const auto pattern = run_gradway({"compare", "article/p4d", "--platforms",
                                    "aws-p4d.24xlarge,aws-p4*,dgx-h?00", "--gpus", "7..8", "--csv"});
  const auto named =
      run_gradway({"compare", "article/p4d", "--platforms",
                   "aws-p4d.24xlarge,aws-p4de.24xlarge,dgx-h100,dgx-h200", "--gpus", "7,8", "--csv"});
  CHECK(pattern.status == 0);
  CHECK(pattern.output == named.output);
}

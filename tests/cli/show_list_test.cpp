// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Json = nlohmann::json;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("platforms, models and plans are shown", "[cli][show]") {
  const auto platform = run_gradway({"show", "platform", "aws-g6e.48xlarge"});
  CHECK(platform.status == 0);
  CHECK(platform.errors.empty());
  CHECK_THAT(platform.output, Contains("GPU0  X     NODE  NODE  NODE  SYS   SYS   SYS   SYS "));
  CHECK_THAT(platform.output, Contains("GPU0  X     SHM "));

  const auto model = run_gradway({"show", "model", "vit_l_32"});
  CHECK(model.status == 0);
  CHECK_THAT(model.output, Contains("306,535,400 in 296 tensors"));  // torchvision's own count

  const auto plan = run_gradway({"show", "plan", "article/g6e", "--set", "strategy.bucket_cap=1 GiB"});
  CHECK(plan.status == 0);
  CHECK_THAT(plan.output, Contains("buckets of 1 GiB") && Contains("communication  collective      2 "));
}

TEST_CASE("every name that is listed can be shown", "[cli][list]") {
  using Row = std::tuple<std::string, std::string, std::string>;
  const auto [kind, shown, expected] = GENERATE(values<Row>({{"platforms", "platform", "aws-p4d.24xlarge"},
                                                             {"models", "model", "vit_l_32"},
                                                             {"scenarios", "plan", "article/g6e"},
                                                             {"storage", "storage", "s3-standard"},
                                                             {"datasets", "dataset", "imagenet-1k"}}));
  const auto list = run_gradway({"list", kind});
  CHECK(list.status == 0);
  CHECK(list.errors.empty());
  CHECK_THAT(list.output, Contains(expected + "  "));
  CHECK_THAT(list.output, !Contains("cannot be read"));

  std::istringstream lines{list.output};
  std::string line;
  if (kind == "platforms") std::getline(lines, line);  // titles
  while (std::getline(lines, line)) {
    const auto name = line.substr(0, line.find(' '));
    CAPTURE(name);
    CHECK(run_gradway({"show", shown, name}).status == 0);
  }
}

TEST_CASE("a scenario without a model is listed as what it is", "[cli][list]") {
  CHECK_THAT(run_gradway({"list", "scenarios"}).output,
             Contains(" a collective on 8 GPUs of aws-p5.48xlarge\n"));
}

TEST_CASE("a list holds what GRADWAY_PATH adds, and files that are wrong", "[cli][list]") {
  const TemporaryFolder folder;
  folder.write("models/broken.yaml", "schema: 1\nlayers: nonsense\n");

  const auto list = run_gradway({"list", "models"}, {.gradway_path = folder.path()});

  CHECK(list.status == 0);
  CHECK_THAT(list.output, Contains("broken ") && Contains(" the file is invalid\n"));
  CHECK_THAT(list.output, Contains("vit_l_32"));
}

TEST_CASE("platforms are listed with what they are, as a table and as JSON", "[cli][list]") {
  const TemporaryFolder folder;
  folder.write("platforms/broken.yaml", "schema: 1\ngpu: nonsense\n");
  const World world{.gradway_path = folder.path()};

  const auto table = run_gradway({"list", "platforms"}, world);
  CHECK(table.status == 0);
  CHECK_THAT(table.output,
             StartsWith("platform ") && Contains("\nbroken ") && Contains(" the file is invalid\n"));
  const auto json = run_gradway({"list", "platforms", "--json"}, world);
  CHECK(json.status == 0);
  CHECK(json.errors.empty());
  const auto platforms = nlohmann::json::parse(json.output).at("platforms");
  const auto named = [&](const std::string& name) {
    return *std::ranges::find_if(platforms, [&](const auto& one) { return one.at("name") == name; });
  };
  CHECK_FALSE(named("broken").at("readable").get<bool>());
  const auto p5 = named("aws-p5.48xlarge");
  CHECK(p5.at("gpu") == "h100-sxm");
  CHECK(p5.at("gpus_per_node") == 8);
  CHECK(p5.at("network").at("kind") == "efa");
  CHECK(p5.at("price").at("usd_per_node_hour") == 55.04);
  CHECK(named("dgx-h100").at("price").is_null());
}

TEST_CASE("models, scenarios, storage and datasets are listed as JSON, too", "[cli][list]") {
  const auto kind = GENERATE(as<std::string>{}, "models", "scenarios", "storage", "datasets");
  CAPTURE(kind);
  const auto json = run_gradway({"list", kind, "--json"});
  CHECK(json.status == 0);
  CHECK(json.errors.empty());
  std::string names;
  const auto document = Json::parse(json.output);
  for (const auto& one : document.at(kind)) {
    names += one.at("name").get<std::string>() + '\n';
    CHECK_FALSE(one.at("description").get<std::string>().empty());
  }
  std::string listed;
  std::istringstream lines{run_gradway({"list", kind}).output};
  for (std::string line; std::getline(lines, line);) listed += line.substr(0, line.find(' ')) + '\n';
  CHECK(names == listed);
}

TEST_CASE("the keys of a scenario are listed, as text and as JSON", "[cli][list]") {
  const auto text = run_gradway({"list", "keys"});
  CHECK(text.status == 0);
  CHECK(text.errors.empty());
  CHECK_THAT(text.output,
             Contains("\njob.gpus: 1 to 1048576; required\n    number of ranks") &&
                 Contains("\noptimizer: sgd, adamw, adamw_fused, sgd_momentum, adamw_8bit, "
                          "lion, lamb, muon, paged_adamw_8bit, adafactor, adamw_loop; sgd if left out\n"));
  const auto json = run_gradway({"list", "keys", "--json"});
  CHECK(json.status == 0);
  const auto keys = Json::parse(json.output).at("keys");
  const auto found =
      std::ranges::find_if(keys, [](const Json& key) { return key.at("key") == "faster.gpu"; });
  REQUIRE(found != keys.end());
  CHECK(found->at("default") == "1");
  CHECK(found->at("set") == true);
}

TEST_CASE("own data stands beside the installed data, whatever the working folder", "[cli][list]") {
  const TemporaryFolder folder;
  folder.write("platforms/two-p4d.yaml",
               "schema: 1\nsource: my rack\nbased_on: aws-p4d.24xlarge\nnodes: 2\n"
               "fabric: { kind: star, bandwidth: 12.5 GB/s, latency: 10 us }\n");
  folder.write("my.yaml",
               "schema: 1\nmodel: gpt_small\nplatform: two-p4d\n"
               "job: { gpus: 16, batch_per_gpu: 8, precision: bf16 }\noptimizer: adamw\n");

  const auto outcome = run_gradway({"run", "my.yaml"}, {.folder = folder.path()});
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("16 x a100-sxm-40gb on 2 nodes") != std::string::npos);
  CHECK_THAT(outcome.output, !Contains("shipped with gradway"));
  const auto platforms =
      run_gradway({"list", "platforms"}, {.folder = folder.path(), .gradway_path = "."}).output;
  CHECK(platforms.find("two-p4d") != std::string::npos);
  CHECK(platforms.find("aws-p4d.24xlarge") != std::string::npos);
}

TEST_CASE("all commands find names of the working folder before the data folders", "[cli][list]") {
  const TemporaryFolder folder;
  const auto shipped =
      content_of(std::filesystem::path{GRADWAY_SOURCE_DIR} / "platforms/aws-g6e.48xlarge.yaml");
  folder.write("platforms/box.yaml", shipped);
  folder.write("beside.yaml", shipped);
  folder.write("models/tiny.yaml", "schema: 1\nsource: made up\nbased_on: gpt_124m\nlayers: 2\n");
  folder.write("hydra.yaml", "defaults: [base]\nlr: 0.1\n");
  folder.write("gpt_124m.yaml",
               "schema: 1\nmodel: gpt_124m\nplatform: box\njob: { gpus: 8, batch_per_gpu: 1, precision: bf16 "
               "}\noptimizer: adamw\n");
  const auto run = [&](const std::vector<std::string>& arguments) {
    CAPTURE(arguments);
    const auto outcome = run_gradway(arguments, {.folder = folder.path()});
    CHECK(outcome.errors == "");
    CHECK(outcome.status == 0);
    return outcome.output;
  };

  for (const std::string platform : {"box", "beside"}) {
    run({"show", "platform", platform});
    run({"run", "article/g6e", "--platform", platform});
    run({"compare", "article/g6e", "--platforms", platform});
    run({"init", "--model", "tiny", "--platform", platform, "--gpus", "8"});
    run({"plan", "--model", "tiny", "--platforms", platform, "--gpus", "8", "--tokens", "1B", "--seeds",
         "2"});
  }
  // Files are names, too, and a scenario or another program's file with the name of a model is no model.
  CHECK(run({"init", "--model", "models/tiny.yaml", "--platform", "platforms/box.yaml", "--gpus", "8"}) ==
        run({"init", "--model", "tiny", "--platform", "box", "--gpus", "8"}));
  run({"init", "--model", "gpt_124m", "--platform", "box", "--gpus", "8"});
  CHECK_THAT(run({"list", "platforms"}), Contains("\nbox "));
  CHECK_THAT(run_gradway({"show", "model", "hydra"}, {.folder = folder.path()}).errors,
             Contains("there is no such file"));

  folder.write("platforms/aws-g6e.48xlarge.yaml", shipped + "# mine\n");
  CHECK_THAT(run({"run", "article/g6e", "--json"}),
             Contains("read from 'platforms/aws-g6e.48xlarge.yaml' instead of the file that is shipped"));
}

TEST_CASE("a name that hides one of gradway's own data is reported", "[cli][list]") {
  const TemporaryFolder folder;
  const auto shipped =
      content_of(std::filesystem::path{GRADWAY_SOURCE_DIR} / "platforms/aws-g6e.48xlarge.yaml");
  folder.write("data/platforms/aws-g6e.48xlarge.yaml", shipped + "# mine\n");
  folder.write("beside/platforms/aws-g6e.48xlarge.yaml", shipped + "# mine\n");
  std::filesystem::copy_file(std::filesystem::path{GRADWAY_SOURCE_DIR} / "scenarios/article/g6e.yaml",
                             folder.path() / "beside" / "g6e.yaml");
  const auto warnings = [&](const std::string& scenario, const std::string& path) {
    const auto outcome =
        run_gradway({"run", scenario, "--json"}, {.folder = folder.path(), .gradway_path = path});
    REQUIRE(outcome.status == 0);
    CHECK_THAT(outcome.output, !Contains(folder.path().string()));
    return Json::parse(outcome.output).at("warnings");
  };
  const auto count_of = [&](const Json& list, const std::string& file) {
    return std::ranges::count(list, Json("the platform aws-g6e.48xlarge is read from '" + file +
                                         "' instead of the file that is shipped with gradway"));
  };
  CHECK(count_of(warnings("article/g6e", "data"), "data/platforms/aws-g6e.48xlarge.yaml") == 1);
  CHECK(count_of(warnings("beside/g6e.yaml", ""), "beside/platforms/aws-g6e.48xlarge.yaml") == 1);
  CHECK(count_of(warnings("article/g6e", (folder.path() / "data").string()),
                 "platforms/aws-g6e.48xlarge.yaml") == 1);
  CHECK_THAT(warnings("article/g6e", "").dump(), !Contains("shipped with gradway"));
}

TEST_CASE("a file whose name cannot be a name is not listed", "[cli][list]") {
  const TemporaryFolder folder;
  for (const auto* name : {"caf\xe9", "my node", "-\x1b[2J", "good-name"})
    folder.write(std::string{"platforms/"} + name + ".yaml", "schema: 1\n");
  const auto arguments = GENERATE(std::vector<std::string>{"list", "platforms"},
                                  std::vector<std::string>{"list", "platforms", "--json"});
  const auto outcome = run_gradway(arguments, {.gradway_path = folder.path().string()});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output,
             Contains("good-name") && !Contains("caf") && !Contains("my node") && !Contains("2J"));
}

TEST_CASE("GPUs and calibrations are listed with what helps to choose, as tables and as JSON",
          "[cli][list]") {
  const TemporaryFolder folder;
  folder.write("platforms/gpus/broken.yaml", "schema: 1\npeak: nonsense\n");
  folder.write("calibration/results/broken/calibration.yaml", "schema: 1\ntables: nonsense\n");
  const World world{.gradway_path = folder.path()};

  const auto gpus = run_gradway({"list", "gpus"}, world);
  CHECK(gpus.status == 0);
  CHECK_THAT(gpus.output, StartsWith("GPU ") && Contains("\nbroken ") && Contains(" the file is invalid\n"));
  CHECK_THAT(gpus.output, Contains("67  494.5    989    989   1979         -  timed\n"));
  const auto calibrations = run_gradway({"list", "calibrations"}, world);
  CHECK(calibrations.status == 0);
  CHECK_THAT(calibrations.output,
             StartsWith("calibration ") && Contains("\nbroken ") && Contains(" kernels of h200\n"));

  const auto all = Json::parse(run_gradway({"list", "gpus", "--json"}, world).output)["gpus"];
  const auto of_name = [&](const std::string& name) {
    return *std::ranges::find_if(all, [&](const Json& one) { return one["name"] == name; });
  };
  CHECK(of_name("broken")["readable"] == false);
  CHECK(of_name("h200")["peak_flops_per_s"]["bf16"] == 989e12);
  CHECK(of_name("h200")["kernels_timed_on"] == "h200");
  CHECK(of_name("l4")["kernels_timed_on"] == "h100-sxm");
  CHECK(of_name("v100-pcie-16gb")["peak_flops_per_s"]["bf16"].is_null());
  const auto measured = Json::parse(run_gradway({"list", "calibrations", "--json"}, world).output);
  CHECK(measured["calibrations"].size() > 9);
}

TEST_CASE("the plan of a compiled layout names the gradients of its buckets", "[cli][show]") {
  const TemporaryFolder folder;
  folder.write("s.yaml",
               "schema: 1\nmodel: tinyllama_1b1\nplatform: dgx-h100\njob: { gpus: 16, batch_per_gpu: 2, "
               "precision: fp32, accumulate: 8, sequence: 256 }\nparallel: { tensor: 2, pipeline: 4 }\n");
  const auto buckets = [&](const std::string& compile) {
    const auto outcome =
        run_gradway({"show", "plan", "s.yaml", "--set", "job.compile=" + compile}, {.folder = folder.path()});
    CHECK(outcome.status == 0);
    return outcome.output.substr(std::min(outcome.output.find("first ready"), outcome.output.size()));
  };
  CHECK_THAT(buckets("false"), Contains("wte.weight"));
  CHECK(buckets("true") == buckets("false"));
}

TEST_CASE("prices are listed with their age on a day, and a warning counts the old ones", "[cli][list]") {
  const TemporaryFolder folder;
  folder.write(
      "platforms/box.yaml",
      "schema: 1\nsource: a test\ngpu: h200\n"
      "node: { gpus: 2, links: [ { from: gpu0, to: gpu1, kind: nvlink, bandwidth: 300 GB/s } ] }\nprice:\n"
      "  - { per_node_hour: 10 USD/h, region: here, date: 2026-11-01, source: a list of prices }\n"
      "  - { per_node_hour: 12 USD/h, region: here, date: 2026-01-01, source: a list of prices }\n"
      "  - { per_node_hour: 9 USD/h, region: there, date: 2026-01-01, source: a list of prices }\n");
  folder.write("platforms/prices/mine.yaml",
               "schema: 1\nsource: my contract\nprices:\n"
               "  - { platform: box, per_node_hour: 5 USD/h, region: here, date: 2025-11-26 }\n");
  const auto of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"list", "prices"});
    return run_gradway(arguments, {.folder = folder.path(), .gradway_path = "."});
  };
  const auto row = [](const std::string& output, const std::string& price) {
    const auto at = output.find("box ");
    for (auto line = at; line != std::string::npos; line = output.find("\nbox ", line + 1))
      if (const auto text = output.substr(line, output.find('\n', line + 1) - line);
          text.find(price) != std::string::npos)
        return text;
    return std::string{};
  };
  CHECK(run_gradway({"list", "prices"}).errors.empty());  // prices of gradway itself are not stale
  const auto all = of({});
  CHECK_THAT(all.errors, Contains("prices are more than 180 days older than the newest one, of 2026-11-") &&
                             Contains("'--older-than 180d --today 2026-11-"));
  CHECK_THAT(row(all.output, " 10.00"), Contains(" 5.00 ") && Contains("here") && Contains("2026-11-01"));
  CHECK(row(all.output, " 12.00").empty());  // a newer one of the region is known
  CHECK_THAT(all.output, !Contains("days old"));
  const auto old = of({"--older-than", "90d", "--today", "2026-11-26"});
  CHECK(old.status == 0);
  CHECK_THAT(row(old.output, " 9.00"), Contains("there") && Contains("329"));
  CHECK_THAT(row(old.output, " 5.00"), Contains("mine") && Contains("365"));
  CHECK(row(old.output, " 10.00").empty());
  CHECK_THAT(old.errors, Contains("prices are older than 90 days on 2026-11-26"));
  CHECK_THAT(of({"--older-than", "36500d", "--today", "2026-11-26"}).errors,
             Contains("no price is older than 36500 days on 2026-11-26"));
  const auto wrong = of({"--older-than", "three months"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.errors,
             Contains("'--older-than three months' is not a number of days\n  hint: write it as 90d"));
  CHECK(of({"--older-than", "90d", "--today", "26.11.2026"}).status == 2);
  const auto cheapest = of({"--gpu", "h200"}).output;
  CHECK(cheapest.find(" 2.50") <
        cheapest.find(" 4.50"));  // a GPU of the box in the list, and at its own price
  CHECK(cheapest.find("h100") == std::string::npos);
  CHECK_THAT(run_gradway({"list", "gpus", "--older-than", "90d"}).errors,
             Contains("'gradway list gpus' does not have '--older-than'\n  hint: it is an option of prices"));
}

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

// The closed form of scale/ddp-24 is in design.md; here only its ratio to made-up measurements counts.
constexpr const char* job = R"(schema: 1
model: ddp-24
platform: synthetic-ring
job: { gpus: 2, batch_per_gpu: 1 }
)";

std::string cases(const std::string& rows) {
  return "schema: 1\nscenario: job.yaml\nsource: made up for tests\ncases:\n" + rows;
}

double step_of(const std::filesystem::path& folder) {
  const auto outcome = run_gradway({"run", "job.yaml", "--json"}, {.folder = folder});
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output)["metrics"]["step_time_s"];
}

}  // namespace

TEST_CASE("predictions are compared with measurements", "[cli][validate]") {
  const TemporaryFolder folder;
  folder.write("job.yaml", job);
  const auto step = step_of(folder.path());
  folder.write("cases.yaml", cases("  - { name: slow, set: {}, step_time: " + std::to_string(step * 2e6) +
                                   " us }\n" + "  - { name: fast, set: {}, step_time: " +
                                   std::to_string(step * 1e6 / 1.25) + " us }\n"));

  const auto json = run_gradway({"validate", "cases.yaml", "--json"}, {.folder = folder.path()});
  REQUIRE(json.status == 0);
  CHECK(json.errors.empty());
  const auto validation = Json::parse(json.output);
  CHECK(validation["cases"][0]["name"] == "slow");
  CHECK(validation["cases"][0]["predicted_s"].get<double>() == step);
  CHECK(validation["cases"][0]["error"].get<double>() == Approx(-0.5));
  CHECK(validation["cases"][1]["error"].get<double>() == Approx(0.25));
  CHECK(validation["mean_abs_error"].get<double>() == Approx(0.375));
  CHECK(validation["max_abs_error"].get<double>() == Approx(0.5));
  CHECK(validation["bias"].get<double>() == Approx(-0.125));

  for (const auto& one : validation["cases"]) {
    CHECK(one["interval_s"][0] <= one["predicted_s"]);
    CHECK(one["interval_s"][1] >= one["predicted_s"]);
  }
  const auto kept = run_gradway({"validate", "cases.yaml", "--out", "out"}, {.folder = folder.path()});
  CHECK(kept.errors == "wrote out/validate.json and out/report.html\n");
  CHECK(content_of(folder.path() / "out" / "validate.json") == json.output);

  const auto table = run_gradway({"validate", "cases.yaml"}, {.folder = folder.path()});
  CHECK(table.status == 0);
  CHECK(table.output == kept.output);
  CHECK_THAT(table.output, Contains("-50.00 %") && Contains("+25.00 %"));
  CHECK_THAT(table.output, Contains("mean |error| 37.50 %, worst -50.00 % (slow), bias -12.50 %, 2 cases"));

  const auto mean =
      run_gradway({"validate", "cases.yaml", "--max-mean-error", "37%"}, {.folder = folder.path()});
  CHECK(mean.status == 4);
  CHECK(mean.output == table.output);
  CHECK(mean.errors == "error: the mean error of 37.50 % exceeds the limit of 37 %\n");

  const auto worst =
      run_gradway({"validate", "cases.yaml", "--json", "--max-error", "49.5"}, {.folder = folder.path()});
  CHECK(worst.status == 4);
  CHECK(worst.output == json.output);
  CHECK(worst.errors == "error: the largest error of 50.00 % exceeds the limit of 49.5 %\n");

  const auto within = run_gradway({"validate", "cases.yaml", "--max-mean-error", "38", "--max-error=51%"},
                                  {.folder = folder.path()});
  CHECK(within.status == 0);
  CHECK(within.errors.empty());
}

TEST_CASE("a case that cannot be loaded is named, and nothing is compared", "[cli][validate]") {
  const TemporaryFolder folder;
  folder.write("job.yaml", job);
  folder.write("cases.yaml", cases("  - { name: good, set: {}, step_time: 1 ms }\n"
                                   "  - { name: broken, set: { model: nothing }, step_time: 1 ms }\n"));

  const auto outcome = run_gradway({"validate", "cases.yaml"}, {.folder = folder.path()});

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Contains("'nothing'") && Contains("in case 'broken'") && !Contains("good"));
}

TEST_CASE("a key can be set in all cases, above the scenario and below the case", "[cli][validate]") {
  const TemporaryFolder folder;
  folder.write("job.yaml", job);
  folder.write("cases.yaml",
               cases("  - { name: plain, set: {}, step_time: 1 ms }\n"
                     "  - { name: capped, set: { strategy.bucket_cap: 100 MiB }, step_time: 1 ms }\n"));
  const auto validated = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"validate", "cases.yaml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_gradway(arguments, {.folder = folder.path()});
  };
  const auto predicted = [](const Outcome& outcome, int which) {
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.output)["cases"][static_cast<std::size_t>(which)]["predicted_s"].get<double>();
  };
  const auto on_eight =
      run_gradway({"run", "job.yaml", "--set", "job.gpus=8", "--json"}, {.folder = folder.path()});
  CHECK(predicted(validated({"--set", "job.gpus=8"}), 0) ==
        Json::parse(on_eight.output)["metrics"]["step_time_s"].get<double>());

  const auto clash = validated({"--set", "strategy.bucket_cap=1 MiB", "--set", "job.gpus=8"});
  CHECK(clash.status == 2);
  CHECK(clash.output.empty());
  CHECK_THAT(clash.errors, Contains("cases.yaml:6:") &&
                               Contains("case 'capped' sets 'strategy.bucket_cap', so '--set "
                                        "strategy.bucket_cap=1 MiB' cannot set it\n") &&
                               Contains("hint: set only keys that no case sets"));
  CHECK_THAT(validated({"--set", "strategy={}"}).errors, Contains("sets 'strategy.bucket_cap', so"));
  CHECK_THAT(validated({"--set", "job.gpu=8"}).errors, Contains("job.gpus"));
}

TEST_CASE("a problem of all cases is reported once", "[cli][validate]") {
  const TemporaryFolder folder;
  folder.write("job.yaml", std::string{job} + "optimiser: sgd\n");
  folder.write("cases.yaml", cases("  - { name: one, set: {}, step_time: 1 ms }\n"
                                   "  - { name: two, set: {}, step_time: 1 ms }\n"));

  const auto outcome = run_gradway({"validate", "cases.yaml"}, {.folder = folder.path()});

  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors,
             Contains("optimiser") && Contains("in case 'one'") && !Contains("in case 'two'"));
}

TEST_CASE("the shipped cases are validated as one document", "[cli][validate]") {
  const auto outcome = run_gradway({"validate", "scenarios/article/cases.yaml", "--json"});
  REQUIRE(outcome.status == 0);
  const auto validation = Json::parse(outcome.output);
  CHECK(validation["cases"].size() > 5);
  CHECK(validation["mean_abs_error"].get<double>() <= validation["max_abs_error"].get<double>());
}

TEST_CASE("steps in their interval are counted, and one of a single GPU outside of it is given as an anchor",
          "[cli][validate]") {
  const TemporaryFolder folder;
  folder.write("job.yaml",
               "schema: 1\nmodel: gpt2\nplatform: aws-p5.48xlarge\n"
               "job: { gpus: 1, batch_per_gpu: 4, precision: bf16 }\n"
               "strategy: { kind: none }\noptimizer: adamw\n");
  const auto step = std::to_string(step_of(folder.path()) * 1e3);
  folder.write("cases.yaml",
               cases("  - { name: near, set: {}, step_time: " + step + " ms }\n" +
                     "  - { name: far, set: {}, step_time: 1234.5 ms }\n" +
                     "  - { name: two, set: { job.gpus: 2, strategy.kind: ddp }, step_time: 5 s }\n"));
  const auto outcome = run_gradway({"validate", "cases.yaml", "--json"}, {.folder = folder.path()});
  REQUIRE(outcome.status == 0);
  const auto validation = Json::parse(outcome.output);
  CHECK(validation["in_interval"] == 1);
  const auto& all = validation["cases"];
  CHECK(all[0]["in_interval"] == true);
  CHECK_FALSE(all[0].contains("anchor"));
  CHECK_FALSE(all[2].contains("anchor"));

  CHECK(all[0]["group"] == "kernels, one GPU");
  CHECK(all[2]["group"].get<std::string>().starts_with("kernels, P2P"));
  CHECK(validation["counted"] == 3);

  // Pasted into the scenario it is met.
  const auto anchor = all[1]["anchor"].get<std::string>();
  folder.write("anchored.yaml", "schema: 1\nbased_on: job\n" + anchor);
  const auto met = run_gradway({"run", "anchored.yaml", "--json"}, {.folder = folder.path()});
  CAPTURE(met.errors);
  REQUIRE(met.status == 0);
  CHECK(Json::parse(met.output)["metrics"]["step_time_s"].get<double>() == Approx(1.2345).epsilon(0.01));
  // Then it was given: it counts for nothing, however near the prediction comes.
  folder.write("again.yaml",
               "schema: 1\nscenario: anchored.yaml\nsource: made up for tests\ncases:\n"
               "  - { name: far, set: {}, step_time: 1234.5 ms }\n"
               "  - { name: twice, set: { job.batch_per_gpu: 8 }, step_time: 2469 ms }\n");
  const auto again = run_gradway({"validate", "again.yaml", "--json"}, {.folder = folder.path()});
  REQUIRE(again.status == 0);
  const auto counted = Json::parse(again.output);
  CHECK(counted["counted"] == 1);
  CHECK(counted["cases"][0]["is_given"] == true);
  CHECK_FALSE(counted["cases"][1].contains("is_given"));
  CHECK(counted["mean_abs_error"] == std::abs(counted["cases"][1]["error"].get<double>()));
  CHECK_THAT(run_gradway({"validate", "cases.yaml"}, {.folder = folder.path()}).output,
             Contains("\nin the 90 % interval: 1 of 3\n") &&
                 Contains("\n# far is outside its interval; the measured step as an anchor:\n" + anchor));
}

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/json.hpp"
#include "sim/base/make_warning.hpp"

#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/report/made_up_run.hpp"

using namespace gradway;
using Json = nlohmann::ordered_json;

namespace {

std::string text_of(const Run& run) {
  std::ostringstream out;
  report::write_json(out, run, "1.2.3");
  return out.str();
}

Json json_of(const Run& run) {
  return Json::parse(text_of(run));
}

}  // namespace

TEST_CASE("a report has the documented fields in their order", "[report][json]") {
  const auto report = json_of(testing::made_up_run());

  std::vector<std::string> keys;
  for (const auto& [key, value] : report.items()) keys.push_back(key);
  CHECK(keys ==
        std::vector<std::string>{"schema",        "gradway",          "scenario",       "engine",
                                 "ranks",         "metrics",          "interval",       "fits",
                                 "does_not_fit",  "gpu_memory_bytes", "memory_verdict", "memory_largest_part",
                                 "memory",        "peak_of_run",      "price",          "bottleneck",
                                 "links",         "provenance",       "rests_on",       "basis",
                                 "uncertainties", "warnings",         "warning_codes"});
  CHECK(report["schema"] == 1);
  CHECK(report["gradway"] == "1.2.3");
  CHECK(report["engine"] == "fluid");
  CHECK(report["bottleneck"].dump() ==
        R"({"resource":"gpu0 -> gpu1","why":"7 % of the step is exposed communication; )"
        R"(each GPU sends 4.194 MB at 2 GB/s, and this link is saturated during it"})");
  CHECK(report["links"].dump() == R"([{"name":"gpu0 -> gpu1","busy_fraction":0.25,"bytes":4194304},)"
                                  R"({"name":"gpu1 -> gpu0","busy_fraction":0.125,"bytes":0.5}])");
  CHECK(report["basis"].dump() == R"(["compute: explicit times of the model","platform made-up: a book"])");
  CHECK(report["warnings"].dump() == R"(["NCCL_ALGO=RING is accepted, but not modelled"])");
  CHECK(report["warning_codes"].dump() == R"(["unmodelled-nccl-variable"])");
}

TEST_CASE("a report has the metrics in SI units", "[report][json]") {
  const auto report = json_of(testing::made_up_run());

  CHECK(
      report["metrics"].dump() ==
      R"({"step_time_s":0.01,"steps_per_s":100.0,"samples_per_s":6400.0,"tokens_per_s":null,"tokens_per_s_per_gpu":null,)"
      R"("compute_s":0.005,"communication_s":0.005,)"
      R"("exposed_communication_s":0.003,"exposed_s":{"data":0.0,"tensor":0.0,"pipeline":0.0,"context":0.0,"expert":0.0},"input_wait_s":0.001,"optimizer_s":0.001,"launch_bound_s":0.0,"idle_s":0.0,"bubble_s":null,)"
      R"("gpu_busy_fraction":0.6,"tflops_per_gpu":12.5,"mfu":null,"collectives":1,"bytes_sent_per_gpu":4194304,)"
      R"("peak_memory_bytes":2000000000,"cost_usd_per_hour":36.0,"cost_usd_per_million_samples":1.5625,"idle_gpus":0})");
}

TEST_CASE("a report has the interval, the parts of the memory and the price", "[report][json]") {
  auto run = testing::made_up_run();
  run.measured.memory.parameters = 1_GB;
  run.measured.memory.nccl = 2_GB;
  run.measured.memory.slack = 3_GB;
  run.scenario.platform.price = Price{UsdPerHour{36}, "here", "2026-07-20", "a bill"};
  const auto report = json_of(run);
  CHECK(report["interval"].dump() ==
        R"({"step_time_s":[0.009,0.012],"memory_bytes":[2970000000,9030000000]})");
  CHECK(report["memory"]["parameters_bytes"] == 1'000'000'000);
  CHECK(report["memory"]["needed_bytes"] == 6'000'000'000);
  CHECK(
      report["price"].dump() ==
      R"({"usd_per_node_hour":36.0,"by_gpu":false,"terms":"on_demand","region":"here","date":"2026-07-20","source":"a bill","converted_from":null})");
  CHECK(json_of(testing::made_up_run())["price"].is_null());
}

TEST_CASE("a report has the resolved scenario with its defaults", "[report][json]") {
  const auto report = json_of(testing::made_up_run());

  CHECK(
      report["scenario"].dump() ==
      R"({"schema":1,"model":"tiny","platform":"made-up",)"
      R"("job":{"gpus":2,"batch_per_gpu":32,"precision":"fp32","state_dtype":"fp32","accumulate":1,)"
      R"("attention":"auto","memory_format":"contiguous","compile":false,"fused_loss":false,"composed_norms":false,"implementation":"auto","recompute":"none",)"
      R"("framework":"pytorch","zero_grad":"after_step","float_logits":true,"launch_blocking":false,"cuda_graphs":"none","experts":"grouped","clip_grad_norm":false},)"
      R"("strategy":{"kind":"ddp","bucket_cap":"4 MiB","static_graph":false,"gradient_as_bucket_view":false,)"
      R"("comm_hook":"none"},"optimizer":"sgd","nccl":{"NCCL_ALGO":"RING"},)"
      R"("input":{"pin_memory":true,"loader_workers":8,"prefetch":"none","background_copy":"0 B","background_start":"ahead"},"steps":1})");
}

TEST_CASE("settings that a scenario leaves to PyTorch are not in the report", "[report][json]") {
  auto run = testing::made_up_run();
  std::get<Ddp>(run.scenario.job.strategy).bucket_cap.reset();
  CHECK_FALSE(json_of(run)["scenario"]["strategy"].contains("bucket_cap"));

  std::get<Ddp>(run.scenario.job.strategy).comm_hook = CommHook::powersgd;
  std::get<Ddp>(run.scenario.job.strategy).powersgd_rank = 4;
  CHECK(json_of(run)["scenario"]["strategy"]["powersgd_rank"] == 4);

  run.scenario.job.strategy = NoExchange{};
  CHECK(json_of(run)["scenario"]["strategy"].dump() == R"({"kind":"none"})");
}

TEST_CASE("costs are null without a price", "[report][json]") {
  auto run = testing::made_up_run();
  run.measured.metrics.cost_per_hour.reset();
  run.measured.metrics.cost_usd_per_million_samples.reset();

  const auto metrics = json_of(run)["metrics"];
  CHECK(metrics["cost_usd_per_hour"].is_null());
  CHECK(metrics["cost_usd_per_million_samples"].is_null());
}

TEST_CASE("numbers in a report read back as the same numbers", "[report][json]") {
  auto run = testing::made_up_run();
  run.measured.metrics.step_time = Seconds{1.0 / 3.0};
  run.measured.metrics.samples_per_s = 0.1 + 0.2;

  const auto metrics = json_of(run)["metrics"];
  CHECK(metrics["step_time_s"].get<double>() == 1.0 / 3.0);
  CHECK(metrics["samples_per_s"].get<double>() == 0.1 + 0.2);
}

TEST_CASE("the same run gives the same bytes", "[report][json]") {
  CHECK(text_of(testing::made_up_run()) == text_of(testing::made_up_run()));
}

TEST_CASE("bytes that are not UTF-8 do not prevent a report", "[report][json]") {
  auto run = testing::made_up_run();
  run.warnings = {make_warning<"unmodelled-nccl-variable", "name", "value">("\xff", 1)};
  CHECK(json_of(run)["warnings"][0] == "\xEF\xBF\xBD=1 is accepted, but not modelled");
}

TEST_CASE("a report answers the additional questions about a run", "[report][json]") {
  auto run = testing::made_up_run();
  run.measured.metrics.samples = 64;
  CHECK_FALSE(json_of(run).contains("training"));
  report::RunQuestions questions{
      .goal = TrainingGoal{.tokens = {}, .samples = 640000.0, .deadline = Seconds{110}}};
  questions.fit.largest_batch =
      LargestBatch{.batch = 32, .as_written = 8, .needs = 2_GB, .one_more_needs = 3_GB, .tight_batch = 36};
  std::ostringstream out;
  report::write_json(out, run, "1.2.3", questions);
  const auto report = Json::parse(out.str());
  // 10,000 steps of 10 ms (9 to 12 ms) at 36 USD/h
  CHECK(
      report["training"].dump() ==
      R"({"tokens":null,"samples":640000.0,"steps":10000.0,"seconds":100.0,"seconds_low":90.0,)"
      R"("seconds_high":120.0,"cost_usd":1.0,"cost_usd_low":0.8999999999999999,"cost_usd_high":1.2,"deadline_s":110.0,)"
      R"("deadline_met":"may","budget_usd":null,"budget_met":null})");
  CHECK(
      report["largest_batch"].dump() ==
      R"({"batch_per_gpu":32,"as_written":8,"needed_bytes":2000000000,"one_more_needs_bytes":3000000000,"tight_batch_per_gpu":36})");
}

TEST_CASE("a validation has its cases and statistics as fractions", "[report][json]") {
  const report::Validation validation{
      "a stop watch",
      {{"slow", Seconds{1}, Seconds{1.5}, {Seconds{1.25}, Seconds{2}}},
       {"fast", Seconds{2}, Seconds{1.5}, {Seconds{1}, Seconds{3}}, {}, "measured, P2P"},
       {"given", Seconds{1}, Seconds{1}, {Seconds{1}, Seconds{1}}, {}, "", true}}};
  std::ostringstream out;
  report::write(out, report::json_document(validation));

  CHECK(
      Json::parse(out.str()).dump() ==
      R"({"source":"a stop watch","cases":[)"
      R"({"name":"slow","measured_s":1.0,"predicted_s":1.5,"interval_s":[1.25,2.0],"in_interval":false,"error":0.5,"group":"","model":"","gpu":"","gpus":0,"strategy":"","parameters":0},)"
      R"({"name":"fast","measured_s":2.0,"predicted_s":1.5,"interval_s":[1.0,3.0],"in_interval":true,"error":-0.25,"group":"measured, P2P","model":"","gpu":"","gpus":0,"strategy":"","parameters":0},)"
      R"({"name":"given","measured_s":1.0,"predicted_s":1.0,"interval_s":[1.0,1.0],"in_interval":true,"error":0.0,"group":"","model":"","gpu":"","gpus":0,"strategy":"","parameters":0,"is_given":true}],"counted":2,)"
      R"("mean_abs_error":0.375,"median_abs_error":0.375,"max_abs_error":0.5,"bias":0.125,"in_interval":1,)"
      R"("coverage":[{"group":"","cases":1,"in_interval":0},{"group":"measured, P2P","cases":1,"in_interval":1}]})");
}

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/files/text_file.hpp"
#include "tests/cli/program.hpp"

using namespace gradway::testing;
using namespace std::string_literals;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

TEST_CASE("a scenario runs by its path and by its name", "[cli][run]") {
  const auto by_path = run_gradway({"run", "scenarios/article/g6e.yaml"});
  const auto by_name = run_gradway({"run", "article/g6e"});

  CHECK(by_path.status == 0);
  CHECK(by_path.errors.empty());
  CHECK_THAT(by_path.output, Contains("vit_l_32") && Contains("step time") && Contains("bottleneck"));
  CHECK(by_path.output.find('\x1b') == std::string::npos);
  CHECK(by_name.output == by_path.output);
}

TEST_CASE("with --json it prints one document and nothing else", "[cli][run]") {
  const auto outcome = run_gradway({"run", "article/g6e", "--json"});

  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  const auto report = Json::parse(outcome.output);
  CHECK(report["schema"] == 1);
  CHECK(report["metrics"]["step_time_s"].get<double>() > 0);
  const auto& metrics = report["metrics"];
  double sum = 0;
  for (const auto* part :
       {"compute_s", "exposed_communication_s", "input_wait_s", "optimizer_s", "launch_bound_s", "idle_s"}) {
    sum += metrics[part].get<double>();
  }
  CHECK(sum == Approx(metrics["step_time_s"].get<double>()).epsilon(1e-9));
}

TEST_CASE("the same run twice gives the same bytes", "[cli][run]") {
  const auto engine = GENERATE("fluid", "simgrid");
  const TemporaryFolder first;
  const TemporaryFolder second;

  const auto one = run_gradway({"run", "article/g6e", "--json", "--engine", engine, "--out", first.path()});
  const auto two = run_gradway({"run", "article/g6e", "--json", "--engine", engine, "--out", second.path()});

  REQUIRE(one.status == 0);
  CHECK(one.output == two.output);
  CHECK(content_of(first.path() / "report.json") == one.output);
  CHECK(content_of(first.path() / "trace.json.gz") == content_of(second.path() / "trace.json.gz"));
}

TEST_CASE("both engines give the same step", "[cli][run]") {
  const auto fluid = run_gradway({"run", "article/p4d", "--json", "--engine", "fluid"});
  const auto simgrid = run_gradway({"run", "article/p4d", "--json", "--engine", "simgrid"});

  REQUIRE(fluid.status == 0);
  REQUIRE(simgrid.status == 0);
  const auto step_of = [](const Outcome& outcome) {
    return Json::parse(outcome.output)["metrics"]["step_time_s"].get<double>();
  };
  CHECK(Json::parse(simgrid.output)["engine"] == "simgrid");
  CHECK(step_of(fluid) == Approx(step_of(simgrid)).epsilon(1e-9));
}

TEST_CASE("a --set changes the scenario", "[cli][run]") {
  const auto outcome = run_gradway(
      {"run", "article/g6e", "--json", "--set", "job.gpus=4", "--set", "strategy.bucket_cap=100 MiB"});

  REQUIRE(outcome.status == 0);
  const auto scenario = Json::parse(outcome.output)["scenario"];
  CHECK(scenario["job"]["gpus"] == 4);
  CHECK(scenario["strategy"]["bucket_cap"] == "100 MiB");
}

TEST_CASE("the scenario in a report is a scenario that gives the same report", "[cli][run]") {
  const std::vector<std::string> changes{"--set", "strategy.comm_hook=powersgd",
                                         "--set", "strategy.powersgd_rank=2",
                                         "--set", "nccl.NCCL_ALGO=RING"};
  std::vector<std::string> arguments{"run", "article/g6e", "--json"};
  arguments.insert(arguments.end(), changes.begin(), changes.end());
  const auto first = run_gradway(arguments);
  REQUIRE(first.status == 0);
  const TemporaryFolder folder;
  folder.write("again.yaml", Json::parse(first.output)["scenario"].dump());

  const auto again = run_gradway({"run", folder.path() / "again.yaml", "--json"});

  CHECK(again.errors.empty());
  CHECK(again.output == first.output);
}

TEST_CASE("an --out makes the folder and fills it", "[cli][run]") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "new" / "result";

  const auto outcome = run_gradway({"run", "article/g6e", "--out", out});

  CHECK(outcome.status == 0);
  const auto in = "/new/result/";
  CHECK_THAT(outcome.errors, Contains("wrote ") && Contains(in + "report.json, "s) &&
                                 Contains(in + "memory.pickle and "s) && Contains(in + "report.html\n"s));
  CHECK_THAT(outcome.output, Contains("step time"));
  const auto report = Json::parse(content_of(out / "report.json"));
  CHECK(report["schema"] == 1);
  const auto trace = Json::parse(gradway::read_text_file((out / "trace.json.gz").string()).content);
  CHECK(trace["otherData"]["ranks"] == "all 8 ranks");
  const auto& events = trace["traceEvents"];
  const auto step = std::ranges::find_if(
      events, [](const Json& event) { return event["ph"] == "X" && event["name"] == "step 2, reported"; });
  REQUIRE(step != events.end());
  CHECK((*step)["dur"].get<double>() ==
        Approx(report["metrics"]["step_time_s"].get<double>() * 1e6).margin(1e-3));
  CHECK_THAT(content_of(out / "report.html"), Contains("</html>"));
  CHECK(std::distance(fs::directory_iterator{out}, fs::directory_iterator{}) == 4);
}

TEST_CASE("an --out leaves nothing behind when it cannot write", "[cli][run]") {
  const TemporaryFolder folder;
  folder.write("file", "mine");
  const auto on_file = run_gradway({"run", "article/g6e", "--out", "file"}, {.folder = folder.path()});
  CHECK(on_file.status == 2);
  CHECK(on_file.output.empty());
  CHECK(on_file.errors ==
        "error: '--out file' is a file, not a folder\n  hint: choose another name, or move the file\n");
  CHECK(content_of(folder.path() / "file") == "mine");

  folder.write("taken/trace.json.gz/x", "mine");
  const auto on_folder = run_gradway({"run", "article/g6e", "--out", "taken"}, {.folder = folder.path()});
  CHECK(on_folder.status == 2);
  CHECK(on_folder.output.empty());
  CHECK_THAT(on_folder.errors, Contains("cannot write to 'taken': 'taken/trace.json.gz' is a folder"));
  CHECK(std::distance(fs::directory_iterator{folder.path() / "taken"}, fs::directory_iterator{}) == 1);

  const auto wrong = run_gradway({"run", "h200-4x/vit_l_32", "--out", "new", "--set", "job.gpus=9"},
                                 {.folder = folder.path()});
  CHECK(wrong.status == 2);
  CHECK_FALSE(fs::exists(folder.path() / "new"));
}

TEST_CASE("wrong input leaves standard output empty", "[cli][run]") {
  const auto missing = run_gradway({"run", "artcle/g6e", "--json"});
  CHECK(missing.status == 2);
  CHECK(missing.output.empty());
  CHECK(missing.errors == "artcle/g6e: error: there is no such file\n  hint: did you mean 'article/g6e'?\n");

  const auto too_many = run_gradway({"run", "scenarios/h200-4x/vit_l_32.yaml", "--set", "job.gpus=9"});
  CHECK(too_many.status == 2);
  CHECK(too_many.output.empty());
  CHECK_THAT(too_many.errors, Contains("--set job.gpus=9: error: ") && Contains("  hint: "));
}

TEST_CASE("a simulation of very many GPUs is announced, and too many are refused", "[cli][run]") {
  const auto run = [](const std::string& gpus) {
    return run_gradway({"run", "article/g6e", "--set", "platform=dgx-h100", "--set", "job.gpus=" + gpus});
  };
  const auto many = run("200000");
  CHECK(many.status == 0);
  CHECK(many.errors ==
        "gradway: a simulation of 200,000 GPUs takes about 2 s of CPU time and 0.4 GB of memory\n");

  const auto few = run("1024");
  CHECK(few.status == 0);
  CHECK(few.errors.empty());

  const auto too_many = run("10000000");
  CHECK(too_many.status == 2);
  CHECK(too_many.errors ==
        "--set job.gpus=10000000: error: 10000000 GPUs are too many to simulate: 1 to 1048576\n"
        "  hint: lower job.gpus, or simulate one of several equal parts of the cluster\n");
}

TEST_CASE("files in messages have the names that were typed", "[cli][run]") {
  const TemporaryFolder folder;
  folder.write("mine.yaml", "schema: 1\nplatfrom: x\n");

  const auto outcome = run_gradway({"run", "./mine.yaml"}, {.folder = folder.path()});

  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("mine.yaml:2:1: error: ") && Contains("did you mean 'platform'?"));
  CHECK_THAT(outcome.errors, !Contains(folder.path().string()));
}

TEST_CASE("names are looked up in GRADWAY_PATH before the installed data", "[cli][run]") {
  const TemporaryFolder folder;
  const auto model = content_of(fs::path{GRADWAY_SOURCE_DIR} / "models" / "ddp-24.yaml");
  folder.write("data/models/mine.yaml", model);
  folder.write("job.yaml",
               "schema: 1\nmodel: mine\nplatform: synthetic-ring\njob: { gpus: 2, batch_per_gpu: 1 }\n");

  const auto without = run_gradway({"run", "job.yaml"}, {.folder = folder.path()});
  const auto with =
      run_gradway({"run", "job.yaml"}, {.folder = folder.path(), .gradway_path = ":nowhere:data"});

  CHECK(without.status == 2);
  CHECK_THAT(without.errors, Contains("'mine'"));
  CHECK(with.status == 0);
  CHECK(with.errors == "warning: GRADWAY_PATH contains 'nowhere', which is not a folder\n");
}

TEST_CASE("a job that does not fit says so in the first line, and what it would take", "[cli][run]") {
  const auto large = run_gradway({"run", "article/g6e", "--set", "job.batch_per_gpu=4096"});
  CHECK(large.status == 0);  // a time was predicted
  CHECK(large.output.starts_with("does not fit: 372 of 48 GB on each l40s ("));
  CHECK(large.output.find("\n  would take   ") != std::string::npos);
  const auto as_json =
      run_gradway({"run", "article/g6e", "--set", "job.batch_per_gpu=4096", "--json"}).output;
  CHECK(as_json.find("\"fits\": false") != std::string::npos);
  CHECK(as_json.find("\"does_not_fit\": \"does not fit: 372 of 48 GB on each l40s (") != std::string::npos);
  CHECK(as_json.find("\"gpu_memory_bytes\": 47999614976") != std::string::npos);
  CHECK(run_gradway({"run", "article/g6e", "--json"}).output.find("\"fits\": true") != std::string::npos);
  const auto must_fit = run_gradway({"run", "article/g6e", "--set", "job.batch_per_gpu=4096", "--must-fit"});
  CHECK(must_fit.status == 4);
  CHECK(must_fit.output == large.output);
  CHECK(run_gradway({"run", "article/g6e", "--must-fit"}).status == 0);
}

TEST_CASE("a run has the time and the cost of a whole training", "[cli][run]") {
  const auto outcome = run_gradway({"run", "scale/gpt-aws-p5", "--set", "job.gpus=64", "--tokens", "300B",
                                    "--deadline", "14 days", "--budget", "100k USD", "--json"});
  REQUIRE(outcome.status == 0);
  const auto report = Json::parse(outcome.output);
  const auto& metrics = report["metrics"];
  const auto step = metrics["step_time_s"].get<double>();
  CHECK(metrics["tokens_per_s"].get<double>() == Approx(64 * 2 * 2048 / step));
  const auto& training = report["training"];
  CHECK(training["samples"].get<double>() == Approx(300e9 / 2048));
  CHECK(training["steps"].get<double>() == std::ceil(300e9 / 2048 / 128));
  CHECK(training["seconds"].get<double>() == Approx(training["steps"].get<double>() * step));
  CHECK(training["seconds_low"].get<double>() ==
        Approx(training["steps"].get<double>() * report["interval"]["step_time_s"][0].get<double>()));
  CHECK(training["cost_usd"].get<double>() ==
        Approx(training["seconds"].get<double>() / 3600 * metrics["cost_usd_per_hour"].get<double>()));
  CHECK(training["deadline_s"] == 14 * 86400);
  CHECK(training["deadline_met"] == "yes");
  CHECK(training["budget_met"] == "yes");
}

TEST_CASE("a profile with its sequence counts tokens, too", "[cli][run]") {
  const auto outcome = run_gradway({"run", "h200-4x/gpt_small", "--json"});
  REQUIRE(outcome.status == 0);
  const auto metrics = Json::parse(outcome.output)["metrics"];
  CHECK(metrics["tokens_per_s"].get<double>() == Approx(1024 * metrics["samples_per_s"].get<double>()));
  CHECK(metrics["mfu"].get<double>() == Approx(metrics["tflops_per_gpu"].get<double>() / 989));
  CHECK(
      Json::parse(run_gradway({"run", "article/g6e", "--json"}).output)["metrics"]["tokens_per_s"].is_null());
}

TEST_CASE("a run with the largest batch is that of the batch", "[cli][run]") {
  const auto with_batch = [](const std::string& batch) {
    const auto outcome = run_gradway(
        {"run", "scale/gpt-aws-p5", "--set", "job.gpus=8", "--set", "job.batch_per_gpu=" + batch, "--json"});
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.output);
  };
  const auto outcome = run_gradway({"run", "scale/gpt-aws-p5", "--set", "job.gpus=8", "--fit", "--json"});
  REQUIRE(outcome.status == 0);
  const auto report = Json::parse(outcome.output);
  const auto& largest = report["largest_batch"];
  const auto batch = largest["batch_per_gpu"].get<int>();
  CHECK(largest["as_written"] == 2);
  CHECK(report["scenario"]["job"]["batch_per_gpu"] == batch);
  const auto alone = with_batch(std::to_string(batch));
  CHECK(alone["memory_verdict"] == "fits");
  CHECK(report["metrics"] == alone["metrics"]);
  CHECK(largest["needed_bytes"] == alone["memory"]["needed_bytes"]);
  const auto more = with_batch(std::to_string(batch + 1));
  CHECK(more["memory_verdict"] == "tight");
  CHECK(largest["one_more_needs_bytes"] == more["memory"]["needed_bytes"]);

  CHECK_THAT(run_gradway({"run", "scale/gpt-aws-p5", "--set", "job.gpus=8", "--fit"}).output,
             Contains("\n  fits         largest batch per GPU: " + std::to_string(batch) + ", which needs "));
}

TEST_CASE("a job of which not even one sample fits has what makes it fit, or is refused", "[cli][run]") {
  const auto fit = [](const char* model) {
    return run_gradway({"run", "article/g6e", "--fit", "--set", "platform=aws-g6.48xlarge", "--set",
                        std::string{"model="} + model, "--set", "optimizer=adamw"});
  };
  const auto sharded = fit("gpt3_xl");
  CHECK(sharded.status == 0);
  CHECK_THAT(sharded.output, Contains("does not fit: ") && Contains("what makes it fit as written") &&
                                 Contains("strategy.kind=fsdp"));
  const auto nothing_suffices = fit("gpt3_175b");
  CHECK(nothing_suffices.status == 2);
  CHECK(nothing_suffices.output.empty());
  CHECK_THAT(nothing_suffices.errors,
             Catch::Matchers::StartsWith("error: with batch_per_gpu 1 the job does not fit: ") &&
                 Contains(" of 24 GB on each l4 (") && Contains("\n  hint: no batch fits: "));
}

TEST_CASE("a step with experts says how few were measured, and is less sure", "[cli][run]") {
  const auto report = [](const std::string& model) {
    const auto outcome = run_gradway({"run", "sharded/llama2_7b", "--json", "--set", "model=" + model,
                                      "--set", "job.gpus=64", "--set", "job.recompute=full"});
    return nlohmann::json::parse(outcome.output);
  };
  const auto experts = report("deepseek_v2_lite");
  const auto dense = report("llama2_7b");
  const std::string warning = "steps on one GPU take longer than predicted";
  CHECK_THAT(experts["warnings"].dump(), Contains(warning));
  CHECK_THAT(dense["warnings"].dump(), !Contains(warning));
  const auto uncertainty = [](const nlohmann::json& of) {
    const auto& interval = of["interval"]["step_time_s"];
    return interval[1].get<double>() / interval[0].get<double>();
  };
  CHECK(uncertainty(experts) > 1.2 * uncertainty(dense));
}

TEST_CASE("shorthands set the same keys as --set", "[cli][run]") {
  const auto brief = run_gradway({"run", "article/g6e", "--model", "vit_b_16", "--platform",
                                  "aws-p4d.24xlarge", "--gpus", "4", "--json"});
  const auto written = run_gradway({"run", "article/g6e", "--set", "model=vit_b_16", "--set",
                                    "platform=aws-p4d.24xlarge", "--set", "job.gpus=4", "--json"});
  CHECK(brief.status == 0);
  CHECK(brief.output == written.output);
}

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

const std::string traces = "tests/observe/data/diagnose/";

Outcome diagnose(std::vector<std::string> arguments, const World& world = {}) {
  arguments.insert(arguments.begin(), "diagnose");
  return run_gradway(arguments, world);
}

/// A trace of a rank of a job of two, of so many steps.
std::string trace_text(int rank, int steps, int ranks = 2) {
  Loop loop;
  loop.steps = steps;
  auto text = trace_of(small_step(), loop).json();
  const auto job = "{\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
                   ", \"world_size\": " + std::to_string(ranks) + "}, ";
  return job + text.substr(text.find('{') + 1);
}

/// The export that Nsight Systems would have made of a job's traces.
std::string nsys_export(const TemporaryFolder& world, const std::string& job, const std::string& options,
                        const std::string& statement = "") {
  const auto file = (world.path() / "job.sqlite").string();
  std::string files;
  for (const auto* rank : {"r0", "r1"})
    files += std::string{files.empty() ? "" : ","} + GRADWAY_SOURCE_DIR "/" + traces + job + "-" + rank +
             ".json.gz";
  const auto command = std::string{GRADWAY_SOURCE_DIR "/tests/readers/nsys_export "} + options + " '" +
                       files + "' '" + file + "' \"" + statement + "\"";
  REQUIRE(std::system(command.c_str()) == 0);
  return file;
}

nlohmann::json json_of(std::vector<std::string> files) {
  files.emplace_back("--json");
  const auto outcome = diagnose(files);
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.output);
}

}  // namespace

TEST_CASE("an export of Nsight Systems gives the verdict of the PyTorch profiler's traces",
          "[cli][diagnose][nsys]") {
  const auto job = GENERATE(as<std::string>{}, "healthy", "shm", "loader1", "item");
  const auto options = GENERATE(as<std::string>{}, "", "--nccl");
  CAPTURE(job, options);
  const TemporaryFolder world;
  const auto kineto = json_of({traces + job + "-r0.json.gz", traces + job + "-r1.json.gz"});
  const auto nsys = json_of({nsys_export(world, job, options)});

  for (const auto* key :
       {"healthy", "verdict", "step", "causes", "possible", "harmless", "collectives", "ranks"})
    CHECK(nsys[key] == kineto[key]);
  // NCCL's own ranges say which rank each process is; the overhead of Nsight Systems is always unknown.
  CHECK(nsys["run"]["unknown"].size() == (options.empty() ? 2 : 1));
  CHECK(kineto["run"]["unknown"].empty());
}

TEST_CASE("without PyTorch's operations, an export is diagnosed by calls of CUDA alone",
          "[cli][diagnose][nsys]") {
  const TemporaryFolder world;
  const auto nsys = json_of({nsys_export(world, "item", "--cuda-only --nccl")});

  REQUIRE(nsys["causes"].size() == 1);
  CHECK(nsys["causes"][0]["kind"] == "host_reads");
  CHECK(nsys["run"]["what"] == "bf16, DDP");
  CHECK_THAT(nsys["run"]["unknown"][0].get<std::string>(),
             Contains("phases, buckets, batches of unequal size"));
  for (const auto& cause : nsys["possible"]) CHECK(cause["kind"] != "slow_operations");
}

TEST_CASE("an export that does not say what a diagnosis needs is refused", "[cli][diagnose][nsys]") {
  const TemporaryFolder world;
  const auto refusal = [&](const std::string& options, const std::string& statement) {
    const auto outcome = diagnose({nsys_export(world, "healthy", options, statement)});
    CHECK(outcome.status == 2);
    return outcome.errors.substr(outcome.errors.find("error"));
  };
  CHECK(refusal("--cuda-only", "DELETE FROM NVTX_EVENTS") ==
        "error: no NVTX range marks the training steps\n"
        "  hint: run each step inside 'with torch.cuda.nvtx.range(\"step\"):', or all of them inside 'with "
        "torch.autograd.profiler.emit_nvtx():'\n");
  CHECK(refusal("", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid") ==
        "error: table 'CUPTI_ACTIVITY_KIND_KERNEL' has no column 'globalPid'\n"
        "  hint: expected an export of Nsight Systems 2021 or later\n");
  CHECK_THAT(refusal("",
                     "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DELETE "
                     "FROM CUPTI_ACTIVITY_KIND_MEMSET"),
             Contains("no process of the export ran anything on a GPU"));
}

TEST_CASE("a diagnosis as JSON has causes with their evidence", "[cli][diagnose]") {
  const auto outcome = diagnose({traces + "loader1-r0.json.gz", traces + "loader1-r1.json.gz", "--json"});

  REQUIRE(outcome.status == 0);
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json["schema"] == 1);
  CHECK(json["healthy"] == false);
  CHECK(json["run"]["ranks"] == 2);
  REQUIRE(json["causes"].size() == 1);
  CHECK(json["causes"][0]["kind"] == "late_batches");
  CHECK(json["causes"][0]["ranks"] == std::vector<int>{1});
  CHECK(json["causes"][0]["evidence"]["measured_s"].get<double>() == Approx(0.088).epsilon(0.05));
  double sum = json["step"]["expected_s"].get<double>() + json["step"]["unexplained_s"].get<double>();
  for (const auto* list : {"causes", "possible", "harmless"}) {
    for (const auto& cause : json[list]) sum += cause["lost_s"].get<double>();
  }
  CHECK(sum == Approx(json["step"]["measured_s"].get<double>()).epsilon(1e-12));
}

TEST_CASE("the trace of one of two ranks is enough, and the report says so", "[cli][diagnose]") {
  const auto outcome = diagnose({traces + "healthy-r0.json.gz"});

  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("2 ranks, NVIDIA H100 80GB HBM3, traces of 1 rank"));
}

TEST_CASE("what cannot be diagnosed is refused", "[cli][diagnose]") {
  const TemporaryFolder folder;
  folder.write("empty.json", "");
  folder.write("other.json", "{\"a\": 1}");
  folder.write("text.json", "step 1 took 3 s\n");
  folder.write("r0.json", trace_text(0, 2));
  folder.write("r0-again.json", trace_text(0, 2));
  folder.write("r1.json", trace_text(1, 3));
  folder.write("of-four.json", trace_text(1, 2, 4));
  struct Row {
    std::vector<std::string> files;
    std::string message;
  };
  const auto row = GENERATE(values<Row>(
      {{{"empty.json"},
        "empty.json: error: the file is empty\n  hint: expected the output of torch.profiler's "
        "export_chrome_trace(), plain or compressed by gzip\n"},
       {{"other.json"},
        "other.json: error: this JSON is not a trace: it has no list 'traceEvents'\n  hint: expected the "
        "output of torch.profiler's export_chrome_trace(), plain or compressed by gzip\n"},
       {{"text.json"},
        "text.json:1:1: error: this is not JSON\n  hint: expected the output of torch.profiler's "
        "export_chrome_trace(), plain or compressed by gzip\n"},
       {{"r0.json", "r0-again.json"},
        "r0-again.json: error: rank 0 has two traces: 'r0.json' is one, too\n  hint: give one trace per "
        "rank\n"},
       {{"r0.json", "r1.json"},
        "r1.json: error: rank 1 has 3 complete steps, but rank 0 has 2\n  hint: record the same steps on all "
        "ranks\n"},
       {{"r0.json", "of-four.json"},
        "of-four.json: error: this trace is of a job of 4 ranks, but 'r0.json' of 2\n  hint: give the traces "
        "of one job\n"}}));
  CAPTURE(row.message);
  const auto outcome = diagnose(row.files, {.folder = folder.path()});

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Equals(row.message));
}

TEST_CASE("a scenario of another job than that of the traces is refused", "[cli][diagnose]") {
  const std::vector<std::string> job{traces + "healthy-r0.json.gz", traces + "healthy-r1.json.gz",
                                     "--scenario"};
  const auto with = [&](const std::string& name, const std::vector<std::string>& more) {
    auto words = job;
    words.push_back(name);
    words.insert(words.end(), more.begin(), more.end());
    return diagnose(words);
  };
  const auto ranks = with("article/p4d", {"--set", "platform=aws-p5.48xlarge"});
  CHECK(ranks.status == 2);
  CHECK_THAT(ranks.errors, Contains("the traces are of a job of 2 ranks, but the scenario has 8"));
  const auto model = with(
      "article/p4d", {"--set", "platform=aws-p5.48xlarge", "--set", "job.gpus=2", "--set", "model=resnet50"});
  CHECK(model.status == 2);
  CHECK_THAT(model.errors, Contains("MB of gradients in a step, but the model of the scenario has"));
}

TEST_CASE("traces of two jobs are refused", "[cli][diagnose]") {
  const auto outcome = diagnose({traces + "healthy-r0.json.gz", traces + "resnet101-r1.json.gz"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("rank 1 reduces other buffers than rank 0"));
}

TEST_CASE("a report of a node has traces, NCCL's log and the probe's samples on one page",
          "[cli][diagnose]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "node").string();
  const auto outcome =
      diagnose({traces + "shm-r0.json.gz", traces + "shm-r1.json.gz", "--platform", "aws-p5.48xlarge",
                "--nccl-log", "tests/readers/data/nccl-log-2x-h100-shm.txt", "--samples",
                "calibration/results/h200-4x/samples/machine-1.json.gz", "--out", out});

  REQUIRE(outcome.status == 0);
  const auto page = content_of(folder.path() / "node" / "diagnosis.html");
  CHECK_THAT(page, Contains("slow transport on all ranks") && Contains("rank 1 expected"));
  CHECK_THAT(page, Contains("<h2>What NCCL chose</h2>") && Contains("NCCL_P2P_DISABLE=1 is set"));
  CHECK_THAT(page, Contains("<h2>What the probe measured</h2>"));
  CHECK_THAT(outcome.output, Contains("What NCCL chose") && Contains("What the probe measured"));
  CHECK(std::filesystem::exists(folder.path() / "node" / "diagnosis.json"));
}

TEST_CASE("too much lost time is an exit status", "[cli][diagnose]") {
  const auto outcome = diagnose({traces + "shm-r0.json.gz", traces + "shm-r1.json.gz", "--max-lost", "5%"});

  CHECK(outcome.status == 4);
  CHECK_THAT(outcome.errors, Contains("of the time is lost, more than the limit of 5 %"));
}

TEST_CASE("a truncated trace is refused", "[cli][diagnose]") {
  const TemporaryFolder folder;
  std::ifstream whole{std::filesystem::path{GRADWAY_SOURCE_DIR} / traces / "shm-r0.json.gz",
                      std::ios::binary};
  std::string start(200'000, '\0');
  whole.read(start.data(), static_cast<std::streamsize>(start.size()));
  folder.write("cut.json.gz", start);
  const auto outcome = diagnose({"cut.json.gz"}, {.folder = folder.path()});

  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("cut.json.gz: error:") && Contains("truncated"));
}

TEST_CASE("steps that gradway exports itself are healthy", "[cli][diagnose]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "exported").string();
  REQUIRE(run_gradway({"export", "kineto", "h200-4x/vit_l_32", "-o", out}).status == 0);
  std::vector<std::string> arguments;
  for (const auto& file : std::filesystem::directory_iterator{out}) arguments.push_back(file.path().string());
  const auto outcome = diagnose(arguments);

  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("verdict      healthy"));
}

TEST_CASE("a drafted scenario predicts the step that was measured", "[cli][diagnose]") {
  const TemporaryFolder folder;
  const auto file = (folder.path() / "job.yaml").string();
  const auto outcome =
      diagnose({traces + "healthy-r0.json.gz", traces + "healthy-r1.json.gz", "--draft", file});
  REQUIRE(outcome.status == 0);
  CHECK(content_of(file) ==
        "# Not in the traces:\n"
        "# - how many nodes the 2 ranks run on; the scenario fills node after node\n"
        "# - the data loader: samples lie in memory ('input')\n"
        "# - static_graph, and NCCL's variables\n"
        "schema: 1\nsource: >-\n  a job's trace healthy-r0.json.gz and 1 other\n"
        "model: job_model\nplatform: aws-p5.48xlarge\n"
        "job:\n  gpus: 2\n  batch_per_gpu: 8\n  precision: bf16\n"
        "strategy:\n  kind: ddp\n  gradient_as_bucket_view: true\n");

  const auto run = run_gradway({"run", file, "--json"});
  REQUIRE(run.status == 0);
  const auto step = nlohmann::json::parse(run.output)["metrics"]["step_time_s"].get<double>();
  CHECK(step * 1e3 == Approx(152.41).epsilon(0.03));  // measured without the profiler

  // On another network, the scenario and the traces give the same step.
  const auto elsewhere = json_of(
      {traces + "healthy-r0.json.gz", traces + "healthy-r1.json.gz", "--on", "aws-p5.4xlarge"})["step"];
  CHECK(elsewhere["elsewhere"]["platform"] == "aws-p5.4xlarge");
  const auto moved = run_gradway({"run", file, "--set", "platform=aws-p5.4xlarge", "--json"});
  REQUIRE(moved.status == 0);
  CHECK(elsewhere["elsewhere"]["expected_s"].get<double>() ==
        Approx(nlohmann::json::parse(moved.output)["metrics"]["step_time_s"].get<double>()).epsilon(0.05));
}

TEST_CASE("a scenario is drafted from an export with PyTorch's operations", "[cli][diagnose][nsys]") {
  const TemporaryFolder folder;
  const auto file = (folder.path() / "job.yaml").string();
  REQUIRE(diagnose({nsys_export(folder, "healthy", ""), "--draft", file}).status == 0);
  CHECK_THAT(content_of(file), Contains("  gpus: 2\n  batch_per_gpu: 8\n  precision: bf16\n"));
  const auto without = diagnose({nsys_export(folder, "healthy", "--cuda-only"), "--draft", file, "--force"});
  CHECK(without.status == 2);
  CHECK_THAT(without.errors, Contains("a scenario cannot be drafted without PyTorch's operations"));
}

TEST_CASE("a cap of DDP's buckets is drafted from their sizes", "[cli][diagnose]") {
  const TemporaryFolder folder;
  const auto file = (folder.path() / "job.yaml").string();
  REQUIRE(diagnose({traces + "buckets-r0.json.gz", traces + "buckets-r1.json.gz", "--draft", file}).status ==
          0);
  // The job had 1 MiB. No gradient of a bucket has less than 4 MiB, so both give the same buckets.
  CHECK_THAT(content_of(file), Contains("  bucket_cap: 4 MiB\n"));
  const auto again = diagnose({traces + "buckets-r0.json.gz", "--draft", file});
  CHECK(again.status == 2);
  CHECK_THAT(again.errors, Contains("--force"));
}

TEST_CASE("a platform with other GPUs than the traces is refused", "[cli][diagnose]") {
  const auto trace = traces + "healthy-r0.json.gz";
  const auto other = diagnose({trace, "--platform", "h200-2x"});
  CHECK(other.status == 2);
  CHECK_THAT(other.errors,
             Equals(trace + ": error: the trace is of h100-sxm, but platform 'h200-2x' has h200\n"
                            "  hint: leave it out, or name another one: aws-p5.48xlarge\n"));
  const auto elsewhere = diagnose({trace, "--on", "h200-2x"});
  CHECK(elsewhere.status == 2);
  CHECK(elsewhere.errors == other.errors);
  // A mistyped name is reported before any trace is read.
  const auto mistyped = diagnose({"no-such-trace.json", "--platform", "h20-2x"});
  CHECK(mistyped.status == 2);
  CHECK_THAT(mistyped.errors,
             Contains("h20-2x") && Contains("did you mean 'h200-2x'?") && !Contains("no-such-trace"));
}

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

Json optimized(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "optimize");
  arguments.emplace_back("--json");
  const auto outcome = run_gradway(arguments);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output);
}

double step_time(const std::string& scenario, const Json& set) {
  std::vector<std::string> arguments{"run", scenario, "--json"};
  for (const auto& [key, value] : set.items()) {
    arguments.emplace_back("--set");
    arguments.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  const auto outcome = run_gradway(arguments);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output).at("metrics").at("step_time_s");
}

}  // namespace

TEST_CASE("optimize meets the article's hand-tuned settings on both machines", "[cli][optimize]") {
  const Json tuned{{"strategy.static_graph", true}, {"strategy.gradient_as_bucket_view", true}};
  auto p4d = tuned;
  p4d["strategy.bucket_cap"] = "100 MiB";
  const auto plain = optimized({"article/p4d"});
  CHECK(plain.at("fastest").at("step_time_s") <= step_time("article/p4d", p4d));
  CHECK(plain.at("best").at("set").at("strategy").at("comm_hook") == "none");

  auto g6e = tuned;
  g6e["strategy.comm_hook"] = "powersgd";
  const auto lossy = optimized({"article/g6e", "--lossy"});
  CHECK(lossy.at("best").at("step_time_s") <= step_time("article/g6e", g6e));
  g6e["strategy.comm_hook"] = "bf16";
  g6e["strategy.bucket_cap"] = "100 MiB";
  CHECK(lossy.at("best_of_hooks").at(2).at("step_time_s") <= step_time("article/g6e", g6e));
}

TEST_CASE("the figures of optimize are those of run", "[cli][optimize]") {
  const auto found = optimized({"article/g6e", "--over", "bucket_cap,comm_hook", "--lossy"});
  for (const auto* which : {"best", "fastest", "defaults", "as_written"}) {
    const auto& one = found.at(which);
    CAPTURE(which);
    CHECK(one.at("step_time_s") == step_time("article/g6e", one.at("set")));
  }
  CHECK(found.at("as_written").at("step_time_s") == step_time("article/g6e", Json::object()));
  for (const auto& one : found.at("turned_back"))
    CHECK(one.at("step_time_s") == step_time("article/g6e", one.at("set")));
  const double best = found.at("best").at("step_time_s");
  const double defaults = found.at("defaults").at("step_time_s");
  CHECK(found.at("gain_over_defaults").get<double>() == Approx(defaults / best - 1));
}

TEST_CASE("only requested settings are searched, and lossy hooks only if allowed", "[cli][optimize]") {
  const auto caps = optimized({"article/g6e", "--over", "bucket_cap", "--set", "strategy.comm_hook=bf16"});
  CHECK(caps.at("best").at("set").at("strategy").at("comm_hook") == "bf16");
  CHECK(caps.at("best").at("set").at("strategy").at("gradient_as_bucket_view") == false);
  CHECK(caps.at("lossy_left_out").empty());

  const auto plain = optimized({"article/g6e"});
  CHECK(plain.at("searched") == Json{"bucket_cap", "static_graph", "gradient_as_bucket_view", "comm_hook"});
  CHECK(plain.at("lossy_left_out") == Json{"fp16", "bf16", "powersgd"});
  CHECK(plain.at("best").at("set").at("strategy").at("comm_hook") == "none");
  const auto told = run_gradway({"optimize", "article/g6e"});
  CHECK_THAT(told.output, Contains("fp16, bf16, powersgd") && Contains("--lossy searches them too"));

  const auto set = optimized({"article/g6e", "--set", "strategy.comm_hook=fp16"});
  CHECK(set.at("searched") == Json{"bucket_cap", "static_graph", "gradient_as_bucket_view"});
}

TEST_CASE("other keys are searched with their values", "[cli][optimize]") {
  const auto found =
      optimized({"article/p4d", "--over", "bucket_cap", "--over", "nccl.NCCL_PROTO=LL,Simple"});
  const auto& best = found.at("best").at("set");
  CHECK_FALSE((best.contains("nccl.NCCL_PROTO") && best.at("nccl.NCCL_PROTO") == "LL"));
  const auto slow = optimized({"article/p4d", "--set", "nccl.NCCL_PROTO=LL", "--over", "job.accumulate=1,2"});
  CHECK(slow.at("best").at("set").at("job.accumulate") == "2");
  CHECK_THAT(slow.at("pytorch").get<std::string>(),
             Contains("os.environ[\"NCCL_PROTO\"] = \"LL\"") && Contains("1 of 2 backward passes"));
  CHECK(slow.at("warnings").at(0) == "job.accumulate=2 changes what a step learns, not only its speed");
  CHECK_FALSE(slow.at("basis").empty());
  const auto values = optimized({"article/g6e", "--over", "bucket_cap=25 MiB,100 MB"});
  CHECK(values.at("settings") == 2);
  CHECK(values.at("bucket_caps").is_null());
}

TEST_CASE("what cannot run is left out with the reason", "[cli][optimize]") {
  const auto table = run_gradway(
      {"optimize", "article/g6e", "--over", "bucket_cap", "--over", "nccl.NCCL_PROTO=Simple,LL128"});
  CHECK(table.status == 0);
  CHECK_THAT(table.output,
             Contains("  left out     nccl.NCCL_PROTO=LL128: NCCL_ALGO and NCCL_PROTO exclude every\n"
                      "               algorithm and protocol of an all-reduce\n"));
  // A GB of room beside plain DDP, and PowerSGD keeps the error of every gradient and more.
  const auto tight = run_gradway({"optimize", "article/g6e", "--lossy", "--over", "comm_hook,bucket_cap",
                                  "--set", "job.batch_per_gpu=490"});
  CHECK(tight.status == 0);
  CHECK_THAT(tight.output, Contains("left out") && Contains("hook powersgd of rank 1: may not fit: "));
  const auto impossible = run_gradway({"optimize", "article/g6e", "--set", "nccl.NCCL_PROTO=LL128"});
  CHECK(impossible.status == 2);
  CHECK_THAT(
      impossible.errors,
      Contains("error: NCCL_ALGO and NCCL_PROTO exclude every algorithm and protocol of an all-reduce"));
}

TEST_CASE("a setting without a benefit is not recommended", "[cli][optimize]") {
  const auto found = optimized({"article/g6e", "--lossy", "--over", "bucket_cap,comm_hook,powersgd_rank",
                                "--over", "nccl.NCCL_PROTO=Simple,LL"});
  for (const auto& one : found.at("turned_back")) CHECK(one.at("gain") > 1e-4);
}

TEST_CASE("a job on one GPU can be optimized, and an optimal job is reported as such", "[cli][optimize]") {
  const auto one = optimized({"article/p4d", "--set", "job.gpus=1"});
  CHECK(one.at("best").at("set").at("strategy").at("gradient_as_bucket_view") ==
        true);  // saves the copies back
  const auto table = run_gradway({"optimize", "article/g6e", "--over", "bucket_cap"});
  CHECK_THAT(table.output, Contains("not worth changing: PyTorch's defaults are "));
}

TEST_CASE("optimize searches loader settings and writes them as code", "[cli][optimize]") {
  const auto found =
      optimized({"loading/resnet50", "--set", "input.storage=s3-standard", "--over",
                 "input.loader_workers=2,8", "--over", "input.dataset=imagenet-1k,imagenet-1k-shards"});
  CHECK(found.at("best").at("set").at("input.dataset") == "imagenet-1k-shards");
  CHECK_FALSE(found.at("best").at("set").contains("input.loader_workers"));  // 8, as written
  CHECK_THAT(found.at("pytorch").get<std::string>(), Contains("num_workers=8"));
  std::vector<std::string> rows;
  for (const auto& row : found.at("best_of_values"))
    rows.push_back(row.at("setting").get<std::string>() + "=" + row.at("value").get<std::string>());
  CHECK(rows == std::vector<std::string>{"input.loader_workers=2", "input.loader_workers=8",
                                         "input.dataset=imagenet-1k", "input.dataset=imagenet-1k-shards"});
}

TEST_CASE("optimize gives the same bytes on one thread and on several", "[cli][optimize]") {
  const auto with = [](const char* jobs) {
    return run_gradway({"optimize", "article/g6e", "--lossy", "--jobs", jobs, "--json"}).output;
  };
  CHECK(with("1") == with("2"));
}

TEST_CASE("optimize writes its result and the code into a folder", "[cli][optimize]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "out").string();
  const auto outcome = run_gradway({"optimize", "article/p4d", "--json", "--out", out});
  CHECK(outcome.errors ==
        "wrote " + out + "/optimize.json, " + out + "/ddp.py and " + out + "/report.html\n");
  CHECK(content_of(folder.path() / "out" / "optimize.json") == outcome.output);
  CHECK(content_of(folder.path() / "out" / "ddp.py") ==
        Json::parse(outcome.output).at("pytorch").get<std::string>());
}

TEST_CASE("wrong arguments of optimize are refused with a hint", "[cli][optimize]") {
  using Row = std::pair<std::vector<std::string>, std::string>;
  const auto [arguments, errors] = GENERATE(values<Row>({
      {{"--over", "buckt_cap"},
       "error: cannot search over 'buckt_cap'\n  hint: did you mean 'bucket_cap'?\n"},
      {{"--over", "nccl.NCCL_PROTOS=LL"},
       "error: cannot search over 'nccl.NCCL_PROTOS'\n"
       "  hint: did you mean 'nccl.NCCL_PROTO'?\n"},
      {{"--over", "colour"},
       "error: cannot search over 'colour'\n"
       "  hint: known: bucket_cap, static_graph, gradient_as_bucket_view, comm_hook, powersgd_rank, "
       "optimizer, job.accumulate, job.batch_per_gpu, input.loader_workers, input.prefetch_factor, "
       "input.storage, input.decode, input.pin_memory, input.codec, input.cache, input.dataset, "
       "input.cache_policy, nccl.NAME\n"},
      {{"--over", "platform=a,b"},
       "error: cannot search over 'platform'\n"
       "  hint: 'gradway compare' compares platforms and numbers of GPUs\n"},
      {{"--over", "steps=1,2"},
       "error: cannot search over 'steps'\n  hint: 'gradway sweep' can vary any key\n"},
      {{"--over", "bucket_cap,strategy.bucket_cap"},
       "error: '--over bucket_cap' is given twice\n  hint: give each setting once\n"},
      {{"--over", "optimizer"},
       "error: '--over optimizer' needs values\n  hint: write '--over optimizer=VALUE,VALUE,...'\n"},
      {{"--over", "input.loader_workers"},
       "error: 'input.loader_workers' is searched, but the scenario has no dataset\n"
       "  hint: set input.dataset, as in '--set input.dataset=imagenet-1k'\n"},
      {{"--set", "input.dataset=imagenet-1k", "--over", "input.codec"},
       "error: '--over input.codec' needs values\n  hint: write '--over input.codec=VALUE,VALUE,...'\n"},
      {{"--over", "bucket_cap,optimizer=sgd,adamw"},
       "error: '--over bucket_cap,optimizer=sgd,adamw' mixes names and values\n"
       "  hint: give '--over' for each key with values\n"},
      {{"--over", "bucket_cap,"},
       "error: '--over bucket_cap,' has an empty name\n  hint: write names between the commas\n"},
      {{"--over", "optimizer=sgd,sgd"},
       "error: '--over optimizer' has the value 'sgd' twice\n"
       "  hint: give each key once, with different values\n"},
      {{"--over", "bucket_cap", "--set", "strategy.bucket_cap=25 MiB"},
       "error: 'strategy.bucket_cap' is set and searched\n  hint: leave out '--set' or '--over' for it\n"},
      {{"--over", "comm_hook=none,bf16"},
       "error: the hook bf16 changes the values of gradients\n  hint: give --lossy to search it\n"},
      {{"--over", "powersgd_rank"},
       "error: 'powersgd_rank' is searched, but the hook powersgd is not\n"
       "  hint: search comm_hook with --lossy, or set strategy.comm_hook=powersgd\n"},
      {{"--set", "strategy.kind=none", "--set", "job.gpus=1"},
       "error: the strategy of 'g6e' is none: only DDP, FSDP and ZeRO have settings to search\n"
       "  hint: set strategy.kind=ddp, or write 'kind: ddp'\n"},
      {{"--over", "bucket_cap=25 MB/s"},
       "--over bucket_cap=25 MB/s: error: 'MB/s' is not a unit of data\n"
       "  hint: 'MB/s' is a unit of bandwidth\n"},
      {{"--set", "job.batch_per_gpu=4096"},
       "error: the job does not fit: 371 of 48 GB on each l40s (336 to 443 GB, most of it activations), with "
       "the settings that need the least memory\n  hint: "
       "use a smaller batch, or GPUs with more memory\n"},
  }));
  auto command = arguments;
  command.insert(command.begin(), {"optimize", "article/g6e"});
  const auto outcome = run_gradway(command);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == errors);
}

TEST_CASE("settings that miss a limit of the training are not ranked", "[cli][optimize]") {
  // Between the steps with and without the hook: only with a hook the deadline is met.
  const std::vector<std::string> search{"article/g6e", "--over", "comm_hook", "--lossy", "--samples", "256M"};
  const auto free = optimized(search);
  const auto seconds = [](const Json& tried) { return tried.at("training").at("seconds").get<double>(); };
  const auto& hooks = free.at("best_of_hooks");
  REQUIRE(hooks.at(0).at("set").at("strategy").at("comm_hook") == "none");
  CHECK(seconds(hooks.at(0)) == Approx(1e6 * hooks.at(0).at("step_time_s").get<double>()));

  auto limited = search;
  limited.insert(limited.end(), {"--deadline", std::to_string(0.99 * seconds(hooks.at(0))) + " s"});
  const auto found = optimized(limited);
  CHECK(found.at("no_setting_meets_limits") == false);
  for (const auto& one : found.at("best_of_hooks"))
    CHECK(one.at("set").at("strategy").at("comm_hook") != "none");
  const auto missed = std::find_if(found.at("left_out").begin(), found.at("left_out").end(),
                                   [](const Json& one) { return one.contains("training"); });
  REQUIRE(missed != found.at("left_out").end());
  CHECK(missed->at("set").at("strategy").at("comm_hook") == "none");
  CHECK_THAT(missed->at("reason").get<std::string>(), Contains("the deadline is "));

  auto impossible = search;
  impossible.insert(impossible.end(), {"--deadline", "1 h"});
  const auto none = optimized(impossible);
  CHECK(none.at("no_setting_meets_limits") == true);
  CHECK(none.at("best").at("training").at("deadline_met") == "no");
  CHECK(none.at("best").at("step_time_s") == free.at("best").at("step_time_s"));
  CHECK(none.at("warnings").at(0) == "no setting meets the limits of the training: all are ranked");
}

TEST_CASE("the figures of sharded settings in optimize are those of run", "[cli][optimize]") {
  const auto strategy =
      GENERATE("{kind: fsdp, param_dtype: bf16}", "{kind: fsdp1, param_dtype: bf16}", "{kind: zero}");
  const auto found = optimized({"sharded/llama2_7b", "--set", std::string{"strategy="} + strategy});
  for (const auto* which : {"best", "fastest", "defaults", "as_written"}) {
    CAPTURE(which);
    CHECK(found.at(which).at("step_time_s") == step_time("sharded/llama2_7b", found.at(which).at("set")));
  }
  for (const auto& row : found.at("best_of_values")) {
    if (row.at("best").is_null()) continue;
    CAPTURE(row);
    CHECK(row.at("best").at("fits") == true);
  }
}

TEST_CASE("only requested sharded settings are searched", "[cli][optimize]") {
  const auto some = optimized({"sharded/llama2_7b", "--over", "wrap,parallel.replicate"});
  CHECK(some.at("searched") == Json{"wrap", "replicate"});
  CHECK_FALSE(some.at("best").at("set").at("strategy").contains("reshard_after_forward"));
  const auto values = optimized({"sharded/llama2_7b", "--over", "wrap=3 blocks,whole", "--set",
                                 "strategy.reshard_after_forward=false"});
  CHECK(values.at("settings") == 2);
  CHECK(values.at("best").at("set").at("strategy").at("wrap") == "3 blocks");
  CHECK(values.at("best").at("set").at("strategy").at("reshard_after_forward") == false);
  const auto batches = optimized({"sharded/llama2_7b", "--over", "job.batch_per_gpu=1,2"});
  CHECK(batches.at("best").at("set").at("job.batch_per_gpu") == "2");
}

TEST_CASE("optimize of sharded settings recomputes where memory requires it", "[cli][optimize]") {
  const std::vector<std::string> job{"sharded/llama2_7b", "--over", "reshard_after_forward,recompute",
                                     "--set", "job.batch_per_gpu=8"};
  const auto found = optimized(job);
  CHECK(found.at("best").at("set").at("job.recompute") == "full");
  CHECK_THAT(found.at("pytorch").get<std::string>(), Contains("partial(checkpoint, block.forward"));
  CHECK_THAT(found.at("as_written").at("cannot_run").get<std::string>(), Contains("does not fit: "));
}

TEST_CASE("the code that optimize writes for ZeRO is what import reads", "[cli][optimize]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "out").string();
  const auto found =
      run_gradway({"optimize", "sharded/llama2_7b", "--set",
                   "strategy={kind: zero, communication_dtype: fp32}", "--json", "--out", out});
  CHECK(found.errors ==
        "wrote " + out + "/optimize.json, " + out + "/ds_config.json and " + out + "/report.html\n");
  const auto best = Json::parse(found.output).at("best");
  const auto imported =
      run_gradway({"import", "deepspeed", out + "/ds_config.json", "--model", "llama2_7b", "--platform",
                   "aws-p5.48xlarge", "--gpus", "8", "-o", out + "/mine.yaml"});
  CAPTURE(imported.errors);
  REQUIRE(imported.status == 0);
  CHECK(step_time(out + "/mine.yaml", {{"optimizer", "adamw_fused"}}) == best.at("step_time_s"));
}

TEST_CASE("wrong arguments of optimize for sharded settings are refused with a hint", "[cli][optimize]") {
  using Row = std::pair<std::vector<std::string>, std::string>;
  const auto [arguments, errors] = GENERATE(values<Row>({
      {{"--over", "reshard_after_foward"},
       "error: cannot search over 'reshard_after_foward'\n"
       "  hint: did you mean 'reshard_after_forward'?\n"},
      {{"--over", "bucket_cap"},
       "error: cannot search over 'bucket_cap'\n"
       "  hint: known: wrap, reshard_after_forward, forward_prefetch, backward_prefetch, replicate, "
       "recompute, optimizer, job.accumulate, job.batch_per_gpu, input.loader_workers, "
       "input.prefetch_factor, "
       "input.storage, input.decode, input.pin_memory, input.codec, input.cache, input.dataset, "
       "input.cache_policy, nccl.NAME\n"},
      {{"--over", "wrap=6"},
       "--over wrap=6: error: invalid wrap '6'\n"
       "  hint: expected block, whole, or a number of blocks such as '4 blocks'\n"},
      {{"--over", "replicate", "--set", "parallel.replicate=2"},
       "error: 'parallel.replicate' is set and searched\n  hint: leave out '--set' or '--over' for it\n"},
      {{"--set", "strategy={kind: distributed_optimizer}"},
       "error: the strategy of 'llama2_7b' is distributed_optimizer: only DDP, FSDP and ZeRO have "
       "settings to search\n"
       "  hint: 'gradway explain' tries other settings, and 'gradway sweep' can vary any key\n"},
  }));
  auto command = arguments;
  command.insert(command.begin(), {"optimize", "sharded/llama2_7b"});
  const auto outcome = run_gradway(command);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == errors);
}

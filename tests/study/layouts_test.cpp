// SPDX-License-Identifier: Apache-2.0
// The search of layouts: its candidates obey the rules, it finds what simulating all of them finds, and it
// ranks nothing that does not fit.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "sim/compute/memory_range.hpp"
#include "sim/config/config.hpp"
#include "sim/plan/plan.hpp"
#include "sim/scenario/pipeline/stage_layout.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/layouts.hpp"

using namespace gradway;

namespace {

const DataPath layout_data{{GRADWAY_SOURCE_DIR}};
constexpr int samples = 16;
constexpr std::size_t shown = 10;  // layouts that a search finds

std::vector<Override> small_decoder(const std::string& framework) {
  return {{"model", "gpt_124m"},
          {"platform", "dgx-h100"},
          {"job", "{gpus: 16, batch_per_gpu: 2, precision: bf16, framework: " + framework + "}"},
          {"strategy", "{kind: ddp}"}};
}

Scenario decoder_of(const std::string& framework) {
  return load_scenario("sharded/llama2_7b", small_decoder(framework), layout_data);
}

LayoutSearchResult search(const Scenario& scenario) {
  return search_layouts(scenario, samples, exact_search(shown), {.threads = 2});
}

Run simulated(Scenario scenario, const Job& job) {
  scenario.job = job;
  return simulate(std::move(scenario), "fluid");
}

/// Of all candidates, and how many bytes each needs.
struct All {
  Seconds least = Seconds::infinite();
  std::vector<Bytes> needs;
};

All try_all(const Scenario& scenario) {
  All all;
  for (const auto& job : candidate_layouts(scenario, samples, false)) {
    const auto run = simulated(scenario, job);
    all.needs.push_back(run.measured.memory.needed());
    if (fits(scenario, run.measured.memory)) all.least = std::min(all.least, run.measured.metrics.step_time);
  }
  return all;
}

}  // namespace

TEST_CASE("candidates obey the rules of their framework", "[study][layout]") {
  const auto framework = GENERATE("megatron", "pytorch");
  const auto scenario = decoder_of(framework);
  for (const auto& job : candidate_layouts(scenario, samples, false)) {
    const auto& layout = job.layout;
    CHECK(12 % layout.tensor == 0);  // heads
    CHECK(8 % layout.tensor == 0);   // GPUs of a node
    CHECK(16 % layout.model_parallel_ranks() == 0);
    CHECK(job.samples() == samples);
    CHECK(layout.pipeline * layout.chunks <= 12);
    if (layout.schedule == Schedule::interleaved) {
      CHECK(12 % (layout.pipeline * layout.chunks) == 0);
      CHECK(job.accumulate % layout.pipeline == 0);
    }
    if (job.framework == Framework::megatron) {
      CHECK(std::holds_alternative<DistributedOptimizer>(job.strategy));
      if (layout.pipeline > 1) CHECK(12 % layout.pipeline == 0);
    } else {
      const bool replicates = std::holds_alternative<Ddp>(job.strategy) && job.data_parallel() > 1;
      CHECK((std::holds_alternative<Fsdp>(job.strategy) || replicates) == (job.data_parallel() > 1));
      if (replicates) CHECK(layout.model_parallel_ranks() == 1);
    }
  }
}

TEST_CASE("stages of Megatron have nearly the same number of blocks where none divides them",
          "[study][layout]") {
  auto set = small_decoder("megatron");
  set.front().value = "deepseek_v2_lite";  // 27 blocks
  std::set<int> stages;
  for (const auto& job :
       candidate_layouts(load_scenario("sharded/llama2_7b", set, layout_data), samples, false)) {
    const auto blocks = read_stage_layout(job.layout.stage_layout).blocks;
    REQUIRE(blocks.empty() == (job.layout.pipeline == 1));
    if (blocks.empty()) continue;
    stages.insert(job.layout.pipeline);
    CHECK(std::accumulate(blocks.begin(), blocks.end(), 0) == 27);
    CHECK(std::ranges::max(blocks) - std::ranges::min(blocks) <= 2);
  }
  CHECK(stages == std::set{2, 4});
}

TEST_CASE("micro-batches are all divisors of the samples of a rank", "[study][layout]") {
  const auto scenario = decoder_of("pytorch");
  constexpr int odd_samples = 16 * 85;
  std::set<int> batches;
  for (const auto& job : candidate_layouts(scenario, odd_samples, false))
    if (job.data_parallel() == 16) batches.insert(job.batch_per_gpu);
  CHECK(batches == std::set{1, 5, 17, 85});
}

TEST_CASE("no layout that is found is slower than the job as it is written", "[study][layout]") {
  // Strategies, precision of reductions and micro-batches that no rule proposes.
  const auto [gpus, batch, accumulate, strategy] =
      GENERATE(table<int, int, int, std::string>({{6, 15, 2, "{kind: fsdp, param_dtype: bf16}"},
                                                  {12, 7, 1, "{kind: ddp}"},
                                                  {16, 2, 1, "{kind: fsdp, wrap: whole}"}}));
  CAPTURE(gpus, strategy);
  auto set = small_decoder("pytorch");
  set[2].value = "{gpus: " + std::to_string(gpus) + ", batch_per_gpu: " + std::to_string(batch) +
                 ", accumulate: " + std::to_string(accumulate) + ", precision: bf16, compile: true}";
  set[3].value = strategy;
  const auto scenario = load_scenario("sharded/llama2_7b", set, layout_data);
  const auto written = simulated(scenario, scenario.job).measured.metrics.step_time;
  for (const auto& effort : {exact_search(1), quick_search()}) {
    const auto found = search_layouts(scenario, gpus * batch * accumulate, effort);
    REQUIRE_FALSE(found.ranked.empty());
    CHECK(found.ranked.front().metrics.step_time <= written);
  }
}

TEST_CASE("context parallelism stays within NVLink domains, and expert parallelism does not",
          "[study][layout]") {
  const auto of = [](const std::string& model, const std::vector<Override>& more) {
    auto set = small_decoder("megatron");
    set.front().value = model;
    set.insert(set.end(), more.begin(), more.end());
    return candidate_layouts(load_scenario("sharded/llama2_7b", set, layout_data), samples, false);
  };
  const auto ranks_in = [](const std::vector<Job>& jobs, int Layout::*ranks) {
    std::set<int> found;
    for (const auto& job : jobs) found.insert(job.layout.*ranks);
    return found;
  };
  CHECK(ranks_in(of("llama2_7b", {{"job.sequence", "8192"}}), &Layout::context) == std::set{1});
  const auto longer = of("llama2_7b", {{"job.sequence", "32768"}});
  CHECK(ranks_in(longer, &Layout::context) == std::set{1, 2, 4});
  for (const auto& job : longer) CHECK(job.layout.tensor * job.layout.context <= 8);
  CHECK(ranks_in(of("llama2_7b", {{"job.sequence", "32768"}, {"parallel", "{context: 2}"}}),
                 &Layout::context) == std::set{2});

  const auto experts = of("mixtral_8x7b", {});
  CHECK(ranks_in(experts, &Layout::expert) == std::set{1, 2, 4, 8});
  for (const auto& job : experts) CHECK(16 % (job.layout.expert * job.layout.pipeline) == 0);
  CHECK(ranks_in(of("mixtral_8x7b", {{"parallel", "{expert: 4}"}}), &Layout::expert) == std::set{4});
}

TEST_CASE("the search of layouts finds what simulating all of them finds", "[study][layout]") {
  const auto scenario = decoder_of(GENERATE("megatron", "pytorch"));
  const auto found = search(scenario);
  REQUIRE_FALSE(found.ranked.empty());
  CHECK(found.ranked.front().metrics.step_time.value() <= try_all(scenario).least.value());
  CHECK(found.simulated + found.slower + found.do_not_fit + found.refused.size() == found.candidates);
  CHECK(found.leaders.has(0));
}

TEST_CASE("a search of layouts finds the fastest ones of a full simulation, in order", "[study][layout]") {
  const auto [framework, model, gpus, of_step, found_layouts] =
      GENERATE(table<std::string, std::string, int, int, int>({{"megatron", "gpt_124m", 16, 64, 10},
                                                               {"megatron", "gpt_124m", 4, 8, 3},
                                                               {"pytorch", "gpt_124m", 8, 16, 5},
                                                               {"megatron", "llama2_7b", 8, 16, 10},
                                                               {"pytorch", "llama2_7b", 4, 4, 10}}));
  CAPTURE(framework, model, gpus, of_step);
  auto set = small_decoder(framework);
  set.front().value = model;
  set.push_back({"job.gpus", std::to_string(gpus)});
  const auto scenario = load_scenario("sharded/llama2_7b", set, layout_data);
  const auto found = search_layouts(scenario, of_step, exact_search(static_cast<std::size_t>(found_layouts)),
                                    {.threads = 2});

  auto jobs = candidate_layouts(scenario, of_step, false);
  const auto is_candidate = std::ranges::any_of(jobs, [&](const Job& job) {
    return job.strategy.index() == scenario.job.strategy.index() && job.recompute == scenario.job.recompute &&
           job.layout.tensor * job.layout.pipeline == 1 && job.accumulate == scenario.job.accumulate;
  });
  if (scenario.job.samples() == of_step && !is_candidate) jobs.push_back(scenario.job);
  std::vector<Seconds> times(jobs.size(), Seconds::infinite());
  std::vector<MemoryVerdict> verdicts(jobs.size());
  for_each_in_parallel(jobs.size(), 2, [&](std::size_t i) {
    const auto run = simulated(scenario, jobs[i]);
    verdicts[i] = memory_range(run.scenario, run.measured.memory).verdict;
    if (fits(run.scenario, run.measured.memory)) times[i] = run.measured.metrics.step_time;
  });
  std::vector<double> steps;
  auto of_surely_fitting = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (times[i] == Seconds::infinite()) continue;
    steps.push_back(times[i].value());
    if (verdicts[i] == MemoryVerdict::fits) of_surely_fitting = std::min(of_surely_fitting, steps.back());
  }
  std::ranges::sort(steps);
  // Variants that are tried on top of the candidates.
  std::vector<Answer> ranked = found.ranked;
  std::erase_if(ranked, [](const Answer& one) {
    const auto& job = one.job;
    return job.recompute == Recompute::selective_op ||
           (job.framework == Framework::megatron && job.layout.tensor > 1 && !job.layout.sequence);
  });
  const auto count = std::min<std::size_t>(steps.size(), static_cast<std::size_t>(found_layouts));
  REQUIRE(ranked.size() >= count);
  CHECK(found.simulated < found.candidates);
  for (std::size_t i = 0; i < count; ++i) CHECK(ranked[i].metrics.step_time.value() == steps[i]);
  const auto surely = std::ranges::find(ranked, MemoryVerdict::fits, &Answer::verdict);
  if (of_surely_fitting < std::numeric_limits<double>::infinity()) {
    REQUIRE(surely != ranked.end());
    CHECK(surely->metrics.step_time.value() == of_surely_fitting);
  }
}

TEST_CASE("layouts that do not fit are listed, and never ranked", "[study][layout]") {
  auto scenario = decoder_of("megatron");
  auto needs = try_all(scenario).needs;
  std::ranges::sort(needs);
  auto& memory = scenario.platform.gpu_models.front().memory;
  memory = needs[needs.size() / 2];
  const auto found = search(scenario);
  REQUIRE_FALSE(found.ranked.empty());
  REQUIRE_FALSE(found.unfit.empty());
  for (const auto& one : found.ranked) CHECK(one.memory <= memory);
  for (const auto& one : found.unfit) CHECK(one.memory > memory);
  CHECK(found.simulated + found.slower + found.do_not_fit >= found.candidates);
  CHECK(found.ranked.front().metrics.step_time.value() <= try_all(scenario).least.value());

  memory = needs.front() / 4;
  const auto none = search(scenario);
  CHECK(none.ranked.empty());
  CHECK(none.do_not_fit == none.candidates);
}

TEST_CASE("no layout on the front is as fast as another with as little memory", "[study][layout]") {
  const auto found = search(decoder_of("megatron"));
  REQUIRE(found.on_front.size() == found.ranked.size());
  CHECK(found.on_front.front());
  for (std::size_t i = 0; i < found.ranked.size(); ++i) {
    const auto is_beaten =
        std::any_of(found.ranked.begin(), found.ranked.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Answer& faster) { return faster.memory <= found.ranked[i].memory; });
    CHECK(found.on_front[i] != is_beaten);
  }
}

TEST_CASE("a search of layouts refuses frameworks that it does not support", "[study][layout]") {
  using Catch::Matchers::Contains;
  auto scenario = decoder_of("pytorch");
  scenario.job.framework = Framework::deepspeed;
  CHECK_THROWS_WITH(search_layouts(scenario, samples, exact_search(shown)), Contains("not for DeepSpeed"));
}

TEST_CASE("the search reports the gain of keys that it does not search", "[study][layout]") {
  auto scenario = decoder_of("pytorch");
  scenario.job.strategy = Fsdp{};
  scenario.job.optimizer = Optimizer::adamw;
  const auto found = search(scenario);
  REQUIRE(found.key_gains.size() >= 2);
  const auto& best = found.ranked.front();
  const auto keys = unsearched_keys(scenario.model, scenario.platform.gpu_models.front(), best.job);
  auto all = best.job;
  for (std::size_t i = 0; i + 1 < found.key_gains.size(); ++i) {
    const auto& gain = found.key_gains[i];
    REQUIRE(std::ranges::find(keys, gain.set) != keys.end());
    CHECK(gain.metrics.step_time < best.metrics.step_time);
    auto job = best.job;
    set_keys(job, gain.set);
    set_keys(all, gain.set);
    CHECK(simulated(scenario, job).measured.metrics.step_time.value() == gain.metrics.step_time.value());
  }
  CHECK(simulated(scenario, all).measured.metrics.step_time.value() ==
        found.key_gains.back().metrics.step_time.value());
}

TEST_CASE("a tied layout that certainly fits is recommended instead of a tight one", "[study][layout]") {
  using enum MemoryVerdict;
  LayoutSearchResult found;
  const auto add = [&](MemoryVerdict verdict) { found.ranked.emplace_back().verdict = verdict; };
  add(tight);
  add(may_not_fit);
  add(fits);
  add(fits);
  found.leaders.which = {0, 1, 2};
  CHECK(&found.recommended() == &found.ranked[2]);
  found.leaders.which = {0, 1};  // the third is slower for sure
  CHECK(&found.recommended() == &found.ranked[0]);
  found.ranked[0].verdict = fits;
  found.leaders.which = {0, 1, 2};
  CHECK(&found.recommended() == &found.ranked[0]);
}

TEST_CASE("a job with all settings of a recipe has no unsearched keys", "[study][layout]") {
  auto scenario = decoder_of("pytorch");
  scenario.job.strategy =
      Fsdp{.reshard = Fsdp::kept, .param_dtype = Number::bf16, .reduce_dtype = Number::fp32};
  scenario.job.optimizer = Optimizer::adamw_fused;
  scenario.job.compiled = true;
  CHECK(unsearched_keys(scenario.model, scenario.platform.gpu_models.front(), scenario.job).empty());
}

TEST_CASE("selective checkpoints replace full recomputation, or double the micro-batch", "[study][layout]") {
  const auto scenario = decoder_of("pytorch");
  for (const auto& job : candidate_layouts(scenario, samples, false)) {
    const auto other = with_selective_checkpoints(scenario.model, job);
    if (!other) continue;
    CHECK(other->samples() == samples);
    CHECK(other->recompute == Recompute::selective_op);
    CHECK(other->batch_per_gpu == (runs_blocks_again(job.recompute) ? 1 : 2) * job.batch_per_gpu);
    if (other->layout.schedule == Schedule::interleaved)
      CHECK(other->accumulate % other->layout.pipeline == 0);
  }
  const auto megatron = decoder_of("megatron");
  for (const auto& job : candidate_layouts(megatron, samples, false))
    CHECK_FALSE(with_selective_checkpoints(megatron.model, job));
}

TEST_CASE("a quick search finds and simulates the same on any number of threads", "[study][layout]") {
  const auto scenario = decoder_of(GENERATE("megatron", "pytorch"));
  const auto alone = search_layouts(scenario, 4 * samples, quick_search());
  for (const int threads : {2, 3, 8}) {
    CAPTURE(threads);
    const auto together = search_layouts(scenario, 4 * samples, quick_search(), {.threads = threads});
    CHECK(together.simulated == alone.simulated);
    CHECK(together.do_not_fit == alone.do_not_fit);
    CHECK(together.slower == alone.slower);
    REQUIRE(together.ranked.size() == alone.ranked.size());
    for (std::size_t i = 0; i < together.ranked.size(); ++i) {
      CHECK(together.ranked[i].metrics.step_time == alone.ranked[i].metrics.step_time);
      CHECK(together.ranked[i].job.layout.pipeline == alone.ranked[i].job.layout.pipeline);
      CHECK(together.ranked[i].memory == alone.ranked[i].memory);
    }
  }
}

TEST_CASE("the memory that is known without a plan of the tasks is that of the plan", "[study][layout]") {
  const auto name = GENERATE("layouts/llama3_70b", "layouts/mixtral_8x7b", "layouts/gpt3_175b",
                             "sharded/llama2_7b", "article/g6e", "h200-4x/gpt_small");
  CAPTURE(name);
  const auto scenario = load_scenario(name, {}, layout_data);
  const auto costs = compute_costs(scenario);
  const auto workload = plan(scenario, costs);
  const auto memory = memory_of_ranks(scenario, costs);
  REQUIRE(memory.size() == workload.programs_of_ranks());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto& planned = workload.programs[i].memory;
    CHECK(memory[i].needed() == planned.needed());
    CHECK(memory[i].activations == planned.activations);
  }
}

TEST_CASE("a search that is stopped has the best so far", "[study][layout]") {
  const auto scenario = decoder_of("pytorch");
  int asked = 0;
  const auto found = search_layouts(scenario, samples, exact_search(shown),
                                    {.threads = 2, .is_stopped = [&] { return ++asked > 0; }});
  REQUIRE(!found.ranked.empty());
  CHECK(found.not_tried > 0);
  CHECK(found.key_gains.empty());
  CHECK(found.simulated + found.do_not_fit + found.slower + found.not_tried + found.refused.size() ==
        found.candidates);
  for (const auto& one : found.ranked) CHECK(one.metrics.step_time >= found.ranked.front().metrics.step_time);
  CHECK(search(scenario).not_tried == 0);
}

TEST_CASE("layouts of many micro-batches rank as if all of these were simulated", "[study][layout]") {
  const auto [framework, gpus, many_samples] =
      GENERATE(table<std::string, int, int>({{"megatron", 4, 96},
                                             {"megatron", 8, 128},
                                             {"pytorch", 4, 64},
                                             {"pytorch", 8, 256},
                                             {"megatron", 16, 256}}));
  CAPTURE(framework, gpus, many_samples);
  auto scenario = decoder_of(framework);
  scenario.job.gpus = gpus;
  const auto found = search_layouts(scenario, many_samples, exact_search(shown), {.threads = 2});
  auto before = Seconds{};
  for (const auto& one : found.ranked) {
    scenario.job = one.job;
    const auto whole =
        simulate(scenario, "fluid", FoldRanks::yes, {}, FoldMicroBatches::no).measured.metrics.step_time;
    CHECK(one.metrics.step_time.value() == Approx(whole.value()).epsilon(1e-9));
    CHECK(whole >= before * (1 - 1e-9));
    before = whole;
  }
}

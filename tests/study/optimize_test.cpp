// SPDX-License-Identifier: Apache-2.0
// The search over settings: it finds what trying every whole MiB finds, prefers the simple ones, and says
// what each setting brings.
#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/plan/ddp/buckets.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/optimize.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};
const std::vector<std::string> all_hooks{"none", "fp16", "bf16", "powersgd"};

Scenario shipped(const std::string& name, const std::vector<Override>& set = {}) {
  return load_scenario(name, set, data);
}

/// Searches a setting with these values alone.
void search_only(SearchSpace& space, const std::string& name, const std::vector<std::string>& texts) {
  auto& setting = *std::ranges::find(space.settings, name, &StrategySetting::name);
  setting.values.clear();
  for (const auto& text : texts) {
    auto& value = setting.values.emplace_back(SettingValue{text, space.jobs.front().job.strategy});
    set_key(value.strategy, name, text);
  }
}

SearchSpace whole_space(Scenario scenario, const std::vector<std::string>& hooks) {
  SearchSpace space;
  space.any_bucket_cap = true;
  space.settings = strategy_settings(scenario);
  space.jobs = {std::move(scenario)};
  search_only(space, "comm_hook", hooks);
  search_only(space, "powersgd_rank", {"1"});
  return space;
}

const Ddp& ddp(const Answer& tried) {
  return std::get<Ddp>(tried.job.strategy);
}

Optimum found(const SearchSpace& space) {
  auto result = optimize(space, "fluid", in_parallel(1));
  REQUIRE(result.optimum);
  return *result.optimum;
}

double step(Scenario scenario, const Ddp& strategy) {
  scenario.job.strategy = strategy;
  return simulate(scenario, "fluid").measured.metrics.step_time.value();
}

/// The least step time of all whole MiB, PyTorch's default cap, hooks and views. Caps that give the same
/// buckets are tried once.
double by_brute_force(const SearchSpace& space) {
  const auto& scenario = space.jobs.front();
  double least = std::numeric_limits<double>::infinity();
  for (const auto hook : values_to_try(space, "comm_hook", &Ddp::comm_hook)) {
    for (const bool view : values_to_try(space, "gradient_as_bucket_view", &Ddp::gradient_as_bucket_view)) {
      auto strategy = pytorch_defaults();
      strategy.comm_hook = hook;
      strategy.gradient_as_bucket_view = view;
      least = std::min(least, step(scenario, strategy));
      std::vector<int> before;
      for (int cap = 1; cap <= full_cap_range(scenario.model).last; ++cap) {
        strategy.bucket_cap = cap * 1_MiB;
        auto ends = bucket_ends(ddp_buckets(scenario.model, strategy.bucket_cap));
        if (ends == before) continue;
        before = std::move(ends);
        least = std::min(least, step(scenario, strategy));
      }
    }
  }
  return least;
}

}  // namespace

TEST_CASE("caps with the same buckets are equivalent, and every whole MiB belongs to a partition",
          "[run][optimize]") {
  const auto model = load_model("vit_l_32", data);
  const auto whole = full_cap_range(model);
  CHECK(whole.last == 1170);  // 306,535,400 gradients of 4 bytes
  const auto cuts = equivalent_caps(model, {std::nullopt, 2000_MiB}, whole);
  int next = 1;
  for (const auto& cut : cuts) {
    if (!cut.range) continue;
    CHECK(cut.range->first == next);
    next = cut.range->last + 1;
    const auto ends = bucket_ends(ddp_buckets(model, cut.range->first * 1_MiB));
    CHECK(bucket_ends(ddp_buckets(model, cut.range->last * 1_MiB)) == ends);
  }
  CHECK(next == 1171);
  CHECK_FALSE(cuts.back().range);  // PyTorch's default: no cap gives a first bucket of its own
  CHECK(simplest_cap(cuts.back(), whole) == std::nullopt);
  const auto one_bucket = std::ranges::find_if(cuts, [](const auto& cut) { return cut.caps.size() == 1; });
  CHECK(simplest_cap(*one_bucket, whole) == BucketCap{2000_MiB});
}

TEST_CASE("of equivalent caps the roundest is written", "[run][optimize]") {
  const CapRange whole{1, 98};
  const auto written = [&](int first, int last) { return *simplest_cap({{}, CapRange{first, last}}, whole); };
  CHECK(written(25, 32) == 30_MiB);
  CHECK(written(33, 39) == 33_MiB);
  CHECK(written(95, 98) == 100_MiB);  // all that give one bucket
  CHECK(significant_digits(100_MiB) == 1);
  CHECK(significant_digits(25_MiB) == 2);
  CHECK(significant_digits(100_MB) > 4);
}

namespace {

void check_against_brute_force(const Scenario& scenario, const std::vector<std::string>& hooks) {
  const auto space = whole_space(scenario, hooks);
  const auto best = found(space).fastest.metrics.step_time.value();
  const auto least = by_brute_force(space);
  CHECK(best >= least * (1 - 1e-12));
  CHECK(best <= least * 1.0003);
}

using Row = std::pair<std::string, std::vector<Override>>;

}  // namespace

TEST_CASE("the search finds the optimum of all caps in whole MiB", "[run][optimize]") {
  const auto [name, set] = GENERATE(values<Row>(
      {{"article/p4d", {}},
       {"article/g6e", {}},
       {"article/g6e", {{"model", "gpt_small"}, {"job.batch_per_gpu", "4"}}},
       {"article/p4d", {{"platform", "aws-p5.48xlarge"}, {"job.gpus", "16"}, {"optimizer", "adamw"}}},
       {"h200-4x/resnet50", {}},
       {"h200-4x/resnet50", {{"nccl.NCCL_P2P_DISABLE", "1"}}},
       {"published/lambda-ada-8x-bert", {{"job.batch_per_gpu", "2"}}},
       {"scale/ddp-24", {}}}));
  CAPTURE(name);
  check_against_brute_force(shipped(name, set), {"none"});
}

TEST_CASE("the search finds the optimum of all caps in whole MiB with hooks", "[run][optimize]") {
  const auto [name, set] =
      GENERATE(values<Row>({{"article/g6e", {{"model", "gpt_small"}, {"job.batch_per_gpu", "4"}}},
                            {"h200-4x/resnet50", {{"nccl.NCCL_P2P_DISABLE", "1"}}},
                            {"scale/ddp-24", {}}}));
  const std::string hook = GENERATE("bf16", "powersgd");
  CAPTURE(name);
  check_against_brute_force(shipped(name, set), {hook});
}

TEST_CASE("the search meets the article's hand-tuned settings", "[run][optimize]") {
  const auto tuned = [](const char* name, CommHook hook, BucketCap cap) {
    auto strategy = pytorch_defaults();
    strategy.static_graph = strategy.gradient_as_bucket_view = true;
    strategy.comm_hook = hook;
    strategy.bucket_cap = cap;
    return step(shipped(name), strategy);
  };
  const auto p4d = found(whole_space(shipped("article/p4d"), {"none"}));
  CHECK(p4d.fastest.metrics.step_time.value() <= tuned("article/p4d", CommHook::none, 100_MiB));

  const auto g6e = found(whole_space(shipped("article/g6e"), all_hooks));
  CHECK(g6e.fastest.metrics.step_time.value() <= tuned("article/g6e", CommHook::powersgd, 2000_MiB) * 1.0001);
  CHECK(ddp(g6e.best).comm_hook == CommHook::powersgd);
  REQUIRE(g6e.best_of_hooks.size() == 4);
  CHECK(ddp(g6e.best_of_hooks[2]).comm_hook == CommHook::bf16);
  CHECK(g6e.best_of_hooks[2].metrics.step_time.value() <= tuned("article/g6e", CommHook::bf16, 100_MiB));
}

TEST_CASE("of settings tied with the fastest the one with the fewest changes is recommended",
          "[run][optimize]") {
  const auto scenario = shipped(GENERATE("article/p4d", "article/g6e", "h200-4x/vit_l_32"));
  const auto optimum = found(whole_space(scenario, {"none"}));
  const auto choice = [](const Answer& tried) { return tried.sample_choice(); };
  CHECK(optimum.best.metrics.step_time >= optimum.fastest.metrics.step_time);
  CHECK(are_tied(choice(optimum.best), choice(optimum.fastest)));
  // What it has beside PyTorch's defaults is a gain for sure.
  for (const auto& [key, without] : optimum.reverted) {
    CAPTURE(key);
    CHECK_FALSE(are_tied(choice(without), choice(optimum.best)));
  }
  const bool is_default = !ddp(optimum.best).bucket_cap && !ddp(optimum.best).gradient_as_bucket_view;
  CHECK(is_default == are_tied(choice(optimum.defaults), choice(optimum.best)));
}

TEST_CASE("the gain of settings is relative to PyTorch's defaults and the job as written",
          "[run][optimize]") {
  const auto scenario = shipped(GENERATE("article/p4d", "h200-4x/vit_l_32"));
  const auto optimum = found(whole_space(scenario, {"none"}));
  CHECK(optimum.defaults.metrics.step_time.value() == step(scenario, pytorch_defaults()));
  CHECK(optimum.as_written.metrics.step_time.value() == step(scenario, std::get<Ddp>(scenario.job.strategy)));
  REQUIRE_FALSE(optimum.reverted.empty());
  for (const auto& [key, without] : optimum.reverted) {
    CAPTURE(key);
    auto expected = ddp(optimum.best);
    if (key == "bucket_cap") expected.bucket_cap.reset();
    if (key == "gradient_as_bucket_view") expected.gradient_as_bucket_view = false;
    CHECK(without.metrics.step_time.value() == step(scenario, expected));
    CHECK(without.metrics.step_time.value() > optimum.best.metrics.step_time.value() * 1.0001);
  }
}

TEST_CASE("caps in the flat range are within one percent of the best, and the next ones are not",
          "[run][optimize]") {
  const auto scenario = shipped(GENERATE("article/p4d", "article/g6e", "h200-4x/resnet50"));
  const auto optimum = found(whole_space(scenario, {"none"}));
  REQUIRE(optimum.flat);
  const auto with_cap = [&](int cap) {
    auto strategy = ddp(optimum.best);
    strategy.bucket_cap = cap * 1_MiB;
    return step(scenario, strategy) / optimum.best.metrics.step_time.value();
  };
  const auto [first, last] = *optimum.flat;
  for (int cap = first; cap <= last; ++cap) {
    CAPTURE(cap);
    REQUIRE(with_cap(cap) <= 1 + flatness);
  }
  if (first > 1) CHECK(with_cap(first - 1) > 1 + flatness);
  CHECK(optimum.is_flat_to_end == (last == full_cap_range(scenario.model).last));
  if (!optimum.is_flat_to_end) CHECK(with_cap(last + 1) > 1 + flatness);
  for (const auto& [cap, tried] : optimum.curve) {
    CHECK(tried.metrics.step_time.value() ==
          Approx(with_cap(cap) * optimum.best.metrics.step_time.value()).epsilon(1e-12));
  }
}

TEST_CASE("of equally good settings the one with the fewest changes is recommended", "[run][optimize]") {
  auto scenario = shipped("article/p4d", {{"job.gpus", "1"}});
  scenario.model.layers.resize(2);
  scenario.platform = test::ring_platform(1, 50_GBps, {});
  scenario.model.anchors.clear();
  scenario.model.run = {};
  scenario.model.layers = synthetic({{"one", 1, 1_ms, 1_ms, 1000}});
  scenario.model.optimizer_time = Seconds{};
  scenario.calibration = {};
  const auto best = ddp(found(whole_space(scenario, all_hooks)).best);
  CHECK_FALSE(best.bucket_cap);
  CHECK_FALSE(best.static_graph);
  CHECK_FALSE(best.gradient_as_bucket_view);
  CHECK(best.comm_hook == CommHook::none);
}

TEST_CASE("the recommendation is in the search space, even if PyTorch's defaults are better",
          "[run][optimize]") {
  auto space = whole_space(shipped("article/g6e"), {"powersgd"});
  search_only(space, "powersgd_rank", {"2", "4"});
  space.any_bucket_cap = false;
  search_only(space, "bucket_cap", {"25 MiB", "100 MiB"});
  search_only(space, "gradient_as_bucket_view", {"true"});
  const auto optimum = found(space);
  CHECK(ddp(optimum.best).powersgd_rank == 2);
  CHECK(has(space, ddp(optimum.best)));
  CHECK_FALSE(has(space, pytorch_defaults()));
}

TEST_CASE("a static graph does not change the step, so that the search tries one value", "[run][optimize]") {
  const auto name = GENERATE("article/p4d", "article/g6e", "h200-4x/gpt_small", "scale/ddp-24");
  const auto hook = GENERATE(CommHook::none, CommHook::bf16, CommHook::powersgd);
  const auto scenario = shipped(name, {{"job.accumulate", GENERATE("1", "2")}});
  auto strategy = std::get<Ddp>(scenario.job.strategy);
  strategy.comm_hook = hook;
  const auto before = step(scenario, strategy);
  strategy.static_graph = true;
  CHECK(step(scenario, strategy) == before);
}

TEST_CASE("settings that do not fit are left out", "[run][optimize]") {
  auto scenario = shipped("article/p4d");
  const auto full = simulate(scenario, "fluid").measured.memory.needed();
  auto& gpu = scenario.platform.gpu_models.front();
  gpu.memory = full;  // PowerSGD keeps the error of every gradient
  const auto space = whole_space(scenario, {"none", "powersgd"});
  const auto result = optimize(space, "fluid", in_parallel(1));
  REQUIRE(result.optimum);
  CHECK(ddp(result.optimum->best).comm_hook == CommHook::none);
  REQUIRE(result.optimum->best_of_hooks.size() == 1);
  REQUIRE_FALSE(result.left_out.empty());
  for (const auto& one : result.left_out) CHECK(ddp(one).comm_hook == CommHook::powersgd);

  scenario.platform.gpu_models.front().memory = 1_MB;
  const auto none = optimize(whole_space(scenario, {"none"}), "fluid", in_parallel(1));
  CHECK_FALSE(none.optimum);
  CHECK(none.left_out.size() == 2);  // with views and without
}

TEST_CASE("jobs are compared by the time per sample", "[run][optimize]") {
  auto space = whole_space(shipped("article/g6e"), {"none"});
  space.jobs.push_back(shipped("article/g6e", {{"job.accumulate", "4"}}));
  const auto optimum = found(space);
  CHECK(optimum.best.scenario == 1);
  CHECK(optimum.best.metrics.step_time > optimum.defaults.metrics.step_time);
  REQUIRE(optimum.reverted.front().key.empty());
  CHECK(optimum.reverted.front().without.scenario == 0);
}

TEST_CASE("the search does not depend on the number of threads", "[run][optimize]") {
  const auto space = whole_space(shipped("article/g6e"), all_hooks);
  const auto with = [&](int threads) { return optimize(space, "fluid", in_parallel(threads)); };
  const auto one = with(1);
  const auto three = with(3);
  CHECK(one.simulated == three.simulated);
  CHECK(one.optimum->best.metrics.step_time == three.optimum->best.metrics.step_time);
  CHECK(ddp(one.optimum->best).bucket_cap == ddp(three.optimum->best).bucket_cap);
  CHECK(static_cast<double>(one.simulated) < one.settings / 20);
}

TEST_CASE("the search of loader settings finds the optimum of an exhaustive search", "[run][optimize]") {
  const SearchRequest request{
      .scenario = "loading/resnet50",
      .set = {{"input.storage", "aws-efs"}},
      .over = {"input.loader_workers=1,2,8,12", "input.decode", "input.prefetch_factor=1,2"},
      .lossy = false,
      .price = {}};
  const auto asked = read_search(request, data);
  // 4 x 2 x 2, of which one is the job as written.
  REQUIRE(asked.space.jobs.size() == 16);
  double least = 1e9;
  for (const auto& job : asked.space.jobs)
    least = std::min(least, simulate(job, "fluid").measured.metrics.step_time.value());
  const auto optimum = found(asked.space);
  CHECK(optimum.fastest.metrics.step_time.value() == Approx(least));
  REQUIRE(optimum.best_of_values.size() == 8);
  for (const auto& row : optimum.best_of_values) {
    REQUIRE(row.tried);
    CHECK(row.tried->metrics.step_time.value() >= Approx(least));
  }
  // One worker cannot decode what a step needs, whatever else is set.
  CHECK(optimum.best_of_values[0].value == "1");
  CHECK(optimum.best_of_values[0].tried->metrics.step_time.value() > 1.5 * least);
}

TEST_CASE("loader settings without values are tried with the values that the scenario allows",
          "[run][optimize]") {
  const auto values = [](const char* key, const std::vector<Override>& set) {
    const SearchRequest request{
        .scenario = "loading/resnet50", .set = set, .over = {key}, .lossy = false, .price = {}};
    return read_search(request, data).space.job_settings.front().values;
  };
  // 112 cores of 2 threads for 8 ranks.
  CHECK(values("input.loader_workers", {}) == std::vector<std::string>{"1", "2", "4", "8", "16"});
  CHECK(values("input.storage", {}) == list_names(DataKind::storage, data));
  CHECK(values("input.codec", {{"input.dataset", "imagenet-1k-raw"}}) ==
        std::vector<std::string>{"lz4", "snappy", "zstd", "zlib"});
}

TEST_CASE("of several changed keys of the job those without a benefit are reverted", "[run][optimize]") {
  const SearchRequest request{
      .scenario = "loading/resnet50",
      .set = {{"input.storage", "s3-standard"}},
      .over = {"input.dataset=imagenet-1k,imagenet-1k-shards", "input.loader_workers=8,16"},
      .lossy = false,
      .price = {}};
  const auto asked = read_search(request, data);
  const auto optimum = found(asked.space);
  const auto& changes = optimum.best.set;
  REQUIRE(changes.size() == 1);
  CHECK(changes.front().first == "input.dataset");
  CHECK(changes.front().second == "imagenet-1k-shards");
}

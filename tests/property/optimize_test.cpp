// SPDX-License-Identifier: Apache-2.0
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "sim/study/parallel.hpp"
#include "sim/study/search/optimize.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// A DDP job of up to a few hundred layers of all sizes on a ring whose links may be the limit, or not.
Scenario random_scenario() {
  std::vector<SyntheticLayer> layers;
  const auto count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    layers.push_back({"layer" + std::to_string(i), *rc::gen::inRange(1, 8),
                      Seconds{1e-6 * *rc::gen::inRange(0, 1000)}, Seconds{1e-6 * *rc::gen::inRange(0, 3000)},
                      *rc::gen::inRange(0, 1 << *rc::gen::inRange(10, 24))});
  }
  return ring_scenario(*rc::gen::inRange(1, 9), layers, Bytes{1e6 * *rc::gen::inRange(1, 200)},
                       BytesPerSecond{1e9 * *rc::gen::inRange(1, 100)},
                       Seconds{1e-6 * *rc::gen::inRange(0, 100)});
}

double step(Scenario scenario, BucketCap cap) {
  std::get<Ddp>(scenario.job.strategy).bucket_cap = cap;
  return simulate(scenario, "fluid").measured.metrics.step_time.value();
}

}  // namespace

TEST_CASE("the best cap is within 0.02 % of an exhaustive search over whole MiB", "[optimize]") {
  rc::prop("the search is as good as brute force", [] {
    SearchSpace space;
    space.jobs = {random_scenario()};
    const auto& scenario = space.jobs.front();
    space.any_bucket_cap = true;
    space.settings = strategy_settings(scenario);
    for (auto& setting : space.settings) setting.values.resize(1);  // PyTorch's defaults
    const auto result = optimize(space, "fluid", in_parallel(1));
    auto least = step(scenario, std::nullopt);
    for (int mib = 1; mib <= full_cap_range(scenario.model).last; ++mib)
      least = std::min(least, step(scenario, mib * 1_MiB));
    const auto best = result.optimum->best.metrics.step_time.value();
    RC_ASSERT(best >= least * (1 - 1e-12));
    RC_ASSERT(best <= least * 1.0002);
  });
}

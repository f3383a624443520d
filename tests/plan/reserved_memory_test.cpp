// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/plan/reserved_memory.hpp"

using namespace gradway;

namespace {

/// One layer with a parameter of 40 MiB, its gradient, 80 MiB of optimizer states, 40 MiB of temporaries in
/// the optimizer's step, and a tensor of 100 MiB that its backward pass needs.
struct Case {
  Scenario scenario{};
  StepMemory step{};
  MemoryUse always{.parameters = 40_MiB, .optimizer_state = 80_MiB};
  SyncMemory of_sync{};

  Case() {
    step.activations = {100_MiB, 100_MiB};
    step.gradients = {0_B, 40_MiB};
    step.forward = 1;
    step.tensors = {{0, 1, (100_MiB).value()}};
    Layer layer{};
    layer.parameters.push_back({"w", {10 << 20}});
    scenario.model.layers = {layer};
  }
  /// Beyond what is allocated at the peak.
  Bytes beyond(Bytes allocated = {}) const {
    return reserved_memory(scenario, step, of_sync, always, allocated, 40_MiB, 40_MiB) - allocated;
  }
};

}  // namespace

TEST_CASE("the optimizer's states take memory of the first step, so that later steps reserve more") {
  // First step: 40 (parameter) + 100 + 40 (gradient); 80 of the 100 go to the states, 40 are temporaries: 220
  // MiB. Second step: 100 again, since 20 are left of the first ones. 260 of 320 MiB are in use at most.
  CHECK(Case{}.beyond() == 60_MiB);
}

TEST_CASE("buckets that are made beside the first ones need a segment of their own") {
  Case with_buckets;
  with_buckets.always.buckets = 60_MiB;
  with_buckets.of_sync.first_buckets = 60_MiB;
  CHECK(with_buckets.beyond() == 120_MiB);
  with_buckets.of_sync.first_buckets = 0_B;
  CHECK(with_buckets.beyond() == 60_MiB);
}

TEST_CASE("the usual share is reserved where tensors are unknown or parameters are sharded") {
  Case unknown;
  unknown.step.tensors.clear();
  CHECK(unknown.beyond(1000_MiB).value() == Approx((106_MiB).value()));
  Case sharded;
  sharded.of_sync.parameters = 20_MiB;
  CHECK(sharded.beyond(1000_MiB) == unknown.beyond(1000_MiB));
}

// SPDX-License-Identifier: Apache-2.0
// The memory over a step belongs to the step whose peak is reported.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "sim/config/config.hpp"
#include "sim/run/memory_over_step.hpp"

using namespace gradway;

TEST_CASE("the memory over a step is highest where the step's peak is", "[memory]") {
  const std::string kind = GENERATE("ddp", "fsdp", "fsdp1", "zero2", "zero3", "pipeline");
  const std::string accumulate = GENERATE("1", "4");
  std::vector<Override> set{{"model", "gpt2"}, {"job.gpus", "4"}, {"job.accumulate", accumulate}};
  if (kind == "pipeline") {
    set.insert(set.end(), {{"strategy", "{kind: ddp}"}, {"parallel", "{pipeline: 2}"}});
  } else if (kind.starts_with("zero")) {
    set.push_back({"strategy", "{kind: zero, stage: " + kind.substr(4) + "}"});
  } else {
    set.push_back({"strategy", "{kind: " + kind + "}"});
  }
  CAPTURE(kind, accumulate);
  const auto run = simulate(load_scenario("h200-4x/gpt_small", set, DataPath{{GRADWAY_SOURCE_DIR}}));
  const auto moments = memory_over_step(run);

  REQUIRE(moments.size() > 100);
  const auto highest =
      std::ranges::max_element(moments, {}, [](const MemoryMoment& moment) { return moment.use.needed(); });
  CHECK(highest->use.needed().value() == Approx(run.measured.memory.needed().value()));
  CHECK(highest->use.activations == run.measured.memory.activations);
  CHECK(moments.front().phase == Phase::forward);
  CHECK(std::ranges::is_sorted(moments, {}, &MemoryMoment::phase));
  // Without accumulation no gradient exists before the backward pass; it ends with all.
  if (kind == "ddp" && accumulate == "1") {
    CHECK(moments.front().use.activations < run.measured.memory.activations);
    CHECK(moments.front().use.gradients <= moments.back().use.gradients);
  }
}

TEST_CASE("a collective has no memory over its step", "[memory]") {
  const auto run = simulate(load_scenario("h200-2x/collective", {}, DataPath{{GRADWAY_SOURCE_DIR}}));
  CHECK(memory_over_step(run).empty());
}

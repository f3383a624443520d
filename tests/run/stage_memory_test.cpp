// SPDX-License-Identifier: Apache-2.0
// Memory of pipeline stages: what each micro-batch in flight adds to it.
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/plan/plan.hpp"

using namespace gradway;

namespace {

/// Activations of the first of two stages whose blocks are recomputed, in bytes.
double activations_of_first_stage(const std::string& framework, const std::string& layout,
                                  const std::string& micro_batches) {
  const auto scenario =
      load_scenario("sharded/llama2_7b",
                    {{"job.gpus", "2"},
                     {"job.batch_per_gpu", "1"},
                     {"job.accumulate", micro_batches},
                     {"job.recompute", "full"},
                     {"job.state_dtype", "bf16"},
                     {"job.framework", framework},
                     {"parallel", "{ pipeline: 2, schedule: gpipe, stage_layout: '" + layout + "' }"},
                     {"strategy", "{ kind: ddp }"}},
                    DataPath{{GRADWAY_SOURCE_DIR}});
  return memory_of_ranks(scenario, compute_costs(scenario)).front().activations.value();
}

}  // namespace

TEST_CASE("a micro-batch in flight holds the inputs of a stage's blocks, and its output if it is kept",
          "[memory]") {
  constexpr double input_of_block = 4096.0 * 4096 * 2;  // tokens, hidden size, bf16
  const auto [framework, outputs] = GENERATE(table<std::string, int>({{"megatron", 0}, {"pytorch", 1}}));
  const auto [layout, blocks] = GENERATE(table<std::string, int>({{"Et*16|t*16L", 16}, {"Et|t*31L", 1}}));
  CAPTURE(framework, layout);
  const auto added =
      activations_of_first_stage(framework, layout, "3") - activations_of_first_stage(framework, layout, "2");
  CHECK(added == (blocks + outputs) * input_of_block);
}

// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/offload.hpp"

#include <algorithm>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/platform/routes.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

// Memory rate of one process in PyTorch's AdamW on a CPU: 537 million elements in 1.8 s, alone on its node,
// 28 bytes each. With eight processes it took 17.2 s. @source github.com/ISEEKYAN/Megatron-LM, issue 188
constexpr BytesPerSecond one_process{28 * 537e6 / 1.8};

// DeepSpeedCPUAdam with the threads of its process: 11.6 billion parameters in 8.2 s, while PyTorch's takes
// 56 s. @source github.com/deepspeedai/DeepSpeed, pull request 735
constexpr BytesPerSecond one_process_of_deepspeed{28 * 11.6e9 / 8.2};

/// Memory rate of one process; empty if the strategy keeps all states on the GPU.
std::optional<BytesPerSecond> rate_of_process(const Strategy& strategy) {
  const auto facts = facts_of(strategy);
  if (!facts.offloads) return std::nullopt;
  return facts.framework == Framework::deepspeed ? one_process_of_deepspeed : one_process;
}

/// Share of the socket's memory rate, as all ranks of the socket step at the same time; infinite if it is
/// unknown.
BytesPerSecond share_of_memory(const RankScenario& scenario) {
  const auto& platform = scenario.platform;
  const Routes routes{platform};
  const auto socket = routes.home_socket(platform.gpus.front());
  if (!socket || !platform.memories[socket->index()]) return BytesPerSecond::infinite();
  double ranks = 0;
  for (int rank = 0; rank < scenario.job.gpus; ++rank)
    if (routes.home_socket(platform.gpus[static_cast<std::size_t>(rank)]) == socket) ++ranks;
  return BytesPerSecond{platform.resources[platform.memories[socket->index()]->index()].capacity} / ranks;
}

}  // namespace

std::optional<Seconds> host_pass_time(const RankScenario& scenario, Bytes traffic) {
  const auto rate = rate_of_process(scenario.job.strategy);
  if (!rate) return std::nullopt;
  const auto elements = optimizer_share(scenario) * static_cast<double>(scenario.model.parameter_count());
  return elements * traffic / std::min(*rate, share_of_memory(scenario));
}

std::optional<Seconds> host_optimizer_time(const RankScenario& scenario) {
  return host_pass_time(scenario, cost_of(scenario.job.optimizer).traffic);
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/compute/optimizer_share.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "sim/cost/kernel_cost.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

struct Share {
  const Model& model;
  std::optional<bool> of_experts;  ///< the parameters that count; empty: all
  double ranks;

  double operator()(const NoExchange&) const { return 1; }
  double operator()(const OneCollective&) const { return 1; }
  double operator()(const Ddp& ddp) const {
    return ddp.zero_redundancy ? of_largest_owner(static_cast<int>(ranks)) : 1;
  }
  double operator()(const Fsdp& fsdp) const { return fsdp.replicate / ranks; }
  double operator()(const Fsdp1& fsdp) const { return fsdp.replicate / ranks; }
  double operator()(const Zero&) const { return 1 / ranks; }
  double operator()(const DistributedOptimizer& optimizer) const {
    if (optimizer.tensor_owners) return of_largest_owner(*optimizer.tensor_owners);
    return optimizer.shards ? optimizer.instances / ranks : 1;
  }

  double of_largest_owner(int owners) const {
    const auto owned = of_experts ? with_parameters(model, *of_experts) : model;
    Bytes most{};
    for (const auto& tensors : tensors_of_ranks(owned, owners))
      most = std::max(most, std::accumulate(tensors.begin(), tensors.end(), Bytes{}));
    return most.value() / (fp32_bytes * static_cast<double>(owned.parameter_count()));
  }
};

/// Of tensors that are sharded or shared as PyTorch's DTensors.
HookCost step_of_dtensors(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return sharded_optimizer_cpu.sgd;
    case Optimizer::adamw:
      return sharded_optimizer_cpu.adamw;
    case Optimizer::adamw_fused:
      return sharded_optimizer_cpu.adamw_fused;
    default:
      break;
  }
  // Not timed on sharded tensors. The ratio to adamw is assumed to be that of plain tensors.
  auto cost = sharded_optimizer_cpu.adamw;
  cost.each *= cost_of(optimizer).cpu.each / cost_of(Optimizer::adamw).cpu.each;
  return cost;
}

}  // namespace

bool splits_experts(const Job& job, const Model& model) {
  return model.experts.number > 0 && job.expert_replicas() != job.replicas();
}

Model with_parameters(const Model& model, bool of_experts) {
  auto kept = model;
  for (auto& layer : kept.layers)
    if (layer.is_of_experts != of_experts) layer.parameters.clear();
  return kept;
}

double optimizer_share(const RankScenario& scenario) {
  const auto& model = scenario.model;
  const auto share_for = [&](std::optional<bool> of_experts, int ranks) {
    return std::visit(Share{model, of_experts, static_cast<double>(ranks)}, scenario.job.strategy);
  };
  double parameters = 0, expert_parameters = 0;
  for (const auto& layer : model.layers) {
    parameters += static_cast<double>(layer.parameter_count());
    if (layer.is_of_experts) expert_parameters += static_cast<double>(layer.parameter_count());
  }
  // A model whose parameters are all of one kind already has the ranks of that kind.
  const bool has_both_kinds = expert_parameters > 0 && expert_parameters < parameters;
  if (!has_both_kinds || !splits_experts(scenario.job, model))
    return share_for(std::nullopt, scenario.data_parallel());
  const auto share = expert_parameters / parameters;
  return share * share_for(true, scenario.job.expert_replicas()) +
         (1 - share) * share_for(false, scenario.job.replicas());
}

double state_bytes(const RankScenario& scenario) {
  const auto& profile = scenario.model.profile;
  if (profile && !facts_of(scenario.job.strategy).sets_formats && !profile->gradients.empty())
    return profile->gradients.front().element_bytes;
  return bytes_of(scenario.job.state_dtype);
}

std::optional<HookCost> optimizer_hook(const Job& job) {
  const auto* fsdp = std::get_if<Fsdp>(&job.strategy);
  if (fsdp && fsdp->megatron_fsdp) return std::nullopt;  // Megatron's optimizer steps flat buffers
  const bool is_shared = job.framework == Framework::pytorch && job.layout.tensor > 1;
  if (fsdp || is_shared) return step_of_dtensors(job.optimizer);
  if (std::holds_alternative<Fsdp1>(job.strategy)) return sharded_optimizer_cpu.flat;
  return std::nullopt;
}

std::vector<std::vector<Bytes>> tensors_of_ranks(const Model& model, int ranks) {
  std::vector<Bytes> sizes;
  for (const auto& layer : model.layers)
    for (const auto& parameter : layer.parameters)
      sizes.push_back(Bytes{fp32_bytes * static_cast<double>(parameter.elements())});
  std::ranges::stable_sort(sizes, std::greater{});
  std::vector<std::vector<Bytes>> parts(static_cast<std::size_t>(ranks));
  using Filled = std::pair<double, std::size_t>;
  std::priority_queue<Filled, std::vector<Filled>, std::greater<>> least;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) least.emplace(0, rank);
  for (const auto size : sizes) {
    const auto [filled, rank] = least.top();
    least.pop();
    parts[rank].push_back(size);
    least.emplace(filled + size.value(), rank);
  }
  return parts;
}

}  // namespace gradway

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
    Bytes most{};
    for (const auto& tensors : tensors_of_ranks(model, owners))
      most = std::max(most, std::accumulate(tensors.begin(), tensors.end(), Bytes{}));
    return most.value() / (fp32_bytes * static_cast<double>(model.parameter_count()));
  }
};

struct OptimizerHook {
  Optimizer optimizer;

  std::optional<HookCost> operator()(const NoExchange&) const { return std::nullopt; }
  std::optional<HookCost> operator()(const OneCollective&) const { return std::nullopt; }
  std::optional<HookCost> operator()(const Ddp&) const { return std::nullopt; }
  std::optional<HookCost> operator()(const Fsdp& fsdp) const {
    if (fsdp.megatron_fsdp) return std::nullopt;  // Megatron's optimizer steps flat buffers
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
  std::optional<HookCost> operator()(const Fsdp1&) const { return sharded_optimizer_cpu.flat; }
  std::optional<HookCost> operator()(const Zero&) const { return std::nullopt; }
  std::optional<HookCost> operator()(const DistributedOptimizer&) const { return std::nullopt; }
};

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
  const auto share_for = [&](const Model& model, int ranks) {
    return std::visit(Share{model, static_cast<double>(ranks)}, scenario.job.strategy);
  };
  const auto is_of_experts = [](const Layer& layer) { return layer.is_of_experts; };
  const auto& layers = scenario.model.layers;
  const auto experts = std::ranges::count_if(layers, is_of_experts);
  const bool has_both_kinds = experts > 0 && splits_experts(scenario.job, scenario.model);
  const auto parameters = static_cast<double>(scenario.model.parameter_count());
  if (!has_both_kinds || parameters == 0) return share_for(scenario.model, scenario.data_parallel());
  const auto expert_part = with_parameters(scenario.model, true);
  const auto dense_part = with_parameters(scenario.model, false);
  const auto share = static_cast<double>(expert_part.parameter_count()) / parameters;
  // A model whose parameters are all of one kind already has the ranks of that kind.
  if (share == 0 || share == 1) return share_for(scenario.model, scenario.data_parallel());
  return share * share_for(expert_part, scenario.job.expert_replicas()) +
         (1 - share) * share_for(dense_part, scenario.job.replicas());
}

double state_bytes(const RankScenario& scenario) {
  const auto& profile = scenario.model.profile;
  if (profile && !facts_of(scenario.job.strategy).sets_formats && !profile->gradients.empty())
    return profile->gradients.front().element_bytes;
  return bytes_of(scenario.job.state_dtype);
}

std::optional<HookCost> optimizer_hook(const Job& job) {
  return std::visit(OptimizerHook{job.optimizer}, job.strategy);
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

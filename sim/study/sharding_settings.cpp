// SPDX-License-Identifier: Apache-2.0
#include "sim/study/sharding_settings.hpp"

#include <fmt/format.h>

#include "sim/nccl/rank_order.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

class Settings {
 public:
  explicit Settings(const Scenario& scenario) : scenario_{scenario} {}

  std::vector<OtherSetting> all() {
    std::visit([&](const auto& strategy) { ask(strategy); }, scenario_.job.strategy);
    return std::move(found_);
  }

 private:
  template <class Kind>
  void add(Kind strategy, const std::string& key, const std::string& value, std::string words) {
    auto name = fmt::format("{}_{}", key, value);
    for (auto& c : name)
      if (c == ' ' || c == '.') c = '_';
    found_.push_back({std::move(name),
                      std::move(words),
                      {key == "replicate" ? "parallel.replicate" : "strategy." + key, value},
                      Strategy{std::move(strategy)}});
  }

  template <class Kind, class Value>
  static Kind with(Kind strategy, Value Kind::*member, Value value) {
    strategy.*member = std::move(value);
    return strategy;
  }

  void ask(const Alone&) {}
  void ask(const Ddp&) {}
  void ask(const OneCollective&) {}

  void ask(const Fsdp& fsdp) {
    if (fsdp.reshard == Fsdp::kept) {
      add(with(fsdp, &Fsdp::reshard, std::optional{Fsdp::over_all}), "reshard_after_forward", "true",
          "parameters freed after the forward pass");
    } else {
      add(with(fsdp, &Fsdp::reshard, std::optional{Fsdp::kept}), "reshard_after_forward", "false",
          "parameters kept after the forward pass");
    }
    if (fsdp.forward_prefetch == 0)
      add(with(fsdp, &Fsdp::forward_prefetch, 1), "forward_prefetch", "1",
          "the next group asked for before this one's kernels");
    ask_of_both(fsdp);
  }

  void ask(const Fsdp1& fsdp) {
    if (fsdp.sharding == Fsdp1::Sharding::full_shard)
      add(with(fsdp, &Fsdp1::sharding, Fsdp1::Sharding::shard_grad_op), "sharding_strategy", "shard_grad_op",
          "parameters kept after the forward pass");
    if (!fsdp.forward_prefetch)
      add(with(fsdp, &Fsdp1::forward_prefetch, true), "forward_prefetch", "true",
          "the next group asked for before this one's kernels");
    ask_of_both(fsdp);
  }

  void ask(const Zero& zero) {
    if (zero.overlaps()) return;
    auto other = zero;
    other.overlap_comm = true;
    add(std::move(other), "overlap_comm", "true", "reductions beside the backward pass");
  }

  void ask(const DistributedOptimizer& optimizer) {
    if (!optimizer.overlap_grad_reduce)
      add(with(optimizer, &DistributedOptimizer::overlap_grad_reduce, true), "overlap_grad_reduce", "true",
          "reductions beside the backward pass");
    if (optimizer.overlap_grad_reduce && !optimizer.overlap_param_gather)
      add(with(optimizer, &DistributedOptimizer::overlap_param_gather, true), "overlap_param_gather", "true",
          "gathers beside the next forward pass");
  }

  template <class Sharded>
  void ask_of_both(const Sharded& fsdp) {
    const auto blocks = blocks_of(scenario_.model).count;
    for (const int times : {2, 4}) {
      const auto together = fsdp.wrap.blocks * times;
      if (fsdp.wrap.blocks == 0 || together >= blocks) continue;
      add(with(fsdp, &Sharded::wrap, Wrap{together}), "wrap", fmt::format("{} blocks", together),
          fmt::format("{} blocks a group", together));
    }
    const auto gpus = scenario_.job.gpus;
    const auto nodes = node_count(scenario_.platform, gpus);
    if (fsdp.replicate == 1 && nodes > 1 && gpus % nodes == 0)
      add(with(fsdp, &Sharded::replicate, nodes), "replicate", fmt::format("{}", nodes),
          "sharded inside each node, repeated over the nodes");
  }

  const Scenario& scenario_;
  std::vector<OtherSetting> found_;
};

}  // namespace

std::vector<OtherSetting> other_settings(const Scenario& scenario) {
  return Settings{scenario}.all();
}

}  // namespace gradway

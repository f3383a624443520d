// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/strategy_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/value_text.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

std::string words_if(bool condition, std::string words) {
  return condition ? std::move(words) : std::string{};
}

class StrategyRows {
 public:
  explicit StrategyRows(const Scenario& scenario) : scenario_{scenario} {}

  std::vector<StrategySetting> all() {
    std::visit([&](const auto& strategy) { list(strategy); }, scenario_.job.strategy);
    return std::move(settings_);
  }

 private:
  struct ValueToTry {
    std::string text;
    std::string words{};
  };

  StrategySetting& add(const std::string& name, const std::vector<ValueToTry>& values,
                       std::string_view group = "strategy") {
    auto& setting = settings_.emplace_back(
        StrategySetting{.name = name, .key = fmt::format("{}.{}", group, name), .values = {}});
    for (const auto& [text, words] : values) {
      auto& value = setting.values.emplace_back(SettingValue{text, scenario_.job.strategy, words});
      set_key(value.strategy, name, text);
    }
    return setting;
  }

  void list(const NoExchange&) {}
  void list(const OneCollective&) {}

  void list(const Ddp& ddp) {
    std::vector<ValueToTry> caps{{""}};
    if (ddp.bucket_cap)
      caps.push_back({value::text(value::Amount{value::Unit::size, ""}, ddp.bucket_cap->value())});
    add("bucket_cap", caps);
    add("static_graph", {{"false"}, {"true"}});
    add("gradient_as_bucket_view", {{"false"}, {"true"}});
    add("comm_hook", {{"none"}, {"fp16"}, {"bf16"}, {"powersgd"}});
    // "Typically only a small value 1-4 is used" (powerSGD_hook.py, PyTorch 2.8); powers of two.
    add("powersgd_rank", {{"1"}, {"2"}, {"4"}});
  }

  void list(const Fsdp& fsdp) {
    add_wrap(fsdp.wrap);
    const bool is_kept = fsdp.reshard == Fsdp::kept;
    std::vector<ValueToTry> reshard{{""},
                                    {"true", words_if(is_kept, "parameters freed after the forward pass")},
                                    {"false", words_if(!is_kept, "parameters kept after the forward pass")}};
    for (const auto ranks : ranks_of_a_node()) reshard.push_back({fmt::to_string(ranks)});
    add("reshard_after_forward", reshard);
    add("forward_prefetch", {{"0"}, {"1", prefetch_words(fsdp.forward_prefetch == 0)}, {"2"}}).is_prefetch =
        true;
    add("backward_prefetch", {{"0"}, {"2"}}).is_prefetch = true;
    add_replicate(fsdp.replicate);
  }

  void list(const Fsdp1& fsdp) {
    const bool is_full = fsdp.sharding == Fsdp1::Sharding::full_shard;
    add_wrap(fsdp.wrap);
    add("sharding_strategy",
        {{"full_shard"}, {"shard_grad_op", words_if(is_full, "parameters kept after the forward pass")}});
    add("forward_prefetch", {{"false"}, {"true", prefetch_words(!fsdp.forward_prefetch)}}).is_prefetch = true;
    add("backward_prefetch", {{"pre"}, {"post"}, {"none"}}).is_prefetch = true;
    add_replicate(fsdp.replicate);
  }

  void list(const Zero& zero) {
    add("stage", {{"1"}, {"2"}, {"3"}});
    add("overlap_comm",
        {{""}, {"true", words_if(!zero.overlaps(), "reductions during the backward pass")}, {"false"}});
    add("reduce_bucket_size", {{"5e8"}, {"2e8"}, {"5e7"}});
    add("prefetch_bucket_size", {{"5e7"}, {"2e8"}, {"5e8"}});
  }

  void list(const DistributedOptimizer& optimizer) {
    const bool overlaps = optimizer.overlap_grad_reduce;
    add("overlap_grad_reduce",
        {{"false"}, {"true", words_if(!overlaps, "reductions during the backward pass")}});
    add("overlap_param_gather", {{"false"},
                                 {"true", words_if(overlaps && !optimizer.overlap_param_gather,
                                                   "all-gathers during the next forward pass")}});
  }

  static std::string prefetch_words(bool is_tried) {
    return words_if(is_tried, "the all-gather of the next group launched before the kernels of this one");
  }

  static std::string text_of_wrap(int blocks) { return value_text(value::Wrapping{}, std::int64_t{blocks}); }

  void add_wrap(const Wrap& wrap) {
    const auto blocks = blocks_of(scenario_.model).count;
    std::vector<ValueToTry> wraps;
    if (blocks > 0) wraps.push_back({"block"});
    if (wrap.blocks > 1) wraps.push_back({text_of_wrap(wrap.blocks)});
    for (const int times : {2, 4, 8}) {
      const auto together = std::max(1, wrap.blocks) * times;
      if (together >= blocks) break;
      const auto text = text_of_wrap(together);
      wraps.push_back({text, words_if(wrap.blocks > 0 && times < 8, text + " a group")});
    }
    wraps.push_back({"whole"});
    add("wrap", wraps);
  }

  void add_replicate(int replicate) {
    const auto gpus = scenario_.job.gpus;
    const auto nodes = node_count(scenario_.platform, gpus);
    std::vector<ValueToTry> replicas{{"1"}};
    for (int count = 2; count < gpus; ++count) {
      if (gpus % count != 0) continue;
      replicas.push_back(
          {fmt::to_string(count), words_if(replicate == 1 && count == nodes,
                                           "sharded within each node, replicated over the nodes")});
    }
    add("replicate", replicas, "parallel");
  }

  /// Numbers of ranks to reshard over: the GPUs of a node, or the divisors of the GPUs of a single node.
  std::vector<int> ranks_of_a_node() const {
    const auto gpus = scenario_.job.gpus;
    const auto nodes = node_count(scenario_.platform, gpus);
    if (nodes > 1) return gpus % nodes == 0 && gpus > nodes ? std::vector{gpus / nodes} : std::vector<int>{};
    std::vector<int> ranks;
    for (int count = 2; count < gpus; ++count)
      if (gpus % count == 0) ranks.push_back(count);
    return ranks;
  }

  const Scenario& scenario_;
  std::vector<StrategySetting> settings_;
};

}  // namespace

bool StrategySetting::is_same(const Strategy& first, const Strategy& second) const {
  auto changed = first;
  assign(changed, second);
  return changed == first;
}

std::vector<StrategySetting> strategy_settings(const Scenario& scenario) {
  return StrategyRows{scenario}.all();
}

Strategy framework_defaults(const std::vector<StrategySetting>& settings, Strategy strategy) {
  for (const auto& setting : settings) setting.assign(strategy, setting.values.front().strategy);
  return strategy;
}

bool is_consistent(const Strategy& strategy, int gpus) {
  if (const auto* fsdp = std::get_if<Fsdp>(&strategy))
    return !fsdp->reshard || *fsdp->reshard <= Fsdp::kept || gpus / fsdp->replicate % *fsdp->reshard == 0;
  if (const auto* optimizer = std::get_if<DistributedOptimizer>(&strategy))
    return !optimizer->overlap_param_gather || optimizer->overlap_grad_reduce;
  return true;
}

Strategy simplest(Strategy strategy, int gpus) {
  if (auto* fsdp = std::get_if<Fsdp>(&strategy)) {
    if (fsdp->reshard == gpus / fsdp->replicate) fsdp->reshard = Fsdp::over_all;
    if (fsdp->backward_prefetch == 1) fsdp->backward_prefetch = 0;
    if (fsdp->wrap.blocks == 0) {
      if (fsdp->reshard == Fsdp::kept) fsdp->reshard.reset();
      fsdp->forward_prefetch = fsdp->backward_prefetch = 0;
    }
  } else if (auto* zero = std::get_if<Zero>(&strategy)) {
    if (zero->overlap_comm == Zero{.stage = zero->stage}.overlaps()) zero->overlap_comm.reset();
    if (zero->stage < 3) zero->prefetch_bucket_size = Zero{}.prefetch_bucket_size;
  }
  return strategy;
}

std::vector<std::pair<std::string, std::string>> chosen_values(const std::vector<StrategySetting>& settings,
                                                               const Strategy& strategy) {
  std::vector<std::pair<std::string, std::string>> chosen;
  for (const auto& setting : settings) {
    const auto value = std::ranges::find_if(setting.values, [&](const SettingValue& listed) {
      return setting.is_same(strategy, listed.strategy);
    });
    if (value != setting.values.end()) chosen.emplace_back(setting.name, value->text);
  }
  return chosen;
}

}  // namespace gradway

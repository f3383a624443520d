// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/sharding_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/value_text.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

template <class Value>
struct ValueToTry {
  Value value;
  std::string words{};
};

/// The key of a member and the text of its value, which is empty if the key is left out.
template <class Settings, class Value>
std::pair<std::string, std::string> written(Value Settings::*member, const Value& value) {
  Settings settings;
  settings.*member = value;
  const Record record{settings};
  for (const auto& field : record.fields())
    if (fills(field, member)) return {std::string{field.key}, value_text(field.kind, record.value(field))};
  return {};
}

std::string words_if(bool condition, std::string words) {
  return condition ? std::move(words) : std::string{};
}

class Settings {
 public:
  explicit Settings(const Scenario& scenario) : scenario_{scenario} {}

  std::vector<ShardingSetting> all() {
    std::visit([&](const auto& strategy) { list(strategy); }, scenario_.job.strategy);
    return std::move(found_);
  }

 private:
  /// Adds a setting whose key and texts are in the field table of its strategy.
  template <class Kind, class Value>
  ShardingSetting& add(const Kind& strategy, Value Kind::*member, std::vector<ValueToTry<Value>> values) {
    const auto name = written(member, strategy.*member).first;
    return add(strategy, member, name, "strategy." + name, std::move(values),
               [member](const Value& value) { return written(member, value).second; });
  }

  template <class Kind, class Value, class TextOf>
  ShardingSetting& add(const Kind& strategy, Value Kind::*member, std::string name, std::string key,
                       std::vector<ValueToTry<Value>> values, const TextOf& text_of) {
    ShardingSetting setting;
    setting.name = std::move(name);
    setting.key = std::move(key);
    for (auto& [value, words] : values) {
      auto changed = strategy;
      changed.*member = value;
      setting.values.push_back({text_of(value), std::move(changed), std::move(words)});
    }
    setting.assign = [member](Strategy& target, const Strategy& source) {
      std::get<Kind>(target).*member = std::get<Kind>(source).*member;
    };
    return found_.emplace_back(std::move(setting));
  }

  void list(const NoExchange&) {}
  void list(const Ddp&) {}
  void list(const OneCollective&) {}

  void list(const Fsdp& fsdp) {
    add_wrap(fsdp);
    const bool is_kept = fsdp.reshard == Fsdp::kept;
    std::vector<ValueToTry<std::optional<int>>> reshard{
        {std::nullopt},
        {Fsdp::over_all, words_if(is_kept, "parameters freed after the forward pass")},
        {Fsdp::kept, words_if(!is_kept, "parameters kept after the forward pass")}};
    for (const auto ranks : ranks_of_a_node()) reshard.push_back({ranks});
    add(fsdp, &Fsdp::reshard, std::move(reshard));
    add(fsdp, &Fsdp::forward_prefetch, {{0}, {1, prefetch_words(fsdp.forward_prefetch == 0)}, {2}})
        .is_prefetch = true;
    add(fsdp, &Fsdp::backward_prefetch, {{0}, {2}}).is_prefetch = true;
    add_replicate(fsdp);
  }

  void list(const Fsdp1& fsdp) {
    using enum Fsdp1::Sharding;
    using enum Fsdp1::Prefetch;
    add_wrap(fsdp);
    add(fsdp, &Fsdp1::sharding,
        {{full_shard},
         {shard_grad_op, words_if(fsdp.sharding == full_shard, "parameters kept after the forward pass")}});
    add(fsdp, &Fsdp1::forward_prefetch, {{false}, {true, prefetch_words(!fsdp.forward_prefetch)}})
        .is_prefetch = true;
    add(fsdp, &Fsdp1::backward_prefetch, {{pre}, {post}, {none}}).is_prefetch = true;
    add_replicate(fsdp);
  }

  void list(const Zero& zero) {
    add(zero, &Zero::stage, {{1}, {2}, {3}});
    add(zero, &Zero::overlap_comm,
        {{std::nullopt}, {true, words_if(!zero.overlaps(), "reductions during the backward pass")}, {false}});
    add(zero, &Zero::reduce_bucket_size, {{5e8}, {2e8}, {5e7}});
    add(zero, &Zero::prefetch_bucket_size, {{5e7}, {2e8}, {5e8}});
  }

  void list(const DistributedOptimizer& optimizer) {
    const bool overlaps = optimizer.overlap_grad_reduce;
    add(optimizer, &DistributedOptimizer::overlap_grad_reduce,
        {{false}, {true, words_if(!overlaps, "reductions during the backward pass")}});
    add(optimizer, &DistributedOptimizer::overlap_param_gather,
        {{false},
         {true, words_if(overlaps && !optimizer.overlap_param_gather,
                         "all-gathers during the next forward pass")}});
  }

  static std::string prefetch_words(bool is_tried) {
    return words_if(is_tried, "the all-gather of the next group launched before the kernels of this one");
  }

  template <class Sharded>
  void add_wrap(const Sharded& fsdp) {
    const auto blocks = blocks_of(scenario_.model).count;
    std::vector<ValueToTry<Wrap>> wraps;
    if (blocks > 0) wraps.push_back({Wrap{1}});
    const auto in_blocks = [](int count) { return fmt::format("{} blocks", count); };
    if (fsdp.wrap.blocks > 1) wraps.push_back({fsdp.wrap});
    for (const int times : {2, 4, 8}) {
      const auto together = std::max(1, fsdp.wrap.blocks) * times;
      if (together >= blocks) break;
      wraps.push_back(
          {Wrap{together}, words_if(fsdp.wrap.blocks > 0 && times < 8, in_blocks(together) + " a group")});
    }
    wraps.push_back({Wrap{0}});
    add(fsdp, &Sharded::wrap, std::move(wraps));
  }

  template <class Sharded>
  void add_replicate(const Sharded& fsdp) {
    const auto gpus = scenario_.job.gpus;
    const auto nodes = node_count(scenario_.platform, gpus);
    std::vector<ValueToTry<int>> replicas{{1}};
    for (int count = 2; count < gpus; ++count) {
      if (gpus % count != 0) continue;
      replicas.push_back({count, words_if(fsdp.replicate == 1 && count == nodes,
                                          "sharded within each node, replicated over the nodes")});
    }
    add(fsdp, &Sharded::replicate, "replicate", "parallel.replicate", std::move(replicas),
        [](int count) { return fmt::to_string(count); });
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
  std::vector<ShardingSetting> found_;
};

}  // namespace

bool ShardingSetting::is_same(const Strategy& first, const Strategy& second) const {
  auto changed = first;
  assign(changed, second);
  return changed == first;
}

std::vector<ShardingSetting> sharding_settings(const Scenario& scenario) {
  return Settings{scenario}.all();
}

Strategy framework_defaults(const std::vector<ShardingSetting>& settings, Strategy strategy) {
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

std::vector<std::pair<std::string, std::string>> chosen_values(const std::vector<ShardingSetting>& settings,
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

// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read_strategy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/quantities.hpp"
#include "sim/config/read_local_sgd.hpp"
#include "sim/config/read_measurements.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway::config {
namespace {

constexpr Choice<Strategy> strategies[] = {{name_of(Alone{}), Alone{}},
                                           {name_of(Ddp{}), Ddp{}},
                                           {name_of(OneCollective{}), OneCollective{}},
                                           {name_of(Fsdp{}), Fsdp{}},
                                           {name_of(Fsdp1{}), Fsdp1{}},
                                           {name_of(Zero{}), Zero{}},
                                           {name_of(DistributedOptimizer{}), DistributedOptimizer{}}};
constexpr auto hooks = choices_of<CommHook>(hook_words);
constexpr auto numbers = choices_of<Number>(dtype_words);
constexpr auto shardings = choices_of<Fsdp1::Sharding>(sharding_words);
constexpr auto prefetches = choices_of<Fsdp1::Prefetch>(prefetch_words);
constexpr auto context_methods = choices_of<ContextMethod>(context_method_words);
constexpr auto schedules = choices_of<Schedule>(schedule_words);
constexpr auto overlaps = choices_of<TensorOverlap>(tensor_overlap_words);
constexpr Choice<bool> timings[] = {{"back_to_back", false}, {"one_by_one", true}};

constexpr int most_wrapped = 100'000;
constexpr int most_ranks = 1 << 20;
constexpr int most_ahead = 1000;
constexpr double most_elements = 1e15;

const auto dtype = one_of("a format of numbers", numbers);

/// "block", "4 blocks", "whole".
Wrap wrap(const Node& node) {
  const auto text_of_node = text(node);
  if (text_of_node == "block") return {1};
  if (text_of_node == "whole") return {0};
  int blocks = 0;
  const auto* end = text_of_node.data() + text_of_node.size();
  const auto [rest, error] = std::from_chars(text_of_node.data(), end, blocks);
  if (error != std::errc{} || std::string_view(rest, end) != " blocks" || blocks < 1 || blocks > most_wrapped)
    fail(node.where, fmt::format("'{}' is no way to wrap a model", text_of_node),
         "write block, a number of blocks such as '4 blocks', or whole");
  return {blocks};
}

/// true, false, or a number of ranks.
int reshard(const Node& node) {
  if (node.text == "true") return Fsdp::over_all;
  if (node.text == "false") return Fsdp::kept;
  try {
    return integer(2, most_ranks)(node);
  } catch (const ConfigError&) {
    fail(node.where, fmt::format("'{}' is not true, false or a number of ranks", node.text),
         "true frees parameters after the forward pass, false keeps them, N keeps them over N ranks");
  }
}

/// Elements, as 5e8.
double elements(const Node& node) {
  const auto& word = scalar(node, "a number of elements");
  double value = 0;
  const auto* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || rest != end || !(value >= 1 && value <= most_elements))
    fail(node.where, fmt::format("'{}' is no number of elements", node.text), "from 1 to 1e15, such as 5e8");
  return value;
}

template <class Settings>
void read_sharded(Reader& strategy, Settings& settings) {
  settings.wrap = strategy.optional("wrap", wrap, settings.wrap);
  settings.param_dtype = strategy.maybe("param_dtype", dtype);
  settings.reduce_dtype = strategy.maybe("reduce_dtype", dtype);
  settings.no_sync = strategy.optional("no_sync", boolean, settings.no_sync);
}

/// Settings of stage 3 change nothing in other stages, and jobs that differ in these alone are equal.
void forget_settings_of_stage_3(Zero& zero) {
  const Zero plain;
  zero.prefetch_bucket_size = plain.prefetch_bucket_size;
  zero.max_live_parameters = plain.max_live_parameters;
  zero.max_reuse_distance = plain.max_reuse_distance;
  zero.param_persistence_threshold = plain.param_persistence_threshold;
  zero.synchronous_gathers = plain.synchronous_gathers;
}

/// The keys of each kind. Those of DDP are read whatever the kind: a job may have them where they mean
/// nothing yet, and `resolve` says so.
struct ReadKeys {
  Reader& strategy;

  void operator()(Alone&) const {}
  void operator()(Ddp&) const {}
  void operator()(OneCollective& call) const {
    call.kind = strategy.optional("operation", one_of("a collective", operations), call.kind);
    call.size = strategy.required("size", bytes);
    call.one_by_one = strategy.optional("timed", one_of("a way to time", timings), false);
  }
  void operator()(Fsdp& fsdp) const {
    read_sharded(strategy, fsdp);
    fsdp.reshard = strategy.maybe("reshard_after_forward", reshard);
    fsdp.forward_prefetch = strategy.optional("forward_prefetch", integer(0, most_ahead), 0);
    fsdp.backward_prefetch = strategy.optional("backward_prefetch", integer(0, most_ahead), 0);
    fsdp.cpu_offload = strategy.optional("cpu_offload", boolean, fsdp.cpu_offload);
    fsdp.fp8_all_gather = strategy.optional("fp8_all_gather", boolean, fsdp.fp8_all_gather);
    fsdp.separate_reduce_scatter_group =
        strategy.optional("separate_reduce_scatter_group", boolean, fsdp.separate_reduce_scatter_group);
    fsdp.reduce_scatter_max_input_buffers = strategy.optional(
        "reduce_scatter_max_input_buffers", integer(1, most_ahead), fsdp.reduce_scatter_max_input_buffers);
  }
  void operator()(Fsdp1& fsdp) const {
    read_sharded(strategy, fsdp);
    fsdp.sharding =
        strategy.optional("sharding_strategy", one_of("a sharding strategy", shardings), fsdp.sharding);
    fsdp.forward_prefetch = strategy.optional("forward_prefetch", boolean, fsdp.forward_prefetch);
    fsdp.backward_prefetch =
        strategy.optional("backward_prefetch", one_of("a prefetch", prefetches), fsdp.backward_prefetch);
    fsdp.limit_all_gathers = strategy.optional("limit_all_gathers", boolean, fsdp.limit_all_gathers);
  }
  void operator()(Zero& zero) const {
    zero.stage = strategy.optional("stage", integer(1, 3), zero.stage);
    zero.reduce_bucket_size = strategy.optional("reduce_bucket_size", elements, zero.reduce_bucket_size);
    zero.overlap_comm = strategy.maybe("overlap_comm", boolean);
    zero.prefetch_bucket_size =
        strategy.optional("prefetch_bucket_size", elements, zero.prefetch_bucket_size);
    zero.max_live_parameters = strategy.optional("max_live_parameters", elements, zero.max_live_parameters);
    zero.max_reuse_distance = strategy.optional("max_reuse_distance", elements, zero.max_reuse_distance);
    zero.param_persistence_threshold =
        strategy.optional("param_persistence_threshold", elements, zero.param_persistence_threshold);
    zero.communication_dtype = strategy.maybe("communication_dtype", dtype);
    zero.grad_accum_dtype = strategy.maybe("grad_accum_dtype", dtype);
    zero.reduce_scatter = strategy.optional("reduce_scatter", boolean, zero.reduce_scatter);
    zero.synchronous_gathers = strategy.optional("synchronous_gathers", boolean, zero.synchronous_gathers);
    zero.offload_optimizer = strategy.optional("offload_optimizer", boolean, zero.offload_optimizer);
    if (zero.stage < 3) forget_settings_of_stage_3(zero);
  }
  void operator()(DistributedOptimizer& optimizer) const {
    optimizer.overlap_grad_reduce =
        strategy.optional("overlap_grad_reduce", boolean, optimizer.overlap_grad_reduce);
    optimizer.overlap_param_gather =
        strategy.optional("overlap_param_gather", boolean, optimizer.overlap_param_gather);
    optimizer.shards = strategy.optional("shard_optimizer", boolean, optimizer.shards);
    optimizer.bucket_size = strategy.maybe("bucket_size", elements);
    optimizer.grad_reduce_dtype = strategy.optional("grad_reduce_dtype", dtype, optimizer.grad_reduce_dtype);
    optimizer.fp8_param_gather = strategy.optional("fp8_param_gather", boolean, optimizer.fp8_param_gather);
    optimizer.tensor_owners = strategy.maybe("tensor_owners", integer(1, most_ranks));
    optimizer.gradient_accumulation_fusion =
        strategy.optional("gradient_accumulation_fusion", boolean, optimizer.gradient_accumulation_fusion);
  }
};

struct KeyOfKinds {
  const char* key;
  std::vector<std::string_view> kinds;
};

/// Keys that are refused where a strategy of another kind stands.
std::vector<KeyOfKinds> keys_of_kinds() {
  const auto fsdp = name_of(Fsdp{});
  const auto fsdp1 = name_of(Fsdp1{});
  const auto zero = name_of(Zero{});
  const auto megatron = name_of(DistributedOptimizer{});
  const auto collective = name_of(OneCollective{});
  return {{"operation", {collective}},
          {"size", {collective}},
          {"timed", {collective}},
          {"wrap", {fsdp, fsdp1}},
          {"param_dtype", {fsdp, fsdp1}},
          {"reduce_dtype", {fsdp, fsdp1}},
          {"no_sync", {fsdp, fsdp1}},
          {"forward_prefetch", {fsdp, fsdp1}},
          {"backward_prefetch", {fsdp, fsdp1}},
          {"reshard_after_forward", {fsdp}},
          {"cpu_offload", {fsdp}},
          {"fp8_all_gather", {fsdp}},
          {"separate_reduce_scatter_group", {fsdp}},
          {"reduce_scatter_max_input_buffers", {fsdp}},
          {"sharding_strategy", {fsdp1}},
          {"limit_all_gathers", {fsdp1}},
          {"stage", {zero}},
          {"reduce_bucket_size", {zero}},
          {"overlap_comm", {zero}},
          {"prefetch_bucket_size", {zero}},
          {"max_live_parameters", {zero}},
          {"max_reuse_distance", {zero}},
          {"param_persistence_threshold", {zero}},
          {"communication_dtype", {zero}},
          {"grad_accum_dtype", {zero}},
          {"reduce_scatter", {zero}},
          {"synchronous_gathers", {zero}},
          {"offload_optimizer", {zero}},
          {"overlap_grad_reduce", {megatron}},
          {"overlap_param_gather", {megatron}},
          {"shard_optimizer", {megatron}},
          {"bucket_size", {megatron}},
          {"grad_reduce_dtype", {megatron}},
          {"fp8_param_gather", {megatron}},
          {"tensor_owners", {megatron}},
          {"gradient_accumulation_fusion", {megatron}}};
}

void refuse_others(Reader& strategy, std::string_view kind) {
  for (const auto& [key, kinds] : keys_of_kinds()) {
    if (std::ranges::find(kinds, kind) != kinds.end()) continue;
    strategy.forbid(key, fmt::format("only a strategy of kind {} has '{}'", fmt::join(kinds, " or "), key),
                    fmt::format("leave it out, or write 'kind: {}'", kinds.front()));
  }
}

void read_ddp(Reader& strategy, Ddp& ddp) {
  ddp.bucket_cap = strategy.maybe("bucket_cap", bytes);
  ddp.static_graph = strategy.optional("static_graph", boolean, false);
  ddp.gradient_as_bucket_view = strategy.optional("gradient_as_bucket_view", boolean, false);
  ddp.comm_hook = strategy.optional("comm_hook", one_of("a communication hook", hooks), ddp.comm_hook);
  ddp.powersgd_rank = strategy.optional("powersgd_rank", integer(1, 4096), ddp.powersgd_rank);
  ddp.zero_redundancy = strategy.optional("zero_redundancy", boolean, false);
  ddp.parameters_as_bucket_view = strategy.optional("parameters_as_bucket_view", boolean, false);
}

/// All five axes, joined by hyphens.
std::array<RankAxis, 5> order_of_axes(const Node& node) {
  const auto words = text(node);
  std::array<RankAxis, 5> order{};
  std::size_t count = 0;
  std::set<RankAxis> seen;
  for (std::size_t at = 0; at <= words.size();) {
    const auto end = std::min(words.find('-', at), words.size());
    const auto axis = std::ranges::find(rank_axis_words, std::string_view{words}.substr(at, end - at));
    if (axis == rank_axis_words.end() || count == order.size()) break;
    order[count] = static_cast<RankAxis>(axis - rank_axis_words.begin());
    seen.insert(order[count++]);
    at = end + 1;
  }
  if (seen.size() != order.size() || words.size() != 14)
    fail(node.where, fmt::format("'{}' is no order of ranks", words),
         "tp, cp, ep, dp and pp, the fastest first: Megatron's own is tp-cp-ep-dp-pp");
  return order;
}

/// A number up to 1000. @param range what the hint says
auto factor(const char* thing, double least, const char* range) {
  return [=](const Node& node) {
    constexpr double most = 1000;
    const auto& word = scalar(node, thing);
    double value = 0;
    const auto* end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || rest != end || !(value >= least && value <= most))
      fail(node.where, fmt::format("'{}' is no {}", node.text, thing),
           fmt::format("{}, such as 1.25", range));
    return value;
  };
}

void read_layout(Reader& parallel, Layout& layout) {
  const auto ranks = integer(1, most_ranks);
  layout.tensor = parallel.optional("tensor", ranks, layout.tensor);
  layout.sequence = parallel.optional("sequence", boolean, layout.sequence);
  layout.overlap = parallel.optional("overlap", one_of("a way to overlap", overlaps), layout.overlap);
  layout.context = parallel.optional("context", ranks, layout.context);
  layout.context_method =
      parallel.optional("context_method", one_of("a method", context_methods), layout.context_method);
  layout.expert = parallel.optional("expert", ranks, layout.expert);
  layout.expert_tensor = parallel.optional("expert_tensor", ranks, layout.expert_tensor);
  layout.expert_imbalance = parallel.optional("expert_imbalance", factor("imbalance", 1, "from 1 to 1000"),
                                              layout.expert_imbalance);
  layout.expert_capacity_factor =
      parallel.maybe("expert_capacity_factor", factor("capacity factor", 0.01, "from 0.01 to 1000"));
  layout.pipeline = parallel.optional("pipeline", ranks, layout.pipeline);
  layout.schedule = parallel.optional("schedule", one_of("a schedule", schedules), layout.schedule);
  const bool is_v_shaped = layout.schedule == Schedule::zb_v || layout.schedule == Schedule::dual_pipe_v;
  layout.chunks = parallel.optional("virtual", integer(1, 1000), is_v_shaped ? 2 : 1);
  layout.order = parallel.optional("order", order_of_axes, layout.order);
}

int* replicas_to_set(Strategy& strategy) {
  if (auto* fsdp = std::get_if<Fsdp>(&strategy)) return &fsdp->replicate;
  if (auto* fsdp = std::get_if<Fsdp1>(&strategy)) return &fsdp->replicate;
  return nullptr;
}

struct Kind {
  Strategy strategy{};
  bool is_local_sgd = false;
};

/// Of local SGD the strategy is that of the ranks of one worker. @return whether it is
bool read_kind(Reader& strategy, Strategy& result) {
  std::vector<Choice<Kind>> kinds;
  std::vector<Choice<Strategy>> inner;
  for (const auto& [name, kind] : strategies) {
    kinds.push_back({name, {kind}});
    if (trains(kind)) inner.push_back({name, kind});
  }
  kinds.push_back({"local_sgd", {result, true}});
  const auto kind =
      strategy.optional("kind", one_of("a strategy", std::span<const Choice<Kind>>{kinds}), {result});
  result = kind.strategy;
  if (!kind.is_local_sgd) return false;
  result = strategy.optional(
      "inner", one_of("a strategy of a worker's ranks", std::span<const Choice<Strategy>>{inner}), result);
  return true;
}

}  // namespace

void read_strategy(Reader& scenario, ScenarioSpec& spec) {
  auto& result = spec.job.strategy;
  if (auto strategy = scenario.maybe_map("strategy")) {
    const bool is_local_sgd = read_kind(*strategy, result);
    const bool has_kind = strategy->sound();
    read_local_sgd(*strategy, is_local_sgd, spec);
    read_ddp(*strategy, spec.ddp);
    if (std::holds_alternative<Ddp>(result)) result = spec.ddp;
    std::visit(ReadKeys{*strategy}, result);
    if (has_kind) {  // else nobody knows which keys belong there
      refuse_others(*strategy, name_of(result));
      strategy->finish("strategy");
    }
  }
  if (auto parallel = scenario.maybe_map("parallel")) {
    read_layout(*parallel, spec.job.layout);
    const auto replicate = parallel->optional("replicate", integer(1, most_ranks), 1);
    if (auto* replicas = replicas_to_set(result)) {
      *replicas = replicate;
    } else if (replicate > 1) {
      parallel->error(parallel->value_place("replicate"),
                      fmt::format("a strategy of kind {} has no groups to repeat", name_of(result)),
                      "leave it out, or write 'kind: fsdp'");
    }
    parallel->finish("parallel");
  }
}

}  // namespace gradway::config

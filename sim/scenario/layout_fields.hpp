// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/fields.hpp"
#include "sim/scenario/layout.hpp"

namespace gradway {

/// The keys of `parallel`; `replicate` fills a member of the strategy.
constexpr auto fields_of(std::type_identity<Layout>) {
  constexpr value::Whole ranks{1, 1 << 20};
  constexpr auto shares_layers = [](const Layout& layout) { return layout.tensor > 1; };
  constexpr auto cuts_sequences = [](const Layout& layout) { return layout.context > 1; };
  constexpr auto shares_experts = [](const Layout& layout) {
    return layout.expert * layout.expert_tensor > 1;
  };
  constexpr auto has_stages = [](const Layout& layout) { return layout.pipeline > 1; };
  return std::tuple{
      field("tensor", &Layout::tensor, ranks, "ranks that share each layer",
            {.is_echoed = shares_layers, .decides = {.kernels = true}}),
      field("sequence", &Layout::sequence, value::Boolean{},
            "sequence parallelism: between products each tensor rank has its part of the tokens",
            {.is_echoed = shares_layers, .decides = {.kernels = true}}),
      field(
          "overlap", &Layout::overlap, value::Words{"a way to overlap", tensor_overlap_words},
          "what tensor ranks send beside products. Megatron: async: gradients of inputs beside the product "
          "of "
          "the weight's; none: nothing, as before September 2021 "
          "(--no-async-tensor-model-parallel-allreduce); "
          "userbuffers, with sequence parallelism: all of it piece by piece beside parts of the products "
          "(--tp-comm-overlap). PyTorch: async_tp, with sequence parallelism and compiled: gathers before a "
          "product and sums after one, piece by piece beside its parts (enable_async_tensor_parallel)",
          {.is_echoed = [](const Layout& layout) { return layout.overlap != Layout{}.overlap; },
           .decides = {.kernels = true}}),
      field("context", &Layout::context, ranks,
            "ranks that each have a part of every sequence, and exchange what attention needs",
            {.is_echoed = cuts_sequences, .decides = {.kernels = true}}),
      field(
          "context_method", &Layout::context_method, value::Words{"a method", context_method_words},
          "ring: keys and values go round beside attention; all_gather: they are gathered; all_to_all: each "
          "rank has whole sequences of some heads (Ulysses)",
          {.is_echoed = cuts_sequences, .decides = {.kernels = true}}),
      field("expert", &Layout::expert, ranks, "ranks that share the experts of a layer, and send them tokens",
            {.is_echoed = shares_experts, .decides = {.kernels = true}}),
      field("expert_tensor", &Layout::expert_tensor, ranks, "ranks that share each expert",
            {.is_echoed = shares_experts, .decides = {.kernels = true}}),
      field("expert_imbalance", &Layout::expert_imbalance, value::Real{1, 1000},
            "rows that the experts of the busiest rank get, over those of the average",
            {.is_echoed = shares_experts, .decides = {.kernels = true}}),
      field("expert_capacity_factor", &Layout::expert_capacity_factor, value::Real{0.01, 1000},
            "room of an expert, over its even share of the rows: rows beyond it are dropped, free room is "
            "padded; "
            "left out, none is dropped, and the CPU waits for the counts",
            {.decides = {.kernels = true}}),
      field("pipeline", &Layout::pipeline, ranks, "stages, each of some of the blocks",
            {.is_echoed = has_stages}),
      field("virtual", &Layout::chunks, value::Whole{1, 1000},
            "chunks of the model on each rank of a pipeline; schedules zb_v and dual_pipe_v have 2",
            {.is_echoed = has_stages}),
      field("schedule", &Layout::schedule, value::Words{"a schedule", schedule_words},
            "the order in which a rank of a pipeline takes micro-batches: gradway show plan draws it",
            {.is_echoed = has_stages}),
      OwnField{"replicate", ranks,
               "kinds fsdp and fsdp1: how often the sharded group is repeated (HSDP, HYBRID_SHARD)", "1"},
      field("order", &Layout::order, value::AxisOrder{}, "of ranks, the fastest first",
            {.is_echoed = [](const Layout& layout) { return layout.is_cut(); }})};
}

}  // namespace gradway

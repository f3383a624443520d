// SPDX-License-Identifier: Apache-2.0
// The keys of `parallel`; `replicate` fills a member of the strategy.
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/key_context.hpp"

namespace gradway {

FieldTable make_fields(std::type_identity<Layout>) {
  constexpr value::Whole ranks{1, most_ranks};
  constexpr auto shares_layers = [](const Layout& layout) { return layout.tensor > 1; };
  constexpr auto cuts_sequences = [](const Layout& layout) { return layout.context > 1; };
  constexpr auto shares_experts = [](const Layout& layout) {
    return layout.expert * layout.expert_tensor > 1;
  };
  constexpr auto has_stages = [](const Layout& layout) { return layout.pipeline > 1; };
  constexpr auto needs_tensor = [](const KeyContext& context) {
    return lack_unless(context.job.layout.tensor > 1, "parallel.tensor is 1",
                       "leave it out, or set parallel.tensor");
  };
  constexpr auto needs_context = [](const KeyContext& context) {
    return lack_unless(context.job.layout.context > 1, "parallel.context is 1",
                       "leave it out, or set parallel.context");
  };
  constexpr auto needs_experts = [](const KeyContext& context) {
    return lack_unless(context.job.layout.expert > 1, "parallel.expert is 1",
                       "leave it out, or set parallel.expert");
  };
  constexpr auto needs_stages = [](const KeyContext& context) {
    return lack_unless(context.job.layout.pipeline > 1, "parallel.pipeline is 1",
                       "leave it out, or set parallel.pipeline");
  };
  constexpr auto needs_chunks_of_pytorch = [](const KeyContext& context) {
    const auto& layout = context.job.layout;
    return lack_unless(
        layout.pipeline > 1 && layout.chunks > 1 && context.job.framework == Framework::pytorch,
        "it applies to PyTorch's pipelines of several chunks per rank only",
        "leave it out, or write 'framework: pytorch' and set parallel.pipeline and parallel.virtual");
  };
  constexpr auto divisors_of_gpus = [](const KeyContext& context) {
    std::vector<std::string> texts;
    for (int replicas = 1; replicas < std::max(2, context.job.gpus); ++replicas)
      if (context.job.gpus % replicas == 0) texts.push_back(std::to_string(replicas));
    return texts;
  };
  return {
      field("tensor", &Layout::tensor, ranks, "tensor parallelism: number of ranks that share each layer",
            {.is_echoed = shares_layers, .affects = {.kernels = true}}),
      field("sequence", &Layout::sequence, value::Boolean{},
            "sequence parallelism: between matrix products each tensor-parallel rank holds a part of the "
            "tokens",
            {.is_echoed = shares_layers, .affects = {.kernels = true}, .lack = needs_tensor}),
      field("overlap", &Layout::overlap, value::Words{"an overlap mode", tensor_overlap_words},
            "tensor-parallel communication that overlaps with matrix products. Megatron: async: the "
            "all-reduce of input gradients overlaps with the product of weight gradients; none: no overlap, "
            "as before September 2021 (--no-async-tensor-model-parallel-allreduce); userbuffers, with "
            "sequence parallelism: all communication, in pieces that overlap with parts of the products "
            "(--tp-comm-overlap). PyTorch: async_tp, with sequence parallelism and job.compile: all-gathers "
            "before and reduce-scatters after a product, in pieces that overlap with its parts "
            "(enable_async_tensor_parallel)",
            {.is_echoed = [](const Layout& layout) { return layout.overlap != Layout{}.overlap; },
             .affects = {.kernels = true}}),
      field(
          "context", &Layout::context, ranks,
          "context parallelism: number of ranks that share every sequence and exchange what attention needs",
          {.is_echoed = cuts_sequences, .affects = {.kernels = true}}),
      field("context_method", &Layout::context_method,
            value::Words{"a context-parallel method", context_method_words},
            "ring: keys and values pass around a ring while attention is computed; all_gather: they are "
            "gathered first; all_to_all: each rank receives whole sequences of some heads (Ulysses)",
            {.is_echoed = cuts_sequences, .affects = {.kernels = true}, .lack = needs_context}),
      field("expert", &Layout::expert, ranks,
            "expert parallelism: number of ranks that share the experts of a layer and exchange tokens",
            {.is_echoed = shares_experts, .affects = {.kernels = true}}),
      field("expert_tensor", &Layout::expert_tensor, ranks, "number of ranks that share each expert",
            {.is_echoed = shares_experts, .affects = {.kernels = true}}),
      field("expert_imbalance", &Layout::expert_imbalance, value::Real{1, 1000},
            "rows that the experts of the busiest rank receive, over the mean of all ranks",
            {.is_echoed = shares_experts, .affects = {.kernels = true}, .lack = needs_experts}),
      field("expert_skew", &Layout::expert_skew, value::Real{0, 4},
            "exponent s of Zipf's law of the experts' rows: the n-th most popular expert of a layer receives "
            "rows in proportion to n^-s; popular experts are dealt to the ranks in turn",
            {.is_echoed = [](const Layout& layout) { return layout.expert_skew > 0; },
             .affects = {.kernels = true},
             .lack = needs_experts}),
      field("expert_rows", &Layout::expert_rows, value::RowsOfExperts{},
            "measured rows (tokens) of each expert, in any unit, by number of the expert; ranks hold "
            "consecutive experts, and each layer waits for its busiest rank",
            {.is_echoed = [](const Layout& layout) { return !layout.expert_rows.empty(); },
             .affects = {.kernels = true},
             .lack = needs_experts}),
      field("expert_dispatch", &Layout::expert_dispatch,
            value::Words{"an expert dispatch", expert_dispatch_words},
            "how rows reach their experts. all_to_all: one row per expert of a token; deepep: a token once "
            "per rank, between nodes once per node (DeepEP and HybridEP, Megatron's flex dispatcher)",
            {.is_echoed = shares_experts, .affects = {.kernels = true}, .lack = needs_experts}),
      field("fp8_dispatch", &Layout::fp8_dispatch, value::Boolean{},
            "rows are sent to their experts in fp8, and back in 16 bits",
            {.is_echoed = shares_experts, .affects = {.kernels = true}, .lack = needs_experts}),
      field("expert_capacity_factor", &Layout::expert_capacity_factor, value::Real{0.01, 1000},
            "capacity of an expert over its even share of the rows: rows beyond it are dropped, unused "
            "capacity is padded; default: no rows are dropped, and the CPU waits for the row counts",
            {.affects = {.kernels = true}}),
      field("pipeline", &Layout::pipeline, ranks,
            "pipeline parallelism: number of stages, each with some of the blocks",
            {.is_echoed = has_stages}),
      field("virtual", &Layout::chunks, value::Whole{1, 1000},
            "number of chunks of the model on each pipeline rank (virtual stages); schedules zb_v and "
            "dual_pipe_v require 2",
            {.is_echoed = has_stages, .lack = needs_stages}),
      field(
          "stage_layout", &Layout::stage_layout, value::Text{},
          "what each stage has, as Megatron's --pipeline-model-parallel-layout says it: E the embedding, t a "
          "block, L the output layer with the loss, a vertical bar the end of a stage, x*3 and (xy)*3 "
          "repetitions; default: stages have the same number of blocks, or one more",
          {.is_echoed = [](const Layout& layout) { return !layout.stage_layout.empty(); },
           .lack = needs_stages}),
      field("schedule", &Layout::schedule, value::Words{"a schedule", schedule_words},
            "order in which a pipeline rank processes micro-batches; gradway show plan draws it",
            {.is_echoed = has_stages, .lack = needs_stages}),
      field("messages", &Layout::messages, value::Words{"an order of messages", message_words},
            "PyTorch's pipelines of several chunks per rank: planned: a rank sends and receives in the order "
            "that PyTorch 2.11 plans before training, and a message waits for those before it; as_needed: "
            "each pass receives its own input, nearly as in PyTorch 2.6",
            {.is_echoed = [](const Layout& layout) { return layout.messages != Layout{}.messages; },
             .lack = needs_chunks_of_pytorch}),
      field(
          "tables", &Layout::tables, value::Words{"a sharding of tables", table_sharding_words},
          "how the ranks divide the embedding tables of a recommendation model: table_wise: each table is on "
          "one rank, and all-to-alls exchange the sums of its rows; row_wise: each rank has a range of the "
          "rows of every table, and a reduce-scatter adds up the sums",
          {.is_echoed = [](const Layout& layout) { return layout.tables != Layout{}.tables; }}),
      custom(
          "replicate", ranks,
          "with strategy.kind fsdp and fsdp1: number of replicas of the sharded group (HSDP, HYBRID_SHARD)",
          {.default_text = "1", .tries = {.by_scenario = divisors_of_gpus}}),
      field("order", &Layout::order, value::AxisOrder{},
            "order in which ranks are assigned to the parallel dimensions, the fastest-varying first",
            {.is_echoed = [](const Layout& layout) { return layout.is_model_parallel(); }})};
}

}  // namespace gradway

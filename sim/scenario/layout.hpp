// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/embedding_tables.hpp"
#include "sim/workload/rank_groups.hpp"

namespace gradway {

/// Dimensions of parallelism, with the names of Megatron's options such as `--use-tp-pp-dp-mapping`.
enum class RankAxis : std::uint8_t { tensor, context, expert, data, pipeline };
inline constexpr std::array<std::string_view, 5> rank_axis_words{"tp", "cp", "ep", "dp", "pp"};

/// The order of passes on the stages of a pipeline; see `scenario/pipeline/schedule.hpp`.
enum class Schedule : std::uint8_t { gpipe, one_f_one_b, interleaved, looped_bfs, zb_h1, zb_v, dual_pipe_v };
inline constexpr std::array<std::string_view, 7> schedule_words{"gpipe", "1f1b", "interleaved", "looped_bfs",
                                                                "zb_h1", "zb_v", "dual_pipe_v"};
constexpr std::string_view name_of(Schedule schedule) {
  return schedule_words[static_cast<std::size_t>(schedule)];
}

/// In what order a rank with several chunks receives. @source torch/distributed/pipelining/schedules.py
enum class Messages : std::uint8_t {
  planned,   ///< as PyTorch 2.11 plans before training, on one stream: `planned_receives`
  as_needed  ///< each pass its own input, as PyTorch 2.6 nearly does: it exchanges messages after each pass
};
inline constexpr std::array<std::string_view, 2> message_words{"planned", "as_needed"};
constexpr std::string_view name_of(Messages messages) {
  return message_words[static_cast<std::size_t>(messages)];
}

/// Tensor-parallel communication that overlaps with matrix products. @source Megatron-LM,
/// core/tensor_parallel/layers.py; PyTorch, torch/distributed/_symmetric_memory and
/// torch/_inductor/fx_passes/micro_pipeline_tp.py
enum class TensorOverlap : std::uint8_t {
  none,         ///< none: Megatron before September 2021, and its forks
  async,        ///< Megatron: the all-reduce of input gradients, with the product of weight gradients
  userbuffers,  ///< Megatron: all communication, in pieces that overlap with parts of the products
  async_tp      ///< PyTorch: all-gathers before and reduce-scatters after a product, in pieces
};
inline constexpr std::array<std::string_view, 4> tensor_overlap_words{"none", "async", "userbuffers",
                                                                      "async_tp"};
constexpr std::string_view name_of(TensorOverlap overlap) {
  return tensor_overlap_words[static_cast<std::size_t>(overlap)];
}

/// How rows reach the ranks of their experts. @source Megatron-Core, transformer/moe/token_dispatcher.py
enum class ExpertDispatch : std::uint8_t {
  all_to_all,  ///< a row for each expert of a token, after the CPU has read their numbers
  deepep       ///< a token once for each rank or node that needs it; kernels of DeepEP or HybridEP
};
inline constexpr std::array<std::string_view, 2> expert_dispatch_words{"all_to_all", "deepep"};
constexpr std::string_view name_of(ExpertDispatch dispatch) {
  return expert_dispatch_words[static_cast<std::size_t>(dispatch)];
}

/// Rows that the router sends to each expert, in any unit: by layer with experts, or one list for all layers.
using ExpertRows = std::vector<std::vector<double>>;

/// How a model is distributed over the ranks. The remaining factor of the ranks is data parallelism.
struct Layout {
  int tensor = 1;         ///< tensor-parallel ranks, which share each layer
  bool sequence = false;  ///< Megatron's sequence parallelism: they share the tokens between products
  TensorOverlap overlap = TensorOverlap::async;  ///< of tensor-parallel communication
  int context = 1;                               ///< context-parallel ranks, which share every sequence
  ContextMethod context_method = ContextMethod::ring;
  int pipeline = 1;            ///< pipeline stages, each with some of the layers
  int chunks = 1;              ///< chunks of the model on each pipeline rank (virtual stages)
  std::string stage_layout{};  ///< in Megatron's words, see `read_stage_layout`; empty: stages are even
  Schedule schedule = Schedule::one_f_one_b;
  Messages messages = Messages::planned;  ///< PyTorch, several chunks only
  int expert = 1;                         ///< ranks that share the experts of a layer, in their own grid
  int expert_tensor = 1;                  ///< ranks that share each expert
  double expert_imbalance = 1;            ///< rows of the busiest rank's experts over the mean of all ranks
  double expert_skew = 0;                 ///< exponent of Zipf's law of the rows of experts; 0: equal rows
  ExpertRows expert_rows{};               ///< as measured; empty: equal rows
  ExpertDispatch expert_dispatch = ExpertDispatch::all_to_all;
  bool fp8_dispatch = false;                       ///< rows are sent to experts in fp8
  std::optional<double> expert_capacity_factor{};  ///< capacity of an expert over its even share of the rows
  TableSharding tables = TableSharding::table_wise;  ///< embedding tables of recommendation models
  std::array<RankAxis, 5> order{RankAxis::tensor, RankAxis::context, RankAxis::expert, RankAxis::data,
                                RankAxis::pipeline};  ///< fastest-varying first

  /// Number of ranks that train on the same samples.
  int model_parallel_ranks() const { return tensor * context * pipeline; }
  /// Whether a rank holds less than the whole model and all tokens of a sample.
  bool is_model_parallel() const { return model_parallel_ranks() * expert * expert_tensor > 1; }
};

/// The index of a rank on each axis.
struct RankPlace {
  int tensor = 0;
  int context = 0;
  int data = 0;
  int pipeline = 0;
  int replica = 0;  ///< among the ranks that hold the same model shard: on the axes context and data
  // The same rank in the grid of experts, which has no context axis.
  int expert_tensor = 0;
  int expert = 0;
  int expert_data = 0;
};

/// @param gpus number of ranks of the job @source Megatron-Core, core/parallel_state.py: two grids over the
/// same ranks
RankPlace place_of(const Layout& layout, int gpus, int rank);

/// Rows of the busiest rank over the mean: by layer with experts, or one for all layers.
/// @param experts of a layer
std::vector<double> expert_imbalances(const Layout& layout, int experts);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/workload/rank_groups.hpp"

namespace gradway {

/// Ways in which ranks can differ, by the names of Megatron's `--use-tp-pp-dp-mapping` and its likes.
enum class RankAxis : std::uint8_t { tensor, context, expert, data, pipeline };
inline constexpr std::array<std::string_view, 5> rank_axis_words{"tp", "cp", "ep", "dp", "pp"};

/// The order of passes on the stages of a pipeline; see `scenario/pipeline/schedule.hpp`.
enum class Schedule : std::uint8_t { gpipe, one_f_one_b, interleaved, looped_bfs, zb_h1, zb_v, dual_pipe_v };
inline constexpr std::array<std::string_view, 7> schedule_words{"gpipe", "1f1b", "interleaved", "looped_bfs",
                                                                "zb_h1", "zb_v", "dual_pipe_v"};
constexpr std::string_view name_of(Schedule schedule) {
  return schedule_words[static_cast<std::size_t>(schedule)];
}

/// What tensor ranks send beside products. @source Megatron-LM, core/tensor_parallel/layers.py; of PyTorch's,
/// torch/distributed/_symmetric_memory and torch/_inductor/fx_passes/micro_pipeline_tp.py
enum class TensorOverlap : std::uint8_t {
  none,   ///< nothing: Megatron before September 2021, and forks of it
  async,  ///< Megatron: the gradient of a layer's input, beside the product that makes its weight's gradient
  userbuffers,  ///< ... and the rest piece by piece beside parts of the products
  async_tp      ///< PyTorch: gathers before a product and sums behind one, piece by piece beside its parts
};
inline constexpr std::array<std::string_view, 4> tensor_overlap_words{"none", "async", "userbuffers",
                                                                      "async_tp"};
constexpr std::string_view name_of(TensorOverlap overlap) {
  return tensor_overlap_words[static_cast<std::size_t>(overlap)];
}

/// How ranks are laid out. What is left of them is data parallel.
struct Layout {
  int tensor = 1;         ///< ranks that share each layer
  bool sequence = false;  ///< ... and the tokens between products: Megatron's sequence parallelism
  TensorOverlap overlap = TensorOverlap::async;  ///< of what they send
  int context = 1;                               ///< ranks that each have a part of every sequence
  ContextMethod context_method = ContextMethod::ring;
  int pipeline = 1;  ///< stages, each of some of the layers
  int chunks = 1;    ///< of the model on each rank of a pipeline
  Schedule schedule = Schedule::one_f_one_b;
  int expert = 1;               ///< ranks that share the experts of a layer: of those that share nothing else
  int expert_tensor = 1;        ///< ... and that share each expert
  double expert_imbalance = 1;  ///< rows of the busiest rank's experts over the average's
  std::optional<double> expert_capacity_factor{};  ///< rows an expert has room for, over its even share
  std::array<RankAxis, 5> order{RankAxis::tensor, RankAxis::context, RankAxis::expert, RankAxis::data,
                                RankAxis::pipeline};  ///< fastest first

  /// Ranks that train on the same samples.
  int ranks_of_model() const { return tensor * context * pipeline; }
  /// Whether a rank holds less than all of the model and its tokens.
  bool is_cut() const { return ranks_of_model() * expert * expert_tensor > 1; }
};

/// Where a rank stands on each axis.
struct RankPlace {
  int tensor = 0;
  int context = 0;
  int data = 0;
  int pipeline = 0;
  int replica = 0;  ///< among the ranks that hold the same part: on the axes context and data
  // The same ranks on the grid of experts, which has no context.
  int expert_tensor = 0;
  int expert = 0;
  int expert_data = 0;
};

/// @param gpus of the job @source Megatron-Core, core/parallel_state.py: two grids over the same ranks
RankPlace place_of(const Layout& layout, int gpus, int rank);

}  // namespace gradway

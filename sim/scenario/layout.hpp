// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// Ways in which ranks can differ, by the names of Megatron's `--use-tp-pp-dp-mapping` and its likes.
enum class RankAxis : std::uint8_t { tensor, context, expert, data, pipeline };
inline constexpr std::array<std::string_view, 5> rank_axis_words{"tp", "cp", "ep", "dp", "pp"};

/// The order of passes on the stages of a pipeline; see `plan/pipeline/schedule.hpp`.
enum class Schedule : std::uint8_t { gpipe, one_f_one_b, interleaved, looped_bfs, zb_h1, zb_v, dual_pipe_v };
inline constexpr std::array<std::string_view, 7> schedule_words{"gpipe", "1f1b", "interleaved", "looped_bfs",
                                                                "zb_h1", "zb_v", "dual_pipe_v"};
constexpr std::string_view name_of(Schedule schedule) {
  return schedule_words[static_cast<std::size_t>(schedule)];
}

/// How ranks are laid out. What is left of them is data parallel.
struct Layout {
  int tensor = 1;         ///< ranks that share each layer
  bool sequence = false;  ///< ... and the tokens between products: Megatron's sequence parallelism
  int pipeline = 1;       ///< stages, each of some of the layers
  int chunks = 1;         ///< of the model on each rank of a pipeline
  Schedule schedule = Schedule::one_f_one_b;
  std::array<RankAxis, 5> order{RankAxis::tensor, RankAxis::context, RankAxis::expert, RankAxis::data,
                                RankAxis::pipeline};  ///< fastest first

  /// Ranks that hold the model once.
  int ranks_of_model() const { return tensor * pipeline; }
};

/// Where a rank stands on each axis.
struct RankPlace {
  int tensor = 0;
  int data = 0;
  int pipeline = 0;
};

/// @param data ranks on that axis
RankPlace place_of(const Layout& layout, int data, int rank);

}  // namespace gradway

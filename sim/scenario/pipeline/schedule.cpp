// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/pipeline/schedule.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <source_location>
#include <utility>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

/// Appends turns and numbers their micro-batches.
class ScheduleBuilder {
 public:
  void forward(int chunk = 0) { turns_.push_back({Pass::forward, forward_[at(chunk)]++, chunk}); }
  /// DualPipe: the forward pass of one micro-batch overlaps the backward pass of another.
  void both(int forward_chunk, int backward_chunk) {
    forward(forward_chunk);
    turns_.back().overlaps_next = true;
    backward(backward_chunk);
  }
  void backward(int chunk = 0) { turns_.push_back({Pass::backward, backward_[at(chunk)]++, chunk}); }
  void inputs(int chunk = 0) {
    turns_.push_back({Pass::input_gradients, backward_[at(chunk)]++, chunk});
    delayed_.push_back(turns_.back());
  }
  /// The parameter gradients that have been delayed longest. @param chunk empty: of any chunk
  void weights(std::optional<int> chunk = {}) {
    const auto oldest =
        std::ranges::find_if(delayed_, [&](const ChunkPass& turn) { return !chunk || turn.chunk == *chunk; });
    expects(oldest != delayed_.end(), "gradients of inputs come first");
    turns_.push_back({Pass::weight_gradients, oldest->micro_batch, oldest->chunk});
    delayed_.erase(oldest);
  }
  bool has_delayed(int chunk) const {
    return std::ranges::find(delayed_, chunk, &ChunkPass::chunk) != delayed_.end();
  }
  bool has_delayed() const { return !delayed_.empty(); }
  int forwards(int chunk) const { return forward_[at(chunk)]; }
  std::vector<ChunkPass> take() { return std::move(turns_); }

 private:
  static std::size_t at(int chunk) { return static_cast<std::size_t>(chunk); }

  std::array<int, 2> forward_{};  ///< by chunk
  std::array<int, 2> backward_{};
  std::deque<ChunkPass> delayed_;
  std::vector<ChunkPass> turns_;
};

std::vector<ChunkPass> all_forward_then_backward(int micro_batches) {
  ScheduleBuilder turns;
  for (int m = 0; m < micro_batches; ++m) turns.forward();
  for (int m = 0; m < micro_batches; ++m) turns.backward();
  return turns.take();
}

std::vector<ChunkPass> looped_bfs(const Pipeline& pipeline, int micro_batches) {
  std::vector<ChunkPass> turns;
  for (int chunk = 0; chunk < pipeline.chunks; ++chunk)
    for (int m = 0; m < micro_batches; ++m) turns.push_back({Pass::forward, m, chunk});
  for (int chunk = pipeline.chunks; chunk-- > 0;)
    for (int m = micro_batches; m-- > 0;) turns.push_back({Pass::backward, m, chunk});
  return turns;
}

/// 1F1B, with one chunk or several, in the order of `passes`; backward passes take the chunks in reverse
/// order.
std::vector<ChunkPass> one_forward_one_backward(const Pipeline& pipeline, int rank, int micro_batches) {
  const auto group = pipeline.chunks == 1 ? 1 : pipeline.ranks;
  std::vector<ChunkPass> passes;
  for (int first = 0; first < micro_batches; first += group) {
    const auto end = std::min(first + group, micro_batches);
    for (int chunk = 0; chunk < pipeline.chunks; ++chunk)
      for (int m = first; m < end; ++m) passes.push_back({Pass::forward, m, chunk});
  }
  const auto behind = pipeline.ranks - 1 - rank;
  const auto ahead = pipeline.chunks == 1 ? behind : 2 * behind + (pipeline.chunks - 1) * group;
  const auto total = static_cast<int>(passes.size());
  const auto warm_up = std::min(ahead, total);
  std::vector<ChunkPass> turns;
  const auto backward = [&](int k) {
    const auto& of = passes[static_cast<std::size_t>(k)];
    turns.push_back({Pass::backward, of.micro_batch, pipeline.chunks - 1 - of.chunk});
  };
  for (int k = 0; k < total + warm_up; ++k) {
    if (k < total) turns.push_back(passes[static_cast<std::size_t>(k)]);
    if (k >= warm_up) backward(k - warm_up);
  }
  return turns;
}

std::vector<ChunkPass> zb_h1(const Pipeline& pipeline, int rank, int micro_batches) {
  ScheduleBuilder turns;
  const auto warm_up = std::min(pipeline.ranks - 1 - rank, micro_batches);
  for (int m = 0; m < warm_up; ++m) turns.forward();
  for (int i = 0; i < micro_batches; ++i) {
    if (warm_up + i < micro_batches) turns.forward();
    turns.inputs();
    if (i >= rank) turns.weights();
  }
  while (turns.has_delayed()) turns.weights();
  return turns.take();
}

std::vector<ChunkPass> zb_v(const Pipeline& pipeline, int rank, int micro_batches) {
  ScheduleBuilder turns;
  const auto [p, r, m] = std::array{pipeline.ranks, rank, micro_batches};
  const auto is_out = [&](int chunk) { return turns.forwards(chunk) >= m; };
  for (int i = 0; i < 2 * (p - r) - 1; ++i) turns.forward(0);
  for (int i = 0; i < r; ++i) {
    turns.forward(1);
    turns.forward(0);
  }
  for (int i = 0; i < p - r; ++i) {
    turns.forward(1);
    turns.inputs(1);
    turns.weights(1);
  }
  while (!is_out(1)) {
    if (!is_out(0)) turns.forward(0);
    turns.inputs(0);
    turns.weights(0);
    turns.forward(1);
    turns.inputs(1);
    turns.weights(1);
  }
  for (int i = 0; i < r; ++i) {
    turns.inputs(0);
    turns.inputs(1);
  }
  for (int i = 0; i < p - r; ++i) {
    turns.inputs(0);
    turns.weights(0);
  }
  for (const int chunk : {1, 0})
    while (turns.has_delayed(chunk)) turns.weights(chunk);
  return turns.take();
}

std::vector<ChunkPass> dual_pipe_v(const Pipeline& pipeline, int rank, int micro_batches) {
  ScheduleBuilder turns;
  const auto [p, r, m] = std::array{pipeline.ranks, rank, micro_batches};
  for (int i = 0; i < 2 * (p - r - 1); ++i) turns.forward(0);
  for (int i = 0; i < r + 1; ++i) {
    turns.forward(0);
    turns.forward(1);
  }
  for (int i = 0; i < p - r - 1; ++i) {
    turns.inputs(1);
    turns.weights(1);
    turns.forward(1);
  }
  for (int i = 0; i < m - 2 * p + r + 1; ++i) {
    if (i == 0 && r == p - 1) {  // on the rank with both middle stages the forward pass produces the input of
                                 // the backward pass
      turns.forward(0);
      turns.backward(1);
    } else {
      turns.both(0, 1);
    }
    turns.both(1, 0);
  }
  for (int i = 0; i < p - r - 1; ++i) {
    turns.backward(1);
    turns.both(1, 0);
  }
  // The second half of the last passes delays the parameter gradients.
  for (int i = 0; i < 2 * (r + 1); ++i) {
    const int chunk = 1 - i % 2;
    i < r + 1 ? turns.backward(chunk) : turns.inputs(chunk);
  }
  for (int i = 0; i < p - r - 1; ++i) {
    turns.weights();
    turns.inputs(0);
  }
  while (turns.has_delayed()) turns.weights();
  return turns.take();
}

}  // namespace

int Pipeline::stage_of(int rank, int chunk) const {
  return is_v_shaped() && chunk == 1 ? 2 * ranks - 1 - rank : chunk * ranks + rank;
}

int Pipeline::rank_of(int stage) const {
  return is_v_shaped() && stage >= ranks ? 2 * ranks - 1 - stage : stage % ranks;
}

Pipeline pipeline_of(const Layout& layout) {
  return {layout.schedule, layout.pipeline, layout.chunks};
}

std::vector<ChunkPass> passes_of_rank(const Pipeline& pipeline, int rank, int micro_batches) {
  switch (pipeline.schedule) {
    case Schedule::gpipe:
      return all_forward_then_backward(micro_batches);
    case Schedule::one_f_one_b:
    case Schedule::interleaved:
      return one_forward_one_backward(pipeline, rank, micro_batches);
    case Schedule::looped_bfs:
      return looped_bfs(pipeline, micro_batches);
    case Schedule::zb_h1:
      return zb_h1(pipeline, rank, micro_batches);
    case Schedule::zb_v:
      return zb_v(pipeline, rank, micro_batches);
    case Schedule::dual_pipe_v:
      return dual_pipe_v(pipeline, rank, micro_batches);
  }
  violate("the schedule is known", std::source_location::current());
}

}  // namespace gradway

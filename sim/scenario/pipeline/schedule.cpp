// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/pipeline/schedule.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <source_location>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/scenario/pipeline/stage_layout.hpp"

namespace gradway {
namespace {

/// Builds the passes of a rank. It counts micro-batches, so that schedules name chunks only.
class ScheduleBuilder {
 public:
  void forward(int chunk = 0) { turns_.push_back({Pass::forward, forward_[at(chunk)]++, chunk}); }
  /// DualPipe: the forward pass of one micro-batch, interleaved with the backward pass of another.
  void forward_and_backward(int forward_chunk, int backward_chunk) {
    forward(forward_chunk);
    turns_.back().overlaps_next = true;
    backward(backward_chunk);
  }
  void backward(int chunk = 0) { turns_.push_back({Pass::backward, backward_[at(chunk)]++, chunk}); }
  void input_gradients(int chunk = 0) {
    turns_.push_back({Pass::input_gradients, backward_[at(chunk)]++, chunk});
    pending_.push_back(turns_.back());
  }
  /// Gradients of parameters for the oldest pending pass. @param chunk if empty, of any chunk
  void weight_gradients(std::optional<int> chunk = {}) {
    const auto oldest =
        std::ranges::find_if(pending_, [&](const ChunkPass& turn) { return !chunk || turn.chunk == *chunk; });
    expects(oldest != pending_.end(), "gradients of inputs precede gradients of parameters");
    turns_.push_back({Pass::weight_gradients, oldest->micro_batch, oldest->chunk});
    pending_.erase(oldest);
  }
  bool has_pending(int chunk) const {
    return std::ranges::find(pending_, chunk, &ChunkPass::chunk) != pending_.end();
  }
  bool has_pending() const { return !pending_.empty(); }
  int forwards(int chunk) const { return forward_[at(chunk)]; }
  std::vector<ChunkPass> take() { return std::move(turns_); }

 private:
  static std::size_t at(int chunk) { return static_cast<std::size_t>(chunk); }

  std::array<int, 2> forward_{};  ///< by chunk
  std::array<int, 2> backward_{};
  std::deque<ChunkPass> pending_;
  std::vector<ChunkPass> turns_;
};

std::vector<ChunkPass> all_forward_then_backward(int micro_batches) {
  ScheduleBuilder schedule;
  for (int m = 0; m < micro_batches; ++m) schedule.forward();
  for (int m = 0; m < micro_batches; ++m) schedule.backward();
  return schedule.take();
}

std::vector<ChunkPass> looped_bfs(const Pipeline& pipeline, int micro_batches) {
  std::vector<ChunkPass> turns;
  for (int chunk = 0; chunk < pipeline.chunks; ++chunk)
    for (int m = 0; m < micro_batches; ++m) turns.push_back({Pass::forward, m, chunk});
  for (int chunk = pipeline.chunks; chunk-- > 0;)
    for (int m = micro_batches; m-- > 0;) turns.push_back({Pass::backward, m, chunk});
  return turns;
}

/// 1F1B with one or several chunks, in the order of `passes`. Backward passes take the chunks from the last
/// to the first.
std::vector<ChunkPass> one_forward_one_backward(const Pipeline& pipeline, int rank, int micro_batches) {
  const auto group = pipeline.chunks == 1 ? 1 : pipeline.ranks;
  std::vector<ChunkPass> passes;
  for (int first = 0; first < micro_batches; first += group) {
    const auto end = std::min(first + group, micro_batches);
    for (int chunk = 0; chunk < pipeline.chunks; ++chunk)
      for (int m = first; m < end; ++m) passes.push_back({Pass::forward, m, chunk});
  }
  const auto later_ranks = pipeline.ranks - 1 - rank;
  const auto ahead = pipeline.chunks == 1 ? later_ranks : 2 * later_ranks + (pipeline.chunks - 1) * group;
  const auto total = static_cast<int>(passes.size());
  const auto warm_up = std::min(ahead, total);
  std::vector<ChunkPass> turns;
  const auto backward = [&](int k) {
    const auto& pass = passes[static_cast<std::size_t>(k)];
    turns.push_back({Pass::backward, pass.micro_batch, pipeline.chunks - 1 - pass.chunk});
  };
  for (int k = 0; k < total + warm_up; ++k) {
    if (k < total) turns.push_back(passes[static_cast<std::size_t>(k)]);
    if (k >= warm_up) backward(k - warm_up);
  }
  return turns;
}

std::vector<ChunkPass> zb_h1(const Pipeline& pipeline, int rank, int micro_batches) {
  ScheduleBuilder schedule;
  const auto warm_up = std::min(pipeline.ranks - 1 - rank, micro_batches);
  for (int m = 0; m < warm_up; ++m) schedule.forward();
  for (int i = 0; i < micro_batches; ++i) {
    if (warm_up + i < micro_batches) schedule.forward();
    schedule.input_gradients();
    if (i >= rank) schedule.weight_gradients();
  }
  while (schedule.has_pending()) schedule.weight_gradients();
  return schedule.take();
}

std::vector<ChunkPass> zb_v(const Pipeline& pipeline, int rank, int micro_batches) {
  ScheduleBuilder schedule;
  const auto [p, r, m] = std::array{pipeline.ranks, rank, micro_batches};
  const auto is_done = [&](int chunk) { return schedule.forwards(chunk) >= m; };
  for (int i = 0; i < 2 * (p - r) - 1; ++i) schedule.forward(0);
  for (int i = 0; i < r; ++i) {
    schedule.forward(1);
    schedule.forward(0);
  }
  for (int i = 0; i < p - r; ++i) {
    schedule.forward(1);
    schedule.input_gradients(1);
    schedule.weight_gradients(1);
  }
  while (!is_done(1)) {
    if (!is_done(0)) schedule.forward(0);
    schedule.input_gradients(0);
    schedule.weight_gradients(0);
    schedule.forward(1);
    schedule.input_gradients(1);
    schedule.weight_gradients(1);
  }
  for (int i = 0; i < r; ++i) {
    schedule.input_gradients(0);
    schedule.input_gradients(1);
  }
  for (int i = 0; i < p - r; ++i) {
    schedule.input_gradients(0);
    schedule.weight_gradients(0);
  }
  for (const int chunk : {1, 0})
    while (schedule.has_pending(chunk)) schedule.weight_gradients(chunk);
  return schedule.take();
}

std::vector<ChunkPass> dual_pipe_v(const Pipeline& pipeline, int rank, int micro_batches) {
  ScheduleBuilder schedule;
  const auto [p, r, m] = std::array{pipeline.ranks, rank, micro_batches};
  for (int i = 0; i < 2 * (p - r - 1); ++i) schedule.forward(0);
  for (int i = 0; i < r + 1; ++i) {
    schedule.forward(0);
    schedule.forward(1);
  }
  for (int i = 0; i < p - r - 1; ++i) {
    schedule.input_gradients(1);
    schedule.weight_gradients(1);
    schedule.forward(1);
  }
  for (int i = 0; i < m - 2 * p + r + 1; ++i) {
    if (i == 0 && r == p - 1) {  // both chunks meet: the backward pass needs this forward pass
      schedule.forward(0);
      schedule.backward(1);
    } else {
      schedule.forward_and_backward(0, 1);
    }
    schedule.forward_and_backward(1, 0);
  }
  for (int i = 0; i < p - r - 1; ++i) {
    schedule.backward(1);
    schedule.forward_and_backward(1, 0);
  }
  // The second half of the last passes defers the gradients of parameters.
  for (int i = 0; i < 2 * (r + 1); ++i) {
    const int chunk = 1 - i % 2;
    i < r + 1 ? schedule.backward(chunk) : schedule.input_gradients(chunk);
  }
  for (int i = 0; i < p - r - 1; ++i) {
    schedule.weight_gradients();
    schedule.input_gradients(0);
  }
  while (schedule.has_pending()) schedule.weight_gradients();
  return schedule.take();
}

/// By pass, the chunks of this and the following passes, the next first, at most `most`.
std::vector<std::vector<int>> next_chunks(const std::vector<ChunkPass>& passes, std::size_t most) {
  std::vector<std::vector<int>> next(passes.size());
  std::vector<int> upcoming;
  for (auto k = passes.size(); k-- > 0;) {
    std::erase(upcoming, passes[k].chunk);
    upcoming.insert(upcoming.begin(), passes[k].chunk);
    next[k].assign(upcoming.begin(),
                   upcoming.begin() + static_cast<std::ptrdiff_t>(std::min(most, upcoming.size())));
  }
  return next;
}

/// Entries of PyTorch's list of a rank besides its passes, by the pass that they precede: chunks whose
/// parameters FSDP gathers ahead or releases, for the next three chunks, and reductions of gradients. They
/// take a turn each, with or without FSDP.
std::vector<int> other_entries(const std::vector<ChunkPass>& passes, int chunks, int micro_batches) {
  constexpr std::size_t gathered_ahead = 3;
  const auto missing_in = [](const std::vector<int>& listed) {
    return [&](int chunk) { return std::ranges::find(listed, chunk) == listed.end(); };
  };
  std::vector<int> entries(passes.size(), 0);
  std::vector<int> passes_left(static_cast<std::size_t>(chunks), micro_batches);
  std::vector<int> gathered;
  auto next = next_chunks(passes, gathered_ahead);
  for (std::size_t k = 0; k < passes.size(); ++k) {
    entries[k] += static_cast<int>(std::ranges::count_if(gathered, missing_in(next[k])) +
                                   std::ranges::count_if(next[k], missing_in(gathered)));
    gathered = std::move(next[k]);
    const auto pass = passes[k].pass;
    const bool adds_gradients = pass == Pass::backward || pass == Pass::weight_gradients;
    const bool is_last = adds_gradients && --passes_left[static_cast<std::size_t>(passes[k].chunk)] == 0;
    if (is_last && k + 1 < passes.size()) ++entries[k + 1];
  }
  return entries;
}

/// The passes of all ranks, one of each rank in turn.
class PassesInTurn {
 public:
  PassesInTurn(const Pipeline& pipeline, int micro_batches)
      : pipeline_{pipeline}, micro_batches_{static_cast<std::size_t>(micro_batches)} {
    const auto messages = static_cast<std::size_t>(pipeline.stages()) * micro_batches_;
    for (auto& pass_messages : messages_) pass_messages.resize(messages);
    for (int rank = 0; rank < pipeline.ranks; ++rank) {
      auto& state = ranks_.emplace_back(passes_of_rank(pipeline, rank, micro_batches));
      state.receives.resize(state.passes.size());
      state.other_entries = other_entries(state.passes, pipeline.chunks, micro_batches);
      for (std::size_t k = 0; k < state.passes.size(); ++k)
        if (const auto& pass = state.passes[k]; pass.pass != Pass::weight_gradients)
          message_to(pass.pass, pipeline.stage_of(rank, pass.chunk), pass.micro_batch).needed_by = k;
    }
  }

  std::vector<Receives> receives() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (int rank = 0; rank < pipeline_.ranks; ++rank) goes_on |= take_turn(rank);
    }
    std::vector<Receives> planned;
    for (auto& state : ranks_) planned.push_back(std::move(state.receives));
    return planned;
  }

 private:
  struct Rank {
    std::vector<ChunkPass> passes;
    std::size_t next = 0;
    std::vector<int> other_entries{};  ///< by pass: left before it
    Receives receives{};
  };

  struct Message {
    bool is_sent = false;
    std::size_t needed_by = 0;  ///< pass of the rank of its stage
  };

  Message& message_to(Pass pass, int stage, int micro_batch) {
    const auto place =
        static_cast<std::size_t>(stage) * micro_batches_ + static_cast<std::size_t>(micro_batch);
    return messages_[pass == Pass::forward ? 0 : 1][place];
  }

  /// @return false if the rank must wait for others, or has done all passes
  bool take_turn(int rank) {
    auto& state = ranks_[static_cast<std::size_t>(rank)];
    if (state.next == state.passes.size()) return false;
    const auto first = state.next;
    if (state.other_entries[first] > 0) return state.other_entries[first]-- > 0;
    const auto end = first + (state.passes[first].overlaps_next ? 2 : 1);
    for (auto k = first; k < end; ++k) {
      const auto& pass = state.passes[k];
      const auto stage = pipeline_.stage_of(rank, pass.chunk);
      if (pipeline_.source_of(pass.pass, stage) && !message_to(pass.pass, stage, pass.micro_batch).is_sent)
        return false;
    }
    state.next = end;
    for (auto k = first; k < end; ++k) send(rank, state.passes[k]);
    return true;
  }

  void send(int rank, const ChunkPass& pass) {
    const auto stage = pipeline_.target_of(pass.pass, pipeline_.stage_of(rank, pass.chunk));
    if (!stage) return;
    auto& message = message_to(pass.pass, *stage, pass.micro_batch);
    message.is_sent = true;
    if (pipeline_.rank_of(*stage) == rank) return;
    auto& target = ranks_[static_cast<std::size_t>(pipeline_.rank_of(*stage))];
    target.receives[target.next].push_back(message.needed_by);
  }

  Pipeline pipeline_;
  std::size_t micro_batches_;
  std::vector<Rank> ranks_;
  std::array<std::vector<Message>, 2> messages_;  ///< forward and backward, by stage of the target and
                                                  ///< micro-batch
};

}  // namespace

int Pipeline::stage_of(int rank, int chunk) const {
  return is_v_shaped() && chunk == 1 ? 2 * ranks - 1 - rank : chunk * ranks + rank;
}

int Pipeline::rank_of(int stage) const {
  return is_v_shaped() && stage >= ranks ? 2 * ranks - 1 - stage : stage % ranks;
}

std::optional<int> Pipeline::source_of(Pass pass, int stage) const {
  const bool is_forward = pass == Pass::forward;
  if (pass == Pass::weight_gradients || stage == (is_forward ? 0 : stages() - 1)) return std::nullopt;
  return is_forward ? stage - 1 : stage + 1;
}

std::optional<int> Pipeline::target_of(Pass pass, int stage) const {
  if (pass == Pass::weight_gradients) return std::nullopt;
  return source_of(pass == Pass::forward ? Pass::backward : Pass::forward, stage);
}

Pipeline pipeline_of(const Layout& layout) {
  Pipeline pipeline{layout.schedule, layout.pipeline, layout.chunks};
  auto blocks = read_stage_layout(layout.stage_layout).blocks;
  if (std::ssize(blocks) == pipeline.stages()) pipeline.blocks = std::move(blocks);
  return pipeline;
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

std::vector<Receives> planned_receives(const Pipeline& pipeline, int micro_batches) {
  return PassesInTurn{pipeline, micro_batches}.receives();
}

}  // namespace gradway

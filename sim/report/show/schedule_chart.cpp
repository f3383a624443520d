// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace gradway::report {
namespace {

int columns_of(Pass pass) {
  return pass == Pass::backward ? 2 : 1;
}

/// Places the passes of each rank in columns.
class Chart {
 public:
  Chart(const Pipeline& pipeline, int micro_batches) : pipeline_{pipeline} {
    for (int rank = 0; rank < pipeline.ranks; ++rank) {
      turns_.push_back(passes_of_rank(pipeline, rank, micro_batches));
      lines_.emplace_back();
    }
    std::vector<std::size_t> next(turns_.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < turns_.size(); ++rank)
        while (next[rank] < turns_[rank].size() && place(rank, turns_[rank][next[rank]])) {
          ++next[rank];
          moved = true;
        }
    }
  }

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  using Key = std::tuple<bool, int, int>;  // forward, stage, micro-batch

  /// @return whether all passes that it depends on have been placed
  bool place(std::size_t rank, const ChunkPass& turn) {
    const auto stage = pipeline_.stage_of(static_cast<int>(rank), turn.chunk);
    const bool is_forward = turn.pass == Pass::forward;
    std::size_t begin = lines_[rank].size();
    if (turn.pass != Pass::weight_gradients) {
      const auto before = is_forward ? stage - 1 : stage + 1;
      if (before >= 0 && before < pipeline_.stages()) {
        const auto previous = ends_.find({is_forward, before, turn.micro_batch});
        if (previous == ends_.end()) return false;
        begin = std::max(begin, previous->second);
      }
    }
    auto& line = lines_[rank];
    line.resize(begin, '.');
    line.append(static_cast<std::size_t>(columns_of(turn.pass)), letter(turn));
    if (turn.pass != Pass::weight_gradients) ends_[{is_forward, stage, turn.micro_batch}] = line.size();
    return true;
  }

  static char letter(const ChunkPass& turn) {
    const auto number = turn.micro_batch % 10;
    switch (turn.pass) {
      case Pass::forward:
        return static_cast<char>('0' + number);
      case Pass::backward:
      case Pass::input_gradients:
        return static_cast<char>('a' + number);
      case Pass::weight_gradients:
        return static_cast<char>('A' + number);
    }
    return '?';
  }

  const Pipeline& pipeline_;
  std::vector<std::vector<ChunkPass>> turns_;
  std::vector<std::string> lines_;
  std::map<Key, std::size_t> ends_;
};

}  // namespace

void write_schedule_chart(std::ostream& out, const Pipeline& pipeline, int micro_batches,
                          const Style& style) {
  const Chart chart{pipeline, micro_batches};
  const auto label = fmt::format("stage {}  ", pipeline.ranks - 1).size();
  const auto room = style.width > label + 8 ? style.width - label : std::size_t{8};
  bool is_model_parallel = false;
  for (int rank = 0; rank < pipeline.ranks; ++rank) {
    const auto& line = chart.lines()[static_cast<std::size_t>(rank)];
    is_model_parallel = is_model_parallel || line.size() > room;
    out << fmt::format("{:<{}}", fmt::format("stage {}", rank), label)
        << (line.size() > room ? line.substr(0, room - 1) + ">" : line) << '\n';
  }
  const auto* halves = pipeline.splits_backward() ? "; A B C: weight gradients" : "";
  out << style.paint(Paint::dim, fmt::format("0 1 2: forward pass, last digit of the micro-batch; a b c: "
                                             "backward pass{}; .: idle; transfers are not shown{}",
                                             halves, is_model_parallel ? "; >: continues" : ""))
      << '\n';
}

}  // namespace gradway::report

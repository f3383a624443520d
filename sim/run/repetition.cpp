// SPDX-License-Identifier: Apache-2.0
#include "sim/run/repetition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "sim/metrics/ops_of_steps.hpp"

namespace gradway {
namespace {

constexpr double same = 1e-9;  // of a period

/// Ops of one task of an actor, or of one call of a group.
struct Item {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// What an actor, or a group, does in a step, in order.
struct Sequence {
  std::vector<Item> items{};
  std::size_t first = 0;   ///< item of the part that repeats
  std::size_t end = 0;     ///< one past the last
  std::size_t period = 0;  ///< items
};

/// The ops of a step by actor and by group.
class StepItems {
 public:
  StepItems(const Workload& workload, const Lowered& lowered, int step)
      : workload_{workload},
        ops_{lowered.ops},
        actors_(workload.actors.size()),
        groups_(workload.groups.size()) {
    const auto end = first_op_of(step + 1, ops_);
    for (auto i = first_op_of(step, ops_); i < end; ++i) add(i);
    for (std::size_t a = 0; a < actors_.size(); ++a)
      if (!actors_[a].items.empty()) set_period_of_actor(a, lowered.folding);
  }

  /// Of the actors, then of the groups; empty ones for those that others represent.
  std::vector<Sequence> take() {
    std::vector<Sequence> filled;
    for (auto* sequences : {&actors_, &groups_})
      for (auto& sequence : *sequences)
        if (!sequence.items.empty()) filled.push_back(std::move(sequence));
    return filled;
  }

 private:
  void add(std::size_t op) {
    const auto& origin = ops_.ops()[op].origin;
    if (origin.actor != Origin::none) {
      auto& sequence = actors_[static_cast<std::size_t>(origin.actor)];
      if (sequence.items.empty()) sequence.items.resize(workload_.programs[origin.program].tasks.size());
      extend(sequence.items[static_cast<std::size_t>(origin.task)], op);
    } else if (origin.group != Origin::none) {
      auto& items = groups_[static_cast<std::size_t>(origin.group)].items;
      const bool is_next = items.empty() || !is_same_call(items.back().first, op);
      if (is_next) items.emplace_back();
      extend(items.back(), op);
    }
  }

  static void extend(Item& item, std::size_t op) {
    if (item.count++ == 0) item.first = op;
  }

  bool is_same_call(std::size_t a, std::size_t b) const {
    const auto& of_a = ops_.ops()[a].origin;
    const auto& of_b = ops_.ops()[b].origin;
    return of_a.program == of_b.program && of_a.task == of_b.task;
  }

  /// Also that of its groups, as far as all their members repeat.
  void set_period_of_actor(std::size_t actor, const Folding& folding) {
    const auto& program = workload_.program_of(ActorId{actor});
    const auto& repeated = program.repeated;
    auto& actor_sequence = actors_[actor];
    actor_sequence.first = repeated.first;
    actor_sequence.end = repeated.end;
    actor_sequence.period = repeated.period;
    std::map<Slot, std::vector<std::size_t>> calls;  // tasks, by slot
    for (std::size_t i = 0; i < program.tasks.size(); ++i)
      if (const auto* call = std::get_if<Call>(&program.tasks[i].work)) calls[call->group].push_back(i);
    for (const auto& [slot, tasks] : calls) {
      const auto before = [&](std::size_t task) {
        return static_cast<std::size_t>(std::ranges::lower_bound(tasks, task) - tasks.begin());
      };
      const auto group = workload_.actors[actor].groups[slot.index];
      auto& group_sequence = groups_[folding.group_representative[group.index()].index()];
      const bool is_first = group_sequence.end == 0;
      group_sequence.period = before(repeated.first + repeated.period) - before(repeated.first);
      group_sequence.first = std::max(group_sequence.first, before(repeated.first));
      group_sequence.end =
          is_first ? before(repeated.end) : std::min(group_sequence.end, before(repeated.end));
    }
  }

  const Workload& workload_;
  const OpGraph& ops_;
  std::vector<Sequence> actors_;
  std::vector<Sequence> groups_;
};

/// The dates of a step's ops.
class StepDates {
 public:
  StepDates(const Workload& workload, const Lowered& lowered, const Timeline& timeline, int step)
      : sequences_{StepItems{workload, lowered, step}.take()},
        timeline_{timeline},
        first_{first_op_of(step, lowered.ops)},
        end_{first_op_of(step + 1, lowered.ops)} {
    for (std::size_t i = 0; i < lowered.ops.size(); ++i) {
      const auto op_step = lowered.ops.ops()[i].origin.step;
      if (op_step == Origin::no_step) continue;
      if (op_step < step) earlier_end_ = std::max(earlier_end_, timeline.end[i]);
      if (op_step > step) later_start_ = std::min(later_start_, timeline.start[i]);
    }
  }

  std::optional<RepeatedPeriod> find() const {
    if (sequences_.empty() || sequences_.front().period == 0) return std::nullopt;
    const auto& anchor = sequences_.front();
    const auto stride = std::max<std::size_t>(1, anchor.period / 4);
    for (auto item = anchor.end; item >= anchor.first + anchor.period + stride; item -= stride) {
      const auto period = from_anchor(anchor, item - stride - anchor.period);
      if (period && repeats(*period)) return period;
    }
    return std::nullopt;
  }

 private:
  Seconds end_of(const Item& item) const {
    return item.count == 0 ? Seconds{} : timeline_.end[item.first + item.count - 1];
  }

  /// The period from shortly after the end of an item, where nothing begins or ends.
  std::optional<RepeatedPeriod> from_anchor(const Sequence& anchor, std::size_t item) const {
    const auto item_end = end_of(anchor.items[item]);
    const auto length = end_of(anchor.items[item + anchor.period]) - item_end;
    if (length <= Seconds{}) return std::nullopt;
    const auto clear = 4 * same * length;
    auto next = item_end + length;
    for (const auto* dates : {&timeline_.start, &timeline_.end})
      for (auto op = first_; op < end_; ++op)
        if ((*dates)[op] > item_end + clear) next = std::min(next, (*dates)[op]);
    const auto from = item_end + (next - item_end) / 2;
    if (from - item_end < clear) return std::nullopt;
    return RepeatedPeriod{.from = from, .to = from + length};
  }

  bool repeats(const RepeatedPeriod& period) const {
    if (earlier_end_ > period.from || later_start_ < period.to) return false;
    return std::ranges::all_of(sequences_,
                               [&](const Sequence& sequence) { return repeats(sequence, period); });
  }

  bool repeats(const Sequence& sequence, const RepeatedPeriod& period) const {
    const auto& items = sequence.items;
    const auto end = std::min(sequence.end, items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto& item = items[i];
      const bool is_before = i < sequence.first;
      const bool is_first_period = i < sequence.first + sequence.period;
      const bool is_last_period = i + sequence.period >= end;
      const bool is_after = i >= end;
      if (!is_last_period && !is_before && !are_alike(item, items[i + sequence.period], period)) return false;
      for (auto op = item.first; op < item.first + item.count; ++op) {
        if (is_before && timeline_.end[op] > period.from) return false;
        if (is_first_period && timeline_.end[op] > period.to) return false;
        if (is_last_period && timeline_.start[op] < period.from) return false;
        if (is_after && timeline_.start[op] < period.to) return false;
      }
    }
    return true;
  }

  /// Whether an item does the same as that of the next period.
  bool are_alike(const Item& item, const Item& next, const RepeatedPeriod& period) const {
    if (item.count != next.count) return false;
    for (std::size_t i = 0; i < item.count; ++i)
      if (!are_alike(item.first + i, next.first + i, period)) return false;
    return true;
  }

  bool are_alike(std::size_t op, std::size_t next, const RepeatedPeriod& period) const {
    const auto length = period.to - period.from;
    const auto start = timeline_.start[op];
    const auto end = timeline_.end[op];
    const auto next_start = timeline_.start[next] - length;
    const auto next_end = timeline_.end[next] - length;
    const auto differ = [&](Seconds a, Seconds b) {
      return std::abs((a - b).value()) > same * length.value();
    };
    if (end <= period.from) return next_end <= period.from;
    if (start >= period.to) return next_start >= period.from;
    const bool is_under_way = start < period.from;
    if (is_under_way && end > period.to) return false;
    if (differ(start, next_start)) return false;
    return end > period.to ? next_end > period.to : !differ(end, next_end);
  }

  std::vector<Sequence> sequences_;
  const Timeline& timeline_;
  std::size_t first_;  ///< op of the step
  std::size_t end_;
  Seconds earlier_end_{};
  Seconds later_start_ = Seconds::infinite();
};

}  // namespace

std::optional<RepeatedPeriod> find_repetition(const Workload& workload, const Lowered& lowered,
                                              const Timeline& timeline, int last_step) {
  std::optional<RepeatedPeriod> period;
  for (int step = 0; step <= last_step; ++step) {
    period = StepDates{workload, lowered, timeline, step}.find();
    if (!period) return std::nullopt;
  }
  if (period) period->left_out = workload.first_program().repeated.left_out;
  return period;
}

}  // namespace gradway

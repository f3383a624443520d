// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/rank_program.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "readers/kineto/read/merged_spans.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

// A time without any event of PyTorch or CUDA counts as a pause of the program, or as a long operation, from
// this length on. The
// longest in healthy steps are 1 to 3 ms of Python: the optimizer groups its tensors, DDP prepares a pass.
constexpr std::int64_t shortest_pause = 5'000'000;
constexpr std::int64_t shortest_wait_for_batch = 1'000'000;
// A larger copy to the host is data, not a value that the program reads.
constexpr std::int64_t largest_value = 4096;
// The driver stages smaller copies from pageable memory and returns at once.
// @source CUDA Driver API, "API synchronization behavior"
constexpr std::int64_t staged_copy = 65'536;

/// The operations whose results are values for people: of a tensor they leave one number.
bool is_reduction(std::string_view operation) {
  constexpr std::array<std::string_view, 11> names{"aten::sum",          "aten::linalg_vector_norm",
                                                   "aten::norm",         "aten::max",
                                                   "aten::min",          "aten::amax",
                                                   "aten::any",          "aten::all",
                                                   "aten::std",          "aten::var",
                                                   "aten::count_nonzero"};
  return std::ranges::find(names, operation) != names.end();
}

/// Operations that wait for values because the sizes of their results, or their algorithm, depend on them.
bool needs_values(std::string_view operation) {
  constexpr std::array<std::string_view, 5> names{"nonzero", "masked_select", "unique", "repeat_interleave",
                                                  "ctc_loss"};
  return std::ranges::any_of(names, [&](auto name) { return contains(operation, name); });
}

class Program {
 public:
  Program(const Trace& trace, const std::vector<const TracedLaunch*>& launches, const KernelNames& names,
          RankRun& run)
      : trace_{trace}, launches_{launches}, names_{names}, run_{run} {
    for (const auto* launch : launches) threads_.insert(launch->call->thread);
    add_synchronisations();
    add_other_calls();
    add_parts();
    add_pauses();
    find_blocking_launches();
    std::ranges::stable_sort(extras_, {}, &CpuItem::start);
    std::ranges::sort(stream_waits_);
  }

  void add() {
    std::size_t launch = 0;
    auto extra = extras_.begin();
    for (std::size_t step = 0; step < run_.steps.size(); ++step) {
      auto& items = run_.steps[step].items;
      while (extra != extras_.end() && extra->start < run_.steps[step].begin) ++extra;
      for (; launch < run_.activities.size() && run_.activities[launch].step == static_cast<int>(step);
           ++launch) {
        const auto start = launches_[launch]->call->start;
        for (; extra != extras_.end() && extra->start < start; ++extra) add_extra(*extra, launch, items);
        add_launch(launch, items);
      }
      const bool is_last = step + 1 == run_.steps.size();
      for (; extra != extras_.end() && extra->start < run_.steps[step].end; ++extra) {
        // The profiler, or who uses it, waits for the GPU at its end.
        if (!is_last || extra->kind != CpuItem::Kind::wait) add_extra(*extra, launch, items);
      }
    }
  }

 private:
  bool is_ours(const ApiCall& call) const { return threads_.contains(call.thread); }

  void add_synchronisations() {
    for (const auto& call : trace_.calls) {
      const auto& name = trace_.names.text(call.name);
      if (!is_ours(call) || !contains(name, "Synchronize")) continue;
      CpuItem item{.kind = CpuItem::Kind::wait, .start = call.start};
      item.stream =
          contains(name, "Device") || contains(name, "Ctx") ? -1 : -2;  // -2: that of the launch before
      extras_.push_back(item);
    }
  }

  void add_other_calls() {
    for (const auto& call : trace_.other_calls) {
      if (!is_ours(call)) continue;
      const auto& name = trace_.names.text(call.name);
      if (contains(name, "StreamWaitEvent")) {
        stream_waits_.push_back(call.start);
        continue;
      }
      const auto kind = contains(name, "LoadData") ? CpuItem::Kind::compile : CpuItem::Kind::allocate;
      take(call, kind);
      if (!contains(name, "Free") || contains(name, "Async")) continue;
      // What remains of it once the GPU has done what was launched before.
      // @source CUDA Runtime API, "cudaFree": implicit synchronization
      const auto waits_until = std::min(busy_until(call.start), call.end());
      extras_.back().awaits_gpu = true;
      extras_.back().time = static_cast<double>(call.end() - waits_until);
    }
  }

  /// When the GPU has ended all that was launched before.
  std::int64_t busy_until(std::int64_t time) const {
    std::int64_t end = time;
    for (const auto* launch : launches_) {
      if (launch->call->start >= time) break;
      end = std::max(end, launch->activity->end());
    }
    return end;
  }

  /// Compilations, and iterators of data loaders between two launches, cover everything inside of them.
  void add_parts() {
    std::vector<Span> compilations;
    for (const auto& span : trace_.parts) {
      if (!threads_.contains(span.thread)) continue;
      if (span.name.ends_with("(dynamo_timed)")) compilations.push_back(span);
      if (span.name.starts_with("enumerate(DataLoader)"))
        take_batch(span, contains(span.name, "MultiProcessing"));
    }
    for (const auto& compilation : MergedSpans{std::move(compilations)})
      take(compilation, CpuItem::Kind::compile);
  }

  void take_batch(const Span& iterator, bool awaits_workers) {
    auto since = iterator.start;
    auto launch = std::ranges::lower_bound(launches_, iterator.start, {},
                                           [](const auto* traced) { return traced->call->start; });
    for (bool is_last = false; !is_last; ++launch) {
      is_last = launch == launches_.end() || (*launch)->call->start >= iterator.end();
      const auto until = is_last ? iterator.end() : (*launch)->call->start;
      if (until - since >= shortest_wait_for_batch) {
        std::erase_if(extras_, [&](const CpuItem& item) {
          return item.kind != CpuItem::Kind::wait && item.start >= since && item.start < until;
        });
        take({since, until - since}, CpuItem::Kind::pause);
        extras_.back().takes_batch = true;
        extras_.back().awaits_workers = awaits_workers;
      }
      if (is_last) return;
      since = (*launch)->call->end();
    }
  }

  /// Moves a time from the work around it to an item of its own.
  void take(const Span& span, CpuItem::Kind kind) {
    taken_.push_back(span);
    extras_.push_back({.kind = kind, .start = span.start, .time = static_cast<double>(span.duration)});
  }

  /// Long times without any event: pauses of the program outside of operations, long operations inside.
  void add_pauses() {
    std::vector<Span> operations;
    std::vector<Span> reading;
    std::vector<Span> calls = trace_.overheads;
    for (const auto& operation : trace_.operations) {
      if (!threads_.contains(operation.thread)) continue;
      operations.push_back(operation);
      if (needs_values(trace_.signatures[operation.signature].name)) reading.push_back(operation);
    }
    of_model_ = MergedSpans{std::move(reading)};
    for (const auto* some : {&trace_.calls, &trace_.other_calls}) {
      for (const auto& call : *some) {
        if (is_ours(call)) calls.push_back(call);
      }
    }
    const auto moments = moments_of(operations, calls);
    const MergedSpans working{std::move(operations)};
    calls.insert(calls.end(), taken_.begin(), taken_.end());
    const MergedSpans calling{std::move(calls)};
    for (std::size_t i = 1; i < moments.size(); ++i) {
      const Span between{moments[i - 1], moments[i] - moments[i - 1]};
      if (between.duration < shortest_pause || calling.cover(between)) continue;
      take(between, working.cover(between) ? CpuItem::Kind::operation : CpuItem::Kind::pause);
    }
    not_work_ = MergedSpans{taken_};
  }

  /// Begins and ends of all events of threads that launch, and begins of steps, so that a pause on both sides
  /// of a step's begin is two pauses. Without marks of the profiler, the begin of the first step is unknown.
  std::vector<std::int64_t> moments_of(const std::vector<Span>& operations,
                                       const std::vector<Span>& calls) const {
    std::vector<std::int64_t> moments;
    for (const auto* spans : {&operations, &calls, &taken_}) {
      for (const auto& span : *spans) {
        moments.push_back(span.start);
        moments.push_back(span.end());
      }
    }
    for (const auto& mark : trace_.profiler_steps) moments.push_back(mark.start);
    std::ranges::sort(moments);
    return moments;
  }

  /// CUDA_LAUNCH_BLOCKING: calls return after their kernels have ended, which otherwise begin after the call.
  void find_blocking_launches() {
    std::size_t blocking = 0;
    for (const auto* launch : launches_) blocking += launch->call->end() >= launch->activity->end() ? 1 : 0;
    launches_block_ = 2 * blocking > launches_.size();
  }

  void add_extra(CpuItem item, std::size_t next, std::vector<CpuItem>& items) {
    const auto* before = next > 0 ? &run_.activities[next - 1] : nullptr;
    if (item.kind == CpuItem::Kind::pause && next < run_.activities.size()) {
      // What ends before the profiler's next step begins is of the step before.
      const bool is_of_step = std::ranges::none_of(trace_.profiler_steps, [&](const Span& mark) {
        return mark.start > item.start && mark.start <= launches_[next]->call->start;
      });
      item.is_before_batch = is_of_step && is_first_copy(next);
    }
    if (item.kind == CpuItem::Kind::wait) {
      item.is_of_model = of_model_.contains(item.start);
      if (before == nullptr) return;
      if (item.stream == -2) item.stream = before->stream;
      item.reads_value = before->work == WorkClass::copy_out && before->bytes <= largest_value;
      if (item.reads_value) {
        item.activity = static_cast<std::int32_t>(next - 1);
        mark_reductions(next - 1);
      }
    }
    items.push_back(item);
  }

  /// Whether this is the step's first copy of a batch to the GPU, which may follow on the forward pass of the
  /// batch before.
  bool is_first_copy(std::size_t index) const {
    const auto& copy = run_.activities[index];
    if (copy.work != WorkClass::copy_in) return false;
    bool follows_copies_only = true;
    while (index > 0 && run_.activities[index - 1].step == copy.step) {
      const auto& earlier = run_.activities[--index];
      if (earlier.work != WorkClass::copy_in) follows_copies_only = false;
      if (earlier.work == WorkClass::copy_in && earlier.bytes > largest_value) return false;
    }
    return follows_copies_only || copy.bytes > largest_value;
  }

  void mark_reductions(std::size_t copy) {
    run_.activities[copy].computes_read = true;
    for (auto i = copy; i-- > 0 && is_reduction(names_.operations.text(run_.activities[i].operation));)
      run_.activities[i].computes_read = true;
  }

  void add_launch(std::size_t index, std::vector<CpuItem>& items) {
    const auto& traced = *launches_[index];
    const auto& activity = run_.activities[index];
    const auto since = index > 0 ? launches_[index - 1]->call->end() : traced.call->start;
    const Span between{since, std::max<std::int64_t>(0, traced.call->start - since)};
    CpuItem work{.start = since};
    if (traced.cpu_known || index > 0)
      work.time = static_cast<double>(std::max<std::int64_t>(0, traced.cpu - not_work_.within(between)));
    if (launches_block_) work.time = std::max(0.0, work.time - static_cast<double>(activity.duration));
    items.push_back(work);
    CpuItem launch{.kind = CpuItem::Kind::launch, .start = traced.call->start};
    launch.activity = static_cast<std::int32_t>(index);
    launch.first_dependence = static_cast<std::int32_t>(run_.dependences.size());
    add_dependences(index);
    launch.dependences = static_cast<std::int32_t>(run_.dependences.size()) - launch.first_dependence;
    if (launch.dependences > 0) run_.activities[index].interruption = 0;
    items.push_back(launch);
    latest_[activity.stream].push_back(static_cast<std::int32_t>(index));
    if (launches_block_) {
      CpuItem wait{.kind = CpuItem::Kind::wait, .start = traced.call->start};
      wait.stream = activity.stream;
      wait.is_of_launch = true;
      items.push_back(wait);
      return;
    }
    const bool waits_itself = !contains(trace_.names.text(traced.call->name), "Async");
    if (is_copy(activity.work) && activity.bytes > staged_copy && (activity.is_pageable || waits_itself)) {
      CpuItem wait{.kind = CpuItem::Kind::wait, .start = traced.call->start};
      wait.stream = activity.stream;
      wait.activity = launch.activity;
      items.push_back(wait);
    }
  }

  void add_dependences(std::size_t index) {
    constexpr std::int64_t rounding = 2'000;  // Starts and ends on two streams are not exact.
    const auto start = launches_[index]->call->start;
    bool waits = false;
    for (; next_wait_ < stream_waits_.size() && stream_waits_[next_wait_] < start; ++next_wait_) waits = true;
    if (!waits) return;
    const auto& activity = run_.activities[index];
    for (const auto& [stream, launched] : latest_) {
      if (stream == activity.stream) continue;
      const auto ended = std::find_if(launched.rbegin(), launched.rend(), [&](auto earlier) {
        return run_.activities[static_cast<std::size_t>(earlier)].end() <= activity.start + rounding;
      });
      if (ended != launched.rend()) run_.dependences.push_back(*ended);
    }
  }

  const Trace& trace_;
  const std::vector<const TracedLaunch*>& launches_;
  const KernelNames& names_;
  RankRun& run_;
  std::set<std::int64_t> threads_;  ///< that launch
  std::vector<CpuItem> extras_;
  std::vector<Span> taken_;  ///< times of `extras_` that are not work
  MergedSpans not_work_;     ///< the same
  MergedSpans of_model_;     ///< in operations that read values for themselves
  bool launches_block_ = false;
  std::vector<std::int64_t> stream_waits_;
  std::size_t next_wait_ = 0;
  std::map<std::int32_t, std::vector<std::int32_t>> latest_;  ///< activities by stream
};

}  // namespace

void add_program(const Trace& trace, const std::vector<const TracedLaunch*>& launches,
                 const KernelNames& names, RankRun& run) {
  Program{trace, launches, names, run}.add();
}

}  // namespace gradway

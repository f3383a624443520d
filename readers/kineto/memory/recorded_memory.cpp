// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "readers/kineto/memory/step_memory.hpp"
#include "readers/kineto/work/launch_work.hpp"

namespace gradway {
namespace {

constexpr auto never = std::numeric_limits<std::int64_t>::max();

/// Memory from its allocation until it is freed.
struct Allocation {
  std::int64_t from = 0;
  std::int64_t to = never;
  double bytes = 0;
  bool is_fixed = false;
  bool is_input = false;
};

/// Finds the operations that run at a time. Times must be asked for in ascending order; operations of a
/// thread nest.
class OpenOperations {
 public:
  explicit OpenOperations(const Trace& trace) {
    for (const auto& operation : trace.operations)
      threads_[operation.thread].operations.push_back(&operation);
    for (auto& [id, thread] : threads_) {
      std::ranges::sort(thread.operations, {}, [](const TracedOperation* operation) {
        return std::tuple{operation->start, -operation->duration};
      });
    }
  }

  /// Operations of a thread that run at a time, outermost first.
  const std::vector<const TracedOperation*>& at(std::int64_t thread, std::int64_t time) {
    auto& on = threads_[thread];
    while (on.next < on.operations.size() && on.operations[on.next]->start <= time) {
      leave(on, on.operations[on.next]->start);
      on.open.push_back(on.operations[on.next++]);
    }
    leave(on, time);
    return on.open;
  }

 private:
  struct Thread {
    std::vector<const TracedOperation*> operations;
    std::size_t next = 0;
    std::vector<const TracedOperation*> open;
  };

  static void leave(Thread& on, std::int64_t time) {
    while (!on.open.empty() && on.open.back()->end() < time) on.open.pop_back();
  }

  std::map<std::int64_t, Thread> threads_;
};

bool has_tensor(const Signature& signature) {
  return std::ranges::any_of(signature.operands, [](const Operand& operand) {
    return std::ranges::any_of(operand.shapes, [](const auto& shape) { return !shape.empty(); });
  });
}

/// Operations that launched copies from the host, sorted by start.
std::vector<Span> input_copies(const Trace& trace, const std::vector<TracedStep>& steps) {
  std::vector<Span> copies;
  for (const auto& step : steps) {
    for (const auto& launch : step.launches) {
      if (launch.activity->kind == TracedActivity::Kind::copy && launch.operation != nullptr &&
          trace.names.text(launch.activity->name).find("HtoD") != std::string::npos)
        copies.push_back(*launch.operation);
    }
  }
  std::ranges::sort(copies, {}, &Span::start);
  return copies;
}

std::vector<Allocation> allocations_of(const Trace& trace, const std::vector<TracedStep>& steps,
                                       const ParameterShapes& parameters) {
  auto events = trace.allocations;
  std::ranges::stable_sort(events, {}, &TracedAllocation::time);
  const auto copies = input_copies(trace, steps);
  OpenOperations open_operations{trace};
  std::vector<Allocation> allocations;
  std::unordered_map<std::int64_t, std::size_t> live;
  for (const auto& event : events) {
    const auto known = live.find(event.address);
    if (event.bytes < 0) {
      if (known == live.end()) continue;  // Allocated before the trace began.
      allocations[known->second].to = event.time;
      live.erase(known);
      continue;
    }
    Allocation allocation{.from = event.time, .bytes = static_cast<double>(event.bytes)};
    const auto& open = open_operations.at(event.thread, event.time);
    const auto with_tensor = std::find_if(open.rbegin(), open.rend(), [&](const TracedOperation* operation) {
      return has_tensor(trace.signatures[operation->signature]);
    });
    if (with_tensor != open.rend()) {
      allocation.is_fixed = parameters.has_only(trace.signatures[(*with_tensor)->signature]);
      const auto copy = std::ranges::lower_bound(copies, (*with_tensor)->start, {}, &Span::start);
      allocation.is_input = copy != copies.end() && copy->end() <= (*with_tensor)->end();
    }
    live[event.address] = allocations.size();
    allocations.push_back(allocation);
  }
  return allocations;
}

enum class MemoryPart { none, grows, fixed, gradients };

struct Passes {
  std::int64_t begin = 0;
  Span autograd;
};

MemoryPart part_of(const Allocation& allocation, const std::vector<Passes>& steps, std::size_t step) {
  if (allocation.is_input) return MemoryPart::none;
  const auto after = std::ranges::upper_bound(steps, allocation.from, {}, &Passes::begin);
  if (after == steps.begin()) return MemoryPart::none;
  const auto in = std::prev(after);
  if (allocation.from > in->autograd.end()) return MemoryPart::none;
  const bool is_forward = allocation.from < in->autograd.start;
  if (!is_forward && allocation.to > in->autograd.end())
    return &*in == &steps[step] ? MemoryPart::gradients : MemoryPart::none;
  return allocation.is_fixed ? MemoryPart::fixed : MemoryPart::grows;
}

}  // namespace

std::vector<ProfiledMoment> recorded_memory(const Trace& trace, const std::vector<TracedStep>& steps,
                                            std::size_t step, const Profile& profile) {
  const auto autograd = backward_spans(trace, steps);
  std::vector<Passes> passes;
  for (std::size_t i = 0; i < steps.size(); ++i) passes.push_back({steps[i].begin, autograd[i]});
  const auto& step_passes = passes[step];

  struct Event {
    std::int64_t time;
    MemoryPart part;
    double bytes;
  };
  std::vector<Event> events;
  for (const auto& allocation : allocations_of(trace, steps, ParameterShapes{trace, steps[step], profile})) {
    const auto memory_part = part_of(allocation, passes, step);
    if (memory_part == MemoryPart::none || allocation.from > step_passes.autograd.end() ||
        allocation.to < step_passes.begin)
      continue;
    events.push_back({allocation.from, memory_part, allocation.bytes});
    if (allocation.to != never) events.push_back({allocation.to, memory_part, -allocation.bytes});
  }
  std::ranges::stable_sort(events, {}, &Event::time);

  std::vector<ProfiledMoment> moments;
  std::array<double, 4> sums{};
  for (const auto& event : events) {
    if (event.time > step_passes.autograd.end()) break;
    sums[static_cast<std::size_t>(event.part)] += event.bytes;
    if (event.bytes < 0 || event.time < step_passes.begin) continue;
    const auto bytes = [&](MemoryPart memory_part) {
      return Bytes{sums[static_cast<std::size_t>(memory_part)]};
    };
    moments.push_back(
        {.phase = event.time < step_passes.autograd.start ? ProfiledPhase::forward : ProfiledPhase::backward,
         .grows = bytes(MemoryPart::grows),
         .fixed = bytes(MemoryPart::fixed),
         .gradients = bytes(MemoryPart::gradients)});
  }
  return possible_peaks(moments);
}

}  // namespace gradway

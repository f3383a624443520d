// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "readers/kineto/memory/checkpoint_calls.hpp"
#include "readers/kineto/memory/step_memory.hpp"
#include "readers/kineto/memory/tape.hpp"
#include "readers/kineto/work/launch_work.hpp"

namespace gradway {
namespace {

/// Operations of the thread that runs the forward pass, outer before inner.
std::vector<const TracedOperation*> forward_operations(const Trace& trace, const TracedStep& step,
                                                       std::int64_t end) {
  const auto first = std::ranges::find(step.launches, true, &TracedLaunch::is_main_thread);
  std::vector<const TracedOperation*> operations;
  if (first == step.launches.end()) return operations;
  for (const auto& operation : trace.operations) {
    if (operation.thread == first->call->thread && operation.start >= step.begin && operation.start < end)
      operations.push_back(&operation);
  }
  std::ranges::sort(operations, {}, [](const TracedOperation* operation) {
    return std::tuple{operation->start, -operation->duration, operation->external};
  });
  return operations;
}

constexpr std::string_view compiled_graph = "CompiledFunction";

/// Operations of the backward graphs of torch.compile, in the order of their start.
std::vector<const TracedOperation*> compiled_backward(const Trace& trace, const Span& autograd) {
  std::vector<const TracedOperation*> graphs;
  std::vector<const TracedOperation*> operations;
  const auto is_graph = [&](const TracedOperation& operation) {
    return operation.start >= autograd.start && operation.start < autograd.end() &&
           trace.signatures[operation.signature].name == "CompiledFunctionBackward";
  };
  for (const auto& operation : trace.operations) {
    if (is_graph(operation)) graphs.push_back(&operation);
  }
  if (graphs.empty()) return operations;
  for (const auto& operation : trace.operations) {
    const bool is_inside = std::ranges::any_of(graphs, [&](const TracedOperation* graph) {
      return operation.thread == graph->thread && operation.start > graph->start &&
             operation.end() <= graph->end();
    });
    if (is_inside) operations.push_back(&operation);
  }
  std::ranges::sort(operations, {}, [](const TracedOperation* operation) {
    return std::pair{operation->start, -operation->duration};
  });
  return operations;
}

bool is_product(std::string_view name) {
  return name == "aten::mm" || name == "aten::addmm" || name == "aten::bmm" || name == "aten::baddbmm";
}

/// Whether a backward graph recomputes layers. Otherwise it has two products for each product of the forward
/// graph, and neither its attention nor its convolutions.
bool graph_computes_again(const Trace& trace, std::span<const TracedOperation* const> forward_pass,
                          std::span<const TracedOperation* const> graphs) {
  const auto name_of = [&](const TracedOperation* operation) -> std::string_view {
    return trace.signatures[operation->signature].name;
  };
  const auto products = [&](std::span<const TracedOperation* const> operations) {
    return std::ranges::count_if(operations, is_product, name_of);
  };
  const auto is_of_forward_pass = [](std::string_view name) {
    return name == "aten::convolution" || (name.starts_with("aten::_scaled_dot_product") &&
                                           name.find("_backward") == std::string_view::npos);
  };
  return products(graphs) > 2 * products(forward_pass) ||
         std::ranges::any_of(graphs, is_of_forward_pass, name_of);
}

/// Numbers of the nodes whose backward pass begins between `begin` and `end`, but not in one of the calls
/// `except`.
std::set<std::int64_t> nodes_that_ran(const Trace& trace, std::int64_t begin, std::int64_t end,
                                      std::span<const CheckpointCall> except) {
  std::set<std::int64_t> numbers;
  for (const auto& operation : trace.operations) {
    if (operation.sequence <= 0 || operation.start < begin || operation.start >= end ||
        !is_node(trace, operation))
      continue;
    const auto runs_inside = [&](const CheckpointCall& call) {
      return call.is_reentrant && operation.start >= call.recomputed.back()->end() &&
             operation.start < call.backward.end();
    };
    if (std::ranges::none_of(except, runs_inside)) numbers.insert(operation.sequence);
  }
  return numbers;
}

/// Records operations on tapes and remembers which of them are known.
class OperationRecorder {
 public:
  OperationRecorder(const Trace& trace, const TracedStep& step) : trace_{trace} {
    for (const auto& launch : step.launches) launching_.insert(launch.operation);
  }

  /// Records operations on a tape. @param calls among the operations that run again
  void record(std::span<const TracedOperation* const> operations, const AutogradNodes& nodes, Tape& tape,
              std::span<const CheckpointCall> calls = {}) {
    auto call = calls.begin();
    bool is_inside = false;
    for (std::size_t i = 0; i < operations.size();) {
      if (is_inside && i >= call->end) {
        tape.end_recomputed(call->is_reentrant);
        is_inside = false;
        ++call;
      }
      if (!is_inside && call != calls.end() && i >= call->first) {
        tape.begin_recomputed();
        is_inside = true;
        if (call->is_reentrant) {
          ++i;
          continue;
        }
      }
      i += record_one(operations.subspan(i), nodes, tape, is_inside);
    }
    for (; call != calls.end(); ++call) {
      if (!std::exchange(is_inside, false)) tape.begin_recomputed();
      tape.end_recomputed(call->is_reentrant);
    }
  }

  bool knows(const TracedOperation* operation) const {
    return known_.contains(operation) && !part_of_unknown_.contains(operation);
  }
  /// The operation with a node of its own that contains this one, or else itself.
  const TracedOperation* whole(const TracedOperation* operation) const {
    const auto entry = part_of_unknown_.find(operation);
    return entry == part_of_unknown_.end() ? operation : entry->second;
  }

 private:
  /// @return the number of operations recorded
  std::size_t record_one(std::span<const TracedOperation* const> operations, const AutogradNodes& nodes,
                         Tape& tape, bool is_recomputed) {
    const auto& operation = *operations.front();
    std::size_t end = 1;
    while (end < operations.size() && operations[end]->start < operation.end()) ++end;
    const auto inside = operations.first(end);
    if (tape.record(operation, inside) ||
        (launching_.contains(&operation) && tape.record_without_node(operation))) {
      known_.insert(inside.begin(), inside.end());
      return end;
    }
    if (trace_.signatures[operation.signature].name == compiled_graph) {
      tape.begin_compiled(operation.end());
      return 1;
    }
    // What an operation with a node of its own keeps does not follow from its parts.
    if (!is_recomputed && nodes.are_known() && nodes.has(operation)) {
      for (const auto* inner : inside) part_of_unknown_.emplace(inner, &operation);
    }
    return 1;
  }

  const Trace& trace_;
  std::set<const TracedOperation*> launching_;
  std::set<const TracedOperation*> known_;
  std::map<const TracedOperation*, const TracedOperation*> part_of_unknown_;
};

}  // namespace

TracedMemory kept_tensors(const Trace& trace, const TracedStep& step, const Profile& profile) {
  const auto autograd = backward_spans(trace, {&step, 1}).front();
  const auto operations = forward_operations(trace, step, autograd.start);
  const auto calls = checkpoint_calls(trace, step, operations, autograd);
  if (!calls) return {.from = MemorySource::none, .moments = {}, .unknown_operations = {"recomputed layers"}};
  const auto ran = nodes_that_ran(trace, step.begin, step.end, *calls);
  const AutogradNodes nodes{operations, ran};
  Tape tape{trace, step, profile, nodes};
  OperationRecorder recorder{trace, step};
  recorder.record(operations, nodes, tape, *calls);
  const auto of_graphs = compiled_backward(trace, autograd);
  tape.record_compiled_backward(of_graphs);

  std::set<const TracedOperation*> recomputed;
  std::vector<std::vector<ProfiledMoment>> moments_of_calls;
  for (std::size_t i = 0; i < calls->size(); ++i) {
    const auto& call = (*calls)[i];
    recomputed.insert(call.recomputed.begin(), call.recomputed.end());
    const AutogradNodes nodes_inside =
        call.is_reentrant ? AutogradNodes{call.recomputed,
                                          nodes_that_ran(trace, call.backward.start, call.backward.end(), {})}
                          : AutogradNodes{call.recomputed, ran, call.number_offset};
    Tape inside{trace, step, profile, nodes_inside};
    inside.begin_recomputation(tape, i);
    recorder.record(call.recomputed, nodes_inside, inside);
    inside.end_recomputation(tape, i);
    moments_of_calls.push_back(inside.moments());
  }

  TracedMemory memory{.from = of_graphs.empty() ? MemorySource::shapes : MemorySource::compiled,
                      .moments = {},
                      .unknown_operations = {}};
  std::set<std::string> unknown_operations;
  if (graph_computes_again(trace, operations, of_graphs))
    unknown_operations.insert("layers that a compiled graph recomputes");
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const auto& launch = step.launches[i];
    const bool is_forward = launch.phase == ProfiledPhase::forward || recomputed.contains(launch.operation);
    const bool counts =
        is_forward && profile.launches[i].grows && launch.activity->kind == TracedActivity::Kind::kernel;
    if (!counts || recorder.knows(launch.operation)) continue;
    const auto* operation = recorder.whole(launch.operation);
    unknown_operations.insert(operation == nullptr ? short_name(trace.names.text(launch.activity->name))
                                                   : trace.signatures[operation->signature].name);
  }
  constexpr std::size_t max_named = 8;
  for (const auto& name : unknown_operations) {
    if (memory.unknown_operations.size() == max_named) {
      memory.unknown_operations.push_back(fmt::format("{} others", unknown_operations.size() - max_named));
      break;
    }
    memory.unknown_operations.push_back(name);
  }
  memory.moments = possible_peaks(tape.moments_with(moments_of_calls));
  if (memory.moments.empty()) memory.from = MemorySource::none;
  return memory;
}

}  // namespace gradway

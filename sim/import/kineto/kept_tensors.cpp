// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/import/kineto/kernel_class.hpp"
#include "sim/import/kineto/step_moments.hpp"
#include "sim/import/kineto/tape.hpp"

namespace gradway {
namespace {

/// Of the thread that the forward pass runs on, the outer before the inner.
std::vector<const TracedOperation*> forward_operations(const Trace& trace, const TracedStep& step,
                                                       std::int64_t end) {
  const auto first = std::ranges::find(step.launches, true, &TracedLaunch::is_main_thread);
  std::vector<const TracedOperation*> found;
  if (first == step.launches.end()) return found;
  for (const auto& operation : trace.operations) {
    if (operation.thread == first->call->thread && operation.start >= step.begin && operation.start < end)
      found.push_back(&operation);
  }
  std::ranges::sort(found, {}, [](const TracedOperation* it) {
    return std::tuple{it->start, -it->duration, it->external};
  });
  return found;
}

constexpr std::string_view compiled_graph = "CompiledFunction";

/// Of the backward graphs that torch.compile made, in the order of their start.
std::vector<const TracedOperation*> compiled_backward(const Trace& trace, const Span& autograd) {
  std::vector<const TracedOperation*> graphs;
  std::vector<const TracedOperation*> found;
  const auto is_graph = [&](const TracedOperation& operation) {
    return operation.start >= autograd.start && operation.start < autograd.end() &&
           trace.signatures[operation.signature].name == "CompiledFunctionBackward";
  };
  for (const auto& operation : trace.operations) {
    if (is_graph(operation)) graphs.push_back(&operation);
  }
  if (graphs.empty()) return found;
  for (const auto& operation : trace.operations) {
    const bool is_inside = std::ranges::any_of(graphs, [&](const TracedOperation* graph) {
      return operation.thread == graph->thread && operation.start > graph->start &&
             operation.end() <= graph->end();
    });
    if (is_inside) found.push_back(&operation);
  }
  std::ranges::sort(found, {}, [](const TracedOperation* it) { return std::pair{it->start, -it->duration}; });
  return found;
}

bool runs_forward_again(const Trace& trace, const TracedStep& step, const Span& autograd) {
  return std::ranges::any_of(trace.operations, [&](const TracedOperation& operation) {
    return operation.start >= autograd.start && operation.end() <= autograd.end() &&
           operation.start < step.end &&
           kept_rules::is_among(trace.signatures[operation.signature].name, kept_rules::of_forward_passes);
  });
}

}  // namespace

MemoryOfTrace kept_tensors(const Trace& trace, const TracedStep& step, const Profile& profile) {
  const auto autograd = autograd_of(trace, {&step, 1}).front();
  if (runs_forward_again(trace, step, autograd))
    return {.from = MemorySource::none, .moments = {}, .lacks = {"layers that are computed again"}};
  const auto operations = forward_operations(trace, step, autograd.start);
  const AutogradNodes nodes{trace, step, operations};
  Tape tape{trace, step, profile, nodes};
  std::set<const TracedOperation*> launching;
  for (const auto& launch : step.launches) launching.insert(launch.operation);
  std::set<const TracedOperation*> known;
  std::map<const TracedOperation*, const TracedOperation*> part_of_unknown;
  for (std::size_t i = 0; i < operations.size();) {
    auto end = i + 1;
    while (end < operations.size() && operations[end]->start < operations[i]->end()) ++end;
    const std::span inside{operations.data() + i, end - i};
    if (tape.take(*operations[i], inside) ||
        (launching.contains(operations[i]) && tape.take_without_node(*operations[i]))) {
      known.insert(inside.begin(), inside.end());
      i = end;
      continue;
    }
    if (trace.signatures[operations[i]->signature].name == compiled_graph) {
      tape.begin_compiled(operations[i]->end());
      ++i;
      continue;
    }
    // What an operation with a node of its own keeps does not follow from its parts.
    if (nodes.are_known() && nodes.has(*operations[i])) {
      for (const auto* part : inside) part_of_unknown.emplace(part, operations[i]);
    }
    ++i;
  }
  tape.take_compiled_backward(compiled_backward(trace, autograd));
  MemoryOfTrace memory{.from = MemorySource::shapes, .moments = {}, .lacks = {}};
  std::set<std::string> lacks;
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const auto& launch = step.launches[i];
    const bool counts = launch.phase == ProfiledPhase::forward && profile.launches[i].grows &&
                        launch.activity->kind == TracedActivity::Kind::kernel;
    const auto whole = part_of_unknown.find(launch.operation);
    const bool is_part = whole != part_of_unknown.end();
    if (!counts || (!is_part && known.contains(launch.operation))) continue;
    const auto* operation = is_part ? whole->second : launch.operation;
    lacks.insert(operation == nullptr ? short_name(trace.names.text(launch.activity->name))
                                      : trace.signatures[operation->signature].name);
  }
  constexpr std::size_t most_named = 8;
  for (const auto& name : lacks) {
    if (memory.lacks.size() == most_named) {
      memory.lacks.push_back(fmt::format("{} others", lacks.size() - most_named));
      break;
    }
    memory.lacks.push_back(name);
  }
  memory.moments = possible_peaks(tape.moments());
  if (memory.moments.empty()) memory.from = MemorySource::none;
  return memory;
}

}  // namespace gradway

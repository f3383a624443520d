// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/memory/checkpoint_calls.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "readers/kineto/memory/kept_rules.hpp"

namespace gradway {
namespace {

constexpr std::string_view autograd_call = "autograd::engine::evaluate_function";
constexpr std::string_view reentrant_call = "CheckpointFunction";
constexpr std::string_view reentrant_node = "CheckpointFunctionBackward";

using Operations = std::vector<const TracedOperation*>;

/// Whether `operation` runs inside of `outer`: operations of a thread nest.
bool is_inside(const TracedOperation& operation, const TracedOperation& outer) {
  return operation.thread == outer.thread && &operation != &outer && operation.start >= outer.start &&
         operation.start < outer.end();
}

/// Operations inside of `outer`, in the order of their start, outer before inner.
Operations operations_inside(const Operations& backward, const TracedOperation& outer) {
  Operations inside;
  auto position = std::ranges::lower_bound(backward, outer.start, {}, &TracedOperation::start);
  for (; position != backward.end() && (*position)->start <= outer.end(); ++position)
    if (is_inside(**position, outer)) inside.push_back(*position);
  return inside;
}

/// Operations have numbers of nodes only while autograd records, as in a forward pass.
bool is_recorded(const Trace& trace, const TracedOperation& operation) {
  return operation.sequence > 0 && !is_node(trace, operation);
}

/// Operations from the first to the last one that autograd records.
Operations recorded_operations(const Trace& trace, const Operations& inside) {
  const auto notes = [&](const TracedOperation* operation) { return is_recorded(trace, *operation); };
  std::int64_t end = 0;
  for (const auto* operation : inside)
    if (notes(operation)) end = std::max(end, operation->end());
  Operations between;
  std::copy_if(std::ranges::find_if(inside, notes), inside.end(), std::back_inserter(between),
               [&](const TracedOperation* operation) { return operation->end() <= end; });
  return between;
}

/// Index of operations of the forward pass by the number of their node and their name.
class OperationsByNumber {
 public:
  OperationsByNumber(const Trace& trace, std::span<const TracedOperation* const> forward) : trace_{trace} {
    for (std::size_t i = 0; i < forward.size(); ++i)
      if (forward[i]->sequence > 0) places_.emplace(key(*forward[i], forward[i]->sequence), i);
  }

  std::optional<std::size_t> place(const TracedOperation& operation, std::int64_t number) const {
    const auto entry = places_.find(key(operation, number));
    return entry == places_.end() ? std::nullopt : std::optional{entry->second};
  }

 private:
  using Key = std::pair<std::int64_t, std::string_view>;
  Key key(const TracedOperation& operation, std::int64_t number) const {
    return {number, trace_.signatures[operation.signature].name};
  }

  const Trace& trace_;
  std::map<Key, std::size_t> places_;  ///< Index of the outermost operation.
};

/// Finds the operations in the forward pass. Their last node is that of `asking` or shortly after it: other
/// nodes of the call may also have kept something, and run later.
bool find_in_forward(const Trace& trace, std::span<const TracedOperation* const> forward,
                     const OperationsByNumber& by_number, const TracedOperation& asking,
                     CheckpointCall& call) {
  Operations notes;
  std::ranges::copy_if(call.recomputed, std::back_inserter(notes),
                       [&](const TracedOperation* operation) { return is_recorded(trace, *operation); });
  const auto last = std::ranges::max(notes, {}, &TracedOperation::sequence)->sequence;
  constexpr std::int64_t far = 64;
  for (auto number = asking.sequence; number < asking.sequence + far; ++number) {
    const auto number_offset = last - number;
    auto first = forward.size();
    std::size_t end = 0;
    const auto is_there = [&](const TracedOperation* operation) {
      const auto place = by_number.place(*operation, operation->sequence - number_offset);
      if (!place) return false;
      first = std::min(first, *place);
      end = std::max(end, *place + 1);
      return true;
    };
    if (!std::ranges::all_of(notes, is_there)) continue;
    while (end < forward.size() && forward[end]->start < forward[end - 1]->end()) ++end;
    call.first = first;
    call.end = end;
    call.number_offset = number_offset;
    return true;
  }
  return false;
}

bool runs_forward(const Trace& trace, const Operations& operations) {
  return std::ranges::any_of(operations, [&](const TracedOperation* operation) {
    return kept_rules::is_among(trace.signatures[operation->signature].name, kept_rules::of_forward_passes);
  });
}

/// Operations of the step's backward passes, in the order of their start, outer before inner.
Operations backward_operations(const Trace& trace, const TracedStep& step, const Span& autograd) {
  Operations operations;
  for (const auto& operation : trace.operations) {
    if (operation.start >= autograd.start && operation.start < std::min(autograd.end(), step.end))
      operations.push_back(&operation);
  }
  std::ranges::sort(operations, {}, [](const TracedOperation* operation) {
    return std::tuple{operation->start, -operation->duration, operation->external};
  });
  return operations;
}

/// Sets `call` if `inside` contains a reentrant node. Its call is an operation of the forward pass that
/// contains the operations that run again.
bool find_reentrant(const Trace& trace, std::span<const TracedOperation* const> forward,
                    const Operations& inside, CheckpointCall& call) {
  const auto autograd = std::ranges::find_if(inside, [&](const TracedOperation* operation) {
    return trace.signatures[operation->signature].name.starts_with(autograd_call);
  });
  const auto node = std::ranges::find_if(inside, [&](const TracedOperation* operation) {
    return trace.signatures[operation->signature].name == reentrant_node;
  });
  if (node == inside.end()) return false;
  call.recomputed.assign(node + 1, std::max(node + 1, autograd));
  if (call.recomputed.empty()) return false;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    if (forward[i]->sequence != (*node)->sequence ||
        trace.signatures[forward[i]->signature].name != reentrant_call)
      continue;
    call.first = i;
    call.end = i + 1;
    while (call.end < forward.size() && forward[call.end]->start < forward[i]->end()) ++call.end;
    call.is_reentrant = true;
    return true;
  }
  return false;
}

}  // namespace

bool is_node(const Trace& trace, const TracedOperation& operation) {
  const auto& name = trace.signatures[operation.signature].name;
  return name.starts_with(autograd_call) || name.find("Backward") != std::string::npos;
}

std::vector<const TracedOperation*> reentrant_nodes(const Trace& trace, const TracedStep& step) {
  Operations nodes;
  for (const auto& operation : trace.operations) {
    if (operation.start >= step.begin && operation.start < step.end &&
        trace.signatures[operation.signature].name == reentrant_node)
      nodes.push_back(&operation);
  }
  return nodes;
}

std::optional<std::vector<CheckpointCall>> checkpoint_calls(const Trace& trace, const TracedStep& step,
                                                            std::span<const TracedOperation* const> forward,
                                                            const Span& autograd) {
  const auto backward = backward_operations(trace, step, autograd);
  const OperationsByNumber by_number{trace, forward};
  std::vector<CheckpointCall> calls;
  std::int64_t until = 0;  // Nodes inside of a reentrant node belong to it.
  for (const auto* operation : backward) {
    const auto& name = trace.signatures[operation->signature].name;
    if (operation->start < until || !name.starts_with(autograd_call)) continue;
    const auto inside = operations_inside(backward, *operation);
    CheckpointCall call;
    call.backward = *operation;
    if (find_reentrant(trace, forward, inside, call)) {
      until = operation->end();
    } else {
      call.recomputed = recorded_operations(trace, inside);
      if (call.recomputed.empty()) {
        if (runs_forward(trace, inside)) return std::nullopt;  // The trace has no numbers of nodes.
        continue;
      }
      if (!find_in_forward(trace, forward, by_number, *operation, call)) {
        if (runs_forward(trace, call.recomputed)) return std::nullopt;
        continue;  // A custom operation that differentiates inside of its backward pass.
      }
    }
    const bool is_nested = std::ranges::any_of(call.recomputed, [&](const TracedOperation* recomputed) {
      const auto& inner = trace.signatures[recomputed->signature].name;
      return inner == reentrant_call || inner == "CompiledFunction";
    });
    if (is_nested) return std::nullopt;
    calls.push_back(std::move(call));
  }
  std::ranges::sort(calls, {}, &CheckpointCall::first);
  for (std::size_t i = 1; i < calls.size(); ++i)
    if (calls[i].first < calls[i - 1].end) return std::nullopt;  // One call is inside of the other.
  return calls;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/communication.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "readers/kineto/read/merged_spans.hpp"
#include "readers/kineto/work/kernel_name.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

using SpansOfThreads = std::map<std::int64_t, MergedSpans>;

// Named in torch/csrc/distributed/c10d/reducer.cpp and Ops.cpp.
constexpr std::array<std::string_view, 4> parts_of_strategies{
    "c10d::", "record_param_comms", "torch::distributed::reducer::", "torch.distributed.ddp.reducer::"};

bool is_of_strategy(std::string_view operation) {
  return std::ranges::any_of(parts_of_strategies, [&](auto prefix) { return operation.starts_with(prefix); });
}

SpansOfThreads hooks_of(const Trace& trace) {
  std::map<std::int64_t, std::vector<Span>> spans;
  for (const auto& hook : trace.hooks) spans[hook.thread].push_back(hook);
  SpansOfThreads merged;
  for (auto& [thread, of_thread] : spans) merged.emplace(thread, std::move(of_thread));
  return merged;
}

bool covers(const SpansOfThreads& spans, std::int64_t thread, std::int64_t time) {
  const auto of_thread = spans.find(thread);
  return of_thread != spans.end() && of_thread->second.contains(time);
}

/// Whether a collective passes few numbers, such as a norm or metrics; false if its shapes are unknown.
bool is_small(const Signature& signature) {
  constexpr double most_elements = 1024;
  double most = -1;
  for (const auto& operand : signature.operands)
    for (const auto& shape : operand.shapes)
      most = std::max(most, std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies{}));
  return most >= 0 && most <= most_elements;
}

/// Collectives that tensor, pipeline, expert or context parallelism issue, or sharding.
bool divides_models(CollectiveKind kind) {
  return kind != CollectiveKind::all_reduce && kind != CollectiveKind::broadcast;
}

/// Calls of collectives by DTensor (which also renames and waits for tensors) and by others.
bool is_collective_call(std::string_view operation) {
  return operation.starts_with("c10d::") ||
         (operation.starts_with("_c10d_functional::") && !contains(operation, "_tensor"));
}

bool is_all_to_all(std::string_view operation) {
  return contains(operation, "alltoall");
}

/// The ranks of a group that gathers parameters, of a mesh of two dimensions along one of them.
std::int64_t shards_of(const Trace& trace) {
  std::int64_t group = 0;
  for (const auto& collective : trace.collectives)
    if (collective_kind(trace.names.text(collective.name)) == CollectiveKind::all_gather)
      group = std::max(group, collective.ranks);
  return group > 0 ? group : trace.ranks.value_or(0);
}

}  // namespace

Communication communication_of(const Trace& trace) {
  if (trace.distributed.empty() || trace.devices.size() > 1 || trace.processes.size() > 1) return {};
  Communication result;
  constexpr std::string_view ddp = "DistributedDataParallel";
  if (contains(trace.distributed, ddp) || has_operation(trace, ddp) || has_operation(trace, "reducer::"))
    result.strategy = "ddp";
  if (!trace.hooks.empty()) result.strategy = trace.hooks.front().name.starts_with("FSDP") ? "fsdp" : "fsdp1";
  // TorchRec also exchanges tables, whose rows are divided, by gathers and scatters.
  const bool has_tables = has_operation(trace, "fbgemm::");
  const auto hooks = hooks_of(trace);
  const auto autograd = spans_by_thread(
      trace, [](const std::string& name) { return name.starts_with("autograd::engine::evaluate_function"); });
  bool reduces = false;
  for (const auto& operation : trace.operations) {
    const auto& signature = trace.signatures[operation.signature];
    if (!is_collective_call(signature.name) || is_small(signature) ||
        covers(hooks, operation.thread, operation.start))
      continue;
    const bool divides = divides_models(collective_kind(signature.name));
    const bool is_exchange = is_all_to_all(signature.name) || (divides && has_tables);
    result.has_exchange = result.has_exchange || is_exchange;
    if (is_exchange || !result.divides.empty()) continue;
    if (divides || (result.strategy.empty() && !covers(autograd, operation.thread, operation.start)))
      result.divides = signature.name;
    reduces = true;
  }
  const bool has_owners = std::ranges::any_of(trace.optimizer_steps, [](const Annotation& step) {
    return contains(step.name, "ZeroRedundancyOptimizer");
  });
  // PyTorch issued exchanges without an operation of c10d's until 2022.
  const bool has_calls = std::ranges::any_of(trace.signatures, [](const Signature& signature) {
    return is_collective_call(signature.name) &&
           (is_all_to_all(signature.name) || divides_models(collective_kind(signature.name)));
  });
  for (const auto& activity : trace.activities) {
    const auto& kernel = trace.names.text(activity.name);
    if (has_calls || !is_collective(kernel) || !divides_models(collective_kind(kernel))) continue;
    result.has_exchange = result.has_exchange || has_tables;
    if (!has_tables) result.divides = kernel.substr(0, kernel.find('('));
  }
  if (has_owners || !trace.hooks.empty()) result.shards = shards_of(trace);
  if (reduces && result.strategy.empty()) result.strategy = "ddp";
  return result;
}

bool has_operation(const Trace& trace, std::string_view fragment) {
  return std::ranges::any_of(trace.signatures,
                             [&](const Signature& signature) { return contains(signature.name, fragment); });
}

Trace without_communication(Trace trace, const std::unordered_map<std::int64_t, std::int64_t>& alone) {
  const auto operations = spans_by_thread(trace, is_of_strategy);
  const auto hooks = hooks_of(trace);
  std::unordered_set<std::int64_t> removed;
  for (const auto& activity : trace.activities) {
    if (is_collective(trace.names.text(activity.name))) removed.insert(activity.correlation);
  }
  for (const auto& call : trace.calls) {
    if (covers(operations, call.thread, call.start) || covers(hooks, call.thread, call.start))
      removed.insert(call.correlation);
  }
  std::erase_if(trace.activities,
                [&](const auto& activity) { return removed.contains(activity.correlation); });
  std::erase_if(trace.calls, [&](const auto& call) { return removed.contains(call.correlation); });
  std::erase_if(trace.operations,
                [&](const auto& operation) { return covers(hooks, operation.thread, operation.start); });
  for (auto& activity : trace.activities) {
    if (const auto entry = alone.find(activity.start); entry != alone.end())
      activity.duration = std::min(activity.duration, entry->second);
  }
  for (const auto* spans : {&operations, &hooks})
    for (const auto& [thread, of_thread] : *spans)
      trace.overheads.insert(trace.overheads.end(), of_thread.begin(), of_thread.end());
  // Allocations are those of shards and of gathered parameters.
  if (!trace.hooks.empty()) trace.allocations.clear();
  trace.collectives.clear();
  trace.distributed.clear();
  return trace;
}

}  // namespace gradway

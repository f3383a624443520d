// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/without_ddp.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "readers/kineto/read/merged_spans.hpp"
#include "readers/kineto/work/kernel_name.hpp"

namespace gradway {
namespace {

// Named in torch/csrc/distributed/c10d/reducer.cpp and Ops.cpp.
constexpr std::array<std::string_view, 4> parts_of_ddp{
    "c10d::", "record_param_comms", "torch::distributed::reducer::", "torch.distributed.ddp.reducer::"};

bool is_of_ddp(std::string_view operation) {
  return std::ranges::any_of(parts_of_ddp, [&](auto prefix) { return operation.starts_with(prefix); });
}

/// Whether tensor, pipeline and expert parallelism, sharding or context parallelism may use it.
bool is_of_divided_models(std::string_view kernel) {
  const auto kind = collective_kind(kernel);
  return kind != CollectiveKind::all_reduce && kind != CollectiveKind::broadcast;
}

}  // namespace

bool is_of_ddp_alone(const Trace& trace) {
  if (trace.distributed.empty() || trace.devices.size() > 1 || trace.processes.size() > 1) return false;
  const bool has_ddp = std::ranges::any_of(trace.signatures, [](const Signature& signature) {
    return signature.name.find("DistributedDataParallel") != std::string::npos ||
           signature.name.find("ddp.reducer") != std::string::npos ||
           signature.name.find("distributed::reducer") != std::string::npos;
  });
  const bool has_marks = has_ddp || trace.distributed.find("DistributedDataParallel") != std::string::npos;
  return has_marks && std::ranges::none_of(trace.activities, [&](const TracedActivity& activity) {
           const auto& name = trace.names.text(activity.name);
           return is_collective(name) && is_of_divided_models(name);
         });
}

bool copies_out_of_buckets(const Trace& trace) {
  return std::ranges::any_of(trace.signatures, [](const Signature& signature) {
    return signature.name.find("copy_bucket_to_grad") != std::string::npos;
  });
}

Trace without_ddp(Trace trace, const std::unordered_map<std::int64_t, std::int64_t>& alone) {
  const auto spans = spans_by_thread(trace, is_of_ddp);
  std::unordered_set<std::int64_t> removed;
  for (const auto& activity : trace.activities) {
    if (is_collective(trace.names.text(activity.name))) removed.insert(activity.correlation);
  }
  for (const auto& call : trace.calls) {
    const auto of_thread = spans.find(call.thread);
    if (of_thread != spans.end() && of_thread->second.contains(call.start)) removed.insert(call.correlation);
  }
  std::erase_if(trace.activities,
                [&](const auto& activity) { return removed.contains(activity.correlation); });
  std::erase_if(trace.calls, [&](const auto& call) { return removed.contains(call.correlation); });
  for (auto& activity : trace.activities) {
    if (const auto entry = alone.find(activity.start); entry != alone.end())
      activity.duration = std::min(activity.duration, entry->second);
  }
  for (const auto& [thread, of_thread] : spans)
    trace.overheads.insert(trace.overheads.end(), of_thread.begin(), of_thread.end());
  trace.collectives.clear();
  trace.distributed.clear();
  return trace;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/without_ddp.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace gradway {
namespace {

// Named in torch/csrc/distributed/c10d/reducer.cpp and Ops.cpp.
constexpr std::array<std::string_view, 4> parts_of_ddp{
    "c10d::", "record_param_comms", "torch::distributed::reducer::", "torch.distributed.ddp.reducer::"};

using Spans = std::map<std::int64_t, std::vector<Span>>;  ///< By thread, sorted by start.

Spans spans_of_ddp(const Trace& trace) {
  Spans spans;
  for (const auto& operation : trace.operations) {
    const auto& name = trace.signatures[operation.signature].name;
    if (std::ranges::any_of(parts_of_ddp, [&](auto prefix) { return name.starts_with(prefix); }))
      spans[operation.thread].push_back(operation);
  }
  for (auto& [thread, of_thread] : spans) std::ranges::sort(of_thread, {}, &Span::start);
  return spans;
}

bool contains(const Spans& spans, const ApiCall& call) {
  const auto of_thread = spans.find(call.thread);
  if (of_thread == spans.end()) return false;
  auto span = std::ranges::upper_bound(of_thread->second, call.start, {}, &Span::start);
  constexpr int most_nested = 4;
  for (int i = 0; i < most_nested && span != of_thread->second.begin(); ++i) {
    if ((--span)->end() >= call.start) return true;
  }
  return false;
}

}  // namespace

bool copies_out_of_buckets(const Trace& trace) {
  return std::ranges::any_of(trace.signatures, [](const Signature& signature) {
    return signature.name.find("copy_bucket_to_grad") != std::string::npos;
  });
}

Trace without_ddp(Trace trace, const std::unordered_map<std::int64_t, std::int64_t>& alone) {
  const auto spans = spans_of_ddp(trace);
  std::unordered_set<std::int64_t> removed;
  for (const auto& activity : trace.activities) {
    if (trace.names.text(activity.name).find("nccl") != std::string::npos)
      removed.insert(activity.correlation);
  }
  for (const auto& call : trace.calls) {
    if (contains(spans, call)) removed.insert(call.correlation);
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

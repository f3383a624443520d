// SPDX-License-Identifier: Apache-2.0
#include "sim/import/trace_checks.hpp"

#include <fmt/format.h>

namespace gradway {

std::vector<Problem> check_trace(const Trace& trace, const Where& file) {
  std::vector<Problem> problems;
  const auto add = [&](std::string what, std::string hint) {
    problems.push_back(Problem{file, std::move(what), {}, std::move(hint)});
  };
  if (trace.operations.empty())
    add("the trace has no operations of the CPU",
        "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (trace.activities.empty())
    add("nothing in the trace ran on a GPU",
        "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (!trace.operations.empty() && !trace.has_shapes)
    add("the trace has no shapes of operands", "record with record_shapes=True");
  if (trace.devices.size() > 1)
    add(fmt::format("the trace has {} GPUs", trace.devices.size()), "record a step on one GPU, without DDP");
  if (trace.processes.size() > 1)
    add(fmt::format("the trace has {} processes that use the GPU", trace.processes.size()),
        "record one process that trains on one GPU, without DDP");
  if (!trace.distributed.empty())
    add(fmt::format("the trace is of distributed training: it has {}", trace.distributed),
        "record the same model on one GPU without DDP; gradway adds what DDP does");
  return problems;
}

}  // namespace gradway

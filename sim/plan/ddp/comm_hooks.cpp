// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/ddp/comm_hooks.hpp"

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"

namespace gradway {
namespace {

TaskId reduce_in_half(TaskList& tasks, const ReadyBucket& ready) {
  const auto elements = ready.bucket.size.value() / 4;
  const auto phase = Phase::communication;
  const auto cast =
      tasks.kernel(fmt::format("bucket {} cast", ready.index), phase, tasks.memory(Bytes{6 * elements}), 1);
  tasks[cast].launch += tasks.cpu(ddp_cpu.hook);
  const auto scaled =
      tasks.kernel(fmt::format("bucket {} divide", ready.index), phase, tasks.memory(Bytes{4 * elements}), 1);
  const auto reduced = all_reduce(tasks, fmt::format("bucket {} all-reduce", ready.index),
                                  Bytes{2 * elements}, ready.index, scaled);
  return tasks.kernel_after(reduced, fmt::format("bucket {} cast back", ready.index), phase,
                            tasks.memory(Bytes{6 * elements}, 1, MemoryPattern::widen), 1);
}

}  // namespace

TaskId all_reduce(TaskList& tasks, std::string name, Bytes size, std::int32_t bucket, TaskId after) {
  const auto id = tasks.collective(CollectiveKind::all_reduce, std::move(name), size, after);
  tasks[id].unit = bucket;
  return id;
}

TaskId reduce_bucket(TaskList& tasks, const ReadyBucket& ready, const Ddp& ddp) {
  switch (ddp.comm_hook) {
    case CommHook::none: {
      const auto id = all_reduce(tasks, fmt::format("bucket {} all-reduce", ready.index), ready.bucket.size,
                                 ready.index, tasks.last());
      tasks[id].launch = tasks.cpu(ddp_cpu.bucket);
      return id;
    }
    case CommHook::fp16:
    case CommHook::bf16:
      return reduce_in_half(tasks, ready);
    case CommHook::powersgd:
      return reduce_with_powersgd(tasks, ready, ddp.powersgd_rank);
  }
  return tasks.last();
}

}  // namespace gradway

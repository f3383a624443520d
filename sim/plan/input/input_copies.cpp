// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/input/input_copies.hpp"

#include <utility>

namespace gradway {

InputCopies::InputCopies(const Scenario& scenario, TaskList& tasks)
    : input_{scenario.job.input}, batches_{scenario.job.accumulate}, tasks_{tasks}, loader_{scenario} {}

void InputCopies::begin_step() {
  if (input_.background_start == CopyStart::ahead) background_copy();
}

std::vector<TaskId> InputCopies::before_forward(int micro_batch, const std::vector<Task>& batch) {
  if (!prefetches()) {
    loader_.take_batch(tasks_, micro_batch);
    loader_.decode_batch(tasks_, {});
    return {};
  }
  auto copied = std::exchange(copied_, {});
  if (loader_.decode_batch(tasks_, copied)) copied.clear();
  if (*input_.prefetch != CopyStart::forward) fetch_next(micro_batch, batch);
  return copied;
}

void InputCopies::before_kernels(int micro_batch) {
  if (micro_batch == 0 && input_.background_start == CopyStart::step) background_copy();
}

void InputCopies::after_forward(int micro_batch, const std::vector<Task>& batch) {
  if (micro_batch == 0 && input_.background_start == CopyStart::forward) background_copy();
  if (input_.prefetch == CopyStart::forward && !batch.empty()) fetch_next(micro_batch, batch);
}

void InputCopies::background_copy() {
  if (input_.background_copy == 0_B) return;
  copy_in_background(copy_task("background copy", Phase::input, {.bytes = input_.background_copy},
                               compute_stream, tasks_.gpu().launch_cost),
                     input_.background_start);
}

void InputCopies::fetch_next(int micro_batch, const std::vector<Task>& batch) {
  const int next = (micro_batch + 1) % batches_;
  loader_.take_batch(tasks_, next);
  for (const auto& copy : batch) {
    copy_in_background(copy, *input_.prefetch);
    if (next > 0) copied_.push_back(tasks_.last());
  }
}

/// A CPU without cost would issue the copies of all steps at once, so each waits for its step.
void InputCopies::copy_in_background(Task task, CopyStart start) {
  task.stream = side_stream;
  task.host_waits = false;
  if (start != CopyStart::ahead || tasks_.gpu().ideal) {
    const auto* name = start == CopyStart::forward ? "forward ends" : "step begins";
    task.after.push_back(tasks_.wait(name, Phase::input, {}));
  }
  tasks_.add(std::move(task));
}

}  // namespace gradway

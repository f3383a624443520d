// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/task_list.hpp"

namespace gradway {

TaskId TaskList::add(Task task) {
  graph_.tasks.push_back(std::move(task));
  return last();
}

TaskId TaskList::kernel(std::string name, Phase phase, Seconds work, int kernels) {
  Task task;
  task.name = std::move(name);
  task.phase = phase;
  task.work = work;
  task.launch = gpu_.launch_cost * kernels;
  return add(std::move(task));
}

TaskId TaskList::kernel_after(TaskId before, std::string name, Phase phase, Seconds work, int kernels) {
  const auto id = kernel(std::move(name), phase, work, kernels);
  (*this)[id].stream = Stream::own;
  (*this)[id].after.push_back(before);
  return id;
}

}  // namespace gradway

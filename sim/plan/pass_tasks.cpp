// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/pass_tasks.hpp"

#include <string>
#include <utility>

namespace gradway {

PassTasks::PassTasks(const Layout& layout, const RankPart* rank_part, TaskList& tasks)
    : part_{rank_part}, tasks_{tasks}, is_pipeline_{layout.pipeline > 1} {
  if (!rank_part) return;
  for (const auto group : groups_inside(layout))
    streams_[static_cast<std::size_t>(group)] = tasks.add_stream(std::string{name_of(group)});
}

void PassTasks::add(ModelTask& model_task, bool for_good) {
  if (std::holds_alternative<Call>(model_task.task.work)) return send(model_task.task, model_task.over);
  const bool is_kernel = std::holds_alternative<Kernel>(model_task.task.work);
  const bool is_rest = is_pipeline_ && is_kernel && computed_ && block_ == model_task.block &&
                       tasks_[*computed_].phase == model_task.task.phase && !tasks_[*computed_].host_waits;
  const bool waits = model_task.waits_for + skipped_ > 0 || !due_.empty();
  if (is_rest && is_rest_ && !waits && tasks_.last() == *computed_) return merge(model_task.task);
  is_rest_ = is_rest;
  const auto id = for_good ? tasks_.add(std::move(model_task.task)) : tasks_.add(model_task.task);
  if (!is_kernel) return;
  computed_ = id;
  block_ = model_task.block;
  auto& after = tasks_[id].after;
  after.insert(after.end(), due_.begin(), due_.end());
  due_.clear();
  for (auto i = model_task.waits_for + std::exchange(skipped_, 0); i > 0 && !sent_.empty(); --i) {
    after.push_back(sent_.front());
    sent_.pop_front();
  }
}

/// Issues a call to the ranks that share layers, tokens or experts.
void PassTasks::send(Task task, RankGroup over) {
  std::get<Call>(task.work).group = part_->slots[static_cast<std::size_t>(over)];
  task.stream = streams_[static_cast<std::size_t>(over)];
  if (tasks_.gpu().ideal) task.launch = {};
  if (computed_) task.after.push_back(*computed_);
  sent_.push_back(tasks_.add(std::move(task)));
}

void PassTasks::merge(const Task& task) {
  auto& before = tasks_[*computed_];
  std::get<Kernel>(before.work).work += std::get<Kernel>(task.work).work;
  before.launch += task.launch;
  before.launches += task.launches;
  before.host_waits = task.host_waits;
}

void PassTasks::end_pass() {
  due_.insert(due_.end(), sent_.begin(), sent_.end());
  sent_.clear();
}

void PassTasks::set_computed(TaskId kernel) {
  computed_ = kernel;
  is_rest_ = false;
}

std::vector<TaskId> PassTasks::results() const {
  auto made = due_;
  made.push_back(*computed_);
  return made;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/input/loader.hpp"

#include <algorithm>

#include "sim/plan/input/thread_loader.hpp"
#include "sim/platform/routes.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/stage_in.hpp"

namespace gradway {
namespace {

constexpr StreamId workers_stream{0};
constexpr StreamId pin_thread{1};
constexpr StreamId handing_over{2};
constexpr StreamId prefetcher{3};
constexpr Slot batches{0};
constexpr Slot begun_batches{1};
constexpr Slot batches_in_cache{2};

Task task_of(std::string name, const TaskWork& work, StreamId stream) {
  Task task;
  task.name = std::move(name);
  task.work = work;
  task.phase = Phase::input;
  task.stream = stream;
  return task;
}

std::string name_of(const Read& read) {
  switch (read.from) {
    case ReadFrom::cache:
      return "read from the cache";
    case ReadFrom::cold:
      return "read what is not staged";
    case ReadFrom::ahead:
      return "read into the cache";
    case ReadFrom::storage:
      break;
  }
  return "read";
}

}  // namespace

int batches_ahead(const InputSettings& input) {
  return 2 * input.loader_workers * input.prefetch_factor;
}

Seconds start_of_workers(const InputSettings& input) {
  if (input.loader != LoaderKind::pytorch) return {};  // threads
  const bool they_stand = input.persistent_workers && !input.first_epoch;
  return they_stand ? Seconds{} : input.worker_start * input.loader_workers;
}

Loader::Loader(const Scenario& scenario)
    : scenario_{scenario}, settings_{scenario.job.input}, cost_{batch_cost(scenario)} {}

bool Loader::decode_batch(TaskList& tasks, const std::vector<TaskId>& after) const {
  if (!loads() || cost_->gpu <= Seconds{} || delivers_to_gpu(settings_)) return false;
  const auto decoded = tasks.kernel("GPU decodes", Phase::input, cost_->gpu, 1);
  tasks[decoded].after = after;
  return true;
}

void Loader::take_batch(TaskList& tasks, int batch) const {
  if (!loads()) return;
  std::vector<TaskId> after;
  // A CPU without cost requests its next batch when the step before has ended.
  if (tasks.gpu().ideal) after.push_back(tasks.wait("wants a batch", Phase::input, {}));
  const auto add = [&](std::string name, const TaskWork& work, const Variation& varies = {}) {
    auto task = task_of(std::move(name), work, side_stream);
    task.varies = varies;
    task.after = after;
    task.host_waits = true;
    after = {tasks.add(std::move(task))};
  };
  if (has_workers()) {
    add("batch", Take{batches});
    add("batch is taken", Take{begun_batches});
    if (cost_->ahead) add("batch leaves the cache", Take{batches_in_cache});
  } else {
    for (const auto& read : reads()) add(name_of(read), read, of_reads(batch));
    add("decode", HostWork{cost_->core + cost_->pinned}, of_core(batch));
  }
  const int behind_all = scenario_.job.accumulate + batch;
  if (settings_.batch_overhead > Seconds{})
    add("batch overhead", HostWork{settings_.batch_overhead},
        {.spread = settings_.batch_overhead_spread, .draw = behind_all});
}

std::vector<Read> Loader::reads() const {
  std::vector<Read> batch_reads;
  if (cost_->stored.bytes > 0_B) batch_reads.push_back(cost_->stored);
  if (cost_->cold) batch_reads.push_back(*cost_->cold);
  if (cost_->cached) batch_reads.push_back(*cost_->cached);
  return batch_reads;
}

TaskId Loader::read_ahead(Program& program, int batch) const {
  program.tasks.push_back(task_of("has room", Put{batches_in_cache}, prefetcher));
  program.tasks.push_back(task_of(name_of(*cost_->ahead), *cost_->ahead, prefetcher));
  program.tasks.back().varies = of_reads(batch);
  return TaskId{program.tasks.size() - 1};
}

Program Loader::program() const {
  if (settings_.loader != LoaderKind::pytorch)
    return thread_loader_program(scenario_, *cost_, batches, begun_batches);
  Program program;
  program.name = "loader";
  program.streams = {{"workers", Lane::ordered, settings_.loader_workers},
                     {"pin thread", Lane::ordered},
                     {"handed over", Lane::unordered}};
  if (cost_->ahead) program.streams.push_back({"prefetcher", Lane::ordered});
  auto& tasks = program.tasks;
  for (int batch = 0; batch < scenario_.job.accumulate; ++batch) {
    std::vector<TaskId> in_cache;
    if (cost_->ahead) in_cache.push_back(read_ahead(program, batch));
    tasks.push_back(task_of("begin", Put{begun_batches}, workers_stream));
    tasks.back().begins_turn = true;
    for (const auto& read : reads()) {
      tasks.push_back(task_of(name_of(read), read, workers_stream));
      tasks.back().varies = of_reads(batch);
      tasks.back().after = in_cache;
    }
    tasks.push_back(task_of("decode", HostWork{cost_->core}, workers_stream));
    tasks.back().varies = of_core(batch);
    if (cost_->pinned > Seconds{}) {
      const TaskId decoded{tasks.size() - 1};
      tasks.push_back(task_of("pin", HostWork{cost_->pinned}, pin_thread));
      tasks.back().after.push_back(decoded);
    }
    const TaskId made{tasks.size() - 1};
    tasks.push_back(task_of("hand over", Put{batches}, handing_over));
    tasks.back().after.push_back(made);
  }
  return program;
}

void Loader::add_workers(Workload& workload) const {
  if (!loads() || !has_workers()) return;
  const ProgramId of_loader{workload.programs.size()};
  workload.programs.push_back(program());
  const Routes routes{scenario_.platform};
  const int depth = batches_under_way(settings_);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(workload.ranks); ++rank) {
    const auto& tasks = workload.program_of(ActorId{rank}).tasks;
    const bool takes =
        std::ranges::any_of(tasks, [](const Task& task) { return std::holds_alternative<Take>(task.work); });
    if (!takes) continue;
    const ActorId loader{workload.actors.size()};
    std::vector<ChannelId> channels;
    std::vector<int> depths{depth, depth};
    if (cost_->ahead) depths.push_back(batches_ahead(settings_));
    for (const auto channel_depth : depths) {
      channels.emplace_back(workload.channels.size());
      workload.channels.push_back({loader, ActorId{rank}, channel_depth});
    }
    workload.actors[rank].channels = channels;
    const auto gpu = workload.actors[rank].at;
    const auto device = delivers_to_gpu(settings_) ? gpu : routes.home_socket(gpu).value_or(gpu);
    workload.actors.push_back({.program = of_loader, .at = device, .channels = channels});
  }
}

}  // namespace gradway

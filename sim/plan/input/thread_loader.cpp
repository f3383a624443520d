// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/input/thread_loader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradway {
namespace {

constexpr StreamId threads_stream{0};
constexpr StreamId to_rank_stream{2};
constexpr StreamId reader_stream{3};
constexpr StreamId decoder_stream{4};
constexpr StreamId copy_stream{5};
constexpr StreamId gpu_stream{6};

/// Adds the tasks of one batch after another.
class BatchTasks {
 public:
  BatchTasks(const Scenario& scenario, const BatchCost& cost, Program& program)
      : scenario_{scenario}, cost_{cost}, program_{program} {}

  void add_batch(int batch, Slot made_batches, Slot begun) {
    const bool is_dali = scenario_.job.input.loader == LoaderKind::dali;
    const Variation of_reads{.spread = cost_.spread, .draw = batch};
    const Variation of_core{.spread = cost_.spread, .share = cost_.core_share, .draw = batch};
    const auto reading = is_dali ? reader_stream : threads_stream;
    const auto begin = add("begin", Put{begun}, reading, {});
    program_.tasks[begin.index()].begins_turn = true;
    auto read = begin;
    if (cost_.stored.bytes > 0_B) read = add("read", shared(cost_.stored), reading, {read}, of_reads);
    if (cost_.cold) read = add("read what is not staged", shared(*cost_.cold), reading, {read}, of_reads);
    if (cost_.cached) read = add("read from the cache", shared(*cost_.cached), reading, {read}, of_reads);
    const auto made = add("decode", HostWork{cost_.core, threads()}, threads_stream, {read}, of_core);
    auto last = std::vector{made};
    if (is_dali) last = add_gpu_stage(read, made, of_reads);
    add("hand over", Put{made_batches}, to_rank_stream, last);
  }

 private:
  TaskId add(std::string name, const TaskWork& work, StreamId stream, std::vector<TaskId> after,
             const Variation& varies = {}) {
    Task task;
    task.name = std::move(name);
    task.work = work;
    task.phase = Phase::input;
    task.stream = stream;
    task.after = std::move(after);
    task.varies = varies;
    program_.tasks.push_back(std::move(task));
    return TaskId{program_.tasks.size() - 1};
  }

  /// DALI deals whole samples to its threads, so that the last ones idle at the end of a batch. Parallel
  /// calls of tf.data go on with the next batch.
  double threads() const {
    const auto& job = scenario_.job;
    const double workers = job.input.loader_workers;
    if (job.input.loader == LoaderKind::tf_data) return workers;
    return job.batch_per_gpu / std::ceil(job.batch_per_gpu / workers);
  }

  /// Each parallel call of tf.data reads on its own; DALI's reader is one thread.
  Read shared(Read read) const {
    if (scenario_.job.input.loader == LoaderKind::dali) return read;
    const auto calls = threads();
    read.latency = read.latency / calls;
    read.latency_spread /= std::sqrt(calls);
    read.at_most = read.at_most * calls;
    read.weight *= calls;
    return read;
  }

  std::vector<TaskId> add_gpu_stage(TaskId read, TaskId made, const Variation& of_reads) {
    const bool decodes = scenario_.job.input.decode_on_gpu;
    auto last = std::vector{made};
    if (cost_.decoder > Seconds{})
      last.push_back(add("JPEG decoder", DecoderWork{cost_.decoder}, decoder_stream, {read}, of_reads));
    last.push_back(add("copy to the GPU", Copy{.bytes = cost_.copied}, copy_stream, {decodes ? read : made}));
    if (cost_.gpu <= Seconds{}) return last;
    const Kernel kernel{.work = cost_.gpu,
                        .footprint = Footprint{KernelClass::memory, Precision::fp32, 0, 0}};
    return {add("decode on the GPU", kernel, gpu_stream, last)};
  }

  const Scenario& scenario_;
  const BatchCost& cost_;
  Program& program_;
};

}  // namespace

int batches_under_way(const InputSettings& input) {
  if (input.loader == LoaderKind::pytorch) return input.loader_workers * input.prefetch_factor;
  return input.prefetch_factor + 1;  // tf.data: the batch that is being made; DALI: the reader's
}

Program thread_loader_program(const Scenario& scenario, const BatchCost& cost, Slot made_batches,
                              Slot begun) {
  Program program;
  program.name = "loader";
  program.period = batches_under_way(scenario.job.input);  // a batch is begun when an earlier one is taken
  program.streams = {
      {"threads", Lane::ordered}, {"pin thread", Lane::ordered}, {"handed over", Lane::unordered}};
  if (scenario.job.input.loader == LoaderKind::dali)
    for (const auto* name : {"reader", "JPEG decoder", "copies", "GPU stage"})
      program.streams.push_back({name, Lane::ordered});
  BatchTasks tasks{scenario, cost, program};
  for (int batch = 0; batch < scenario.job.accumulate; ++batch) tasks.add_batch(batch, made_batches, begun);
  return program;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/tables_sync.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/cost/framework_cost.hpp"

namespace gradway {
namespace {

constexpr double index_bytes = 8;                             // int64
constexpr auto number_bytes = EmbeddingTables::number_bytes;  // of rows, their sums and gradients

/// Row-wise Adagrad keeps a number per row, SGD none. @source FBGEMM, EmbOptimType.EXACT_ROWWISE_ADAGRAD
double state_bytes_of_row(Optimizer optimizer) {
  return optimizer == Optimizer::sgd ? 0 : number_bytes;
}

// Sorting pairs of a row's number and the place of its lookup: CUB's radix sort reads and writes them once
// per 8 bits of the number. @source cub/device/dispatch/dispatch_radix_sort.cuh (onesweep)
constexpr double sorted_pair = index_bytes + 4;
constexpr int bits_of_pass = 8;

/// Kernels besides the passes of the sort: row numbers, histogram, runs of equal rows (2), long runs, and two
/// that step rows with few and with many lookups. @source FBGEMM, embedding_backward_split_template.cu
constexpr int kernels_of_update = 7;

int passes_of_sort(double rows) {
  return std::max(1, static_cast<int>(std::ceil(std::log2(std::max(2.0, rows)) / bits_of_pass)));
}

TaskId memory_kernels(TaskList& tasks, std::string name, Phase phase, Bytes traffic, int kernels) {
  const auto id = tasks.kernel(std::move(name), phase, tasks.memory(traffic, kernels), kernels);
  std::get<Kernel>(tasks[id].work).footprint = Footprint{KernelClass::memory, Precision::fp32, 0, 0};
  return id;
}

}  // namespace

TablesSync::TablesSync(const RankScenario& scenario, std::unique_ptr<Sync> dense)
    : scenario_{scenario},
      dense_{std::move(dense)},
      tables_{scenario.model.tables},
      sharding_{scenario.job.layout.tables},
      ranks_{scenario.job.gpus},
      samples_{static_cast<double>(scenario.job.batch_per_gpu) * ranks_},
      share_{largest_share(tables_, sharding_, ranks_, samples_)} {}

bool TablesSync::is_interaction(Module module) const {
  return module.kind == Module::Kind::layer &&
         scenario_.model.layers[static_cast<std::size_t>(module.index)].role == LayerRole::interaction;
}

void TablesSync::before_micro_step(TaskList& tasks, MicroStep step) {
  dense_->before_micro_step(tasks, step);
  if (ranks_ == 1) return;
  const auto sent = scenario_.job.batch_per_gpu * tables_.lookups();
  const auto received = samples_ * share_.lookups;
  const auto start = tasks.wait("step starts", Phase::communication, {});
  tasks.collective(CollectiveKind::all_to_all, "all-to-all of indices",
                   Bytes{index_bytes * std::max(sent, received)}, start);
}

void TablesSync::before_forward(TaskList& tasks, Module module) {
  dense_->before_forward(tasks, module);
  if (is_whole(module)) {
    look_up(tasks);
    if (ranks_ > 1) exchanged_ = exchange(tasks, true);
  } else if (exchanged_ && is_interaction(module)) {
    const auto there = tasks.wait("looked-up embeddings are there", Phase::communication, {});
    tasks[there].after.push_back(*std::exchange(exchanged_, std::nullopt));
  }
}

void TablesSync::after_backward(TaskList& tasks, Module module) {
  if (ranks_ > 1 && is_interaction(module)) exchanged_ = exchange(tasks, false);
  if (is_whole(module)) {
    if (exchanged_) {
      const auto there = tasks.wait("gradients of embeddings are there", Phase::communication, {});
      tasks[there].after.push_back(*std::exchange(exchanged_, std::nullopt));
    }
    update(tasks);
  }
  dense_->after_backward(tasks, module);
}

TaskId TablesSync::exchange(TaskList& tasks, bool is_forward) const {
  const auto start =
      tasks.wait(is_forward ? "lookups are done" : "gradients of embeddings", Phase::communication, {});
  const Bytes size{number_bytes * samples_ * share_.columns};
  if (sharding_ == TableSharding::row_wise)
    return tasks.collective(is_forward ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather,
                            is_forward ? "reduce-scatter of embeddings" : "all-gather of embedding gradients",
                            size, start);
  return tasks.collective(CollectiveKind::all_to_all,
                          is_forward ? "all-to-all of embeddings" : "all-to-all of embedding gradients", size,
                          start);
}

/// One kernel for all tables reads the indices and rows, and writes the sums.
void TablesSync::look_up(TaskList& tasks) const {
  const auto read = share_.lookups * (index_bytes + number_bytes * tables_.width);
  memory_kernels(tasks, "embedding lookups", Phase::forward,
                 Bytes{samples_ * (read + number_bytes * share_.columns)}, 1);
}

/// Sorts the lookups by row, adds up the gradients of each row, and steps it.
void TablesSync::update(TaskList& tasks) const {
  const auto passes = passes_of_sort(share_.rows);
  const auto lookups = samples_ * share_.lookups;
  const auto of_row = 2 * (number_bytes * tables_.width + state_bytes_of_row(scenario_.job.optimizer));
  memory_kernels(
      tasks, "embedding rows sorted and stepped", Phase::backward,
      Bytes{lookups * (2 * passes * sorted_pair + number_bytes * tables_.width) + share_.touched * of_row},
      kernels_of_update + passes);
}

/// Sums and their gradients are sent from one buffer and received in another.
SyncMemory TablesSync::memory() const {
  auto memory = dense_->memory();
  memory.tables = Bytes{number_bytes * share_.rows * tables_.width};
  memory.table_states = Bytes{state_bytes_of_row(scenario_.job.optimizer) * share_.rows};
  const auto received = ranks_ > 1 ? scenario_.job.batch_per_gpu * tables_.columns() : 0;
  memory.exchanged_rows = Bytes{number_bytes * (samples_ * share_.columns + received)};
  return memory;
}

}  // namespace gradway

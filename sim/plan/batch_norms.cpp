// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/batch_norms.hpp"

#include <string>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/host_reads.hpp"

namespace gradway {
namespace {

// Kernels around the exchanges. Those of a BatchNorm, which read and write its tensors, are two here: one
// more than PyTorch's own BatchNorm launches.
constexpr int kernels_before_gather = 2;  // count (full) and concatenation
constexpr int masks = 3;                  // of counts, means and inverse standard deviations
constexpr int kernels_before_mask = 1;    // sum of the mask, which the CPU reads (nonzero)
constexpr int kernels_after_mask = 3;     // cub's selection in two, and the rows (index)
constexpr int kernels_of_result = 2;      // global statistics, and the second kernel of a BatchNorm
constexpr int kernels_of_sums = 2;        // concatenation, and the second kernel of a BatchNorm
constexpr Bytes number_of_rows{8};        // nonzero copies an int64

constexpr int kernels_of_statistics =
    kernels_before_gather + 1 + masks * (kernels_before_mask + kernels_after_mask) + kernels_of_result;

TaskId tiny(TaskList& tasks, std::string name, Phase phase, int kernels) {
  const bool is_forward = phase == Phase::forward;
  const auto launch = tasks.hook(is_forward ? sync_batch_norm_cpu.forward : sync_batch_norm_cpu.backward, 0);
  const auto share = static_cast<double>(kernels) / (is_forward ? kernels_of_statistics : kernels_of_sums);
  const auto id = tasks.kernel(std::move(name), phase, tasks.tiny(kernels, smallest_kernel), kernels);
  tasks[id].launch = launch * share;
  return id;
}

TaskId exchange(TaskList& tasks, const std::string& name, CollectiveKind kind, Bytes size) {
  return tasks.call({kind, size, Slot{0}}, communicator_stream, name, tasks.cpu(ddp_cpu.all_reduce),
                    tasks.last());
}

}  // namespace

double channels_of(const Layer& layer) {
  return static_cast<double>(layer.parameters.front().elements());
}

void sync_statistics(TaskList& tasks, const Layer& layer, int ranks) {
  const auto phase = Phase::forward;
  tiny(tasks, fmt::format("{} own statistics", layer.name), phase, kernels_before_gather);
  const Bytes size{fp32_bytes * (2 * channels_of(layer) + 1) * ranks};
  const auto gathered =
      exchange(tasks, fmt::format("{} statistics all-gather", layer.name), CollectiveKind::all_gather, size);
  const auto mask = tiny(tasks, fmt::format("{} mask", layer.name), phase, 1);
  tasks[mask].after.push_back(gathered);
  for (int i = 0; i < masks; ++i) {
    tiny(tasks, fmt::format("{} mask sum", layer.name), phase, kernels_before_mask);
    read_back(tasks, fmt::format("{} number of ranks", layer.name), phase, number_of_rows);
    tiny(tasks, fmt::format("{} masked rows", layer.name), phase, kernels_after_mask);
  }
  tiny(tasks, fmt::format("{} global statistics", layer.name), phase, kernels_of_result);
}

void sync_gradient_sums(TaskList& tasks, const Layer& layer) {
  tiny(tasks, fmt::format("{} gradient sums", layer.name), Phase::backward, kernels_of_sums);
  const auto reduced = exchange(tasks, fmt::format("{} sums all-reduce", layer.name),
                                CollectiveKind::all_reduce, Bytes{fp32_bytes * 2 * channels_of(layer)});
  const auto there = tasks.wait(fmt::format("{} sums are reduced", layer.name), Phase::backward, {});
  tasks[there].after.push_back(reduced);
}

}  // namespace gradway

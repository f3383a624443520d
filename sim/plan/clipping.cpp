// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/clipping.hpp"

#include <algorithm>
#include <cmath>

#include "sim/compute/optimizer_share.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/offload.hpp"

namespace gradway {
namespace {

// Most tensors and elements of one multi-tensor kernel. @source
// aten/src/ATen/native/cuda/MultiTensorApply.cuh, PyTorch 2.11: 320 blocks of 65,536
constexpr double most_tensors = 110;
constexpr double most_elements = 320.0 * 65536;

// The norm of all norms takes a stack and a norm; the factor takes a division, an addition and a clamp.
constexpr int kernels_of_norm = 2;
constexpr int kernels_of_factor = 3;

Bytes all_gradients(const Model& model) {
  Bytes size{};
  for (const auto& gradient : gradients_in_order(model)) size += gradient.size;
  return size;
}

/// CPU time of one pass over all gradients, which on sharded tensors equals that of an SGD step.
Seconds launch_of_pass(const TaskList& tasks, const RankScenario& scenario) {
  auto job = scenario.job;
  job.optimizer = Optimizer::sgd;
  return tasks.hook(optimizer_hook(job).value_or(pass_over_list),
                    static_cast<int>(scenario.model.parameter_tensors()));
}

}  // namespace

void clip_gradients(TaskList& tasks, const RankScenario& scenario, Sync& sync) {
  if (const auto time = host_pass_time(scenario, Bytes{3 * fp32_bytes})) {
    tasks.wait("gradients clipped on the CPU", Phase::optimizer, *time);
    return;
  }
  const auto gradients = sync.own_gradients().value_or(OwnGradients{all_gradients(scenario.model)});
  const auto tensors = static_cast<double>(scenario.model.parameter_tensors());
  const auto elements = gradients.size.value() / fp32_bytes;
  const auto size = gradients.size * (bytes_of(scenario.job.state_dtype) / fp32_bytes);
  const auto kernels = static_cast<int>(
      std::max({1.0, std::ceil(tensors / most_tensors), std::ceil(elements / most_elements)}));
  const auto launch = launch_of_pass(tasks, scenario);
  const auto pass = [&](const char* name, Bytes traffic) {
    const auto id = tasks.memory_kernels(name, traffic, kernels, launch);
    tasks[id].phase = Phase::optimizer;
  };
  const auto tiny = [&](const char* name, int count) {
    return tasks.kernel(name, Phase::optimizer, tasks.tiny(count, smallest_kernel), count);
  };
  if (!gradients.has_norm) {
    pass("norms of gradients", size);
    const auto sum = sync.sum_norm(tasks, tiny("norm of norms", kernels_of_norm));
    const auto factor = tiny("factor of clipping", kernels_of_factor);
    tasks[factor].after.push_back(sum);
  }
  pass("gradients clipped", 2 * size);
}

TaskId sum_norm_over(TaskList& tasks, Slot group, TaskId norm) {
  constexpr auto a_number = 4_B;
  return tasks.call({CollectiveKind::all_reduce, a_number, group}, communicator_stream, "norm all-reduce",
                    tasks.cpu(ddp_cpu.all_reduce), norm);
}

}  // namespace gradway

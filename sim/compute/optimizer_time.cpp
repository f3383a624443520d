// SPDX-License-Identifier: Apache-2.0
#include "sim/compute/optimizer_time.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/cost/operation_cost.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

struct Matrix {
  double rows = 0;
  double columns = 0;
  double elements() const { return rows * columns; }
};

/// The matrices that Muon updates: those in blocks, or all matrices of a model without blocks. The weight of
/// a convolution counts as a matrix with one row per output. AdamW updates embeddings, heads, norms and
/// biases.
/// @source torch.optim.Muon, PyTorch 2.11, and the advice of its author (github.com/KellerJordan/Muon)
std::vector<Matrix> matrices_of(const Model& model) {
  const auto blocks = blocks_of_layers(model.layers);
  const bool has_blocks = std::ranges::any_of(blocks, [](auto block) { return block != Blocks::none; });
  std::vector<Matrix> matrices;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (has_blocks && blocks[i] == Blocks::none) continue;
    for (const auto& parameter : model.layers[i].parameters) {
      if (parameter.shape.size() < 2) continue;
      const auto rows = static_cast<double>(parameter.shape.front());
      matrices.push_back({rows, static_cast<double>(parameter.elements()) / rows});
    }
  }
  return matrices;
}

double elements_of(const std::vector<Matrix>& matrices) {
  double sum = 0;
  for (const auto& matrix : matrices) sum += matrix.elements();
  return sum;
}

/// Time of five Newton-Schulz iterations in bf16 with three products each. The smaller dimension of a matrix
/// counts as its rows.
Seconds orthogonalisation(const RankScenario& scenario, const std::vector<Matrix>& matrices) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const bool in_bf16 = gpu.peak[static_cast<std::size_t>(Precision::bf16)].has_value();
  const auto time = [&](double m, double n, double k) {
    const auto product = operation(in_bf16 ? "product bf16 nn" : "product fp32 nn", {m, n, k});
    return datasheet_time(product, gpu) *
           (scenario.kernel_costs != nullptr ? scenario.kernel_costs->factor(product) : 1);
  };
  Seconds sum{};
  for (const auto& matrix : matrices) {
    const auto narrow = std::min(matrix.rows, matrix.columns);
    const auto wide = std::max(matrix.rows, matrix.columns);
    sum += 5 * (time(narrow, narrow, wide) + time(narrow, narrow, narrow) + time(narrow, wide, narrow));
  }
  return sum;
}

/// Time to update some parameters, from their traffic and the rate of a timed optimizer.
Seconds passes(const RankScenario& scenario, Optimizer optimizer, double parameters, std::size_t tensors) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto cost = cost_of(optimizer);
  const bool is_profiled = scenario.model.profile && !has_fp32_masters(scenario.job);
  if (gpu.ideal || scenario.kernel_costs == nullptr || is_profiled)
    return memory_time(cost.traffic * parameters * (has_half_states(scenario.job) ? 0.5 : 1), gpu);
  const bool is_timed =
      std::ranges::find(timed_optimizer_words, name_of(optimizer)) != timed_optimizer_words.end();
  const auto like = is_timed ? optimizer : Optimizer::adamw;
  const auto step =
      operation(fmt::format("optimizer {}", name_of(like)), {parameters, static_cast<double>(tensors)});
  const auto width = has_half_states(scenario.job) ? 0.5 * cost.in_half : 1;
  return datasheet_time(step, gpu) * scenario.kernel_costs->factor(step) *
             (cost.traffic / cost_of(like).traffic) * width +
         memory_time(0_B, gpu, MemoryPattern::stream, cost.kernels * static_cast<int>(tensors));  // latencies
}

}  // namespace

Seconds optimizer_time(const RankScenario& scenario, Optimizer optimizer, double share) {
  const auto& model = scenario.model;
  if (model.optimizer_time) return *model.optimizer_time * share;
  const auto parameters = static_cast<double>(model.parameter_count());
  const auto tensors = static_cast<std::size_t>(model.parameter_tensors());
  if (optimizer != Optimizer::muon) return passes(scenario, optimizer, share * parameters, tensors);
  const auto matrices = matrices_of(model);
  const auto of_muon = elements_of(matrices);
  const auto other_tensors = tensors - matrices.size();
  auto time =
      passes(scenario, Optimizer::muon, of_muon, matrices.size()) +
      passes(scenario, Optimizer::adamw, parameters - of_muon, std::max<std::size_t>(other_tensors, 1));
  if (!scenario.platform.gpu_models.front().ideal) time += orthogonalisation(scenario, matrices);
  return time * share;
}

Seconds optimizer_time(const RankScenario& scenario) {
  return optimizer_time(scenario, scenario.job.optimizer, optimizer_share(scenario));
}

double largest_parameter(const Model& model) {
  double largest = 0;
  for (const auto& layer : model.layers)
    for (const auto& parameter : layer.parameters)
      largest = std::max(largest, static_cast<double>(parameter.elements()));
  return largest;
}

OptimizerMemory optimizer_memory(const Model& model, Optimizer optimizer, Bytes stepped, double share) {
  const auto parameters = static_cast<double>(model.parameter_count());
  constexpr auto in_fp32 = 4_B;  // per parameter
  const auto memory_of = [&](Optimizer kind) {
    const auto cost = cost_of(kind);
    return OptimizerMemory{stepped * (cost.state / in_fp32), stepped * (cost.transient / in_fp32)};
  };
  // One byte per number plus scales, in any format of parameters.
  if (optimizer == Optimizer::adamw_8bit) return {cost_of(optimizer).state * (share * parameters), 0_B};
  // One parameter after the other: its update and that of the tensor before in fp32, and a gradient of 16
  // bits in fp32. @source Adafactor.step in transformers/optimization.py
  if (optimizer == Optimizer::adafactor) {
    const bool is_half = stepped < share * parameters * in_fp32;
    return {0_B, Bytes{(is_half ? 12 : 8) * share * largest_parameter(model)}};
  }
  if (optimizer != Optimizer::muon) return memory_of(optimizer);
  const auto matrices = matrices_of(model);
  const auto of_muon = elements_of(matrices) / std::max(1.0, parameters);
  double largest = 0;
  for (const auto& matrix : matrices) largest = std::max(largest, matrix.elements());
  const auto adamw = memory_of(Optimizer::adamw);
  // Four bf16 copies of the matrix that is updated, or the temporary memory of AdamW's step.
  return {memory_of(Optimizer::muon).state * of_muon + adamw.state * (1 - of_muon),
          std::max(Bytes{8 * largest}, adamw.transient * (1 - of_muon))};
}

}  // namespace gradway

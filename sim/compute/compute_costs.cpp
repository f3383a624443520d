// SPDX-License-Identifier: Apache-2.0
#include "sim/compute/compute_costs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/compute/anchors.hpp"
#include "sim/compute/optimizer_time.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/platform/data_paths.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

/// CPU time per kernel of a profile, under the profiler.
Seconds launch_of(const Profile& profile) {
  Seconds cpu{};
  double kernels = 0;
  for (const auto& launch : profile.launches) {
    if (launch.phase == ProfiledPhase::optimizer || launch.kind == KernelClass::copy_in) continue;
    cpu += launch.cpu;
    ++kernels;
  }
  return kernels > 0 ? cpu / kernels : Seconds{};
}

/// Operations per sample, forward and backward.
Flops work_of_layers(const Model& model) {
  Flops work{};
  for (const auto& layer : model.layers)
    work += layer.forward.flops_per_sample + layer.backward.flops_per_sample;
  return work;
}

/// Times of operations. Caches equal operations, which all blocks of a transformer have. The operations must
/// outlive it.
class OperationTimes {
  struct Key {
    std::array<double, most_sizes> size;
    std::string_view kernel;

    bool operator==(const Key&) const = default;

    struct Hash {
      std::size_t operator()(const Key& key) const {
        std::uint64_t mixed = std::hash<std::string_view>{}(key.kernel);
        for (const auto size : key.size) mixed = (mixed ^ std::bit_cast<std::uint64_t>(size)) * odd;
        return mixed ^ (mixed >> 32);
      }
      static constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // spreads bits (2^64 over the golden ratio)
    };
  };

 public:
  OperationTimes(const Scenario& scenario, const Gpu& gpu)
      : costs_{scenario.kernel_costs.get()},
        gpu_{gpu},
        is_extrapolated_{costs_ != nullptr && scenario.timed_on != gpu.name} {}

  /// Sets the slow-down of kernels that follow the clocks. @see clock_slowdown
  void slow_down(double slowdown) { slowdown_ = slowdown; }

  Seconds operator()(const Operation& operation) {
    return at_full_clocks(operation) * (follows_clocks(operation.kind) ? slowdown_ : 1);
  }

  Seconds at_full_clocks(const Operation& operation) {
    const auto [known, is_new] = known_.try_emplace(Key{operation.size, operation.kernel});
    if (is_new) {
      const auto like = is_extrapolated_ ? moved_as(operation, gpu_) : operation;
      known->second = datasheet_time(operation, gpu_) * (costs_ != nullptr ? costs_->factor(like) : 1);
      if (is_extrapolated_)
        known->second =
            known->second * (operation.kind == OperationClass::convolution ? gpu_.convolution_scale
                                                                           : last_wave(operation, gpu_));
    }
    return known->second * operation.slowdown;
  }

 private:
  const OperationCosts* costs_;
  const Gpu& gpu_;
  bool is_extrapolated_;
  double slowdown_ = 1;
  std::unordered_map<Key, Seconds, Key::Hash> known_;
};

/// Limit on launches per piece, so that the GPU runs the first kernels of a loop over experts while the CPU
/// launches the others. Assumed: many more launches than a layer without a loop has.
constexpr int most_launches_of_piece = 100;

/// Splits the operations of a pass, layer by layer, at exchanges and waits; long pieces are split further.
class Pieces {
 public:
  template <class TimeOf>
  std::vector<ComputeCosts::Piece> cut(const std::vector<Operation>& operations,
                                       const std::vector<Exchange>& exchanges, TimeOf& time_of) {
    std::vector<ComputeCosts::Piece> pieces;
    std::size_t next = 0;
    for (std::size_t i = 0; i <= operations.size(); ++i) {
      ComputeCosts::Piece piece;
      while (next < exchanges.size() && exchanges[next].at == i) {
        piece.sends.push_back(exchanges[next]);
        pending_.push_back(exchanges[next++].until);
      }
      const bool ends = i == operations.size();
      // Exchanges that are not due yet are waited for by a later operation.
      while (!ends && !pending_.empty() && pending_.front() <= i) {
        ++piece.waits_for;
        pending_.pop_front();
      }
      const bool cuts = !piece.sends.empty() || piece.waits_for > 0 || pieces.empty() ||
                        pieces.back().host_waits || pieces.back().launches >= most_launches_of_piece ||
                        (!ends && operations[i].of_parameters != pieces.back().of_parameters);
      if (cuts && !(ends && piece.sends.empty())) {
        piece.of_parameters = !ends && operations[i].of_parameters;
        pieces.push_back(std::move(piece));
      }
      if (ends) break;
      pieces.back().time += pause_of_operation + time_of(operations[i]);
      ++pieces.back().launches;
      pieces.back().host += operations[i].host;
      pieces.back().host_waits = operations[i].host_waits;
    }
    for (auto& until : pending_) until = 0;  // the first operation of the next layer waits
    return pieces;
  }

 private:
  std::deque<std::size_t> pending_;  ///< by pending exchange: the operation of the layer that waits for it
};

/// Whether ranks divide layers, their tokens or their experts.
bool divides_layers(const Layout& layout) {
  return layout.tensor * layout.context * layout.expert * layout.expert_tensor > 1;
}

/// Number of NVLink domains over which the ranks of an expert group are spread.
int domains_of_experts(const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto& platform = scenario.platform;
  const auto first = place_of(job.layout, job.gpus, 0);
  std::set<int> domains;
  for (int rank = 0; rank < job.gpus; ++rank) {
    const auto place = place_of(job.layout, job.gpus, rank);
    if (place.expert_tensor != first.expert_tensor || place.expert_data != first.expert_data ||
        place.pipeline != first.pipeline)
      continue;
    domains.insert(platform.nvlink_domain(platform.gpus[static_cast<std::size_t>(rank)]));
  }
  return static_cast<int>(domains.size());
}

/// Tokens that are sent per row of an expert, whose experts are chosen independently. Between NVLink domains
/// a token goes once to each domain, and NVLinks, which are faster, forward it; inside one, once to each
/// rank.
/// @source github.com/deepseek-ai/DeepEP at dd758caf, docs/legacy.md and csrc/legacy/buffer.hpp (dispatch);
///         Megatron-Bridge's controlled run of Qwen3 30B on 16 H100 with HybridEP (skills/
///         nemo-mbridge-perf-expert-parallel-overlap at 067f987d): 8.25 s of communication in a step of 24.7
///         s
double tokens_per_row(const Scenario& scenario, int top_k) {
  const auto& layout = scenario.job.layout;
  if (layout.expert_dispatch == ExpertDispatch::all_to_all || layout.expert == 1 || top_k == 0) return 1;
  const int domains = domains_of_experts(scenario);
  const double places = domains > 1 ? domains : layout.expert;
  return places * (1 - std::pow(1 - 1 / places, top_k)) / top_k;
}

/// Sets what a rank of the layout has of each layer.
void divide(EagerSettings& settings, const Layout& layout) {
  settings.tensor = layout.tensor;
  settings.sequence_parallel = layout.sequence && layout.tensor > 1;
  settings.overlaps_gradients = layout.overlap != TensorOverlap::none;
  settings.sends_pieces =
      layout.overlap == TensorOverlap::userbuffers || layout.overlap == TensorOverlap::async_tp;
  settings.context = layout.context;
  settings.context_method = layout.context_method;
  settings.expert = layout.expert;
  settings.expert_tensor = layout.expert_tensor;
}

/// CPU time of operations, in that of the mean eager operation.
double host_of(const std::vector<Operation>& operations) {
  double sum = 0;
  for (const auto& operation : operations) sum += operation.host;
  return sum;
}

/// The load of one micro-batch with its share of the optimizer's step. Recomputation draws the same mean
/// power as the forward pass and is left out.
GpuLoad load_of(const EagerStep& step, OperationTimes& times, const Gpu& gpu, Seconds optimizer) {
  GpuLoad load{.other = optimizer};
  for (const auto& layer : step.layers)
    for (const auto* pass : {&layer.forward, &layer.backward})
      for (const auto& operation : *pass) load.add(operation, times.at_full_clocks(operation), gpu);
  return load;
}

/// Expected time of the slowest of several cores over that of the slower of two: the costs of hooks were
/// measured on two ranks and contain it. With N cores, all are fast with a probability of 1 / 2^N.
double slowest_of_cores(int cores) {
  constexpr int measured = 2;
  const auto expected = [](int number) { return slow_core - (slow_core - 1) * std::exp2(-number); };
  return expected(std::max(cores, measured)) / expected(measured);
}

/// Sets CPU times. @param operation CPU time of an operation of eager PyTorch on one rank
void set_host_times(ComputeCosts& costs, const Scenario& scenario, Seconds operation) {
  if (scenario.model.run) costs.slowest_rank = slowest_of_cores(scenario.job.gpus);
  operation = operation * costs.slowest_rank;
  costs.operation = operation;
  costs.launch = scenario.platform.gpu_models.front().launch_cost;
  if (!scenario.model.run) return;
  costs.launch = operation / kernels_of_operation;
  costs.slower_host = costs.launch / measured_host_kernel;
}

/// Layers whose times the model gives.
void add_given_layers(ComputeCosts& costs, const Model& model, int batch) {
  for (const auto& layer : model.layers) {
    costs.forward.push_back(layer.forward.time.value_or(Seconds{}));
    costs.backward.push_back(layer.backward.time.value_or(Seconds{}));
    costs.forward_launches.push_back(layer.forward.kernels);
    costs.backward_launches.push_back(layer.backward.kernels);
    costs.forward_host.push_back(layer.forward.kernels);
    costs.backward_host.push_back(layer.backward.kernels);
    const int half = layer.backward.kernels / 2;
    costs.of_parameters.push_back({costs.backward.back() / 2, half, static_cast<double>(half)});
    costs.outputs.push_back(layer.output_per_sample * batch);
  }
}

/// Settings of the forward pass of a rank. @param is_divided as in `add_layers`
EagerSettings settings_of_rank(const Scenario& scenario, int batch, bool is_divided) {
  auto settings = eager_settings(scenario, batch);
  if (!is_divided) return settings;
  const auto& layout = scenario.job.layout;
  const auto& experts = scenario.model.experts;
  divide(settings, layout);
  settings.expert_imbalance = expert_imbalances(layout, experts.number);
  settings.expert_tokens = tokens_per_row(scenario, experts.top_k);
  settings.fp8_dispatch = layout.fp8_dispatch;
  settings.sends_tokens = layout.expert_dispatch == ExpertDispatch::deepep;
  settings.waits_for_counts = waits_for_row_counts(scenario.job);
  return settings;
}

using Operations = std::vector<Operation>;

/// The sum of the times, which is added to those by class, too.
Seconds add_times(ComputeCosts& costs, const Operations& operations, OperationTimes& time_of) {
  auto total = pause_of_operation * static_cast<double>(operations.size());
  for (const auto& operation : operations) {
    const auto time = time_of(operation);
    total += time;
    costs.by_class[static_cast<std::size_t>(operation.kind)] += time;
  }
  return total;
}

ComputeCosts::Share share_of_parameters(const Operations& operations, OperationTimes& time_of) {
  ComputeCosts::Share share;
  for (const auto& operation : operations) {
    if (!operation.of_parameters) continue;
    share.time += pause_of_operation + time_of(operation);
    ++share.launches;
    share.host += operation.host;
  }
  return share;
}

void add_layer(ComputeCosts& costs, const LayerOperations& layer, OperationTimes& time_of) {
  costs.forward.push_back(add_times(costs, layer.forward, time_of));
  costs.backward.push_back(add_times(costs, layer.backward, time_of));
  costs.forward_launches.push_back(static_cast<int>(layer.forward.size()));
  costs.backward_launches.push_back(static_cast<int>(layer.backward.size()));
  costs.forward_host.push_back(host_of(layer.forward));
  costs.backward_host.push_back(host_of(layer.backward));
  costs.of_parameters.push_back(share_of_parameters(layer.backward, time_of));
  ComputeCosts::Share once;
  for (const auto& operation : layer.once) once.time += pause_of_operation + time_of(operation);
  once.launches = static_cast<int>(layer.once.size());
  once.host = host_of(layer.once);
  costs.once.push_back(once);
  costs.outputs.push_back(layer.output);
}

/// Which layers of a rank have parameters that PyTorch wraps as DTensors.
void add_dtensors(ComputeCosts& costs, const Scenario& scenario, const EagerSettings& settings) {
  for (std::size_t i = 0; i < costs.of_rank.size(); ++i) {
    const auto& parameters = costs.of_rank[i].parameters;
    const auto is_norm = [](const Parameter& parameter) { return parameter.shape.size() == 1; };
    const bool is_shared = scenario.model.layers[i].parameter_count() != costs.of_rank[i].parameter_count();
    const bool is_split =
        settings.sequence_parallel && !parameters.empty() && std::ranges::all_of(parameters, is_norm);
    costs.is_dtensor.push_back(is_shared || is_split ? 1 : 0);
  }
}

/// Activations by moment of an evaluation; empty if there is none. @param settings of the job's own batch
std::vector<Bytes> memory_of_evaluation(const Scenario& scenario, EagerSettings settings) {
  const auto& job = scenario.job;
  if (job.eval_batch == 0) return {};
  settings.batch = job.eval_batch;
  if (job.eval_sequence > 0) settings.sequence = job.eval_sequence;
  return scenario.model.run.step(settings)->memory.evaluated;
}

/// @param is_divided whether layers are those of a rank of the layout; else one GPU has the whole model
void add_layers(ComputeCosts& costs, const Scenario& scenario, const Gpu& gpu, int batch, bool is_divided,
                const WaitRatio& waiting) {
  if (!scenario.model.run) return add_given_layers(costs, scenario.model, batch);
  OperationTimes time_of{scenario, gpu};
  const auto settings = settings_of_rank(scenario, batch, is_divided);
  const auto issued = scenario.model.run.step(settings);
  const auto& step = *issued;
  costs.memory = step.memory;
  costs.memory.evaluated = memory_of_evaluation(scenario, settings);
  if (gpu.power) {
    const auto of_micro_step = costs.optimizer / scenario.job.accumulate;
    const auto load = load_of(step, time_of, gpu, of_micro_step);
    costs.slowdown = clock_slowdown(*gpu.power, load, waiting);
    if (costs.slowdown > 1) costs.longest_wait = longest_effective_wait(*gpu.power, load);
    time_of.slow_down(costs.slowdown);
  }
  const bool in_pieces =
      is_divided || (scenario.model.experts.number > 0 && waits_for_row_counts(scenario.job));
  Pieces forward;
  Pieces recomputed;
  for (const auto& layer : step.layers) {
    add_layer(costs, layer, time_of);
    if (in_pieces)
      costs.forward_pieces.push_back(forward.cut(layer.forward, layer.forward_exchanges, time_of));
    if (settings.recompute == Recompute::selective_op)
      costs.recomputed_pieces.push_back(
          recomputed.cut(layer.recomputed, layer.recomputed_exchanges, time_of));
  }
  if (!in_pieces) return;
  Pieces backward;
  costs.backward_pieces.resize(step.layers.size());
  for (auto i = step.layers.size(); i-- > 0;) {
    const auto& layer = step.layers[i];
    costs.backward_pieces[i] = backward.cut(layer.backward, layer.backward_exchanges, time_of);
  }
  if (!is_divided) return;
  costs.of_rank = step.of_rank;
  if (settings.tensor > 1 && !settings.megatron && !settings.compiled)
    add_dtensors(costs, scenario, settings);
}

}  // namespace

HostOperation host_operation(const Platform& platform, const Calibration& calibration) {
  using From = HostOperation::From;
  if (const auto time = platform.eager_operation) return {*time, From::platform};
  for (const auto& cost : calibration.kernels.launches)
    if (cost.what == LaunchCost::operation) return {cost.time, From::calibration};
  return {eager_operation, From::assumed};
}

Seconds time_of_operation(const Scenario& scenario, const Operation& operation) {
  return pause_of_operation +
         OperationTimes{scenario, scenario.platform.gpu_models.front()}.at_full_clocks(operation);
}

Seconds input_copy_time(const Scenario& scenario, int batch) {
  const Routes routes{scenario.platform};
  const auto path = path_from_host(routes, scenario.platform, 0);
  const auto bytes = scenario.model.input_per_sample * batch;
  if (bytes == 0_B || !path) return {};
  auto rate = path->slowest;
  if (!scenario.job.input.pin_memory && scenario.platform.pageable_copy_rate) {
    rate = std::min(rate, *scenario.platform.pageable_copy_rate);
  }
  return path->latency + bytes / rate;
}

EagerSettings eager_settings(const Scenario& scenario, int batch) {
  const auto& job = scenario.job;
  return {.batch = batch,
          .sequence = job.sequence,
          .document = job.document_length,
          .precision = precision_outside_fp8(job.precision),
          .fp8 = fp8_of(job),
          .half_parameters = is_half(job.precision) && half_parameters(job),
          .channels_last = job.channels_last,
          .attention = job.attention,
          .compute_capability = scenario.platform.gpu_models.front().capability_of_kernels(),
          .float_logits = job.float_logits,
          .recompute = job.recompute,
          .recompute_modules = read_recomputed_modules(job.recompute_modules).modules,
          .recompute_every = job.recompute_every,
          .recompute_offload = job.recompute_offload,
          .offload_activations = read_offloaded_modules(job.offload_activations).modules,
          .lora = job.lora,
          .compiled = job.compiled,
          .fused_loss = job.fused_loss,
          .loss_chunk = job.loss_chunk,
          .mlp_tiles = job.mlp_tiles,
          .composed_norms = job.composed_norms,
          .hugging_face = is_hugging_face(job.implementation, scenario.model.implementation),
          .adds_in_fp32 = facts_of(job.strategy).adds_in_fp32,
          .megatron = has_megatron_modules(job),
          .fusions = job.fusions,
          .graph_of_step = job.cuda_graphs == CudaGraphs::step,
          .expert_loop = job.experts == ExpertProducts::loop,
          .expert_capacity = job.layout.expert_capacity_factor};
}

ComputeCosts compute_costs(const Scenario& scenario, const WaitRatio& waiting) {
  const auto& gpu = scenario.platform.gpu_models.front();
  ComputeCosts costs;
  costs.optimizer = optimizer_time(scenario);
  if (scenario.model.profile) {
    costs.profile = profile_costs(scenario);
    costs.memory = memory_of_profile(*scenario.model.profile, scenario.job);
    costs.launch = launch_of(*scenario.model.profile) * costs.profile->cpu_scale;
    // The CPU time of hooks depends on the host only, not on how fast the program launches operations.
    if (const auto gradient = scenario.model.profile->accumulate_grad)
      costs.launch = measured_host_kernel * (*gradient / measured_host_gradient) *
                     (costs.profile->cpu_scale / profiled_cpu_share);
    costs.slower_host = costs.launch / measured_host_kernel;
    return costs;
  }
  const bool is_divided = divides_layers(scenario.job.layout);
  add_layers(costs, scenario, gpu, scenario.job.batch_per_gpu, is_divided, waiting);
  set_host_times(costs, scenario, host_operation(scenario.platform, scenario.calibration).time);
  if (const auto* anchor = matching_anchor(scenario.model, scenario.job, gpu)) costs.anchor = *anchor;
  if (!costs.anchor) return costs;

  auto measured = costs;
  if (costs.anchor->batch != scenario.job.batch_per_gpu || is_divided || waiting != WaitRatio{}) {
    measured = {};
    measured.optimizer = costs.optimizer;
    add_layers(measured, scenario, gpu, costs.anchor->batch, false, {});
  }
  const auto fixed =
      input_copy_time(scenario, costs.anchor->batch) + optimizer_time(scenario, costs.anchor->optimizer, 1);
  if (costs.anchor->step_time <= fixed) {
    refuse(fmt::format(
               "model '{}': the anchor of {:.4g} ms per step on {} leaves no time for the layers: input "
               "copy and optimizer take {:.4g} ms",
               scenario.model.name, costs.anchor->step_time.value() * 1e3, gpu.name, fixed.value() * 1e3),
           "check its 'step_time' or 'rate', 'batch' and 'optimizer'");
  }
  refuse_beyond_peak(scenario.model, gpu, *costs.anchor, work_of_layers(scenario.model) * costs.anchor->batch,
                     costs.anchor->step_time - fixed);
  costs.anchor_scale =
      (costs.anchor->step_time - fixed) / (total(measured.forward) + total(measured.backward));
  const auto operations = std::accumulate(measured.forward_host.begin(), measured.forward_host.end(), 0.0) +
                          std::accumulate(measured.backward_host.begin(), measured.backward_host.end(), 0.0);
  if (operations > 0)
    set_host_times(costs, scenario,
                   std::min(costs.operation / costs.slowest_rank, costs.anchor->step_time / operations));
  for (auto& time : costs.forward) time = time * costs.anchor_scale;
  for (auto& time : costs.backward) time = time * costs.anchor_scale;
  for (auto* shares : {&costs.of_parameters, &costs.once})
    for (auto& share : *shares) share.time = share.time * costs.anchor_scale;
  for (auto* pass : {&costs.forward_pieces, &costs.backward_pieces, &costs.recomputed_pieces})
    for (auto& layer : *pass)
      for (auto& piece : layer) piece.time = piece.time * costs.anchor_scale;
  return costs;
}

}  // namespace gradway

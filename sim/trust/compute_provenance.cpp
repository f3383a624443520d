// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/make_warning.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/trust/provenance.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway {
namespace {

/// Raises the basis of compute to at least this one.
void limit_compute(Provenance& provenance, Basis basis) {
  provenance.step_basis.compute = std::max(provenance.step_basis.compute, basis);
}

double in_ms(Seconds time) {
  return time.value() * 1e3;
}

double in_us(Seconds time) {
  return time.value() * 1e6;
}

void add_profiler(const Profile& profile, const ProfileCosts& costs, Provenance& provenance) {
  provenance.basis.push_back(
      {"compute",
       fmt::format("profile of {} launches on {}, {} step{} averaged", profile.launches.size(), profile.gpu,
                   profile.steps, profile.steps == 1 ? "" : "s"),
       fmt::format(" ({:.4g} ms under the profiler); pauses of {:.3g} us between kernels, CPU times under "
                   "the profiler times {:.3g}",
                   in_ms(profile.traced_step), in_us(costs.pause), costs.cpu_scale)});
  if (profile.step_time) {
    provenance.basis.push_back(
        {"compute",
         fmt::format("meets the step of {:.4g} ms measured without the profiler", in_ms(*profile.step_time)),
         costs.launch_bound ? "; the step is launch-bound" : ""});
  } else if (costs.launch_bound) {
    add(provenance.warnings, make_warning<"launch-bound-profile", "step">(in_ms(costs.step)));
  }
}

/// Warns of an anchor that was measured at another batch, or that looks like a step of another job.
void add_anchor(const Scenario& scenario, const Anchor& anchor, double scale, Basis without,
                Provenance& provenance) {
  const auto batch = scenario.job.batch_per_gpu;
  if (anchor.batch != batch) {
    const auto [smaller, larger] = std::minmax(anchor.batch, batch);
    provenance.step_basis.batch_ratio = static_cast<double>(larger) / smaller;
    add(provenance.warnings, make_warning<"anchor-other-batch", "anchor", "job">(anchor.batch, batch));
  }
  // 90 % of the anchors are within the uncertainty, 999 of 1,000 within its square (3.29 standard deviations
  // of the logarithm, against 1.645): one in ten correct anchors must not be called into question.
  const auto usual = 1 + uncertainty_of_compute(without, 1);
  const auto rare = usual * usual;
  if (scale > rare || scale < 1 / rare)
    add(provenance.warnings,
        make_warning<"implausible-anchor", "scale", "low", "high">(scale, 1 / rare, rare));
}

void add_move(const Scenario& scenario, const ProfileCosts& costs, Provenance& provenance) {
  const auto& profile = *scenario.model.profile;
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto& job = scenario.job;
  provenance.step_basis.compute = Basis::measured;
  provenance.step_basis.launches = profile.step_time ? Basis::measured : Basis::elsewhere;
  if (costs.extrapolation == Extrapolation::anchor) {
    provenance.step_basis.compute = Basis::stretched;
    provenance.basis.push_back(
        {"compute", fmt::format("moved from {} to {} by the roofline and scaled to meet the anchor on {}",
                                profile.gpu, gpu.name, gpu.name)});
    add_anchor(scenario, *costs.anchor, costs.anchor_scale, Basis::elsewhere, provenance);
  } else if (costs.extrapolation == Extrapolation::roofline) {
    provenance.step_basis.compute = Basis::elsewhere;
    provenance.basis.push_back(
        {"compute",
         fmt::format("moved from {} to {} kernel by kernel by the roofline, {:.3g} times the kernel time",
                     profile.gpu, gpu.name, costs.extrapolation_factor)});
    add(provenance.warnings,
        make_warning<"profile-moved-by-roofline", "profiled", "gpu">(profile.gpu, gpu.name));
  }
  if (costs.extrapolation != Extrapolation::none) {
    provenance.step_basis.launches = Basis::elsewhere;
    add(provenance.warnings, make_warning<"launches-of-other-host", "gpu">(profile.gpu));
  }
  if (job.batch_per_gpu != profile.batch) {
    limit_compute(provenance, Basis::stretched);
    add(provenance.warnings,
        make_warning<"profile-other-batch", "profile", "job">(profile.batch, job.batch_per_gpu));
  }
  if (job.optimizer != profile.optimizer) {
    limit_compute(provenance, Basis::stretched);
    add(provenance.warnings, make_warning<"profile-other-optimizer", "profile", "job">(
                                 name_of(profile.optimizer), name_of(job.optimizer)));
  }
}

/// Share of the time of a profile's 32-bit matrix products in kernels that round to TF32, as their names
/// say.
double share_of_tf32(const Profile& profile) {
  Seconds matrix_time{};
  Seconds rounded{};
  for (const auto& launch : profile.launches) {
    const bool is_tf32 = launch.precision == Precision::tf32;
    if (launch.kind != KernelClass::matrix || (!is_tf32 && launch.precision != Precision::fp32)) continue;
    matrix_time += launch.gpu;
    if (is_tf32) rounded += launch.gpu;
  }
  return matrix_time > Seconds{} ? rounded / matrix_time : 0;
}

/// Products in fp32 and in TF32 are other kernels with other durations. PyTorch's switches decide, not the
/// types of tensors. Where profile and job disagree, it is unknown which of the two the job will run.
void add_tf32_of_profile(const Scenario& scenario, Provenance& provenance) {
  const auto& profile = *scenario.model.profile;
  const auto wanted = scenario.job.precision;
  if (wanted != Precision::fp32 && wanted != Precision::tf32) return;
  const auto share = share_of_tf32(profile);
  const auto recorded =
      share > 0.5 || profile.precision == Precision::tf32 ? Precision::tf32 : Precision::fp32;
  if (recorded == wanted) return;
  limit_compute(provenance, Basis::elsewhere);
  add(provenance.warnings, wanted == Precision::fp32
                               ? make_warning<"profile-other-precision/fp32", "profile", "percent">(
                                     scenario.model.name, 100 * share)
                               : make_warning<"profile-other-precision/tf32", "profile", "percent">(
                                     scenario.model.name, 100 * share));
}

Basis basis_of_kernels(const Scenario& scenario) {
  if (!scenario.kernel_costs) return Basis::nominal;
  const auto& gpu = scenario.platform.gpu_models.front();
  if (scenario.timed_on == gpu.name) return Basis::predicted;
  return scenario.kernel_costs->timed_on_amd() == gpu.is_amd() ? Basis::moved : Basis::elsewhere;
}

/// Kernels of the same GPU, of one from which times were moved by the two datasheets, or of another maker's.
ProvenanceFact timed_kernels(const Scenario& scenario, bool is_of_other_maker) {
  const auto& gpu = scenario.platform.gpu_models.front();
  auto where = gpu.name;
  if (scenario.timed_on != gpu.name)
    where = fmt::format("{}, moved to {} by the two datasheets", scenario.timed_on, gpu.name);
  if (is_of_other_maker && !gpu.source.empty())
    where = fmt::format("{}, moved to another maker's {} by published rates", scenario.timed_on, gpu.name);
  const auto& source = scenario.kernel_costs->source();
  return {"compute",
          fmt::format("the operations that PyTorch issues for the model, each by kernels timed on {}", where),
          is_of_other_maker && !gpu.source.empty() ? fmt::format(" ({}; {})", source, gpu.source)
                                                   : fmt::format(" ({})", source)};
}

/// For a model without a measured step: the source of its operations' times.
void add_kernels(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  const auto& gpu = scenario.platform.gpu_models.front();
  if (scenario.kernel_costs) {
    const bool is_of_other_maker = scenario.kernel_costs->timed_on_amd() != gpu.is_amd();
    provenance.basis.push_back(timed_kernels(scenario, is_of_other_maker));
    if (is_of_other_maker)
      add(provenance.warnings,
          make_warning<"kernels-of-other-maker", "timed", "gpu">(scenario.timed_on, gpu.name));
  } else {
    provenance.basis.push_back({"compute",
                                fmt::format("roofline from the datasheet of {} and efficiencies", gpu.name),
                                fmt::format(" ({})", gpu.source)});
    add(provenance.warnings, make_warning<"roofline-only", "gpu">(gpu.name));
  }
  if (costs.slowdown > 1)
    provenance.basis.push_back(
        {"clocks",
         fmt::format("a power limit of {:.4g} W lowers them: matrix products, attention and convolutions "
                     "take {:.2f} times as long as at full clocks",
                     gpu.power->limit.value(), costs.slowdown),
         " (by what kernels draw, with sources in the file of the GPU)"});
}

/// CPU time of launches where no profile has it.
void add_launches(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  using From = HostOperation::From;
  const auto host = host_operation(scenario.platform, scenario.calibration);
  const auto operation = costs.operation / costs.slowest_rank;
  constexpr double rounding = 1e-9;
  ProvenanceFact cost{"launches", fmt::format("{:.3g} us of CPU time per operation", in_us(operation))};
  if (operation < host.time * (1 - rounding)) {
    cost.statement += ", the most that the anchor's step allows";
    provenance.basis.push_back(std::move(cost));
    provenance.step_basis.launches = Basis::elsewhere;
    return;
  }
  provenance.step_basis.launches = host.from == From::assumed ? Basis::nominal : Basis::measured;
  if (facts_of(scenario.job.strategy).has_hooks)
    provenance.step_basis.launches = std::max(provenance.step_basis.launches, Basis::predicted);
  if (host.from == From::platform) {
    cost.statement += fmt::format(", by the file of the platform {}", scenario.platform.name);
  } else if (host.from == From::calibration) {
    cost.statement += fmt::format(", measured for the calibration {}", scenario.calibration.name);
  } else {
    cost.statement += ", assumed: our own hosts took 20 to 61 us";
    cost.remark =
        ". To replace the assumption: the platform's key 'eager_operation', a calibration, or an anchor (a "
        "measured step)";
  }
  provenance.basis.push_back(std::move(cost));
}

void add_graphs(const Scenario& scenario, Provenance& provenance) {
  const auto graphs = scenario.job.cuda_graphs;
  if (graphs == CudaGraphs::none) return;
  const bool by_layer = graphs == CudaGraphs::layers;
  const auto launch = graph_cpu.launch + (by_layer ? graph_cpu.call : Seconds{});
  provenance.basis.push_back(
      {"CUDA graphs",
       by_layer ? "one for each block of the model and direction; operations outside of blocks, hooks and "
                  "the optimizer are launched kernel by kernel"
       : has_megatron_modules(scenario.job) ? "one for the whole step without the optimizer"
                                            : "one for the whole step with the optimizer and all collectives",
       fmt::format("; the launch of one takes {:.3g} us of CPU time on our own hosts", in_us(launch))});
}

/// A profile of one GPU has no hooks of a sharded strategy.
void add_hooks(const Scenario& scenario, Provenance& provenance) {
  if (!facts_of(scenario.job.strategy).has_hooks) return;
  provenance.step_basis.launches = std::max(provenance.step_basis.launches, Basis::predicted);
  // Kernels during gathers, casts and copies: own steps that the GPU bounds, from profiles of one GPU, 90 %
  // within 4.7 % on two H200 (30) and 6 % on two H100 (24).
  limit_compute(provenance, Basis::stretched);
  provenance.basis.push_back(
      {"hooks",
       "the strategy's CPU time in launches, as measured for FSDP2, FSDP1 and ZeroRedundancyOptimizer",
       " (2 H100, 2026-11-22, PyTorch 2.11); other strategies are assumed to take as long as comparable "
       "hooks"});
}

/// The models of transformers call fused attention since 2024 (release 4.36 for Llama, 4.48 for BERT and
/// others) and wrote attention out before. Without `job.attention`, either may be meant.
void add_unnamed_attention(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  constexpr double least_difference = 0.05;
  const auto& job = scenario.job;
  if (job.attention != AttentionKernel::automatic || job.compiled || has_megatron_modules(job) ||
      job.layout.context > 1 || !is_hugging_face(job.implementation, scenario.model.implementation))
    return;
  auto written_out = scenario;
  written_out.job.attention = AttentionKernel::composed;
  const auto other_costs = compute_costs(written_out);
  const auto ratio = (total(other_costs.forward) + total(other_costs.backward)) /
                     (total(costs.forward) + total(costs.backward));
  if (std::abs(ratio - 1) < least_difference) return;
  provenance.step_basis.attention_ratio = ratio;
  add(provenance.warnings, make_warning<"attention-not-named", "ratio">(ratio));
}

/// Features whose kernels or steps were not, or hardly, compared with measurements.
void add_unvalidated(const Scenario& scenario, Provenance& provenance) {
  const auto& job = scenario.job;
  if (job.attention == AttentionKernel::flash1) {
    // 114 published steps of MPT, whose attention is its Triton version (docs/ACCURACY.md): with 16,384
    // tokens and more up to a third shorter than predicted.
    limit_compute(provenance, Basis::moved);
    add(provenance.warnings, make_warning<"flash-attention-1">());
  }
  if (scenario.model.experts.number > 0) {
    // Six own steps with experts on one H100 and one H200 each (tests/validation/recent_models_test.cpp).
    limit_compute(provenance, Basis::elsewhere);
    const auto imbalance = std::ranges::max(expert_imbalances(job.layout, scenario.model.experts.number));
    add(provenance.warnings,
        make_warning<"experts-uncertain", "load">(
            imbalance > 1
                ? fmt::format("a busiest rank with {:.4g} times the average number of tokens", imbalance)
                : "an equal number of tokens for each expert"));
  }
  if (const auto& tables = scenario.model.tables; !tables.empty() && job.gpus > 1) {
    limit_compute(provenance, Basis::elsewhere);
    const auto largest = largest_share(tables, job.layout.tables, job.gpus, 1);
    const auto imbalance = largest.lookups * job.gpus / tables.lookups();
    add(provenance.warnings,
        make_warning<"tables-uncertain", "lookups">(
            imbalance > 1.0005 ? fmt::format("the busiest rank has {:.3g} times the average number of "
                                             "lookups, and all others wait for it",
                                             imbalance)
                               : "every rank has the same number of lookups"));
  }
  if (job.lora)
    add(provenance.warnings, job.lora->quantised ? make_warning<"fine-tuning-not-validated/qlora">()
                                                 : make_warning<"fine-tuning-not-validated/lora">());
  if (fp8_of(job)) add(provenance.warnings, make_warning<"fp8-not-validated">());
}

/// Tensor cores need images in NHWC: in NCHW each convolution is converted, or runs in a slower kernel.
void add_memory_format(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  constexpr double least_saving = 0.05;  // of the passes' time
  const auto& job = scenario.job;
  const auto convolutions = costs.by_class[static_cast<std::size_t>(OperationClass::convolution)];
  const bool on_tensor_cores = is_half(job.precision) || job.precision == Precision::tf32;
  const auto passes = total(costs.forward) + total(costs.backward);
  const bool may_save = convolutions > least_saving * passes;
  if (job.channels_last || !on_tensor_cores || !may_save) return;
  auto alternative = scenario;
  alternative.job.channels_last = true;
  const auto other_costs = compute_costs(alternative);
  const auto saving = 1 - (total(other_costs.forward) + total(other_costs.backward)) / passes;
  if (saving > least_saving)
    add(provenance.warnings, make_warning<"channels-last-faster", "percent">(100 * saving));
}

/// PyTorch's default is in between: convolutions in TF32, matrix products in fp32.
void add_tf32(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  constexpr double least_share = 0.2;  // of the kernels' time
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto convolutions = costs.by_class[static_cast<std::size_t>(OperationClass::convolution)];
  if (scenario.job.precision != Precision::fp32 || !gpu.peak[static_cast<std::size_t>(Precision::tf32)] ||
      convolutions <= least_share * total({costs.by_class.begin(), costs.by_class.end()}))
    return;
  add(provenance.warnings, make_warning<"fp32-without-tf32">());
}

void add_profile(const Scenario& scenario, const ProfileCosts& costs, Provenance& provenance) {
  add_profiler(*scenario.model.profile, costs, provenance);
  add_move(scenario, costs, provenance);
  add_tf32_of_profile(scenario, provenance);
  add_hooks(scenario, provenance);
  add_graphs(scenario, provenance);
}

}  // namespace

void add_compute_provenance(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  if (!trains(scenario.job.strategy)) return;
  if (const auto optimizer = scenario.job.optimizer; !cost_of(optimizer).is_timed)
    add(provenance.warnings, make_warning<"optimizer-not-timed", "optimizer">(name_of(optimizer)));
  if (costs.profile) return add_profile(scenario, *costs.profile, provenance);
  const bool explicit_times = std::ranges::all_of(scenario.model.layers, [](const Layer& layer) {
    return layer.forward.time.has_value() && layer.backward.time.has_value();
  });
  if (explicit_times) {
    provenance.basis.push_back({"compute", "explicit times of the model"});
    return;
  }
  add_hooks(scenario, provenance);
  provenance.step_basis.compute = basis_of_kernels(scenario);
  if (!costs.anchor) {
    add_kernels(scenario, costs, provenance);
    add_launches(scenario, costs, provenance);
    add_graphs(scenario, provenance);
    add_unvalidated(scenario, provenance);
    add_unnamed_attention(scenario, costs, provenance);
    add_tf32(scenario, costs, provenance);
    add_memory_format(scenario, costs, provenance);
    return;
  }
  const auto& anchor = *costs.anchor;
  provenance.step_basis.compute =
      anchor.batch == scenario.job.batch_per_gpu ? Basis::measured : Basis::stretched;
  provenance.basis.push_back(
      {"compute",
       fmt::format("operations of the model on {}, scaled by {:.4g} to meet the anchor of {:.4g} ms per step "
                   "at batch {}",
                   scenario.platform.gpu_models.front().name, costs.anchor_scale, in_ms(anchor.step_time),
                   anchor.batch),
       fmt::format(" ({})", anchor.source)});
  add_launches(scenario, costs, provenance);
  add_graphs(scenario, provenance);
  // Some CPU was fast enough for the anchor.
  provenance.step_basis.launches = std::min(provenance.step_basis.launches, Basis::elsewhere);
  add_anchor(scenario, anchor, costs.anchor_scale, basis_of_kernels(scenario), provenance);
}

}  // namespace gradway

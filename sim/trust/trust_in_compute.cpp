// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/trust_in_compute.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway {
namespace {

// Own profiles of an H200 against steps on one of the others: vit_l_32, gpt_small, gpt_medium, resnet50
// (bf16, fp32), mobilenet_v3_large and vit_b_16 on an H100 (2026-11-21), vit_l_32 on an L40S (90.8 ms
// predicted, 112.2 measured) and an A100 (279.6 and 193.4; both by the article of January 2026).
constexpr const char* moved_by_roofline =
    "what we could compare was off by up to 5 % from an H200 to an H100, by 19 % to an L40S, by 45 % to an "
    "A100";

double in_ms(Seconds time) {
  return time.value() * 1e3;
}

void about_profiler(const Profile& profile, const ProfileCosts& costs, Provenance& provenance) {
  provenance.basis.push_back(
      fmt::format("compute: profile of {} launches on {}, {} step{} averaged ({:.4g} ms under the profiler); "
                  "pauses of {:.3g} us between kernels, CPU times under the profiler times {:.3g}",
                  profile.launches.size(), profile.gpu, profile.steps, profile.steps == 1 ? "" : "s",
                  in_ms(profile.traced_step), costs.pause.value() * 1e6, costs.cpu_scale));
  if (profile.step_time) {
    provenance.basis.push_back(
        fmt::format("compute: meets the step of {:.4g} ms measured without the profiler{}",
                    in_ms(*profile.step_time), costs.launch_bound ? "; the CPU's launches bound it" : ""));
  } else if (costs.launch_bound) {
    provenance.warnings.push_back(fmt::format(
        "the profiled step looks bound by the CPU's launches, and how much the profiler slowed "
        "them is not known: measure a step without it and import again with --step-time (assumed: {:.4g} ms)",
        in_ms(costs.step)));
  }
}

/// A step measured at another batch, or one that looks like one of another job.
void about_anchor(const Scenario& scenario, const Anchor& anchor, double scale, Basis without,
                  Provenance& provenance) {
  if (anchor.batch != scenario.job.batch_per_gpu) {
    const auto [smaller, larger] = std::minmax(anchor.batch, scenario.job.batch_per_gpu);
    provenance.step_basis.batch_ratio = static_cast<double>(larger) / smaller;
    provenance.warnings.push_back(
        fmt::format("the anchor was measured at batch {}, the job has {}: efficiency may differ",
                    anchor.batch, scenario.job.batch_per_gpu));
  }
  // Nine of ten anchors are within the uncertainty, 999 of 1,000 within its square (3.29 standard deviations
  // of the logarithm, against 1.645): one of ten that are right must not be called into question.
  const auto usual = 1 + uncertainty_of_compute(without, 1);
  const auto rare = usual * usual;
  if (scale > rare || scale < 1 / rare) {
    provenance.warnings.push_back(fmt::format(
        "the anchor is {:.3g} times the step without it, where 999 of 1,000 are {:.2g} to {:.3g}: check its "
        "'step_time' or 'rate', 'batch', 'precision' and 'gpu'",
        scale, 1 / rare, rare));
  }
}

void about_move(const Scenario& scenario, const ProfileCosts& costs, Provenance& provenance) {
  const auto& profile = *scenario.model.profile;
  const auto& gpu = scenario.platform.gpu_models.front();
  provenance.step_basis.compute = Basis::measured;
  provenance.step_basis.launches = profile.step_time ? Basis::measured : Basis::elsewhere;
  if (costs.moved == Moved::anchor) {
    provenance.step_basis.compute = Basis::stretched;
    provenance.basis.push_back(
        fmt::format("compute: moved from {} to {} by roofline and scaled to meet the anchor on {}",
                    profile.gpu, gpu.name, gpu.name));
    about_anchor(scenario, *costs.anchor, costs.anchor_scale, Basis::elsewhere, provenance);
  } else if (costs.moved == Moved::roofline) {
    provenance.step_basis.compute = Basis::elsewhere;
    provenance.basis.push_back(
        fmt::format("compute: moved from {} to {} kernel by kernel by roofline, {:.3g} times the kernel time",
                    profile.gpu, gpu.name, costs.moved_by));
    provenance.warnings.push_back(
        fmt::format("kernel times were moved from {} to {} by roofline: {}; an anchor (a step measured on "
                    "one {}) removes most of that",
                    profile.gpu, gpu.name, moved_by_roofline, gpu.name));
  }
  if (costs.moved != Moved::not_at_all) {
    provenance.step_basis.launches = Basis::elsewhere;
    provenance.warnings.push_back(fmt::format(
        "the CPU's launch times are those of the machine with the {}: another CPU may take longer",
        profile.gpu));
  }
  if (scenario.job.batch_per_gpu != profile.batch) {
    provenance.step_basis.compute = std::max(provenance.step_basis.compute, Basis::stretched);
    provenance.warnings.push_back(
        fmt::format("the profile was recorded at batch {}, the job has {}: kernels were scaled, the "
                    "framework may choose others",
                    profile.batch, scenario.job.batch_per_gpu));
  }
  if (scenario.job.optimizer != profile.optimizer) {
    provenance.step_basis.compute = std::max(provenance.step_basis.compute, Basis::stretched);
    provenance.warnings.push_back(
        "the profile was recorded with another optimizer: the optimizer's time rests on the roofline alone");
  }
}

/// Of the time of a profile's products in 32 bits: what kernels took that round to TF32, as their names say.
double share_of_tf32(const Profile& profile) {
  Seconds all{};
  Seconds rounded{};
  for (const auto& launch : profile.launches) {
    const bool is_tf32 = launch.precision == Precision::tf32;
    if (launch.kind != KernelClass::matrix || (!is_tf32 && launch.precision != Precision::fp32)) continue;
    all += launch.gpu;
    if (is_tf32) rounded += launch.gpu;
  }
  return all > Seconds{} ? rounded / all : 0;
}

/// Products of fp32 and of TF32 are other kernels, of other lengths; PyTorch's switches decide, not the types
/// of tensors. Which of the two the job will run is not known where profile and job disagree.
void about_tf32_of_profile(const Scenario& scenario, Provenance& provenance) {
  const auto& profile = *scenario.model.profile;
  const auto wanted = scenario.job.precision;
  if (wanted != Precision::fp32 && wanted != Precision::tf32) return;
  const auto share = share_of_tf32(profile);
  const bool is_tf32 = share > 0.5 || profile.precision == Precision::tf32;
  if (is_tf32 == (wanted == Precision::tf32)) return;
  provenance.step_basis.compute = std::max(provenance.step_basis.compute, Basis::elsewhere);
  const auto of_names = fmt::format(
      "by their names, kernels that round to TF32 took {:.0f} % of the time of its products", share * 100);
  provenance.warnings.push_back(
      is_tf32
          ? fmt::format("job.precision is fp32, but the profile '{}' was recorded in tf32 ({}), and it is "
                        "replayed as it is: write 'precision: tf32', or record a step with "
                        "torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32 off",
                        scenario.model.name, of_names)
          : fmt::format("job.precision is tf32, but the profile '{}' was recorded in fp32 ({}), and it is "
                        "replayed as it is: write 'precision: fp32', record a step with "
                        "torch.set_float32_matmul_precision('high'), or import it again with "
                        "--precision tf32 if the names do not tell",
                        scenario.model.name, of_names));
}

Basis basis_of_kernels(const Scenario& scenario) {
  if (!scenario.kernel_costs) return Basis::nominal;
  return scenario.timed_on == scenario.platform.gpu_models.front().name ? Basis::predicted : Basis::moved;
}

/// A model that nobody measured: what its operations rest on.
void about_kernels(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  const auto& gpu = scenario.platform.gpu_models.front();
  switch (basis_of_kernels(scenario)) {
    case Basis::predicted:
      provenance.basis.push_back(fmt::format(
          "compute: the operations that PyTorch issues for the model, each by kernels timed on {} ({})",
          gpu.name, scenario.kernel_costs->source()));
      break;
    case Basis::moved:
      provenance.basis.push_back(
          fmt::format("compute: the operations that PyTorch issues for the model, each by kernels timed "
                      "on {}, moved to {} by the two datasheets ({})",
                      scenario.timed_on, gpu.name, scenario.kernel_costs->source()));
      break;
    default:
      provenance.basis.push_back(fmt::format(
          "compute: roofline from the datasheet of {} and efficiencies ({})", gpu.name, gpu.source));
      provenance.warnings.push_back(
          fmt::format("compute times rest on the roofline alone: no kernels were timed that could "
                      "stand for {}",
                      gpu.name));
  }
  if (costs.slowdown > 1)
    provenance.basis.push_back(fmt::format(
        "clocks: a limit of {:.4g} W lowers them: products, attention and convolutions take {:.2f} "
        "times as long as at full clocks (own measurement, 2026-11-22, of what each draws)",
        gpu.power->limit.value(), costs.slowdown));
}

/// What launching costs where no profile tells it, and what of it CUDA graphs and loops over experts change.
void about_launches(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  const auto host = host_operation(scenario);
  const auto time =
      fmt::format("launches: {:.3g} us of CPU time an operation", costs.operation.value() * 1e6);
  using From = HostOperation::From;
  const bool by_kernel = scenario.model.captured != nullptr;
  if (costs.operation < (by_kernel ? host.time / kernels_of_operation : host.time)) {
    provenance.basis.push_back(time + ", the most that the anchor's step leaves room for");
    provenance.step_basis.launches = Basis::elsewhere;
    return;
  }
  provenance.step_basis.launches = host.from == From::assumed ? Basis::nominal : Basis::measured;
  if (facts_of(scenario.job.strategy).has_hooks)
    provenance.step_basis.launches = std::max(provenance.step_basis.launches, Basis::predicted);
  switch (host.from) {
    case From::platform:
      return provenance.basis.push_back(time +
                                        fmt::format(", as the platform {} says", scenario.platform.name));
    case From::calibration:
      return provenance.basis.push_back(
          time + fmt::format(", as measured for the calibration {}", scenario.calibration.name));
    case From::assumed:
      return provenance.basis.push_back(time +
                                        ", assumed: our own hosts took 20 to 61 us. The platform's key "
                                        "'eager_operation', its calibration, or "
                                        "a measured step (an anchor) would tell");
  }
}

void about_graphs(const Scenario& scenario, Provenance& provenance) {
  const auto graphs = scenario.job.cuda_graphs;
  if (graphs == CudaGraphs::none) return;
  provenance.basis.push_back(fmt::format(
      "CUDA graphs: {}; launching one costs the CPU {:.3g} us on our own hosts",
      graphs == CudaGraphs::layers
          ? "one for each block of the model and direction; what stands outside of blocks, "
            "hooks and the optimizer are launched kernel by kernel"
      : has_megatron_modules(scenario.job)
          ? "one for the whole step but the optimizer"
          : "one for the whole step, the optimizer and all collectives included",
      (graph_cpu.launch + (graphs == CudaGraphs::layers ? graph_cpu.call : Seconds{})).value() * 1e6));
}

/// A profile of one GPU holds no hooks of a strategy that shards.
void about_hooks(const Scenario& scenario, Provenance& provenance) {
  if (!facts_of(scenario.job.strategy).has_hooks) return;
  provenance.step_basis.launches = std::max(provenance.step_basis.launches, Basis::predicted);
  // Kernels beside gathers, casts and copies: own steps that the GPU bounds, from profiles of one GPU, nine
  // of ten within 4.7 % on two H200 (30) and 6 % on two H100 (24).
  provenance.step_basis.compute = std::max(provenance.step_basis.compute, Basis::stretched);
  provenance.basis.emplace_back(
      "hooks: the strategy's CPU time in launches, as measured for FSDP2, FSDP1 and ZeroRedundancyOptimizer "
      "(2 H100, 2026-11-22, PyTorch 2.11); other strategies are assumed to take what comparable hooks take");
}

/// 114 published steps of MPT, whose attention is its Triton version (docs/ACCURACY.md): with 16,384 tokens
/// and more up to a third shorter than predicted.
void about_flash1(const Scenario& scenario, Provenance& provenance) {
  if (scenario.job.attention != AttentionKernel::flash1) return;
  provenance.step_basis.compute = std::max(provenance.step_basis.compute, Basis::moved);
  provenance.warnings.emplace_back(
      "FlashAttention 1 was not timed by us: it takes what its authors published over version 2; long "
      "sequences "
      "of those who ran its Triton version took up to a third less time");
}

/// Published steps of GPT-3, Llamas and MPT (docs/ACCURACY.md).
void about_fp8(const Scenario& scenario, Provenance& provenance) {
  if (!fp8_of(scenario.job)) return;
  provenance.warnings.emplace_back(
      "fp8: its kernels were timed on an H100 one by one, no step of our own was; fifteen published steps "
      "are "
      "predicted from 22 % too short to 41 % too long, half of them within 9 %");
}

/// Six own steps with experts on one H100 and one H200 each (tests/validation/recent_models_test.cpp).
void about_experts(const Scenario& scenario, Provenance& provenance) {
  if (scenario.model.experts.number == 0) return;
  provenance.step_basis.compute = std::max(provenance.step_basis.compute, Basis::elsewhere);
  const auto imbalance = scenario.job.layout.expert_imbalance;
  provenance.warnings.push_back(fmt::format(
      "experts: {}; own steps on one GPU take up to a seventh longer than predicted, and few on several "
      "were measured",
      imbalance > 1
          ? fmt::format("{:.4g} times as many tokens for the busiest rank as for the average", imbalance)
          : "as many tokens for each"));
}

void about_adapters(const Scenario& scenario, Provenance& provenance) {
  if (!scenario.job.lora) return;
  provenance.warnings.emplace_back(
      scenario.job.lora->quantised
          ? "fine-tuning: kernels as PEFT and bitsandbytes issue them; the narrow products of adapters go by "
            "wider ones that were timed, the kernel that unpacks 4 bits by the bytes it moves, and no step "
            "was "
            "compared with a measured one"
          : "fine-tuning: kernels as PEFT issues them; the narrow products of adapters go by wider ones that "
            "were timed, and no step was compared with a measured one");
}

void about_optimizer(const Scenario& scenario, Provenance& provenance) {
  if (cost_of(scenario.job.optimizer).is_timed) return;
  provenance.warnings.push_back(
      fmt::format("a step of {} was never timed: the bytes that it moves are counted, its launches guessed",
                  name_of(scenario.job.optimizer)));
}

/// Tensor cores take images in NHWC: in NCHW each convolution is converted, or runs in a slower kernel.
void about_memory_format(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  constexpr double worth_telling = 0.05;  // of the passes' time
  const auto& job = scenario.job;
  const auto convolutions = costs.by_class[static_cast<std::size_t>(OperationClass::convolution)];
  const bool on_tensor_cores = is_half(job.precision) || job.precision == Precision::tf32;
  if (job.channels_last || !on_tensor_cores || convolutions <= Seconds{}) return;
  auto other = scenario;
  other.job.channels_last = true;
  const auto other_costs = compute_costs(other);
  const auto gain = 1 - (total(other_costs.forward) + total(other_costs.backward)) /
                            (total(costs.forward) + total(costs.backward));
  if (!(gain > worth_telling)) return;
  provenance.warnings.push_back(fmt::format(
      "images lie in NCHW, and tensor cores take NHWC: job.memory_format channels_last would take "
      "{:.0f} % off the kernels of both passes",
      100 * gain));
}

/// What PyTorch does by default is in between: convolutions in TF32, products not.
void about_tf32(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  constexpr double worth_telling = 0.2;  // of the kernels' time
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto convolutions = costs.by_class[static_cast<std::size_t>(OperationClass::convolution)];
  if (scenario.job.precision != Precision::fp32 || !gpu.peak[static_cast<std::size_t>(Precision::tf32)] ||
      convolutions <= worth_telling * total({costs.by_class.begin(), costs.by_class.end()}))
    return;
  provenance.warnings.emplace_back(
      "job.precision fp32 takes TF32 to be off; PyTorch's default has it on for convolutions "
      "(torch.backends.cudnn.allow_tf32), which job.precision tf32 is nearer to");
}

}  // namespace

void about_compute(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance) {
  const auto& gpu = scenario.platform.gpu_models.front();
  if (!trains(scenario.job.strategy)) return;
  about_optimizer(scenario, provenance);
  if (costs.profile) {
    about_profiler(*scenario.model.profile, *costs.profile, provenance);
    about_move(scenario, *costs.profile, provenance);
    about_tf32_of_profile(scenario, provenance);
    about_hooks(scenario, provenance);
    about_graphs(scenario, provenance);
    return;
  }
  const bool explicit_times = std::ranges::all_of(scenario.model.layers, [](const Layer& layer) {
    return layer.forward.time.has_value() && layer.backward.time.has_value();
  });
  if (explicit_times) {
    provenance.basis.push_back("compute: explicit times of the model");
    return;
  }
  about_hooks(scenario, provenance);
  provenance.step_basis.compute = basis_of_kernels(scenario);
  if (!costs.anchor) {
    about_kernels(scenario, costs, provenance);
    about_launches(scenario, costs, provenance);
    about_graphs(scenario, provenance);
    about_flash1(scenario, provenance);
    about_experts(scenario, provenance);
    about_adapters(scenario, provenance);
    about_fp8(scenario, provenance);
    about_tf32(scenario, costs, provenance);
    about_memory_format(scenario, costs, provenance);
    return;
  }
  const auto& anchor = *costs.anchor;
  provenance.step_basis.compute =
      anchor.batch == scenario.job.batch_per_gpu ? Basis::measured : Basis::stretched;
  provenance.basis.push_back(
      fmt::format("compute: operations of the model on {}, scaled by {:.4g} to meet the anchor of {:.4g} ms "
                  "a step at batch {} ({})",
                  gpu.name, costs.anchor_scale, anchor.step_time.value() * 1e3, anchor.batch, anchor.source));
  about_launches(scenario, costs, provenance);
  about_graphs(scenario, provenance);
  // Some CPU was fast enough for the anchor.
  provenance.step_basis.launches = std::min(provenance.step_basis.launches, Basis::elsewhere);
  about_anchor(scenario, anchor, costs.anchor_scale, basis_of_kernels(scenario), provenance);
}

}  // namespace gradway

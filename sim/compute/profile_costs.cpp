// SPDX-License-Identifier: Apache-2.0
#include "sim/compute/profile_costs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include <boost/math/tools/toms748_solve.hpp>

#include "sim/compute/anchors.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"

namespace gradway {
namespace {

constexpr double launch_bound_share = 1.02;
// Without the profiler, the power limit may make kernels slower than in the trace: gpt_1b3 in bf16 on an H200
// took 3 % longer than its traced kernels and gaps, while the CPU was far ahead.
constexpr double nearly = 1.05;
constexpr double longest_pause = 20;  // multiple of the traced gap, which allows for that
constexpr double noise = 0.001;
constexpr double widest_pause = 1.3;  // multiple of the traced gap, which includes all other effects

/// The least x in [low, high] at which a non-decreasing function reaches a value; `high` if none does.
template <class Function>
double meet(const Function& non_decreasing, Seconds value, double low, double high) {
  const auto beyond = [&](double x) {
    const double distance = (non_decreasing(x) - value).value();
    return distance == 0 ? std::numeric_limits<double>::min() : distance;  // finds the least x of a plateau
  };
  const auto at_low = beyond(low);
  if (at_low > 0) return low;
  const auto at_high = beyond(high);
  if (at_high < 0) return high;
  const auto are_neighbours = [](double a, double b) { return std::nextafter(a, b) >= b; };
  std::uintmax_t most_calls = 100;  // usually about ten
  return boost::math::tools::toms748_solve(beyond, low, high, at_low, at_high, are_neighbours, most_calls)
      .second;
}

/// Measured times by launch.
std::vector<Seconds> gpu_times(const Profile& profile) {
  std::vector<Seconds> times;
  times.reserve(profile.launches.size());
  for (const auto& launch : profile.launches) times.push_back(launch.gpu);
  return times;
}

std::vector<ReplayedLaunch> replayed(const Profile& profile, const std::vector<Seconds>& gpu) {
  std::vector<ReplayedLaunch> step;
  step.reserve(gpu.size());
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    step.push_back({profile.launches[i].cpu, gpu[i], profile.launches[i].host_waits});
  }
  return step;
}

/// Roofline time of a launch; zero if neither its operations nor its bytes are known.
Seconds roofline(const Launch& launch, const Gpu& gpu) {
  const auto precision = static_cast<std::size_t>(launch.precision);
  Seconds compute{};
  if (launch.flops > Flops{} && gpu.peak[precision]) {
    compute = launch.flops / (*gpu.peak[precision] * gpu.matrix_efficiency[precision]);
  }
  return std::max(compute, launch.bytes / (gpu.memory_bandwidth * gpu.memory_efficiency));
}

bool is_copy(const Launch& launch) {
  return launch.kind == KernelClass::copy_in || launch.kind == KernelClass::copy_out;
}

/// Ratio of the arithmetic time of a launch on two GPUs.
double arithmetic_ratio(const Launch& launch, const Gpu& from, const Gpu& to) {
  const bool product = launch.kind == KernelClass::matrix || launch.kind == KernelClass::attention;
  const auto which = static_cast<std::size_t>(product ? launch.precision : Precision::fp32);
  if (!from.peak[which] || !to.peak[which]) return 1;
  return (*from.peak[which] * from.matrix_efficiency[which]).value() /
         (*to.peak[which] * to.matrix_efficiency[which]).value();
}

void scale_to_gpu(ProfileCosts& costs, const Profile& profile, const Gpu& from, const Gpu& to) {
  // Of a trace without shapes, only the names of kernels say what bounds them.
  const bool by_names =
      std::ranges::all_of(profile.launches, [](const Launch& launch) { return launch.flops == Flops{}; });
  const auto memory_ratio = (from.memory_bandwidth * from.memory_efficiency).value() /
                            (to.memory_bandwidth * to.memory_efficiency).value();
  for (std::size_t i = 0; i < costs.gpu.size(); ++i) {
    const auto& launch = profile.launches[i];
    if (is_copy(launch)) continue;
    const auto fixed = std::min(costs.gpu[i], smallest_kernel);
    const auto bound = std::min(costs.gpu[i] - fixed, roofline(launch, from));
    const auto arithmetic = costs.gpu[i] - fixed - bound;
    const auto scaled =
        bound > Seconds{} ? bound * (roofline(launch, to) / roofline(launch, from)) : Seconds{};
    const bool by_memory = by_names && launch.kind == KernelClass::memory;
    costs.gpu[i] =
        fixed + scaled + arithmetic * (by_memory ? memory_ratio : arithmetic_ratio(launch, from, to));
  }
}

void scale_to_batch(ProfileCosts& costs, const Profile& profile, int batch, const Gpu& gpu) {
  const double growth = static_cast<double>(batch) / profile.batch - 1;
  for (std::size_t i = 0; i < costs.gpu.size(); ++i) {
    const auto& launch = profile.launches[i];
    if (!launch.grows) continue;
    const auto fixed = std::min(costs.gpu[i], smallest_kernel);
    auto grows = costs.gpu[i] - fixed;
    if (launch.kind == KernelClass::matrix || launch.kind == KernelClass::attention) {
      const auto best = roofline(launch, gpu);
      if (best > Seconds{} && best < grows) grows = (grows + best) / 2;
    }
    costs.gpu[i] = std::max(fixed, costs.gpu[i] + grows * growth);
  }
}

/// Number of floating-point operations of a step in one precision.
Flops products_of(const Profile& profile, Precision precision) {
  Flops work{};
  for (const auto& launch : profile.launches)
    if (launch.precision == precision) work += launch.flops;
  return work;
}

/// Factor on all kernels with which the replay at the anchor's batch takes the anchor's time.
double scale_to_meet(const Anchor& anchor, const ProfileCosts& costs, const Profile& profile,
                     const Gpu& gpu) {
  auto measured = costs;
  scale_to_batch(measured, profile, anchor.batch, gpu);
  auto step = replayed(profile, measured.gpu);
  const auto scaled = [&](double scale) {
    for (std::size_t i = 0; i < step.size(); ++i) step[i].gpu = measured.gpu[i] * scale;
    return replay(step, costs.cpu_scale, costs.pause);
  };
  return meet(scaled, anchor.step_time, 0.01, 100);
}

/// Extrapolates the kernels of a profile to another GPU by rooflines, and by an anchor if the model has one.
void extrapolate(const Gpu& profiled, ProfileCosts& costs, const Scenario& scenario, const Gpu& gpu) {
  const auto& profile = *scenario.model.profile;
  const auto before = total(costs.gpu);
  costs.extrapolation = Extrapolation::roofline;
  scale_to_gpu(costs, profile, profiled, gpu);
  if (const auto* anchor = matching_anchor(scenario.model, scenario.job, gpu)) {
    const auto samples = static_cast<double>(anchor->batch) / profile.batch;
    refuse_beyond_peak(scenario.model, gpu, *anchor, products_of(profile, anchor->precision) * samples,
                       anchor->step_time);
    costs.extrapolation = Extrapolation::anchor;
    costs.anchor = *anchor;
    costs.anchor_scale = scale_to_meet(*anchor, costs, profile, gpu);
  }
  costs.extrapolation_factor = total(costs.gpu) * costs.anchor_scale / before;
}

}  // namespace

Seconds total(const std::vector<Seconds>& times) {
  return std::accumulate(times.begin(), times.end(), Seconds{});
}

Unprofiled without_profiler(const Profile& profile) {
  const auto step = replayed(profile, gpu_times(profile));
  Unprofiled costs;
  costs.cpu_scale = profiled_cpu_share;
  costs.pause = profile.gap * profiled_pause_share;
  if (profile.step_time) {
    const auto measured = *profile.step_time;
    const auto with_pause = [&](double share) { return replay(step, 0, profile.gap * share); };
    const auto with_both = [&](double share) { return replay(step, costs.cpu_scale, profile.gap * share); };
    const auto with_cpu = [&](double scale) { return replay(step, scale, costs.pause); };
    // If kernels and gaps explain nearly all of the step, and the CPU does not bind it, the rest is in the
    // gaps: a CPU that hides behind kernels would have to be far slower to explain it.
    const bool nearly_all = with_pause(widest_pause) * nearly >= measured &&
                            with_cpu(costs.cpu_scale) <= with_cpu(0) * launch_bound_share;
    if (nearly_all || with_pause(widest_pause) >= measured) {
      // Where CPU launches already lengthen the step, the gaps have to explain less.
      const auto assumed = with_both(0) <= measured ? costs.cpu_scale : 0;
      const auto with_assumed = [&](double share) { return replay(step, assumed, profile.gap * share); };
      costs.pause = profile.gap * meet(with_assumed, measured, 0, nearly_all ? longest_pause : widest_pause);
      // Kernels and gaps explain the step, so that the CPU must not lengthen it further.
      if (with_cpu(costs.cpu_scale) > measured * (1 + noise)) {
        costs.cpu_scale = meet(with_cpu, measured * (1 + noise), 0, costs.cpu_scale);
      }
    } else {
      costs.cpu_scale = meet(with_cpu, measured, 0, 10);
    }
  }
  costs.step = replay(step, costs.cpu_scale, costs.pause);
  costs.launch_bound = costs.step > replay(step, 0, costs.pause) * launch_bound_share;
  return costs;
}

ProfileCosts profile_costs(const Scenario& scenario) {
  const auto& profile = *scenario.model.profile;
  const auto& gpu = scenario.platform.gpu_models.front();
  ProfileCosts costs;
  static_cast<Unprofiled&>(costs) = profile.unprofiled ? *profile.unprofiled : without_profiler(profile);
  costs.gpu = gpu_times(profile);
  if (scenario.profiled_gpu) extrapolate(*scenario.profiled_gpu, costs, scenario, gpu);
  if (scenario.job.batch_per_gpu != profile.batch) {
    scale_to_batch(costs, profile, scenario.job.batch_per_gpu, gpu);
  }
  // Applied last, so that an anchor at the job's batch is met exactly.
  for (auto& time : costs.gpu) time = time * costs.anchor_scale;
  return costs;
}

StepMemory memory_of_profile(const Profile& profile, const Job& job) {
  const auto samples = static_cast<double>(job.batch_per_gpu) / profile.batch;
  StepMemory step;
  if (runs_blocks_again(job.recompute)) return step;  // the profile was recorded without recomputation
  for (const auto& moment : profile.memory) {
    step.activations.push_back(moment.fixed + moment.grows * samples);
    step.gradients.push_back(moment.gradients);
    if (moment.phase == ProfiledPhase::forward) ++step.forward;
  }
  return step;
}

}  // namespace gradway

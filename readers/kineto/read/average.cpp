// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/steps.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/quantiles.hpp"

namespace gradway {
namespace {

constexpr std::int64_t well_ahead_ns = 20'000;

Seconds seconds(std::int64_t nanoseconds) {
  return Seconds{static_cast<double>(nanoseconds) / 1e9};
}

bool launch_same(const TracedStep& reference, const TracedStep& step) {
  return std::ranges::equal(
      reference.launches, step.launches, [](const TracedLaunch& a, const TracedLaunch& b) {
        return a.activity->name == b.activity->name && a.activity->stream == b.activity->stream;
      });
}

/// The largest group of complete steps that launch the same kernels.
std::vector<std::size_t> largest_group(std::span<const TracedStep> steps) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].is_complete) continue;
    const auto group = std::ranges::find_if(
        groups, [&](const auto& members) { return launch_same(steps[members.front()], steps[i]); });
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  std::vector<std::size_t> best;
  for (const auto& group : groups) {
    if (group.size() >= best.size()) best = group;
  }
  return best;
}

void warn_of_others(std::span<const TracedStep> steps, const std::vector<std::size_t>& used,
                    std::vector<std::string>& warnings) {
  const auto complete = std::ranges::count_if(steps, &TracedStep::is_complete);
  const auto incomplete = std::ranges::count_if(
      steps, [](const TracedStep& step) { return !step.is_complete && step.passes > 0; });
  if (incomplete > 0) warnings.push_back(fmt::format("ignored incomplete steps: {}", incomplete));
  const auto different = complete - static_cast<std::ptrdiff_t>(used.size());
  if (used.size() == 1 && complete > 1) {
    warnings.push_back(fmt::format(
        "no two of the {} steps launch the same kernels: only the last one is used; record after a few steps "
        "of warm-up",
        complete));
  } else if (different > 0) {
    warnings.push_back(fmt::format(
        "ignored steps that launch different kernels (such as a first step or an evaluation): {} of {}",
        different, complete));
  }
  if (complete == 1)
    warnings.emplace_back(
        "the trace has only one complete step: record several to see whether it is typical");
}

std::int64_t gpu_end(const TracedStep& step) {
  std::int64_t end = 0;
  for (const auto& launch : step.launches) end = std::max(end, launch.activity->end());
  return end;
}

/// Scales times so that they add up to `total`: a sum of medians is less than the median of sums.
void scale_to(std::vector<Seconds>& times, Seconds total) {
  Seconds sum{};
  for (const auto time : times) sum += time;
  if (sum <= Seconds{}) return;
  for (auto& time : times) time = time * (total / sum);
}

/// Median over steps of the time of all launches on the GPU.
Seconds gpu_total(std::span<const TracedStep> steps, const std::vector<std::size_t>& used) {
  std::vector<std::int64_t> totals;
  for (const auto index : used) {
    std::int64_t sum = 0;
    for (const auto& launch : steps[index].launches) sum += launch.activity->duration;
    totals.push_back(sum);
  }
  return seconds(lower_median(totals));
}

/// Median over steps of the CPU's time for all launches. A time that one step lacks is taken from the others.
Seconds cpu_total(std::span<const TracedStep> steps, const AveragedSteps& averaged) {
  std::vector<Seconds> totals;
  for (const auto index : averaged.used) {
    const auto& launches = steps[index].launches;
    Seconds sum{};
    for (std::size_t i = 0; i < launches.size(); ++i)
      sum += launches[i].cpu_known ? seconds(launches[i].cpu) : averaged.cpu[i];
    totals.push_back(sum);
  }
  return lower_median(totals);
}

Seconds step_time(std::span<const TracedStep> steps, const std::vector<std::size_t>& used) {
  std::vector<std::int64_t> periods;
  for (const auto index : used) {
    if (index > 0 && !steps[index - 1].launches.empty())
      periods.push_back(gpu_end(steps[index]) - gpu_end(steps[index - 1]));
  }
  if (!periods.empty()) return seconds(std::max<std::int64_t>(1, lower_median(periods)));
  const auto& only = steps[used.back()];
  return seconds(std::max<std::int64_t>(1, gpu_end(only) - only.launches.front().call->start));
}

Seconds median_gap(std::span<const TracedStep> steps, const std::vector<std::size_t>& used) {
  std::vector<std::int64_t> gaps;
  for (const auto index : used) {
    const auto& launches = steps[index].launches;
    const auto stream = main_stream(launches);
    const TracedLaunch* before = nullptr;
    for (const auto& launch : launches) {
      if (launch.activity->stream != stream) continue;
      if (before != nullptr && launch.call->end() + well_ahead_ns < before->activity->end())
        gaps.push_back(std::max<std::int64_t>(0, launch.activity->start - before->activity->end()));
      before = &launch;
    }
  }
  return seconds(lower_median(gaps));
}

}  // namespace

std::int64_t main_stream(std::span<const TracedLaunch> launches) {
  std::map<std::int64_t, std::int64_t> busy;
  for (const auto& launch : launches) {
    if (launch.activity->kind == TracedActivity::Kind::kernel)
      busy[launch.activity->stream] += launch.activity->duration;
  }
  const auto most = std::ranges::max_element(busy, {}, [](const auto& stream) { return stream.second; });
  return most == busy.end() ? 0 : most->first;
}

AveragedSteps average(std::span<const TracedStep> steps, std::vector<std::string>& warnings) {
  AveragedSteps result;
  result.used = largest_group(steps);
  expects(!result.used.empty(), "a complete step");
  warn_of_others(steps, result.used, warnings);
  const auto count = steps[result.used.front()].launches.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> cpu;
    std::vector<std::int64_t> gpu;
    std::size_t waits = 0;
    std::size_t waits_known = 0;
    for (const auto index : result.used) {
      const auto& launch = steps[index].launches[i];
      gpu.push_back(launch.activity->duration);
      if (launch.cpu_known) cpu.push_back(launch.cpu);
      if (!launch.waits_known) continue;
      ++waits_known;
      if (launch.host_waits) ++waits;
    }
    if (cpu.empty()) cpu.push_back(steps[result.used.front()].launches[i].cpu);
    result.cpu.push_back(seconds(lower_median(cpu)));
    result.gpu.push_back(seconds(std::max<std::int64_t>(1, lower_median(gpu))));
    result.host_waits.push_back(2 * waits > waits_known);
  }
  scale_to(result.gpu, gpu_total(steps, result.used));
  scale_to(result.cpu, cpu_total(steps, result));
  result.step_time = step_time(steps, result.used);
  result.gap = median_gap(steps, result.used);
  return result;
}

}  // namespace gradway

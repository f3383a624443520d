// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "observe/diagnose/cause.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

// Ranks of a job whose kernels take so much longer than the same kernels of the others.
constexpr double slower_kernels = 1.03;
// Healthy GPUs differ by less: at the power limit, products in bf16 reach 676 to 705 TFLOP/s on five H200
// (calibration/results/h200-*x).
constexpr double clearly_slower = 1.06;
// More work than the others have.
constexpr double more_work = 1.02;

bool is_arithmetic(WorkClass work) {
  return work == WorkClass::matrix || work == WorkClass::attention;
}

bool is_kernel(WorkClass work) {
  return work != WorkClass::collective && !is_copy(work);
}

using Factors = std::vector<std::vector<double>>;  ///< by rank and activity

Candidate scaled(const JobRun& run, RunCause cause, Factors factors) {
  return {std::move(cause), [factors = std::move(factors), &run](RunTimes& times) {
            for (std::size_t r = 0; r < times.gpu.size(); ++r) {
              for (std::size_t i = 0; i < factors[r].size(); ++i)
                times.gpu[r][i] = std::min(times.gpu[r][i], run.alone[r][i] * factors[r][i]);
            }
          }};
}

Factors no_change(const JobRun& run) {
  Factors factors;
  for (const auto& rank : run.ranks) factors.emplace_back(rank.activities.size(), 1.0);
  return factors;
}

/// Arithmetic of the passes of a rank, or their memory traffic if it is unknown.
double work_of(const RankRun& rank) {
  double flops = 0;
  double traffic = 0;
  for (const auto& activity : rank.activities) {
    if (activity.work == WorkClass::optimizer || !is_kernel(activity.work)) continue;
    flops += activity.flops;
    traffic += activity.traffic;
  }
  return flops > 0 ? flops : traffic;
}

struct Mean {
  double sum = 0;
  double number = 0;
  double mean() const { return sum / number; }
};

/// Mean duration of each kernel on each rank, where it ran on the main stream and no collective beside it:
/// one that waits for another rank holds multiprocessors, and so do kernels of the main stream for other
/// streams.
std::vector<std::map<std::uint32_t, Mean>> kernel_means(const JobRun& run) {
  constexpr double hardly = 0.02;
  std::vector<std::map<std::uint32_t, Mean>> means;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    auto& of_rank = means.emplace_back();
    for (std::size_t i = 0; i < run.alone[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      if (!is_kernel(activity.work) || activity.stream != run.ranks[r].main_stream ||
          run.beside_collectives[r][i] > hardly * run.alone[r][i])
        continue;
      auto& mean = of_rank[activity.kernel];
      mean.sum += run.alone[r][i];
      mean.number += 1;
    }
  }
  return means;
}

/// Whether most kernels of a rank ran beside collectives, which hold multiprocessors while they wait.
bool is_beside_collectives(const JobRun& run, std::size_t rank) {
  double beside = 0;
  double of_kernels = 0;
  for (std::size_t i = 0; i < run.alone[rank].size(); ++i) {
    if (!is_kernel(run.ranks[rank].activities[i].work)) continue;
    beside += run.beside_collectives[rank][i];
    of_kernels += static_cast<double>(run.ranks[rank].activities[i].duration);
  }
  return 2 * beside > of_kernels;
}

/// Ranks that compute more than half of the ranks. Without it, their passes take the time of a rank that
/// computes as much as those; if collectives that wait slow that one, their own time by their work.
std::set<std::size_t> find_unequal_work(const JobRun& run, std::vector<Candidate>& candidates) {
  std::vector<double> work;
  for (const auto& rank : run.ranks) work.push_back(work_of(rank));
  const auto usual = lower_median(work);
  const auto reference = static_cast<std::size_t>(std::ranges::find(work, usual) - work.begin());
  std::set<std::size_t> unequal;
  RunCause cause{.kind = CauseKind::unequal_work, .confidence = Confidence::high};
  auto factors = no_change(run);
  const bool is_reference_slowed = is_beside_collectives(run, reference);
  std::vector<std::array<double, work_classes>> sums(run.ranks.size());
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < run.ranks[r].activities.size(); ++i)
      sums[r][static_cast<std::size_t>(run.ranks[r].activities[i].work)] += run.alone[r][i];
  }
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    if (usual <= 0 || work[r] < more_work * usual) continue;
    unequal.insert(r);
    cause.ranks.push_back(run.ranks[r].rank);
    cause.arithmetic_ratio = std::max(cause.arithmetic_ratio, work[r] / usual);
    cause.events = run.ranks[r].batch;
    for (std::size_t i = 0; i < factors[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      const auto work_class = static_cast<std::size_t>(activity.work);
      if (activity.work == WorkClass::optimizer || activity.work == WorkClass::collective) continue;
      if (is_reference_slowed && is_kernel(activity.work)) {
        factors[r][i] = usual / work[r];
      } else if (sums[r][work_class] > 0) {
        factors[r][i] = std::min(1.0, sums[reference][work_class] / sums[r][work_class]);
      }
    }
  }
  if (is_reference_slowed && !unequal.empty()) {
    // Then no rank waits for another: each takes as long as such a rank would for its work.
    const auto free = *unequal.begin();
    for (std::size_t r = 0; r < run.ranks.size(); ++r) {
      if (unequal.contains(r)) continue;
      for (std::size_t i = 0; i < factors[r].size(); ++i) {
        const auto& activity = run.ranks[r].activities[i];
        const auto work_class = static_cast<std::size_t>(activity.work);
        if (activity.work == WorkClass::optimizer || !is_kernel(activity.work)) continue;
        if (sums[r][work_class] > 0)
          factors[r][i] = std::min(1.0, sums[free][work_class] * work[r] / work[free] / sums[r][work_class]);
      }
    }
  }
  if (!unequal.empty()) candidates.push_back(scaled(run, std::move(cause), std::move(factors)));
  return unequal;
}

/// The kernel that takes most time more than expected: the example of a cause.
class SlowestKernel {
 public:
  void note(const RunActivity& activity, double excess, double measured, double expected) {
    if (excess <= excess_) return;
    activity_ = &activity;
    excess_ = excess;
    measured_ = measured;
    expected_ = expected;
  }
  void describe(const JobRun& run, RunCause& cause) const {
    if (activity_ == nullptr) return;
    cause.example = kernel_text(run, *activity_);
    cause.stream = activity_->stream;
    cause.measured = from_nanoseconds(measured_);
    cause.expected = from_nanoseconds(expected_);
  }

 private:
  const RunActivity* activity_ = nullptr;
  double excess_ = 0;
  double measured_ = 0;
  double expected_ = 0;
};

CauseKind slow_kind(const RunCause& cause) {
  constexpr double clearly = 2;
  const bool is_arithmetic_alone =
      cause.arithmetic_ratio - 1 > clearly * std::max(0.0, cause.memory_ratio - 1);
  return is_arithmetic_alone ? CauseKind::low_clocks : CauseKind::shared_gpu;
}

/// Ranks whose kernels take longer than the same kernels on the other ranks. Each rank is a cause of its own.
void find_slow_ranks(const JobRun& run, const std::set<std::size_t>& with_more_work,
                     std::vector<Candidate>& candidates) {
  if (run.ranks.size() < 2) return;
  const auto means = kernel_means(run);
  std::map<std::uint32_t, double> usual;
  for (const auto& of_rank : means) {
    for (const auto& [kernel, mean] : of_rank) {
      if (usual.contains(kernel)) continue;
      std::vector<double> durations;
      for (const auto& kernels : means) {
        if (const auto entry = kernels.find(kernel); entry != kernels.end())
          durations.push_back(entry->second.mean());
      }
      if (durations.size() > 1) usual[kernel] = lower_median(durations);
    }
  }
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    if (with_more_work.contains(r)) continue;
    auto factors = no_change(run);
    std::array<Mean, 2> of_rank;  // of memory-bound kernels, of arithmetic
    std::array<double, 2> of_others{};
    SlowestKernel slowest;
    RunCause cause{.ranks = {run.ranks[r].rank}, .confidence = Confidence::medium};
    for (std::size_t i = 0; i < factors[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      const auto expected = usual.find(activity.kernel);
      const auto own = means[r].find(activity.kernel);
      if (!is_kernel(activity.work) || expected == usual.end() || own == means[r].end()) continue;
      const auto mean = own->second.mean();
      factors[r][i] = std::min(1.0, expected->second / std::max(1.0, mean));
      const auto kind = is_arithmetic(activity.work) ? 1U : 0U;
      of_rank[kind].sum += mean;
      of_others[kind] += expected->second;
      slowest.note(activity, own->second.sum * (1 - factors[r][i]), mean, expected->second);
    }
    const auto total = of_rank[0].sum + of_rank[1].sum;
    if (total < slower_kernels * (of_others[0] + of_others[1])) continue;
    if (of_others[0] > 0) cause.memory_ratio = of_rank[0].sum / of_others[0];
    if (of_others[1] > 0) cause.arithmetic_ratio = of_rank[1].sum / of_others[1];
    cause.kind = slow_kind(cause);
    if (total < clearly_slower * (of_others[0] + of_others[1]) || is_beside_collectives(run, r))
      cause.confidence = Confidence::low;
    slowest.describe(run, cause);
    candidates.push_back(scaled(run, std::move(cause), std::move(factors)));
  }
}

/// Ranks on which the same launch takes very different times from step to step: another process uses the GPU,
/// which alternates between both, or its clocks change.
void find_interruptions(const JobRun& run, std::vector<Candidate>& candidates) {
  constexpr double varying =
      1.25;  // Sum of durations over the sum of their least ones: 1.00 to 1.05 if healthy.
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const auto& rank = run.ranks[r];
    std::map<std::pair<std::uint32_t, std::size_t>, double> least;  // by kernel and its number in the step
    std::vector<std::pair<std::uint32_t, std::size_t>> keys;
    std::map<std::pair<std::uint32_t, int>, std::size_t> numbers;
    for (std::size_t i = 0; i < rank.activities.size(); ++i) {
      const auto& activity = rank.activities[i];
      keys.emplace_back(activity.kernel, numbers[{activity.kernel, activity.step}]++);
      if (!is_kernel(activity.work)) continue;
      const auto [entry, is_new] = least.emplace(keys.back(), run.alone[r][i]);
      if (!is_new) entry->second = std::min(entry->second, run.alone[r][i]);
    }
    auto factors = no_change(run);
    double sum = 0;
    double least_sum = 0;
    RunCause cause{.kind = CauseKind::shared_gpu, .ranks = {rank.rank}};
    SlowestKernel slowest;
    for (std::size_t i = 0; i < rank.activities.size(); ++i) {
      if (!is_kernel(rank.activities[i].work)) continue;
      const auto time = run.alone[r][i];
      const auto expected = least[keys[i]];
      sum += time;
      least_sum += expected;
      factors[r][i] = expected / std::max(1.0, time);
      slowest.note(rank.activities[i], time - expected, time, expected);
    }
    if (sum < varying * least_sum) continue;
    cause.memory_ratio = sum / least_sum;
    cause.arithmetic_ratio = cause.memory_ratio;
    slowest.describe(run, cause);
    candidates.push_back(scaled(run, std::move(cause), std::move(factors)));
  }
}

double peak_rate(const Gpu& gpu, Precision precision) {
  const auto which = static_cast<std::size_t>(precision);
  return gpu.peak[which] ? gpu.peak[which]->value() * gpu.matrix_efficiency[which] : 0;
}

/// A kernel that only moves contiguous data: not one of strided operands, nor one that computes much for each
/// element. On a healthy H200, gradients of GELU reach 0.79 and transposed copies a quarter of the bandwidth.
bool only_moves_data(const JobRun& run, const RunActivity& activity) {
  constexpr std::array<std::string_view, 8> names{"aten::add", "aten::add_", "aten::mul",  "aten::mul_",
                                                  "aten::sub", "aten::div",  "aten::relu", "aten::copy_"};
  return activity.work == WorkClass::elementwise &&
         std::ranges::find(names, run.names.operations.text(activity.operation)) != names.end() &&
         contains(run.names.kernels.text(activity.kernel), "vectorized_elementwise_kernel");
}

/// How near the best kernels come to what the GPU reaches in isolation; 0 if too few are large enough.
struct Reached {
  double arithmetic = 0;
  double memory = 0;
};

Reached reached(const JobRun& run, std::size_t r, const Gpu& gpu) {
  constexpr double large_product = 20e9;   // floating-point operations
  constexpr double large_traffic = 128e6;  // bytes, more than L2 caches hold
  constexpr std::size_t enough = 8;
  constexpr double best = 0.9;  // quantile
  std::vector<double> arithmetic;
  std::vector<double> memory;
  for (std::size_t i = 0; i < run.alone[r].size(); ++i) {
    const auto& activity = run.ranks[r].activities[i];
    const auto time = std::max(1.0, run.alone[r][i]) / 1e9;
    const auto peak = peak_rate(gpu, activity.precision);
    if (activity.work == WorkClass::matrix && activity.flops > large_product && peak > 0)
      arithmetic.push_back(activity.flops / time / peak);
    if (activity.traffic > large_traffic && only_moves_data(run, activity))
      memory.push_back(activity.traffic / time / (gpu.memory_bandwidth.value() * gpu.memory_efficiency));
  }
  Reached result;
  if (arithmetic.size() >= enough) result.arithmetic = lower_quantile(arithmetic, best);
  if (memory.size() >= enough) result.memory = lower_quantile(memory, best);
  return result;
}

/// All ranks slower than the GPU's own kernels in isolation: nothing to compare with but the tables.
void find_slow_gpus(const JobRun& run, const DiagnosisBasis& basis, std::vector<Candidate>& candidates) {
  // The best tenth of large kernels reaches 0.91 to 1.17 and 1.03 to 1.48 of these rates on healthy H100 and
  // H200 (20 traces).
  constexpr double least = 0.8;
  const auto& gpu = basis.platform.gpu_models.front();
  RunCause cause;
  double arithmetic = 0;
  double memory = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const auto best = reached(run, r, gpu);
    arithmetic = std::max(arithmetic, best.arithmetic);
    memory = std::max(memory, best.memory);
  }
  const bool slow_arithmetic = arithmetic > 0 && arithmetic < least;
  const bool slow_memory = memory > 0 && memory < least;
  if (!slow_arithmetic && !slow_memory) return;
  cause.arithmetic_ratio = arithmetic > 0 ? std::max(1.0, 1 / arithmetic) : 1;
  cause.memory_ratio = memory > 0 ? std::max(1.0, 1 / memory) : 1;
  cause.kind = slow_kind(cause);
  auto factors = no_change(run);
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < factors[r].size(); ++i) {
      const auto work = run.ranks[r].activities[i].work;
      if (!is_kernel(work)) continue;
      factors[r][i] = 1 / (is_arithmetic(work) ? cause.arithmetic_ratio : cause.memory_ratio);
    }
  }
  candidates.push_back(scaled(run, std::move(cause), std::move(factors)));
}

/// Nanoseconds that half of a kernel's bytes take.
double time_of_half(const RunActivity& activity, const Gpu& gpu) {
  return 0.5 * activity.traffic / (gpu.memory_bandwidth.value() * gpu.memory_efficiency) * 1e9;
}

/// Time of a product in another precision: it reaches no larger share of that precision's rate than of its
/// own, nor the whole rate, and moves half of its bytes.
double time_in(const RunActivity& activity, double time, const Gpu& gpu, Precision precision) {
  const auto fast = peak_rate(gpu, precision);
  const auto by_rates = time * peak_rate(gpu, activity.precision) / fast;
  return std::min(time, std::max({by_rates, activity.flops / fast * 1e9, time_of_half(activity, gpu)}));
}

/// Whether autocast runs the operation in fp32, so that its bytes stay.
/// @source PyTorch's documentation of torch.amp, "CUDA Ops that can autocast to float32"
bool stays_wide(const JobRun& run, const RunActivity& activity) {
  const auto& operation = run.names.operations.text(activity.operation);
  return operation.find("layer_norm") != std::string::npos || operation.find("softmax") != std::string::npos;
}

/// Products in fp32 or TF32 on a GPU with faster 16-bit arithmetic. In 16 bits, element-wise kernels and
/// batch norms of the passes move half of the bytes.
void find_wide_precision(const JobRun& run, const DiagnosisBasis& basis, std::vector<Candidate>& candidates) {
  const auto& gpu = basis.platform.gpu_models.front();
  const auto meant = basis.precision.value_or(Precision::bf16);
  if (meant == Precision::fp32 || meant == Precision::tf32 || peak_rate(gpu, meant) <= 0) return;
  std::array<double, precision_count> time{};
  std::array<double, precision_count> work{};
  auto factors = no_change(run);
  RunCause cause{.kind = CauseKind::wide_precision};
  SlowestKernel slowest;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < factors[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      // Only the kernel itself would be shorter, not what delayed its start.
      const auto alone = std::max(1.0, run.alone[r][i]);
      const auto duration = std::min(alone, static_cast<double>(activity.duration));
      if (!is_arithmetic(activity.work)) {
        const bool moves_activations =
            activity.work == WorkClass::elementwise || activity.work == WorkClass::normalization;
        // A kernel slower than its bytes is bound by something else, which stays.
        const auto saved =
            activity.traffic > 0 ? std::min(duration / 2, time_of_half(activity, gpu)) : duration / 2;
        if (moves_activations && activity.reads_fp32 && !stays_wide(run, activity))
          factors[r][i] = 1 - saved / alone;
        continue;
      }
      time[static_cast<std::size_t>(activity.precision)] += duration;
      work[static_cast<std::size_t>(activity.precision)] += activity.flops;
      const bool is_wide = activity.precision == Precision::fp32 || activity.precision == Precision::tf32;
      if (!is_wide) continue;
      const auto expected = time_in(activity, duration, gpu, meant);
      factors[r][i] = 1 - (duration - expected) / alone;
      slowest.note(activity, duration - expected, duration, expected);
    }
  }
  const auto fp32 = time[static_cast<std::size_t>(Precision::fp32)];
  const auto tf32 = time[static_cast<std::size_t>(Precision::tf32)];
  const auto total = std::accumulate(time.begin(), time.end(), 0.0);
  if (total <= 0 || 2 * (fp32 + tf32) <= total) return;
  cause.precision = fp32 >= tf32 ? Precision::fp32 : Precision::tf32;
  if (basis.precision) cause.confidence = Confidence::high;
  // A program that computes most in 16 bits has chosen the precision of the rest, as models of T5 do for
  // their scores of attention.
  const auto wide_work =
      work[static_cast<std::size_t>(Precision::fp32)] + work[static_cast<std::size_t>(Precision::tf32)];
  if (2 * wide_work < std::accumulate(work.begin(), work.end(), 0.0)) cause.confidence = Confidence::low;
  cause.arithmetic_ratio = (fp32 + tf32) / total;
  slowest.describe(run, cause);
  candidates.push_back(scaled(run, std::move(cause), std::move(factors)));
}

/// The rate of a copy from pinned memory: of the fastest large one of the job, else of the GPU's link.
double pinned_rate(const JobRun& run, const Platform& platform) {
  constexpr std::int64_t large = 1'000'000;
  double rate = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < run.alone[r].size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      if (is_copy(activity.work) && !activity.is_pageable && activity.bytes > large && run.alone[r][i] > 0)
        rate = std::max(rate, static_cast<double>(activity.bytes) / run.alone[r][i] * 1e9);
    }
  }
  if (rate > 0 || platform.gpus.empty()) return rate;
  for (const auto& link : platform.links) {
    if (link.kind == LinkKind::pcie && link.to == platform.gpus.front())
      rate = platform.resources[link.resource.index()].capacity;
  }
  return rate;
}

void find_pageable_copies(const JobRun& run, const DiagnosisBasis& basis,
                          std::vector<Candidate>& candidates) {
  const auto rate = pinned_rate(run, basis.platform);
  if (rate <= 0) return;
  RunCause cause{.kind = CauseKind::pageable_copies, .confidence = Confidence::high};
  std::vector<std::pair<std::array<std::size_t, 3>, std::size_t>> copies;  // rank, step, item; activity
  std::set<int> ranks;
  double bytes = 0;
  double time = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t s = 0; s < run.ranks[r].steps.size(); ++s) {
      const auto& items = run.ranks[r].steps[s].items;
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].kind != CpuItem::Kind::wait || items[i].activity < 0 || items[i].reads_value) continue;
        if (copies_checkpoint(run, r, s)) continue;
        const auto activity = static_cast<std::size_t>(items[i].activity);
        copies.push_back({{r, s, i}, activity});
        ranks.insert(run.ranks[r].rank);
        const auto& copy = run.ranks[r].activities[activity];
        bytes += static_cast<double>(copy.bytes);
        time += run.alone[r][activity];
        cause.example = kernel_text(run, copy);
        cause.stream = copy.stream;
      }
    }
  }
  if (copies.empty()) return;
  const auto share = static_cast<double>(run.steps) * static_cast<double>(ranks.size());
  if (ranks.size() < run.ranks.size()) cause.ranks.assign(ranks.begin(), ranks.end());
  cause.events = static_cast<double>(copies.size()) / share;
  cause.bytes = bytes / share;
  cause.measured = Seconds{time / share / 1e9};
  cause.expected = Seconds{bytes / rate / share};
  candidates.push_back({std::move(cause), [copies, rate, &run](RunTimes& times) {
                          for (const auto& [place, activity] : copies) {
                            const auto& copy = run.ranks[place[0]].activities[activity];
                            times.cpu[place[0]][place[1]][place[2]] = -1;
                            times.gpu[place[0]][activity] = std::min(
                                times.gpu[place[0]][activity], static_cast<double>(copy.bytes) / rate * 1e9);
                          }
                        }});
}

}  // namespace

std::string kernel_text(const JobRun& run, const RunActivity& activity) {
  const auto& text = run.names.kernels.text(activity.kernel);
  const auto block = text.rfind('|');
  return text.substr(0, text.rfind('|', block - 1));
}

void find_gpu_causes(const JobRun& run, const DiagnosisBasis& basis, std::vector<Candidate>& candidates) {
  const auto with_more_work = find_unequal_work(run, candidates);
  find_slow_ranks(run, with_more_work, candidates);
  find_interruptions(run, candidates);
  find_slow_gpus(run, basis, candidates);
  find_wide_precision(run, basis, candidates);
  find_pageable_copies(run, basis, candidates);
}

}  // namespace gradway

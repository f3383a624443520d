// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "sim/study/diagnose/cause.hpp"

namespace gradway {
namespace {

// PyTorch's default of DDP's bucket_cap_mb.
constexpr double default_bucket = 25.0 * 1024 * 1024;

/// The all-reduces of gradients of each step, in order: those that the backward pass launches.
std::map<std::int32_t, std::vector<std::size_t>> gradient_buckets(const JobRun& run) {
  std::map<std::int32_t, std::vector<std::size_t>> buckets;
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    const auto& collective = run.collectives[i];
    const auto& member = collective.members.front();
    const auto& activity = run.ranks[static_cast<std::size_t>(member.rank)]
                               .activities[static_cast<std::size_t>(member.activity)];
    if (collective.kind == CollectiveKind::all_reduce && collective.bytes > 0 &&
        activity.phase == ProfiledPhase::backward)
      buckets[collective.step].push_back(i);
  }
  return buckets;
}

/// Buckets that are smaller on average than default ones, which overshoot their cap (all but the last), are
/// joined up to the default size: only the last of a group is reduced, in the time of the whole group's bytes
/// at the rate that the largest bucket reaches.
void find_small_buckets(const JobRun& run, const std::map<std::int32_t, std::vector<std::size_t>>& buckets,
                        CollectiveExpectations& expectations, std::vector<Candidate>& candidates) {
  constexpr double small = 0.75;
  std::vector<std::pair<std::size_t, double>> changed;
  RunCause cause{.kind = CauseKind::small_buckets};
  double bytes = 0;
  for (const auto& [step, of_step] : buckets) {
    double sum = 0;
    for (const auto index : of_step) sum += run.collectives[index].bytes;
    if (of_step.size() < 2 || sum > small * default_bucket * static_cast<double>(of_step.size())) continue;
    bytes += sum;
    cause.events += static_cast<double>(of_step.size());
    double group = 0;
    for (std::size_t i = 0; i < of_step.size(); ++i) {
      auto joined = run.collectives[of_step[i]];
      group += joined.bytes;
      if (group < default_bucket && i + 1 < of_step.size()) {
        changed.emplace_back(of_step[i], 0);
        continue;
      }
      const auto alone = expectations.time(joined);
      joined.bytes = group;
      const auto together = expectations.time(joined);
      if (!alone || !together) return;
      changed.emplace_back(of_step[i], *together / *alone);
      group = 0;
    }
  }
  if (changed.empty()) return;
  cause.events /= static_cast<double>(run.steps);
  cause.bytes = bytes / static_cast<double>(run.steps) / cause.events;
  candidates.push_back({cause, [changed](RunTimes& times) {
                          for (const auto& [index, factor] : changed) times.transfer[index] *= factor;
                        }});
}

/// One or two buckets for all gradients begin when the backward pass is nearly over. With buckets of the
/// default size, all but the last would run during it.
void find_large_buckets(const JobRun& run, const std::map<std::int32_t, std::vector<std::size_t>>& buckets,
                        std::vector<Candidate>& candidates) {
  std::vector<std::pair<std::size_t, double>> changed;
  RunCause cause{.kind = CauseKind::large_buckets};
  for (const auto& [step, of_step] : buckets) {
    double sum = 0;
    for (const auto index : of_step) sum += run.collectives[index].bytes;
    if (of_step.size() > 2 || sum < 4 * default_bucket * static_cast<double>(of_step.size())) continue;
    double backward = 0;
    for (std::size_t i = 0; i < run.ranks.front().activities.size(); ++i) {
      const auto& activity = run.ranks.front().activities[i];
      if (activity.step == step && activity.phase == ProfiledPhase::backward &&
          activity.work != WorkClass::collective)
        backward += run.alone.front()[i];
    }
    for (const auto index : of_step) {
      const auto& bucket = run.collectives[index];
      const auto last = bucket.transfer * std::min(1.0, default_bucket / bucket.bytes);
      changed.emplace_back(index, std::max(last, bucket.transfer - backward));
      cause.bytes = bucket.bytes;
    }
    cause.events += static_cast<double>(of_step.size()) / static_cast<double>(run.steps);
  }
  if (changed.empty()) return;
  candidates.push_back({cause, [changed](RunTimes& times) {
                          for (const auto& [index, time] : changed)
                            times.transfer[index] = std::min(times.transfer[index], time);
                        }});
}

}  // namespace

void find_bucket_causes(const JobRun& run, CollectiveExpectations& expectations,
                        std::vector<Candidate>& candidates) {
  const auto buckets = gradient_buckets(run);
  find_small_buckets(run, buckets, expectations, candidates);
  find_large_buckets(run, buckets, candidates);
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/study/diagnose/cause.hpp"

namespace gradway {
namespace {

// Smaller ones are mostly latency, which kernels of other streams lengthen.
constexpr double smallest_bytes = 1 << 20;
// The fastest of a job's large collectives, over its predicted time alone: 1.2 and 1.3 on two H100 over
// NVLink. Those that compete with kernels take up to 5 times as long. Predictions err by 13 % on average
// (docs/ACCURACY.md, collectives).
constexpr double slower_alone = 1.5;

struct Compared {
  const JobCollective* collective = nullptr;
  double expected = 0;
  double ratio() const { return collective->transfer / expected; }
};

/// The way whose time is nearest to that of the fastest collective. NCCL has a number of channels of its own
/// for each transport: fewer channels than expected that are none of these were set.
std::optional<SlowWay> nearest_way(const Compared& fastest, bool has_few_channels,
                                   CollectiveExpectations& expectations) {
  const auto& collective = *fastest.collective;
  const auto is_usual = [&](SlowWay way) {
    return expectations.channels(collective.ranks, way) == collective.channels;
  };
  const auto with_few = expectations.time(collective, SlowWay::few_channels);
  constexpr double nearly = 2;  // Kernels make even the fastest collective somewhat slower.
  if (has_few_channels && !is_usual(SlowWay::shm) && !is_usual(SlowWay::net) && with_few &&
      collective.transfer < nearly * *with_few)
    return SlowWay::few_channels;
  std::optional<SlowWay> nearest;
  double least = std::numeric_limits<double>::max();
  for (const auto way : slow_ways) {
    const bool is_other_choice = way == SlowWay::low_latency || way == SlowWay::tree;
    if (has_few_channels ? is_other_choice : way == SlowWay::few_channels) continue;
    const auto time = expectations.time(collective, way);
    if (!time) continue;
    const auto distance = std::abs(std::log(collective.transfer / *time));
    if (distance >= least) continue;
    least = distance;
    nearest = way;
  }
  if (nearest != SlowWay::shm && nearest != SlowWay::net) return nearest;
  // NET is predicted over the node's NICs. Sockets are much slower than that, and than host memory, which two
  // H100 shared with kernels at half of its predicted rate.
  constexpr double slower_than_shm = 4;
  const auto shm = expectations.time(collective, SlowWay::shm);
  return shm && collective.transfer > slower_than_shm * *shm ? SlowWay::net : SlowWay::shm;
}

CauseKind kind_of(const std::optional<SlowWay>& way) {
  if (!way) return CauseKind::slow_collectives;
  switch (*way) {
    case SlowWay::few_channels:
      return CauseKind::few_channels;
    case SlowWay::shm:
    case SlowWay::net:
      return CauseKind::slow_transport;
    case SlowWay::low_latency:
    case SlowWay::tree:
      return CauseKind::forced_choice;
  }
  return CauseKind::slow_collectives;
}

}  // namespace

void find_collective_causes(const JobRun& run, CollectiveExpectations& expectations,
                            std::vector<Candidate>& candidates) {
  std::vector<Compared> compared;
  std::vector<double> expected(run.collectives.size(), std::numeric_limits<double>::max());
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    const auto time = expectations.time(run.collectives[i]);
    if (!time) continue;
    expected[i] = *time;
    if (run.collectives[i].bytes >= smallest_bytes) compared.push_back({&run.collectives[i], *time});
  }
  if (compared.empty()) return;
  const auto fastest = *std::ranges::min_element(compared, {}, &Compared::ratio);
  const auto& example = *fastest.collective;
  const auto remove = [expected](RunTimes& times) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      times.transfer[i] = std::min(times.transfer[i], expected[i]);
  };
  RunCause cause;
  cause.events = static_cast<double>(compared.size()) / static_cast<double>(run.steps);
  cause.measured = from_nanoseconds(example.transfer);
  cause.expected = from_nanoseconds(fastest.expected);
  cause.example = name_of(example.kind);
  cause.bytes = example.bytes;
  cause.found_channels = example.channels;
  cause.expected_channels = expectations.channels(example.ranks);
  cause.expected_transport = expectations.transport(example.ranks);
  const auto& member = example.members.front();
  cause.stream = run.ranks[static_cast<std::size_t>(member.rank)]
                     .activities[static_cast<std::size_t>(member.activity)]
                     .stream;
  // While ranks are absent, a collective may only seem slow: it waits for them. Few channels are evidence.
  const bool has_few_channels = 2 * cause.found_channels <= cause.expected_channels;
  if (fastest.ratio() < slower_alone || (!example.is_complete && !has_few_channels)) {
    if (example.is_complete) return;
    cause.kind = CauseKind::absent_ranks;
    cause.confidence = Confidence::low;
    candidates.push_back({cause, remove});
    return;
  }
  cause.way = nearest_way(fastest, has_few_channels, expectations);
  cause.kind = kind_of(cause.way);
  cause.confidence = example.is_complete ? Confidence::high : Confidence::medium;
  if (cause.kind == CauseKind::slow_collectives || cause.kind == CauseKind::forced_choice)
    cause.confidence = Confidence::medium;
  candidates.push_back({cause, remove});
}

}  // namespace gradway

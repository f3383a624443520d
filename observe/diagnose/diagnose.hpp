// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "observe/diagnose/cause.hpp"
#include "observe/diagnose/job_run.hpp"
#include "observe/diagnose/replay_run.hpp"

namespace gradway {

/// How the ranks exchange gradients and parameters, by their collectives.
enum class ExchangeKind : std::uint8_t { none, ddp, sharded, other };

/// Collectives of a kind and size.
struct CollectiveTimes {
  CollectiveKind kind{};
  Bytes bytes{};
  int ranks = 0;
  int channels = 0;
  double per_step = 0;
  Seconds transfer{};               ///< mean, from the arrival of the last rank
  Seconds waiting{};                ///< mean over ranks, for the last rank
  std::optional<Seconds> expected;  ///< alone
};

/// Work of a rank per step, without the profiler.
struct RankTimes {
  int rank = 0;
  Seconds traced_step{};
  Seconds busy{};     ///< the GPU runs kernels or copies
  Seconds exposed{};  ///< it runs nothing but collectives
  Seconds idle{};
  double launches = 0;
  Seconds launch{};   ///< CPU work per launch under the profiler
  Seconds phases[3];  ///< kernels of the forward pass, the backward pass and the optimizer
};

/// Time of a class of work per step, mean over ranks.
struct ClassTimes {
  WorkClass work{};
  Seconds measured{};  ///< in the trace, with contention; collectives: transfers
  Seconds expected{};  ///< without the causes and without contention
};

/// The expected step on another platform with this GPU.
struct Elsewhere {
  std::string platform;
  Seconds step{};
};

struct Diagnosis {
  ExchangeKind exchange{};
  double buckets = 0;  ///< collectives of gradients per step
  Seconds traced{};    ///< step under the profiler
  Seconds measured{};  ///< step without it: given, else replayed
  Seconds replayed{};
  double cpu_share = 1;  ///< CPU time without the profiler over that under it, as assumed or fitted
  Seconds expected{};    ///< replayed without the causes and without what is harmless
  std::optional<Elsewhere> elsewhere;
  std::vector<RunCause> causes;                      ///< with 2 % of the step or more, the largest first
  std::vector<RunCause> possible;                    ///< the same with low confidence: they may be meant
  std::vector<RunCause> harmless;                    ///< what was found but costs less
  std::vector<std::vector<Interval>> replayed_work;  ///< by rank, as measured; of `ReplayedWork`
  std::vector<std::vector<Interval>> expected_work;  ///< by rank, without what was found
  std::vector<CollectiveTimes> collectives;
  std::vector<RankTimes> ranks;
  std::vector<ClassTimes> classes;

  bool is_healthy(const DiagnosisBasis& basis) const;
  /// The measured step is longer than under the profiler, which only ever lengthens it.
  bool is_slower_than_traced() const;
  /// Collectives of unknown size are not compared with NCCL's model.
  bool has_unjudged_collectives() const;
  /// Share of the step that the causes cost.
  double lost_share() const;
  /// `measured` without `expected` and what was found.
  Seconds unexplained() const;
};

/// Finds what makes the steps of a job longer. Candidates are found by their mechanism. What one costs is the
/// difference between two replays, with and without it, so that time which something else hides anyway does
/// not count. They are removed one after the other, the most expensive first: no time counts twice.
/// @param step_time measured without the profiler
/// @param elsewhere another platform; null: none
/// @throws ConfigError if the step time is out of reach of the traces, or they have no collective that NCCL's
/// model can move to the other platform
Diagnosis diagnose(const JobRun& run, const DiagnosisBasis& basis, std::optional<Seconds> step_time,
                   const DiagnosisBasis* elsewhere = nullptr);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/matching_calls.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// What a time line of a rank has a row for, from top to bottom.
enum class Track : std::uint8_t { phases, compute, communicator, copy, other, launch, loader };
constexpr std::array<std::string_view, 7> track_names{"phases",        "compute",    "NCCL",  "copy engine",
                                                      "other streams", "CPU launch", "loader"};

/// A stretch of time on a row of a rank: a task of the workload graph, from the start of its first op to the
/// end of its last, or a phase of a step. Dates are whole nanoseconds since the start of the run, so that
/// what touches in the timeline touches here.
struct Slice {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint16_t program = 0;         ///< of the rank, or of its loader
  std::int32_t task = Origin::none;  ///< of the program; none: a phase
  std::int32_t step = 0;
  Phase phase = Phase::forward;
  Track track = Track::compute;
  int lane = 0;  ///< slices of one track and lane do not overlap
};

/// A date of the timeline, or a duration.
std::int64_t nanoseconds(Seconds time);

/// What ranks did when, for pictures of a run.
///
/// Tracks: the compute stream, the communicator's stream, the GPU's copy engine, kernels on streams of their
/// own, the CPU that launches, the workers of its loader. The track of phases has what annotations in the
/// training loop would show on the GPU: input, forward, backward and optimizer, from the first to the last op
/// of each that a stream of the step has, and communication beside backward. With accumulation each
/// micro-step has its own; of a pipeline each pass of a micro-batch, from its first to its last kernel, and
/// communication has none. A background copy is in no phase: the step does not wait for it. Slices without a
/// duration are left out.
class Slices {
 public:
  /// @param ranks the only ones that `of` will be asked for
  Slices(const Run& run, const std::vector<std::size_t>& ranks);

  /// Returns the slices of a rank, or of the rank that was simulated for it, in order of track, start and
  /// lane. Calls on its groups are included, each as the task with which this rank takes part in it.
  std::vector<Slice> of(std::size_t rank) const;

 private:
  void add_phases(std::vector<Slice>& slices) const;

  const Run& run_;
  MatchingCalls calls_;
  std::vector<std::vector<std::int32_t>>
      segment_;  ///< by program and task: phases in their order; none for background copies
  std::map<std::size_t, std::vector<Slice>> by_actor_;  ///< of those that were simulated for the ranks
  std::map<std::size_t, std::vector<Slice>> by_group_;  ///< with the task of the first caller
};

/// What a slice is called: by program and task, its name, with the bytes it moves: "bucket 3 all-reduce
/// (28.05 MB)".
std::vector<std::vector<std::string>> task_labels(const Workload& workload);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/matching_calls.hpp"
#include "sim/lower/folding.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// The rows in the timeline of a rank, from top to bottom.
enum class Track : std::uint8_t { phases, compute, communicator, copy, other, launch, loader };
constexpr std::array<std::string_view, 7> track_names{"phases",        "compute",    "NCCL",  "copy engine",
                                                      "other streams", "CPU launch", "loader"};

/// An interval on a row of a rank: a task of the workload graph, from the start of its first op to the end of
/// its last, or a phase of a step. Times are whole nanoseconds since the start of the run, so that adjacent
/// ops stay adjacent.
struct Slice {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint16_t program = 0;         ///< program of the rank, or of its loader
  std::int32_t task = Origin::none;  ///< task of the program; none: a phase
  std::int32_t step = 0;
  Phase phase = Phase::forward;
  Track track = Track::compute;
  int lane = 0;  ///< slices of one track and lane do not overlap
};

/// A time or duration of the timeline in nanoseconds, rounded.
std::int64_t nanoseconds(Seconds time);

/// The slices of ranks, for traces and pages.
/// Tracks: the compute stream, the communicator's stream, the copy engine, kernels on other streams, CPU
/// launches, loader workers. The track of phases shows what annotations in the training loop would show on
/// the GPU: input, forward, backward and optimizer, each from its first to its last op on a stream, and
/// communication, which overlaps with backward. With accumulation each micro-step has its own phases. In a
/// pipeline each pass of a micro-batch is a phase, from its first to its last kernel, and communication has
/// none. Background copies belong to no phase, because the step does not wait for them. Slices without a
/// duration are omitted.
class Slices {
 public:
  /// @param ranks the ranks that `of` may be called with
  Slices(const Run& run, const std::vector<std::size_t>& ranks);

  /// Returns the slices of a rank, or of the rank simulated in its place, sorted by track, start and lane.
  /// Includes the collectives of its groups, each as the task with which the rank takes part.
  std::vector<Slice> of(std::size_t rank) const;

 private:
  void add_phases(std::vector<Slice>& slices) const;

  const Run& run_;
  MatchingCalls calls_;
  std::vector<std::vector<std::int32_t>> segment_;      ///< by program and task; none for background copies
  std::map<std::size_t, std::vector<Slice>> by_actor_;  ///< by simulated actor
  std::map<std::size_t, std::vector<Slice>> by_group_;  ///< with the task of the first caller
};

/// Labels of slices by program and task, with the bytes they move: "bucket 3 all-reduce (28.05 MB)".
std::vector<std::vector<std::string>> task_labels(const Workload& workload);

/// The ranks that a trace or page shows, and a note on the others.
struct ShownRanks {
  std::vector<std::size_t> ranks;  ///< in ascending order
  std::string words;               ///< "all 8 ranks", "rank 0 of 1,024; the others behave identically"
};

/// All ranks of runs of at most `all_up_to` ranks; otherwise one for each class of identical ranks, at most
/// `most`.
/// @pre most > 0
ShownRanks shown_ranks(const Folding& folding, std::size_t all_up_to, std::size_t most);

/// Use of a link or memory over time, for traces and pages.
struct LinkTrack {
  std::string name;
  int node = 0;             ///< -1: between switches of the fabric
  std::size_t alike = 0;    ///< number of other links with identical use
  bool has_others = false;  ///< whether it carries a neighbour's traffic

  struct Point {
    std::int64_t at_ns = 0;
    double own = 0;     ///< use by the job, as a fraction of the capacity
    double others = 0;  ///< use by neighbours
  };
  std::vector<Point> points;  ///< each holds until the next, the last until the end; idle before the first
};

/// The busiest links and memories of the reported step, busiest first. Links with identical use are listed
/// once.
std::vector<LinkTrack> busiest_links(const Run& run, std::size_t most);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/campaign/local_sgd.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/platform/speeds.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/explain/exposed_calls.hpp"
#include "sim/study/explain/overlap.hpp"
#include "sim/study/staging/ways_in.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// Factor of an infinitely fast part: a step of a day would shrink to less than the latency of a collective.
inline constexpr double practically_infinite = 1e9;

/// A smaller share of the step is no gain.
inline constexpr double least_gain = 0.01;

/// What a counterfactual changes; report/run/explain.cpp words it.
namespace change {

/// A part of the hardware is twice as fast.
struct FasterPart {
  HardwarePart part = HardwarePart::gpu;
  std::string transport{};  ///< of NCCL, whose copies through the part are faster too; empty: none
};
struct InfiniteLinks {};  ///< host memory, too
struct FreeLaunches {};
/// A setting of a sharded strategy.
struct ShardingChoice {
  std::string words;  ///< of the table in study/search/sharding_settings.cpp
};
struct MoreWorkers {
  bool twice = false;  ///< else one more
};
struct DecodingOnGpu {};
struct DecodingOnCpu {};
struct MoreThreads {};      ///< of DALI or tf.data, twice as many
struct HardwareDecoder {};  ///< for all images
struct FasterParser {};     ///< of CSV
struct SequentialAccess {};
struct PagesOnly {};      ///< page faults read no window
struct ClusteredRows {};  ///< by the predicate's column
struct ExactStatistics {};
struct ReadAhead {};  ///< into the cache of each node
struct Compression {
  std::string codec;
};
struct StagedToDrives {
  std::string tier;  ///< drive of each node
};
struct MoreStreams {};  ///< of the copy that stages the dataset: twice as many
struct OtherStaging {
  StageIn when = StageIn::during;
};
struct ReadySamples {};    ///< a bound
struct PerfectOverlap {};  ///< a bound
struct NoLoss {};
struct OtherCongestion {
  Congestion congestion = Congestion::bbr;
};
struct SelectiveRepeat {};
struct AdaptiveRouting {};
struct MoreQueuePairs {
  int each = 4;  ///< of a connection
};
struct MoreSockets {
  int sockets = 4;  ///< of a channel
};
struct LargerBuffers {
  int times = 4;
};
struct NoHostReads {};
struct LocalBatchNorm {};
struct NoUnusedSearch {};
struct OtherTables {
  TableSharding sharding = TableSharding::table_wise;  ///< of the embedding tables
};
struct SlowGpu {
  int gpus = 0;  ///< of the job, one of which is slow
};
struct MoreInnerSteps {};  ///< twice as many
struct Int8Updates {};
struct LongestOverlap {};   ///< of exchanges with inner steps
struct FasterWan {};        ///< twice as fast
struct MoreConnections {};  ///< twice as many

}  // namespace change

using Change =
    std::variant<change::FasterPart, change::InfiniteLinks, change::FreeLaunches, change::ShardingChoice,
                 change::MoreWorkers, change::DecodingOnGpu, change::DecodingOnCpu, change::MoreThreads,
                 change::HardwareDecoder, change::FasterParser, change::SequentialAccess, change::PagesOnly,
                 change::ClusteredRows, change::ExactStatistics, change::ReadySamples, change::PerfectOverlap,
                 change::SlowGpu, change::MoreInnerSteps, change::Int8Updates, change::LongestOverlap,
                 change::FasterWan, change::MoreConnections, change::NoHostReads, change::LocalBatchNorm,
                 change::NoUnusedSearch, change::OtherTables, change::NoLoss, change::OtherCongestion,
                 change::SelectiveRepeat, change::AdaptiveRouting, change::MoreQueuePairs,
                 change::MoreSockets, change::LargerBuffers, change::ReadAhead, change::Compression,
                 change::StagedToDrives, change::MoreStreams, change::OtherStaging>;

/// Step time with one thing changed.
struct Counterfactual {
  std::string name;  ///< "host_memory_2x"; unique
  Change change;
  std::vector<std::pair<std::string, std::string>> set;  ///< keys of the scenario; empty: a bound
  Seconds step_time{};
  MemoryVerdict verdict = MemoryVerdict::fits;  ///< not `fits` if the expected memory exceeds the GPU's

  bool bound() const { return set.empty(); }
  /// Share of the step that it saves; negative if the step gets longer.
  double gain(Seconds step) const { return (step - step_time) / step; }
};

/// Slowdown of the kernels of the straggler that `explain` simulates: the least that monitors of production
/// jobs report (GREYHOUND, ATC 2025: 10 % of an iteration).
inline constexpr double slow_gpu_factor = 1.1;

/// Share of a class of operations in the kernel time of both passes.
struct KernelShare {
  OperationClass kind = OperationClass::product;
  double share = 0;
};

/// What limits a step, and what would help.
struct Explanation {
  Run run;
  std::vector<KernelShare> kernels{};  ///< at least 1 % each, the largest first; empty without operations
  std::optional<Overlap> overlap{};    ///< empty without communication
  bool mostly_communication = false;   ///< exposed communication is the longest part of the step
  std::vector<ExposedCalls> exposed{};
  std::vector<Counterfactual> helps{};       ///< the greatest gain first
  std::vector<Counterfactual> no_help{};     ///< less than `least_gain` either way, in the same order
  std::optional<OuterLoop> outer{};          ///< of local SGD over a WAN
  std::vector<Counterfactual> meeting{};     ///< mean steps of `outer` with one change, the best first
  std::optional<Counterfactual> slow_gpu{};  ///< cost of a straggler
  std::optional<WaysIn> ways_in{};           ///< of a dataset that is staged
  /// Times until the first epoch ends, staging included, with one change of the staging; the best first.
  std::vector<Counterfactual> staging{};
};

/// Simulates the scenario, then again with each used part of the hardware twice as fast, with links and host
/// memory practically infinitely fast, with practically free launches, and with each setting of a sharded
/// strategy changed. Adds the bound of perfect overlap (Overlap). Speeds that the scenario itself sets are
/// multiplied.
///
/// The step time of each counterfactual but bounds is that of `simulate` for the scenario with its `set`.
/// @param engine "auto" or a name from engines()
/// @param threads at a time, at least 1
/// @param drive of a node, to which a dataset outside the nodes might be staged
Explanation explain(const Scenario& scenario, std::string_view engine, int threads,
                    const std::optional<StorageTier>& drive = std::nullopt);

}  // namespace gradway

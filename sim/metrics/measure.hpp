// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/halved_work.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/metrics/steps.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Mean parts of a step in the window, by program.
std::vector<MeasuredProgram> measure_programs(const Workload& workload, const Lowered& lowered,
                                              const Timeline& timeline, const StepWindow& window);

/// By program: the share of its time without kernels that lies in the first `at_most` of each gap between
/// kernels; 1 if there are no gaps.
std::vector<double> idle_fractions(const Workload& workload, const Lowered& lowered, const Timeline& timeline,
                                   const StepWindow& window, Seconds at_most);

/// The mean step of the window.
Measured measure(const Scenario& scenario, const Workload& workload, const Lowered& lowered,
                 const Timeline& timeline, const StepWindow& window);

struct ResourceUses {
  std::vector<ResourceUse> links;  ///< busiest first; if more than `most_links_listed`, one of those alike
  std::vector<std::pair<ResourceId, Bytes>> carried;  ///< as in Measured
};

/// Use of links and memories in a step.
ResourceUses use_of_resources(const StepWindow& window, const Platform& platform, const Lowered& lowered,
                              const Timeline& timeline);

/// Limit and latency of NCCL's collectives of a step.
struct NcclUse {
  ChannelLimit limit;
  Seconds latency{};  ///< total of all collectives of the step
};

/// Finds the limit of the step: of the kind of work that would save most of it if it took half as long.
/// @param saved what each kind would save
/// @param links sorted by use, busiest first; the demand of a neighbour's traffic counts as use
/// @param nccl limit of NCCL's collectives if no link is saturated; empty on platforms with ideal collectives
Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics, const SavedShares& saved,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl);

}  // namespace gradway

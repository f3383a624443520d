// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "sim/engine/timeline.hpp"
#include "sim/metrics/steps.hpp"

namespace gradway {

/// Kinds of work that hardware does faster: GPUs, CPUs, links between ranks, links from hosts.
enum class WorkKind : std::size_t { kernels, launches, collectives, copies };
inline constexpr std::size_t work_kinds = 4;

/// Share of the steps of a window that each kind of work would save if it took half as long, without its
/// latencies. Other ops last as long as they did, but for half of the contention with that work, and queues
/// keep their order, so that this takes one pass over the graph.
using SavedShares = std::array<double, work_kinds>;
SavedShares shares_saved_by_half(const OpGraph& graph, const Timeline& timeline, const StepWindow& window);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/fit/node_facts.hpp"
#include "sim/fit/side_by_side_trial.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// An experiment of contention, and the times of its kernels and collectives alone.
struct ContentionTrial {
  ContentionRow together;
  MeasuredTrial measured;
};

/// Each row together with the medians of the rows alone of the same transport, ranks, channels, product and
/// size. Rows without such a partner are left out. The order does not depend on that of the rows.
std::vector<ContentionTrial> contention_trials(const std::vector<ContentionRow>& rows);

/// Channels of a row's all-reduces: forced, or what the node's NCCL takes. 0: not known, or of no use because
/// the GPU's multiprocessors are not known.
int channels_of(const ContentionRow& row, const NodeFacts& node);

/// Slow-downs by transport, ranks, precision and channels: those with which all experiments end as they were
/// measured. What the multiprocessors that the collective takes explain is divided out of the kernels'
/// slow-down; of pairs that fit alike the smallest wins. Rows with forced channels are left out if the GPU's
/// multiprocessors are not known.
std::vector<ContentionFactors> fit_contention(const std::vector<ContentionRow>& rows, const NodeFacts& node);

/// Errors of an experiment as predicted by the entry nearest to it.
/// @return empty if no entry has its transport, or if the entry has channels and the multiprocessors are
/// unknown
std::optional<EndErrors> contention_errors(const ContentionTrial& trial,
                                           const std::vector<ContentionFactors>& entries,
                                           const NodeFacts& node);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "readers/fit/contention_experiment.hpp"
#include "readers/fit/node_facts.hpp"
#include "readers/samples/samples.hpp"

namespace gradway {

/// A contention experiment, with the times of its kernels and collectives alone.
struct ContentionTrial {
  ContentionRow together;
  MeasuredTrial measured;
};

/// Each concurrent row with the medians of the rows alone of the same transport, ranks, channels, product and
/// size. Rows without such a partner are left out. The order does not depend on that of the rows.
std::vector<ContentionTrial> contention_trials(const std::vector<ContentionRow>& rows);

/// Channels of a row's all-reduces: forced, or chosen by the node's NCCL. 0 if unknown, or if the number of
/// multiprocessors of the GPU is unknown.
int channels_of(const ContentionRow& row, const NodeFacts& node);

/// Fits slow-downs by transport, ranks, precision and channels, so that all experiments end as measured. The
/// part of the kernels' slow-down that the multiprocessors taken by the collective explain is divided out; of
/// pairs that fit equally the smallest is chosen. Rows with forced channels are left out if the number of
/// multiprocessors is unknown.
std::vector<ContentionFactors> fit_contention(const std::vector<ContentionRow>& rows, const NodeFacts& node);

/// Errors of an experiment as predicted by the nearest entry.
/// @return empty if no entry has its transport, or if the entry has channels and the multiprocessors are
/// unknown
std::optional<EndErrors> contention_errors(const ContentionTrial& trial,
                                           const std::vector<ContentionFactors>& entries,
                                           const NodeFacts& node);

}  // namespace gradway

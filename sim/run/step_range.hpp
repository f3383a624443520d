// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/metrics/metrics.hpp"
#include "sim/run/trust.hpp"

namespace gradway {

/// Where the real time of a step is to be expected in nine of ten cases.
struct TimeRange {
  Seconds low{};
  Seconds high{};
};

/// How far off a time of a basis can be, as a fraction of it: nine of ten cases are nearer. By the kind of
/// time; each figure's source stands beside it. See sim/decisions/0012-intervals.md.
/// @param batch_ratio as in Grounds
double doubt_of_compute(Basis basis, double batch_ratio);
double doubt_of_launches(Basis basis);
double doubt_of_collectives(Basis basis, Transport transport);
double doubt_of_side_by_side(Basis basis);

/// Each part of the step is off by its own doubt, independently of the others: the root of the sum of
/// squares. Communication that kernels hide can lengthen the step, but not shorten it.
TimeRange step_range(const Metrics& metrics, const Grounds& grounds);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/graph/workload.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// DDP's `bucket_cap` as a scenario has it. None: PyTorch's default.
using BucketCap = std::optional<Bytes>;

/// Caps in whole MiB, both ends included.
struct CapRange {
  int first = 0;
  int last = 0;
};

/// Number of gradients up to the end of each bucket. It identifies a partition into buckets.
std::vector<int> bucket_ends(const std::vector<Unit>& buckets);

/// Caps with which DDP puts the same gradients into the same buckets, so that the step is the same.
struct EquivalentCaps {
  std::vector<BucketCap> caps;    ///< those that were requested explicitly
  std::optional<CapRange> range;  ///< whole MiB; none if only `caps` give these buckets
};

/// Whole MiB from 1 to the first that gives a single bucket. Larger caps change nothing.
CapRange full_cap_range(const Model& model);

/// All partitions that these caps and the whole MiB of `range` give: those with a range first, in rising
/// order, then the others in the order of `caps`.
/// @pre a range, or a cap
std::vector<EquivalentCaps> equivalent_caps(const Model& model, const std::vector<BucketCap>& caps,
                                            std::optional<CapRange> range);

/// Significant digits of a cap in MiB: 1 for 100 MiB, 2 for 25 MiB, 17 if it is not a whole number.
int significant_digits(Bytes cap);

/// The roundest of equivalent caps: PyTorch's default, else the first that was requested, else the one of the
/// range with the fewest significant digits ("30 MiB" of 25 to 32), and the smallest of these.
/// @param full the full range: a range that reaches its end may be exceeded, as all larger caps are
/// equivalent
BucketCap simplest_cap(const EquivalentCaps& cut, CapRange full);

}  // namespace gradway

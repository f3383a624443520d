// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/graph/workload.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// A cap as a scenario has it; absent: PyTorch's default.
using BucketCap = std::optional<Bytes>;

/// Whole MiB, both ends included.
struct CapRange {
  int first = 0;
  int last = 0;
};

/// How many gradients are in the buckets up to and with each: tells one cut from another.
std::vector<int> bucket_ends(const std::vector<Unit>& buckets);

/// Caps under which DDP cuts a model's gradients into the same buckets. A step is the same for all of them.
struct EquivalentCaps {
  std::vector<BucketCap> caps;    ///< those that were asked for by themselves
  std::optional<CapRange> range;  ///< whole MiB; none: only the caps by themselves give this cut
};

/// The whole MiB up to the first that gives one bucket: larger ones change nothing.
CapRange full_cap_range(const Model& model);

/// Every cut that these caps and, if `range` is given, its whole MiB give: those with a range first, from the
/// smallest caps on, then the others as they stand in `caps`.
/// @pre a range, or a cap
std::vector<EquivalentCaps> equivalent_caps(const Model& model, const std::vector<BucketCap>& caps,
                                     std::optional<CapRange> range);

/// Digits of the MiB before the zeros at their end: 1 for 100 MiB, 2 for 25 MiB, many if they are not whole.
int significant_digits(Bytes cap);

/// The cap of a cut that one would write: PyTorch's default, the first that was asked for, or of the range
/// the one with the fewest digits before its zeros ("30 MiB" of 25 to 32), the smallest of these.
/// @param whole all caps: a range that reaches its end may be written beyond it, as all those give one bucket
BucketCap simplest_cap(const EquivalentCaps& cut, CapRange whole);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/samples/samples.hpp"

namespace gradway {

/// Samples split into those that a second fit gets and those that it has to predict.
struct SplitSamples {
  Samples kept;
  Samples held;
};

/// Holds back, by a rule that knows nothing of the order of the rows or of their times: of each table, link,
/// product shape, kernel, optimizer and attention the second, fifth, eighth, ... of its sizes, but never the
/// largest; of each transport, ranks, precision and channels side by side the middle one of its experiments
/// (by product, then size), if there are two. All rows of a size go together. Patterns and launch costs, of
/// which each stands alone, are kept.
SplitSamples hold_back(const Samples& samples);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/samples.hpp"

#include <algorithm>

#include "sim/cost/kernel_cost.hpp"

namespace gradway {

Seconds PatternRow::slowest() const {
  return std::max(wall, *std::ranges::max_element(times));
}

Bytes OptimizerRow::traffic() const {
  return cost_of(optimizer).traffic * parameters;
}

Flops AttentionRow::work() const {
  return Flops{(causal ? 2 : 4) * batch * heads * length * length * head};
}

}  // namespace gradway

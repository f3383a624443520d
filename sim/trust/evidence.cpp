// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/evidence.hpp"

namespace gradway {

Evidence evidence_of(const Grounds& grounds) {
  const bool is_given = grounds.compute == Basis::given;
  if (grounds.compute == Basis::nominal) return Evidence::datasheet;
  if (grounds.compute == Basis::elsewhere || grounds.compute == Basis::moved) return Evidence::moved;
  if (grounds.compute == Basis::predicted) return Evidence::kernels;
  if (grounds.communication < Basis::elsewhere) return Evidence::measured;
  return is_given ? Evidence::datasheet : Evidence::anchored;
}

}  // namespace gradway

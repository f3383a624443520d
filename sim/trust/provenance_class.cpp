// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/provenance_class.hpp"

namespace gradway {

ProvenanceClass provenance_class_of(const StepBasis& step_basis) {
  const bool is_given = step_basis.compute == Basis::given;
  if (step_basis.compute == Basis::nominal) return ProvenanceClass::datasheet;
  if (step_basis.compute == Basis::elsewhere || step_basis.compute == Basis::moved)
    return ProvenanceClass::moved;
  if (step_basis.compute == Basis::predicted) return ProvenanceClass::kernels;
  if (step_basis.communication < Basis::elsewhere) return ProvenanceClass::measured;
  return is_given ? ProvenanceClass::datasheet : ProvenanceClass::anchored;
}

}  // namespace gradway

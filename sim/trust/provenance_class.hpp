// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/trust/provenance.hpp"

namespace gradway {

/// Summary of a prediction's provenance, the most certain first.
enum class ProvenanceClass {
  measured,   ///< a step on such a GPU, and collectives on such a machine if the job has any; or given times
  anchored,   ///< a step on such a GPU, but no collectives: NCCL's own rates apply
  kernels,    ///< single kernels on such a GPU, but no step
  moved,      ///< a step, or single kernels, on another GPU, moved by the two datasheets
  datasheet,  ///< no measurement of the main parts of the step
};

ProvenanceClass provenance_class_of(const StepBasis& step_basis);

}  // namespace gradway

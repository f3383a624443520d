// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/trust/provenance.hpp"

namespace gradway {

/// What a prediction rests on, in short; the surest first.
enum class ProvenanceClass {
  measured,   ///< a step on such a GPU, and collectives of such a machine if the job has any; or given times
  anchored,   ///< a step on such a GPU, but no collective: they go by NCCL's own rates
  kernels,    ///< single kernels of such a GPU, but no step
  moved,      ///< a step, or single kernels, of another GPU, moved by the two datasheets
  datasheet,  ///< nothing that the step is mostly made of
};

ProvenanceClass provenance_class_of(const StepBasis& step_basis);

}  // namespace gradway

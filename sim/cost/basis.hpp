// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace gradway {

/// The kind of source that a predicted time comes from, most reliable first.
enum class Basis {
  given,      ///< explicit times of the user, or ideal rules
  measured,   ///< measured on such a machine for this use
  published,  ///< one published measurement of such a machine
  stretched,  ///< extrapolated from another batch, number of ranks, size or operation on such a machine
  predicted,  ///< from other measurements of such a machine: collectives from copies, steps from kernels
  moved,      ///< extrapolated from single kernels on another GPU by the datasheets of both GPUs
  elsewhere,  ///< measured on another kind of machine
  nominal,    ///< datasheets and the assumptions of software such as NCCL
};
constexpr std::size_t basis_count = 8;

}  // namespace gradway

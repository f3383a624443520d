// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace gradway {

/// What a predicted time rests on, the surest first.
enum class Basis {
  given,      ///< times that the user states, or ideal rules
  measured,   ///< on such a machine, in the way that the job needs
  published,  ///< one figure that somebody measured on such a machine
  stretched,  ///< measured on such a machine, but for another batch, number of ranks, size or operation
  predicted,  ///< from other measurements of such a machine: collectives from copies, steps from single
              ///< kernels
  moved,      ///< from kernels timed one by one on another GPU, each moved by the two datasheets
  elsewhere,  ///< measured on another kind of machine
  nominal,    ///< datasheets and what the maker of the software assumes
};
constexpr std::size_t basis_count = 8;

}  // namespace gradway

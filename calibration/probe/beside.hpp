// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Contention of all-reduces and matrix products: sequences on two streams, alone and concurrent, with short
/// and long products, small and large buffers, and limited thread blocks of the collective.
void probe_beside_kernels(Context& context, const std::string& transport);

/// The same for copies from and to pinned memory instead of products.
void probe_beside_copies(Context& context, const std::string& transport);

}  // namespace gradway::probe

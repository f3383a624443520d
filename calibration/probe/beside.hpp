// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// All-reduces and matrix products in rows on two streams, alone and side by side: short and long products,
/// small and large buffers, and with the collective's thread blocks limited.
void probe_beside_kernels(Context& context, const std::string& transport);

/// The same with copies from and to pinned memory in place of products.
void probe_beside_copies(Context& context, const std::string& transport);

}  // namespace gradway::probe

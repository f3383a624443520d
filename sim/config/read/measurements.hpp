// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/config/read/read.hpp"
#include "sim/cost/kernel_times.hpp"

namespace gradway::config {

std::optional<KernelTimes> read_kernel_times(Reader& file);
/// Reads only the GPU of the kernel times, and not the times.
std::optional<Named> read_gpu_of_kernel_times(Reader& file);

}  // namespace gradway::config

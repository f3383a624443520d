// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/cost/calibration.hpp"
#include "sim/platform/platform.hpp"
#include "sim/report/text/style.hpp"

namespace gradway::report {

/// Writes what gradway understood of a platform: its GPUs, how near they are to each other (in the look of
/// `nvidia-smi topo -m`), the transports NCCL takes between them, links, routes, price and sources. Of
/// platforms with more than 16 GPUs the first 8 are shown. Matrices may be wider than the style's width.
void write_platform(std::ostream& out, const Platform& platform, const Calibration& calibration,
                    const Style& style);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// A GPU that a name can stand for.
struct ListedGpu {
  std::string name;
  std::optional<Gpu> gpu;           ///< empty if its file is wrong
  std::string gpu_of_kernel_times;  ///< the GPU whose timed kernels stand for its own; empty: none
};

/// A calibration that a name can stand for.
struct ListedCalibration {
  std::string name;
  std::optional<Calibration> calibration;  ///< empty if its file is wrong
};

/// A table, one row a GPU: memory, its bandwidth, dense peaks, and what is known of its kernels.
void write_gpus(std::ostream& out, const std::vector<ListedGpu>& listed, const Style& style);
/// The same as one JSON document; what is not known is null.
void write_gpus_json(std::ostream& out, const std::vector<ListedGpu>& listed);

/// A table, one row a calibration: its day, and what was measured.
void write_calibrations(std::ostream& out, const std::vector<ListedCalibration>& listed, const Style& style);
/// The same as one JSON document; the day is null if nobody said it.
void write_calibrations_json(std::ostream& out, const std::vector<ListedCalibration>& listed);

}  // namespace gradway::report

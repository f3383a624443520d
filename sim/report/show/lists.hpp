// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/platform/platform.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// A GPU that a name can stand for.
struct ListedGpu {
  std::string name;
  std::optional<Gpu> gpu;        ///< empty if its file is wrong
  std::string kernels_timed_on;  ///< the GPU whose timed kernels stand for its own; empty: none
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

/// A platform that a name can stand for.
struct ListedPlatform {
  std::string name;
  std::optional<Platform> platform;  ///< one node of it; empty if its file is wrong
};

/// A table, one row a platform: GPUs of a node, what a GPU sends to others in it and a node to others, the
/// price. By name, numbers by value; platforms made up for analysis come last. It is as wide as it must be.
void write_platforms(std::ostream& out, std::vector<ListedPlatform> listed, const Style& style);

/// The same as one JSON document, in the same order; what is not known is null.
void write_platforms_json(std::ostream& out, std::vector<ListedPlatform> listed);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/platform/gpu.hpp"

namespace gradway {

/// What the files of a scenario warn of. All other warnings are in trust/warning.hpp.
namespace warning {

/// A file of the user is read in place of a shipped file of the same name.
struct ReplacedFile {
  static constexpr std::string_view code = "replaced-file";
  std::string what;  ///< "the platform aws-g6e.48xlarge"
  std::string file;  ///< that is read

  bool operator==(const ReplacedFile&) const = default;
};

/// The platform's calibration has kernel times of another GPU.
struct UnusedKernelTimes {
  static constexpr std::string_view code = "unused-kernel-times";
  std::string calibration;
  std::string measured_on;  ///< GPU
  std::string gpu;          ///< of the platform

  bool operator==(const UnusedKernelTimes&) const = default;
};

/// The scenario's anchor was measured on another GPU or in another precision.
struct UnusedAnchor {
  static constexpr std::string_view code = "unused-anchor";
  std::string anchor_gpu;
  Precision anchor_precision = Precision::fp32;
  std::string gpu;  ///< of the job
  Precision precision = Precision::fp32;

  bool operator==(const UnusedAnchor&) const = default;
};

/// Operations of a captured model have no timed kernels: their times follow from the bytes they move.
struct UntimedOperations {
  static constexpr std::string_view code = "untimed-operations";
  std::vector<std::string> operations;

  bool operator==(const UntimedOperations&) const = default;
};

/// The captured program calls torch.compile: recorded as eager PyTorch, fused by rule.
struct CompiledCapture {
  static constexpr std::string_view code = "compiled-capture";
  bool operator==(const CompiledCapture&) const = default;
};

}  // namespace warning

using ScenarioWarning = std::variant<warning::ReplacedFile, warning::UnusedKernelTimes, warning::UnusedAnchor,
                                     warning::UntimedOperations, warning::CompiledCapture>;

}  // namespace gradway

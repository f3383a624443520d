// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sim/base/units.hpp"

namespace gradway::probe {

/// Facts of the driver about a GPU that CUDA lacks; empty if unknown.
struct DriverFacts {
  std::optional<int> pcie_generation;  ///< The largest supported by GPU and slot.
  std::optional<int> pcie_width;
  std::optional<int> nvlinks;                 ///< NVLinks that are up.
  std::optional<BytesPerSecond> nvlink_rate;  ///< Of one link in one direction.
  std::optional<double> power_limit_watts;
};

/// A GPU at a moment; 0: unknown.
struct DriverState {
  double clock_hz = 0;  ///< of the multiprocessors
  double celsius = 0;
  double watts = 0;
};

/// The driver's management library, loaded at run time, so that the program starts without it.
class Nvml {
 public:
  /// Empty without a driver. @param why receives what is missing
  static std::unique_ptr<Nvml> load(std::string& why);
  ~Nvml();

  std::string driver_version() const;
  DriverFacts facts(const std::string& pci) const;
  DriverState state(const std::string& pci) const;
  /// Why the clocks of a GPU are currently low: the bits of nvmlClocksThrottleReasons; 0 if they are not.
  std::uint64_t throttle_reasons(const std::string& pci) const;

 private:
  struct Functions;
  explicit Nvml(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

}  // namespace gradway::probe

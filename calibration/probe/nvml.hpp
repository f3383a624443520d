// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sim/base/units.hpp"

namespace gradway::probe {

/// What the driver says of a GPU beyond CUDA; each empty where it does not say.
struct DriverFacts {
  std::optional<int> pcie_generation;  ///< the largest of GPU and slot
  std::optional<int> pcie_width;
  std::optional<int> nvlinks;                 ///< that are up
  std::optional<BytesPerSecond> nvlink_rate;  ///< of one link, one direction
  std::optional<double> power_limit_watts;
};

/// The driver's management library, loaded when the program runs, so that the program starts without it.
class Nvml {
 public:
  /// Empty without a driver. @param why gets what is missing
  static std::unique_ptr<Nvml> load(std::string& why);
  ~Nvml();

  std::string driver_version() const;
  DriverFacts facts(const std::string& pci) const;
  /// Why the clocks of a GPU are low just now: the bits of nvmlClocksThrottleReasons; 0 if they are not.
  std::uint64_t throttle_reasons(const std::string& pci) const;

 private:
  struct Functions;
  explicit Nvml(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

}  // namespace gradway::probe

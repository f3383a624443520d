// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "observe/hang/hang_report.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/platform/platform.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// What the hang means on a platform.
struct HangPrice {
  std::string platform;
  std::optional<Seconds> healthy;  ///< time of the collective in which ranks wait, alone
  int gpus = 0;
  std::optional<UsdPerHour> price;  ///< of these GPUs
};

/// @param platform with a GPU for each rank of the job
HangPrice price_of_hang(const HangReport& report, const Platform& platform, const Calibration& calibration,
                        const std::string& name);

void write_hang(std::ostream& out, const HangReport& report, const std::optional<HangPrice>& price,
                const Style& style);
void write_hang_json(std::ostream& out, const HangReport& report, const std::optional<HangPrice>& price);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/units.hpp"

/// Quantities as a scenario has them, with all their digits.
namespace gradway::report::exact {

std::string time(Seconds value);
std::string rate(BytesPerSecond value);
std::string percent(double share);
std::string egress(double usd_per_gb);

}  // namespace gradway::report::exact

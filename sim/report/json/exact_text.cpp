// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/exact_text.hpp"

#include <fmt/format.h>

namespace gradway::report::exact {

std::string time(Seconds value) {
  return fmt::format("{} s", value.value());
}

std::string rate(BytesPerSecond value) {
  return fmt::format("{} B/s", value.value());
}

std::string percent(double share) {
  return fmt::format("{} %", share * 100);
}

std::string egress(double usd_per_gb) {
  return fmt::format("{} USD/GB", usd_per_gb);
}

}  // namespace gradway::report::exact

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/exact_text.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace gradway::report::exact {

namespace {

/// The fewest digits that, times the unit, are the same value again: 700 ms are read as 0.7000000000000001 s.
std::string as_read(double value, double unit) {
  for (int digits = 1; digits < 17; ++digits) {
    auto text = fmt::format("{:.{}g}", value / unit, digits);
    if (text.find('e') == std::string::npos && std::strtod(text.c_str(), nullptr) * unit == value)
      return text;
  }
  return fmt::format("{}", value / unit);
}

}  // namespace

std::string time(Seconds value) {
  if (value == Seconds{} || value >= Seconds{1}) return fmt::format("{} s", value.value());
  return as_read(value.value(), 1e-3) + " ms";
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

// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/row.hpp"

#include <cstdio>
#include <cstdlib>

namespace gradway::probe {
namespace {

/// Rounds to six digits, more than any measurement is accurate to.
double rounded(Seconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", time.value());
  return std::strtod(text, nullptr);
}

}  // namespace

Row measured(Row row, const Summary& summary) {
  row["seconds"] = rounded(summary.median);
  row["low"] = rounded(summary.low);
  row["high"] = rounded(summary.high);
  row["repeats"] = summary.repeats;
  if (summary.noisy) row["noisy"] = true;
  return row;
}

}  // namespace gradway::probe

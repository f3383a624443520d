// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/instrument.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "calibration/probe/measure.hpp"

namespace gradway::probe {
namespace {

constexpr std::array lengths{20_us, 200_us, 2_ms};
constexpr double tolerance = 0.02;
constexpr Seconds start = 2_us;  // Start of a kernel after its predecessor, plus a tick of the GPU's clock.

std::string verdict(Seconds expected, Seconds measured) {
  char text[400];
  std::snprintf(text, sizeof text,
                "a kernel of %.0f us was measured as %.1f us, but at most 2 %% or 2 us are allowed. Other "
                "programs may use this GPU, it may be time-sliced, or its clock or events may be wrong",
                expected.value() * 1e6, measured.value() * 1e6);
  return text;
}

}  // namespace

void probe_instrument(Context& context) {
  std::string wrong;
  double number = 0;
  for (const auto length : lengths) {
    const auto found = measure(context.rule, [&](const Stream& stream) { spin(stream, length); });
    context.emit(measured({{"kind", "instrument"}, {"expected_seconds", length.value()}}, found));
    const auto error = std::abs((found.median - length).value());
    if (error > std::max(tolerance * length, start).value() && wrong.empty())
      wrong = verdict(length, found.median);
    context.done(++number / lengths.size());
  }
  if (!wrong.empty()) throw Failure{wrong};
}

}  // namespace gradway::probe

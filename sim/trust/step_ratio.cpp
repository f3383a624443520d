// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/step_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "sim/base/normal.hpp"

namespace gradway {
namespace {

/// Change of a step by an error that lengthens it, and by one that shortens it.
struct Shift {
  Seconds up{};
  Seconds down{};
};

/// Changes of two steps by one error.
struct Shifts {
  Shift step;
  Shift reference;
};

using ErrorsOfTwo = std::map<Cause, Shifts>;

void add(ErrorsOfTwo& shifts_by_cause, const std::vector<PossibleError>& errors, Shift Shifts::*side) {
  for (const auto& error : errors) {
    auto cause = error.cause;
    if (is_of_the_host(cause.part)) cause.part = PartOfStep::launches;
    auto& shift = shifts_by_cause[cause].*side;
    shift.up += lengthens(error.uncertain());
    shift.down += shortens(error.uncertain());
  }
}

/// Sums of the squared logarithms of independent factors, up and down.
class Spread {
 public:
  void add(double up, double down) {
    const auto square = [](double x) { return x * x; };
    up_ += square(std::max({0.0, up, down}));
    down_ += square(std::min({0.0, up, down}));
  }
  Expected around(double value) const {
    return {value, value * std::exp(-std::sqrt(down_)), value * std::exp(std::sqrt(up_))};
  }

 private:
  double up_ = 0;
  double down_ = 0;
};

}  // namespace

Expected step_ratio(Seconds step, const std::vector<PossibleError>& step_errors, Seconds reference,
                    const std::vector<PossibleError>& reference_errors) {
  if (step == reference && step == Seconds{}) return {1, 1, 1};
  const auto value = step / reference;
  if (step == Seconds{} || reference == Seconds{}) return {value, value, value};
  ErrorsOfTwo errors;
  add(errors, step_errors, &Shifts::step);
  add(errors, reference_errors, &Shifts::reference);
  Spread spread;
  for (const auto& [what, shifts] : errors) {
    spread.add(
        std::log(((step + shifts.step.up) / step) / ((reference + shifts.reference.up) / reference)),
        std::log(((step - shifts.step.down) / step) / ((reference - shifts.reference.down) / reference)));
  }
  return spread.around(value);
}

double probability_of_less(const Expected& ratio) {
  if (ratio.value == 1) return 0.5;
  // To be on the other side of 1 the ratio must grow if it is below 1, and shrink if it is above.
  const auto beyond =
      ratio.value < 1 ? std::log(ratio.high / ratio.value) : std::log(ratio.value / ratio.low);
  static const double half_width = normal_half_width(0.9);
  const auto deviation = beyond / half_width;
  if (deviation == 0) return ratio.value < 1 ? 1 : 0;
  return 0.5 * std::erfc(std::log(ratio.value) / deviation / std::numbers::sqrt2);
}

}  // namespace gradway

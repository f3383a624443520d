// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/robust_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/contract.hpp"
#include "sim/base/quantiles.hpp"

namespace gradway {
namespace {

/// Keeps the line with the least misfit; of equal lines the first.
class Best {
 public:
  explicit Best(const std::vector<AmountTime>& points) : points_{points} {}

  void offer(const Line& line) {
    if (!(line.base >= 0 && line.slope > 0)) return;
    double misfit = 0;
    for (const auto& point : points_) misfit += std::abs(line.at(point.amount) / point.time - 1);
    if (misfit >= misfit_) return;
    misfit_ = misfit;
    line_ = line;
  }
  const Line& line() const { return line_; }

 private:
  const std::vector<AmountTime>& points_;
  Line line_;
  double misfit_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double Line::at(double amount) const {
  return form == LineForm::sum ? base + amount * slope : std::max(base, amount * slope);
}

Line robust_line(const std::vector<AmountTime>& points, LineForm form) {
  expects(!points.empty(), "a line through some points");
  Best best{points};
  for (const auto& first : points) {
    best.offer({0, first.time / first.amount, form});
    for (const auto& second : points) {
      if (form == LineForm::larger) best.offer({first.time, second.time / second.amount, form});
      if (form == LineForm::larger || first.amount >= second.amount) continue;
      const auto slope = (second.time - first.time) / (second.amount - first.amount);
      best.offer({first.time - first.amount * slope, slope, form});
    }
  }
  return best.line();
}

std::optional<std::pair<double, double>> leave_one_out_slopes(const std::vector<AmountTime>& points,
                                                              LineForm form) {
  constexpr std::size_t fewest = 4;
  if (points.size() < fewest) return std::nullopt;
  auto least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto remaining = points;
    remaining.erase(remaining.begin() + static_cast<std::ptrdiff_t>(i));
    const auto slope = robust_line(remaining, form).slope;
    least = std::min(least, slope);
    most = std::max(most, slope);
  }
  return std::pair{least, most};
}

std::optional<FitError> fit_error(std::vector<double> errors) {
  if (errors.empty()) return std::nullopt;
  for (auto& error : errors) error = std::abs(error);
  return FitError{upper_median(errors), std::ranges::max(errors)};
}

}  // namespace gradway

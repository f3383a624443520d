// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/contract.hpp"
#include "sim/cost/collective_table.hpp"

namespace gradway {
namespace {

/// Time of zero bytes, extrapolated by the line through the two smallest sizes; at least a hundredth of the
/// smallest time.
Seconds base_of(const CollectiveTable& table) {
  const auto& points = table.points;
  constexpr double least = 0.01;
  const auto first = points.front();
  if (points.size() < 2) return least * first.time;
  const auto slope = (points[1].time - first.time) / (points[1].size - first.size).value();
  return std::max(first.time - slope * first.size.value(), least * first.time);
}

bool is_cached(const CollectiveTable& table, Bytes size) {
  constexpr double cliff = 1.1;
  if (table.transport != Transport::shm) return false;
  const auto rate = [](const SizedTime& point) { return point.size / point.time; };
  const auto best = std::ranges::max_element(table.points, {}, rate);
  return size <= best->size && rate(*best) > cliff * rate(table.points.back());
}

/// Keeps the scales with the least misfit; of equal ones the first.
class BestScales {
 public:
  BestScales(const std::vector<ScaledRow>& rows, std::size_t left_out) : rows_{rows}, left_out_{left_out} {}

  void offer(const Scales& scales) {
    if (!(scales.fixed > 0 && scales.moving > 0)) return;
    double misfit = 0;
    for (std::size_t i = 0; i < rows_.size() && misfit < misfit_; ++i) {
      if (i != left_out_) misfit += std::abs(scales.of(rows_[i].calibrated) / rows_[i].measured - 1);
    }
    if (misfit >= misfit_) return;
    misfit_ = misfit;
    scales_ = scales;
  }
  const Scales& scales() const { return scales_; }

 private:
  const std::vector<ScaledRow>& rows_;
  std::size_t left_out_;
  Scales scales_;
  double misfit_ = std::numeric_limits<double>::infinity();
};

/// Scales that reproduce the measured times of two rows; none if the rows are too similar.
Scales through(const ScaledRow& a, const ScaledRow& b) {
  constexpr double alike = 1e-3;
  const auto product = [](Seconds x, Seconds y) { return x.value() * y.value(); };
  const auto diagonal = product(a.calibrated.fixed, b.calibrated.moving);
  const auto antidiagonal = product(b.calibrated.fixed, a.calibrated.moving);
  const auto determinant = diagonal - antidiagonal;
  if (std::abs(determinant) <= alike * (diagonal + antidiagonal)) return {};
  return {(product(a.measured, b.calibrated.moving) - product(b.measured, a.calibrated.moving)) / determinant,
          (product(a.calibrated.fixed, b.measured) - product(b.calibrated.fixed, a.measured)) / determinant};
}

/// @param start is tried first @param left_out index of a row to ignore, or beyond the last
Scales best_scales(const std::vector<ScaledRow>& rows, const Scales& start, std::size_t left_out) {
  bool has_fixed = false;
  bool has_moving = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != left_out) (rows[i].calibrated.fixed > rows[i].calibrated.moving ? has_fixed : has_moving) = true;
  }
  BestScales best{rows, left_out};
  best.offer({});
  if (has_fixed && has_moving) best.offer(start);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == left_out) continue;
    const auto& [calibrated, measured] = rows[i];
    if (!has_moving) best.offer({(measured - calibrated.moving) / calibrated.fixed, 1});
    if (!has_fixed) best.offer({1, (measured - calibrated.fixed) / calibrated.moving});
    if (!has_fixed || !has_moving) continue;
    for (auto j = i + 1; j < rows.size(); ++j) {
      if (j != left_out) best.offer(through(rows[i], rows[j]));
    }
  }
  return best.scales();
}

}  // namespace

SplitTime split_time(const CollectiveTable& table, Bytes size) {
  const auto base = base_of(table);
  const auto time = time_at(table, size);
  if (is_cached(table, size)) return {time, Seconds{}};
  const auto& last = table.points.back();
  const auto moving =
      std::clamp((last.time - base) * (size / last.size), Seconds{}, time - std::min(time, base));
  return {time - moving, moving};
}

Scales fit_scales(const std::vector<ScaledRow>& rows) {
  return best_scales(rows, {}, rows.size());
}

std::vector<double> leave_one_out_errors(const std::vector<ScaledRow>& rows) {
  std::vector<double> errors;
  if (rows.size() < 2) return errors;
  const auto of_all = fit_scales(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto scales = best_scales(rows, of_all, i);
    const auto ratio = scales.of(rows[i].calibrated) / rows[i].measured;
    errors.push_back(std::max(ratio, 1 / ratio) - 1);
  }
  return errors;
}

std::optional<double> bound_of_90_percent(std::vector<double> errors) {
  const auto place = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size() + 1)));
  if (place > errors.size()) return std::nullopt;
  std::ranges::sort(errors);
  return errors[place - 1];
}

}  // namespace gradway

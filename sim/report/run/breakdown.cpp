// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

constexpr double smallest_share = 5e-4;  ///< A smaller share of the step would read "0.0 %".

/// A part of the step. Fills differ, so that the bar is readable without colours.
struct BreakdownPart {
  std::string_view name;
  std::string_view fill;
  Paint paint;
  Seconds Metrics::*time;
};

constexpr std::array shown_parts{
    BreakdownPart{"compute", "█", Paint::green, &Metrics::compute},
    BreakdownPart{"exposed communication", "▒", Paint::red, &Metrics::exposed_communication},
    BreakdownPart{"input wait", "▓", Paint::yellow, &Metrics::input_wait},
    BreakdownPart{"optimizer", "▚", Paint::blue, &Metrics::optimizer},
    BreakdownPart{"launch-bound", "░", Paint::magenta, &Metrics::launch_bound},
    BreakdownPart{"idle", "·", Paint::dim, &Metrics::idle},
};

std::string repeat(std::string_view text, std::size_t times) {
  std::string repeated;
  for (std::size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

/// The bar. Each part ends at the rounded cumulative sum, so that rounding errors do not accumulate.
std::string bar(const Metrics& metrics, std::size_t width, const Style& style) {
  std::string text;
  double sum = 0;
  std::size_t end = 0;
  for (const auto& part : shown_parts) {
    sum += metrics.*part.time / metrics.step_time;
    const auto next =
        static_cast<std::size_t>(std::round(std::clamp(sum, 0.0, 1.0) * static_cast<double>(width)));
    text += style.paint(part.paint, repeat(part.fill, next - std::min(end, next)));
    end = std::max(end, next);
  }
  return text;
}

/// Unit of all rows: that of the step, so that rows compare at a glance.
struct ColumnUnit {
  std::string_view name;
  double seconds;
};

ColumnUnit unit_for(Seconds step) {
  if (step.value() >= 10) return {"s", 1};
  return step.value() >= 1e-3 ? ColumnUnit{"ms", 1e-3} : ColumnUnit{"us", 1e-6};
}

std::string row(std::string_view mark, std::string_view name, Seconds time, Seconds step) {
  const auto unit = unit_for(step);
  const auto decimals = step.value() / unit.seconds < 100 ? 2 : 1;
  return fmt::format("  {} {:<24}{:>10.{}f} {:<2}{:>8.1f} %", mark, name, time.value() / unit.seconds,
                     decimals, unit.name, time / step * 100);
}

}  // namespace

void write_breakdown(std::ostream& out, const Metrics& metrics, const Style& style, Detail detail) {
  if (!(metrics.step_time.value() > 0)) return;
  out << "  " << bar(metrics, std::max<std::size_t>(style.width, 12) - 4, style) << "\n\n";
  const auto is_shown = [&](Seconds time) {
    return detail == Detail::full || time / metrics.step_time >= smallest_share;
  };
  for (const auto& part : shown_parts) {
    if (!is_shown(metrics.*part.time)) continue;
    out << row(style.paint(part.paint, part.fill), part.name, metrics.*part.time, metrics.step_time) << '\n';
  }
  const auto also = [&](std::string_view name, Seconds time, const char* note) {
    if (is_shown(time))
      out << style.paint(Paint::dim, row(" ", name, time, metrics.step_time) + "   " + note) << '\n';
  };
  if (metrics.is_of_parts) {
    for (std::size_t i = 0; i < purpose_words.size(); ++i) {
      if (metrics.exposed[i] > Seconds{})
        also(fmt::format("  exposed, {}", purpose_words[i]), metrics.exposed[i], "of exposed communication");
    }
  }
  if (metrics.bubble && *metrics.bubble > Seconds{})
    also("bubble", *metrics.bubble, "idle, mean of all stages");
  if (metrics.communication > Seconds{})
    also("overlapped communication", metrics.communication - metrics.exposed_communication, "with kernels");
}

}  // namespace gradway::report

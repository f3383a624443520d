// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/value_text.hpp"

#include <cmath>

#include <fmt/ranges.h>

namespace gradway::value {
namespace {

struct Scale {
  std::string_view unit;
  double factor;
};
constexpr std::array sizes{Scale{"GiB", 1073741824}, Scale{"GB", 1e9},   Scale{"MiB", 1048576},
                           Scale{"MB", 1e6},         Scale{"KiB", 1024}, Scale{"kB", 1e3}};

/// {} is the shortest text that reads back as the same number.
std::string size_text(double bytes) {
  for (const auto& [unit, factor] : sizes) {
    const auto count = bytes / factor;
    if (count >= 1 && count == std::floor(count)) return fmt::format("{:.0f} {}", count, unit);
  }
  return bytes == std::floor(bytes) ? fmt::format("{:.0f} B", bytes) : fmt::format("{} B", bytes);
}

std::string span_text(double seconds) {
  return seconds == 0 || seconds >= 1 ? fmt::format("{} s", seconds) : fmt::format("{} ms", seconds * 1e3);
}

}  // namespace

std::string text(const Amount& kind, double amount) {
  switch (kind.unit) {
    case Unit::size:
      return size_text(amount);
    case Unit::bandwidth:
      return fmt::format("{} B/s", amount);
    case Unit::time:
      return fmt::format("{} s", amount);
    case Unit::span:
    case Unit::pause:
      return span_text(amount);
    case Unit::share:
      return fmt::format("{} %", amount * 100);
    case Unit::step_rate:
      return fmt::format("{} steps/s", 1 / amount);
    case Unit::tokens:
    case Unit::samples:
      return fmt::format("{}", amount);
    case Unit::node_price:
      return fmt::format("{} USD/h", amount);
    case Unit::data_price:
      return fmt::format("{} USD/GB", amount);
    case Unit::power:
      return fmt::format("{} W", amount);
    case Unit::emission:
      return fmt::format("{} g/kWh", amount);
    case Unit::compute_rate:
      return fmt::format("{} TFLOP/s", amount / 1e12);
  }
  return {};
}

std::string text(const Elements&, double count) {
  auto digits = fmt::format("{:g}", count);  // "5e+08" is 5e8 to people
  const auto plus = digits.find("e+");
  if (plus == std::string::npos) return digits;
  return digits.substr(0, plus + 1) + digits.substr(digits.find_first_not_of("+0", plus + 1));
}

std::string text(const Wrapping&, const Wrap& wrap) {
  if (wrap.blocks == 0) return "whole";
  return wrap.blocks == 1 ? "block" : fmt::format("{} blocks", wrap.blocks);
}

std::string text(const AxisOrder&, const std::array<RankAxis, 5>& order) {
  std::vector<std::string_view> words;
  for (const auto axis : order) words.push_back(rank_axis_words[static_cast<std::size_t>(axis)]);
  return fmt::format("{}", fmt::join(words, "-"));
}

}  // namespace gradway::value

// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/value_text.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/ranges.h>

namespace gradway::value {
namespace {

struct Scale {
  std::string_view unit;
  double factor;
};
constexpr std::array sizes{Scale{"GiB", 1073741824}, Scale{"GB", 1e9},   Scale{"MiB", 1048576},
                           Scale{"MB", 1e6},         Scale{"KiB", 1024}, Scale{"kB", 1e3}};

/// {} is the shortest text that is parsed to the same number.
std::string size_text(double bytes) {
  for (const auto& [unit, factor] : sizes) {
    const auto count = bytes / factor;
    if (count >= 1 && count == std::floor(count)) return fmt::format("{:.0f} {}", count, unit);
  }
  return bytes == std::floor(bytes) ? fmt::format("{:.0f} B", bytes) : fmt::format("{} B", bytes);
}

/// In ms below a second, if that is parsed to the same value: 0.0062 s is not 6.2 x 0.001 s.
std::string time_text(double seconds) {
  constexpr double ms = 1e-3;
  if (seconds == 0 || seconds >= 1) return fmt::format("{} s", seconds);
  for (int digits = 1; digits < 17; ++digits) {
    auto text = fmt::format("{:.{}g}", seconds / ms, digits);
    if (text.find('e') == std::string::npos && std::strtod(text.c_str(), nullptr) * ms == seconds)
      return text + " ms";
  }
  return fmt::format("{} s", seconds);
}

/// Whether zero is not allowed in this unit by default.
bool must_be_some(Unit unit) {
  return unit == Unit::size || unit == Unit::bandwidth || unit == Unit::time || unit == Unit::tokens ||
         unit == Unit::samples || unit == Unit::node_price;
}

}  // namespace

std::string text(const Amount& kind, double amount) {
  if (amount == 0 && kind.zero.empty() && must_be_some(kind.unit)) return {};
  switch (kind.unit) {
    case Unit::size:
      return size_text(amount);
    case Unit::bandwidth:
      return fmt::format("{} B/s", amount);
    case Unit::time:
    case Unit::latency:
      return fmt::format("{} s", amount);
    case Unit::span:
    case Unit::pause:
      return time_text(amount);
    case Unit::share:
    case Unit::positive_share:
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

std::string readable_text(const Amount& kind, double amount) {
  constexpr std::array longer{Scale{"day", 86400}, Scale{"h", 3600}, Scale{"min", 60}};
  if (kind.unit != Unit::span && kind.unit != Unit::pause) return text(kind, amount);
  for (const auto& [unit, factor] : longer) {
    const auto count = amount / factor;
    if (count >= 1 && count == std::floor(count)) return fmt::format("{:.0f} {}", count, unit);
  }
  return text(kind, amount);
}

std::string text(const Elements&, double count) {
  auto short_text = plain_number(count);
  return std::strtod(short_text.c_str(), nullptr) == count ? short_text : fmt::format("{}", count);
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

std::string text(const RowsOfExperts&, const ExpertRows& rows) {
  std::vector<std::string> layers;
  for (const auto& layer : rows) layers.push_back(fmt::format("[{}]", fmt::join(layer, ", ")));
  if (layers.size() < 2) return layers.empty() ? "" : layers.front();
  return fmt::format("[{}]", fmt::join(layers, ", "));
}

std::string text(const Real&, double number) {
  return fmt::format("{}", number);
}

std::string text(const Slowdown&, double times) {
  return fmt::format("{}", times);
}

std::string text(const Gpus&, int count) {
  return fmt::format("{}", count);
}

std::string text(const Whole& kind, std::int64_t number) {
  return number < kind.least ? "" : fmt::format("{}", number);
}

std::string text(const Resharding&, int over) {
  return over == Fsdp::over_all ? "true" : over == Fsdp::kept ? "false" : fmt::format("{}", over);
}

}  // namespace gradway::value

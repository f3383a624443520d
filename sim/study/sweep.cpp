// SPDX-License-Identifier: Apache-2.0
#include "sim/study/sweep.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"

namespace gradway {
namespace {

constexpr std::size_t most_points = 1'000'000;

/// @return what is wrong with an axis, or "" if nothing is
std::string complaint(std::string_view option, const Axis& axis, const std::vector<Axis>& before) {
  if (std::ranges::find(before, axis.key, &Axis::key) != before.end()) {
    return fmt::format("'{} {}' is given twice", option, axis.key);
  }
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    if (value->find_first_not_of(' ') == std::string::npos)
      return fmt::format("'{} {}' has an empty value", option, axis.key);
    if (std::find(axis.values.begin(), value, *value) != value) {
      return fmt::format("'{} {}' has the value '{}' twice", option, axis.key, *value);
    }
  }
  return "";
}

}  // namespace

std::size_t point_count(const std::vector<Axis>& axes) {
  std::size_t count = 1;
  for (const auto& axis : axes) {
    if (__builtin_mul_overflow(count, axis.values.size(), &count))
      return std::numeric_limits<std::size_t>::max();
  }
  return count;
}

std::vector<std::string> point_values(const std::vector<Axis>& axes, std::size_t index) {
  expects(index < point_count(axes), "the point is one of the sweep");
  std::vector<std::string> values(axes.size());
  for (auto i = axes.size(); i-- > 0;) {
    values[i] = axes[i].values[index % axes[i].values.size()];
    index /= axes[i].values.size();
  }
  return values;
}

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = 0;
  for (const auto c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  return values;
}

std::vector<Axis> parse_axes(const std::vector<std::string>& texts, std::string_view option) {
  std::vector<Axis> axes;
  std::vector<Problem> problems;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.push_back(
          {{},
           fmt::format("'{} {}' is not a key and its values", option, text),
           {},
           fmt::format("write '{0} KEY=VALUE,VALUE,...', as in '{0} job.gpus=1,2,4,8'", option)});
      continue;
    }
    Axis axis{text.substr(0, equals), split_values(std::string_view{text}.substr(equals + 1))};
    if (auto wrong = complaint(option, axis, axes); !wrong.empty()) {
      problems.push_back({{}, std::move(wrong), {}, "give each key once, with values that differ"});
    }
    axes.push_back(std::move(axis));
  }
  if (!problems.empty()) throw ConfigError{std::move(problems)};
  check_size(axes);
  return axes;
}

void check_size(const std::vector<Axis>& axes) {
  if (point_count(axes) <= most_points) return;
  throw ConfigError{Problem{{},
                            fmt::format("these values make more than {} points", most_points),
                            {},
                            "vary fewer keys, or each with fewer values"}};
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/random.hpp"

namespace gradway {
namespace {

constexpr std::size_t most_points = 1'000'000;

/// @return the error of an axis; empty if it is correct
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

/// "1..8".
struct Range {
  std::size_t first;
  std::size_t last;
};
std::optional<Range> range_of(std::string_view text) {
  const auto number = [&](std::size_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc{};
  };
  constexpr std::string_view dots = "..";
  Range range{};
  if (!number(range.first) || !text.starts_with(dots)) return std::nullopt;
  text.remove_prefix(dots.size());
  return number(range.last) && text.empty() ? std::optional{range} : std::nullopt;
}

void append_range(std::string_view option, const Range& range, std::vector<std::string>& values) {
  if (range.last < range.first)
    refuse(fmt::format("'{}' has the range '{}..{}', which ends before it begins", option, range.first,
                       range.last),
           fmt::format("write '{}..{}'", range.last, range.first));
  if (range.last - range.first >= most_points)
    refuse(fmt::format("'{}' has the range '{}..{}' with more than {} values", option, range.first,
                       range.last, most_points),
           "give fewer values");
  for (auto value = range.first; value <= range.last; ++value) values.push_back(std::to_string(value));
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
  expects(index < point_count(axes), "the sweep has this point");
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

std::vector<std::string> values_of_list(std::string_view option, std::string_view text) {
  std::vector<std::string> values;
  for (auto& value : split_values(text)) {
    if (const auto range = range_of(value)) {
      append_range(option, *range, values);
    } else {
      values.push_back(std::move(value));
    }
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
           fmt::format("write '{0} KEY=VALUE,VALUE,...', such as '{0} job.gpus=1,2,4,8'", option)});
      continue;
    }
    Axis axis{text.substr(0, equals), {}};
    try {
      axis.values =
          values_of_list(fmt::format("{} {}", option, axis.key), std::string_view{text}.substr(equals + 1));
    } catch (const ConfigError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
      continue;
    }
    if (auto wrong = complaint(option, axis, axes); !wrong.empty()) {
      problems.push_back({{}, std::move(wrong), {}, "give each key once, with different values"});
    }
    axes.push_back(std::move(axis));
  }
  if (!problems.empty()) throw ConfigError{std::move(problems)};
  check_size(axes);
  return axes;
}

void check_size(const std::vector<Axis>& axes) {
  if (point_count(axes) <= most_points) return;
  refuse(fmt::format("the sweep has more than {} points", most_points),
         "vary fewer keys, or give fewer values");
}

namespace {

constexpr std::size_t most_shards = 100'000;

std::optional<Shard> shard_in(std::string_view text) {
  Shard shard;
  const auto* end = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), end, shard.number);
  if (first_error != std::errc{} || slash == end || *slash != '/') return std::nullopt;
  const auto [rest, second_error] = std::from_chars(slash + 1, end, shard.of);
  return second_error == std::errc{} && rest == end ? std::optional{shard} : std::nullopt;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const auto shard = shard_in(text);
  if (!shard)
    refuse(fmt::format("'--shard {}' is not a shard", text),
           "write '--shard I/N', such as '--shard 3/8' for the third of eight shards");
  if (shard->number < 1 || shard->number > shard->of || shard->of > most_shards)
    refuse(shard->of > most_shards ? fmt::format("'--shard {}' has too many shards", text)
                                   : fmt::format("'--shard {}' does not exist", text),
           shard->of > most_shards
               ? fmt::format("the largest number of shards is {}", most_shards)
               : fmt::format("shards count from 1: '--shard 1/{0}' is the first, '--shard {0}/{0}' the last",
                             std::max<std::size_t>(shard->of, 1)));
  return *shard;
}

std::string in_words(const Shard& shard) {
  return fmt::format("shard {} of {}", shard.number, shard.of);
}

std::vector<std::size_t> points_of(const Shard& shard, std::size_t point_count) {
  expects(shard.number >= 1 && shard.number <= shard.of, "the shard exists");
  std::vector<std::pair<double, std::size_t>> dealt(point_count);
  for (std::size_t i = 0; i < point_count; ++i) dealt[i] = {Random{i, RandomStream::shards}.uniform(), i};
  std::ranges::sort(dealt);
  std::vector<std::size_t> points;
  for (auto i = shard.number - 1; i < point_count; i += shard.of) points.push_back(dealt[i].second);
  std::ranges::sort(points);
  return points;
}

}  // namespace gradway

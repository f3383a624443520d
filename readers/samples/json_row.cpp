// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/json_row.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/cost/plausible.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

constexpr double largest_amount = 9e15;  // In bytes: beyond, a double is not exact.
constexpr int largest_gpu = 1 << 20;
constexpr Seconds shortest_time{1e-9};  // The resolution of a probe's clock.
constexpr Seconds longest_time{1e8};

/// The value in quotes, or its kind if it is a list or a map.
std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "a map of keys and values";
  return fmt::format("'{}'", value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

JsonRow::JsonRow(const Json& row, std::size_t index, const JsonPlaces& places)
    : row_{row}, index_{index}, places_{places} {
  if (!row.is_object()) {
    fail(fmt::format("row {} must be a map of keys and values, not {}", index + 1, shown(row)),
         "expected a list of rows such as {\"op\": \"all_reduce\", ...}");
  }
}

bool JsonRow::has(std::string_view key) const {
  return row_.contains(key);
}

void JsonRow::fail(const char* key, std::string message, std::string hint) const {
  refuse_at(places_.value(index_, key), std::move(message), std::move(hint));
}

void JsonRow::fail(std::string message, std::string hint) const {
  refuse_at(places_.row(index_), std::move(message), std::move(hint));
}

const Json& JsonRow::value(const char* key) const {
  const auto entry = row_.find(key);
  if (entry == row_.end()) fail(fmt::format("row {} has no key '{}'", index_ + 1, key), "");
  return *entry;
}

const std::string& JsonRow::text(const char* key) const {
  const auto& entry = value(key);
  if (!entry.is_string()) fail(key, fmt::format("'{}' must be a text, not {}", key, shown(entry)), "");
  const auto& text = entry.get_ref<const std::string&>();
  if (const auto bad = first_control(text, "\t\n"); bad != std::string::npos)
    fail(key, fmt::format("the text has the control character {}", code_point(text, bad)),
         "remove its escape sequence");
  return text;
}

bool JsonRow::boolean(const char* key) const {
  const auto& entry = value(key);
  if (!entry.is_boolean())
    fail(key, fmt::format("'{}' must be true or false, not {}", key, shown(entry)), "");
  return entry.get<bool>();
}

double JsonRow::number(const char* key, const Json& entry, std::string_view thing) const {
  if (!entry.is_number() || !std::isfinite(entry.get<double>()))
    fail(key, fmt::format("'{}' must be {}, not {}", key, thing, shown(entry)), "");
  return entry.get<double>();
}

int JsonRow::whole(const char* key, int least, int most) const {
  const auto& entry = value(key);
  const auto read = number(key, entry, "a whole number");
  if (read != std::floor(read) || read < least || read > most) {
    fail(key,
         fmt::format("'{}' must be a whole number from {} to {}, not {}", key, least, most, shown(entry)),
         "");
  }
  return static_cast<int>(read);
}

double JsonRow::count(const char* key) const {
  const auto& entry = value(key);
  const auto read = number(key, entry, "a whole number");
  if (read != std::floor(read) || read < 1 || read > largest_amount)
    fail(key, fmt::format("'{}' must be a whole number above zero, not {}", key, shown(entry)), "");
  return read;
}

Bytes JsonRow::bytes(const char* key) const {
  return Bytes{count(key)};
}

Seconds JsonRow::seconds(const char* key, const Json& entry) const {
  const Seconds read{number(key, entry, "a time in seconds")};
  if (read < shortest_time || read > longest_time) {
    fail(key,
         fmt::format("a time must be from {} to {} s, got {}", shortest_time.value(), longest_time.value(),
                     shown(entry)),
         "remove the rows of failed probes");
  }
  return read;
}

SizedTime JsonRow::sized_time() const {
  const SizedTime read{bytes("bytes"), time("seconds")};
  check_plausible("seconds", read);
  return read;
}

void JsonRow::check_plausible(const char* key, const SizedTime& measured) const {
  if (!is_plausible(measured)) fail(key, implausible_text(measured), "remove the rows of failed probes");
}

Seconds JsonRow::time(const char* key) const {
  return seconds(key, value(key));
}

std::vector<Seconds> JsonRow::times(const char* key) const {
  const auto& entry = value(key);
  if (!entry.is_array() || entry.empty())
    fail(key, fmt::format("'{}' must be a list of times in seconds, not {}", key, shown(entry)), "");
  std::vector<Seconds> durations;
  for (const auto& item : entry) durations.push_back(seconds(key, item));
  return durations;
}

std::vector<double> JsonRow::whole_numbers(const char* key) const {
  const auto& entry = value(key);
  std::vector<double> numbers;
  if (entry.is_array()) {
    for (const auto& item : entry) {
      const auto read = item.is_number() ? item.get<double>() : -1;
      if (read != std::floor(read) || read < 0 || read > largest_amount)
        fail(key, fmt::format("'{}' must contain whole numbers, not {}", key, shown(item)), "");
      numbers.push_back(read);
    }
  }
  if (numbers.empty())
    fail(key, fmt::format("'{}' must be a list of whole numbers, not {}", key, shown(entry)), "");
  return numbers;
}

std::vector<CopyWay> JsonRow::copy_ways(const char* key) const {
  const auto wrong = [&] {
    fail(key, fmt::format("'{}' must be a list of copies", key),
         "give source and destination of each, a GPU or host memory: [[\"host\", 0], [0, 1]]");
  };
  const auto end = [&](const Json& item) -> std::optional<int> {
    if (item == "host") return std::nullopt;
    if (!item.is_number_integer() || item < 0 || item > largest_gpu) wrong();
    return item.get<int>();
  };
  const auto& entry = value(key);
  if (!entry.is_array() || entry.empty()) wrong();
  std::vector<CopyWay> copies;
  for (const auto& item : entry) {
    if (!item.is_array() || item.size() != 2) wrong();
    copies.push_back({end(item[0]), end(item[1])});
    if (!copies.back().from && !copies.back().to) wrong();
  }
  return copies;
}

std::size_t JsonRow::one_of(const char* key, std::string_view thing,
                            std::span<const std::string_view> words) const {
  const auto& word = text(key);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return i;
  }
  fail(key, fmt::format("'{}' is not {}", word, thing),
       suggestion(word, std::vector<std::string>(words.begin(), words.end())));
}

}  // namespace gradway

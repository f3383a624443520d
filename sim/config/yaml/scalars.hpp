// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/config/yaml/foreign_names.hpp"
#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// The text of a scalar. @param thing expected value, for the message @throws ConfigError for a list or a map
const std::string& scalar(const Node& node, std::string_view thing);

std::string text(const Node& node);              ///< any text except blanks
std::string date(const Node& node);              ///< a valid date such as 2026-01-24
bool boolean(const Node& node);                  ///< true or false
int compute_capability(const Node& node);        ///< "8.9" -> 89
std::string amd_architecture(const Node& node);  ///< as rocminfo prints it: "gfx942"
double efficiency(const Node& node);             ///< from 1e-6 to 1
double scale_of_time(const Node& node);          ///< from 0.25 to 4
double slowdown(const Node& node);               ///< from 1 to 1000
double weight(const Node& node);                 ///< from 0.001 to 1000
double times_as_fast(const Node& node);          ///< from 1e-6 to 1e12
double times_as_fast_or_none(const Node& node);  ///< the same, or 0

/// A number from `least` to `most`.
double real(const Node& node, double least, double most);

/// Parser of a number with bounds, for a Reader.
inline auto number(double least, double most) {
  return [=](const Node& node) { return real(node, least, most); };
}

/// A whole number in plain digits, from `least` to `most`.
std::int64_t whole(const Node& node, std::int64_t least, std::int64_t most);

/// Parser of a whole number with bounds, for a Reader.
inline auto integer(int least, int most) {
  return [=](const Node& node) { return static_cast<int>(whole(node, least, most)); };
}

/// One value of a fixed set and its name in files.
template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

/// One choice for each word of an enum whose values start at 0.
template <class Enum, std::size_t size>
constexpr std::array<Choice<Enum>, size> choices_of(const std::array<std::string_view, size>& words) {
  std::array<Choice<Enum>, size> choices{};
  for (std::size_t i = 0; i < size; ++i) choices[i] = {words[i], static_cast<Enum>(i)};
  return choices;
}

/// Parser of one of several words. @param thing with its article: "a precision".
template <class Value>
auto one_of(std::string_view thing, std::span<const Choice<Value>> table) {
  return [thing, table](const Node& node) {
    const auto& word = scalar(node, thing);
    std::vector<std::string> names;
    for (const auto& [name, value] : table) {
      if (name == word) return value;
      names.emplace_back(name);
    }
    fail(node.where, invalid_word(thing, word), hint_for_word(thing, word, names));
  };
}

template <class Value, std::size_t size>
auto one_of(std::string_view thing, const Choice<Value> (&choices)[size]) {
  return one_of(thing, std::span<const Choice<Value>>{choices});
}

template <class Value, std::size_t size>
auto one_of(std::string_view thing, const std::array<Choice<Value>, size>& choices) {
  return one_of(thing, std::span<const Choice<Value>>{choices});
}

/// The same parser with an optional result, which is empty if parsing fails.
template <class Parse>
auto nullopt_on_error(Parse parse) {
  return [parse](const Node& node) { return std::optional{parse(node)}; };
}

}  // namespace gradway::config

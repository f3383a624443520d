// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Index of a word among several. @param thing with its article: "a precision"
/// @throws ConfigError with the nearest one
std::size_t index_among(std::string_view thing, std::span<const std::string_view> words, const Node& node);

/// Parser of one of several words, in the order of an enum, for a Reader. The words must outlive it.
template <class Enum>
auto one_of(std::string_view thing, std::span<const std::string_view> words) {
  return [=](const Node& node) { return static_cast<Enum>(index_among(thing, words, node)); };
}

/// The same parser with an optional result, which is empty if parsing fails.
template <class Parse>
auto nullopt_on_error(Parse parse) {
  return [parse](const Node& node) { return std::optional{parse(node)}; };
}

}  // namespace gradway::config

// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/value_kind.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway::value {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 16> units{"a size",
                                                 "a bandwidth",
                                                 "a time",
                                                 "a latency",
                                                 "a duration",
                                                 "a duration",
                                                 "a percentage",
                                                 "a percentage",
                                                 "a step rate",
                                                 "a number of tokens",
                                                 "a number of samples",
                                                 "a price per hour",
                                                 "a price per GB",
                                                 "a power",
                                                 "a carbon intensity",
                                                 "a compute rate"};

struct ToWords {
  std::string operator()(const Boolean&) const { return "true or false"; }
  std::string operator()(const Whole& of) const { return fmt::format("{} to {}", of.least, of.most); }
  std::string operator()(const Gpus& of) const { return fmt::format("1 to {}", of.most); }
  std::string operator()(const Real& of) const {
    return fmt::format("a number from {} to {}", plain_number(of.least), plain_number(of.most));
  }
  std::string operator()(const Slowdown&) const { return "a slow-down from 1 to 1000"; }
  std::string operator()(const Words& of) const { return fmt::format("{}", fmt::join(of.words, ", ")); }
  std::string operator()(const WordsOrNone& of) const {
    return fmt::format("none, {}", fmt::join(of.words, ", "));
  }
  std::string operator()(const Amount& of) const {
    return fmt::format("{}{}{} such as {}{}{}", of.instead_of, of.instead_of.empty() ? "" : ", or ",
                       units[static_cast<std::size_t>(of.unit)], of.example, of.zero.empty() ? "" : ", or ",
                       of.zero);
  }
  std::string operator()(const Elements& of) const {
    return fmt::format("a number of elements such as {}", of.example);
  }
  std::string operator()(const WholeOrWord& of) const {
    return fmt::format("{}, or {}", of.word, (*this)(of.numbers));
  }
  std::string operator()(const Wrapping&) const {
    return "block, whole, or a number of blocks such as 4 blocks";
  }
  std::string operator()(const Resharding& of) const {
    return fmt::format("true, false, or 2 to {}", of.most);
  }
  std::string operator()(const AxisOrder&) const { return "an axis order such as tp-cp-ep-dp-pp"; }
  std::string operator()(const RowsOfExperts&) const {
    return "a list of numbers, one per expert, or a list of such lists, one per layer with experts";
  }
  std::string operator()(const Described& of) const { return std::string{of.text}; }
  std::string operator()(const Name&) const { return "a name"; }
  std::string operator()(const Text&) const { return "a text"; }
  std::string operator()(const Names&) const { return "a list of names"; }
  std::string operator()(const Map&) const { return "a map"; }
  std::string operator()(const Maps&) const { return "a list of maps"; }
};

}  // namespace

std::string plain_number(double number) {
  auto digits = fmt::format("{:g}", number);
  const auto exponent = digits.find('e');
  if (exponent == std::string::npos) return digits;
  const auto is_negative = digits[exponent + 1] == '-';
  const auto power = digits.find_first_not_of("+-0", exponent + 1);
  return fmt::format("{}e{}{}", digits.substr(0, exponent), is_negative ? "-" : "", digits.substr(power));
}

std::string in_words(const Kind& kind) {
  return std::visit(ToWords{}, kind);
}

std::vector<std::string_view> words_of(const Kind& kind) {
  if (std::holds_alternative<Boolean>(kind)) return {"true", "false"};
  if (const auto* words = std::get_if<Words>(&kind)) return {words->words.begin(), words->words.end()};
  if (const auto* words = std::get_if<WordsOrNone>(&kind)) {
    std::vector<std::string_view> all{"none"};
    all.insert(all.end(), words->words.begin(), words->words.end());
    return all;
  }
  if (const auto* counted = std::get_if<WholeOrWord>(&kind)) return {counted->word};
  return {};
}

}  // namespace gradway::value

// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/value_kind.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway::value {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 14> units{"a size",
                                                 "a bandwidth",
                                                 "a time",
                                                 "a span",
                                                 "a pause",
                                                 "a share",
                                                 "a rate",
                                                 "a number of tokens",
                                                 "a number of samples",
                                                 "a price",
                                                 "a price of data",
                                                 "a power",
                                                 "what a grid emits",
                                                 "a rate of computing"};

struct ToWords {
  std::string operator()(const Boolean&) const { return "true or false"; }
  std::string operator()(const Whole& of) const { return fmt::format("{} to {}", of.least, of.most); }
  std::string operator()(const Real& of) const {
    return fmt::format("a number from {:g} to {:g}", of.least, of.most);
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
  std::string operator()(const Elements& of) const { return fmt::format("elements such as {}", of.example); }
  std::string operator()(const WholeOrWord& of) const {
    return fmt::format("{}, or {}", of.word, (*this)(of.numbers));
  }
  std::string operator()(const Wrapping&) const { return "a wrapping such as 4 blocks"; }
  std::string operator()(const Resharding& of) const { return fmt::format("true, false or 2 to {}", of.most); }
  std::string operator()(const AxisOrder&) const { return "an order such as tp-cp-ep-dp-pp"; }
  std::string operator()(const Described& of) const { return std::string{of.text}; }
  std::string operator()(const Name&) const { return "a name"; }
  std::string operator()(const Text&) const { return "a text"; }
  std::string operator()(const Names&) const { return "a list of names"; }
  std::string operator()(const Map&) const { return "a map"; }
  std::string operator()(const Maps&) const { return "a list of maps"; }
};

}  // namespace

std::string in_words(const Kind& kind) {
  return std::visit(ToWords{}, kind);
}

}  // namespace gradway::value

// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/value_kind.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway::value {
namespace {

// In the order of the enum.
constexpr std::array<UnitFacts, 17> units{{{"a size", "data", "", true},
                                           {"a bandwidth", "bandwidth", " B/s", true},
                                           {"a time", "time", " s", true},
                                           {"a latency", "time", " s", false},
                                           {"a duration", "", "", false},
                                           {"a duration", "", "", false},
                                           {"a percentage", "", " %", false},
                                           {"a percentage", "", " %", false},
                                           {"a step rate", "step rate", " steps/s", false},
                                           {"a number of tokens", "", "", true},
                                           {"a number of samples", "", "", true},
                                           {"a price per hour", "price", " USD/h", true},
                                           {"a price per GB", "", " USD/GB", false},
                                           {"a power", "power", " W", false},
                                           {"a carbon intensity", "", " g/kWh", false},
                                           {"a compute rate", "compute rate", " TFLOP/s", false},
                                           {"a percentage", "", " %", false}}};
constexpr std::array<RatioFacts, 3> ratios{
    {{"a slow-down", 1, 1000}, {"a time scale", 0.25, 4}, {"an efficiency", 1e-6, 1}}};
constexpr std::array<FormFacts, 3> forms{{{"a date such as 2026-01-24", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
                                          {"a compute capability such as 8.9", "^[1-9][0-9]?[.][0-9]$"},
                                          {"an architecture such as gfx942", "^gfx[0-9a-f]{3,4}$"}}};

struct ToWords {
  std::string operator()(const Boolean&) const { return "true or false"; }
  std::string operator()(const Whole& kind) const { return fmt::format("{} to {}", kind.least, kind.most); }
  std::string operator()(const Gpus& kind) const { return fmt::format("1 to {}", kind.most); }
  std::string operator()(const Real& kind) const {
    return fmt::format("a number from {} to {}", plain_number(kind.least), plain_number(kind.most));
  }
  std::string operator()(const Ratio& kind) const {
    const auto& facts = facts_of(kind);
    return fmt::format("{} from {} to {}", facts.words, plain_number(facts.least), plain_number(facts.most));
  }
  std::string operator()(const Words& kind) const { return fmt::format("{}", fmt::join(kind.words, ", ")); }
  std::string operator()(const WordsOrNone& kind) const {
    return fmt::format("{}, {}", kind.none, fmt::join(kind.words, ", "));
  }
  std::string operator()(const Amount& kind) const {
    return fmt::format("{}{}{} such as {}{}{}", kind.instead_of, kind.instead_of.empty() ? "" : ", or ",
                       facts_of(kind.unit).words, kind.example, kind.zero.empty() ? "" : ", or ", kind.zero);
  }
  std::string operator()(const Elements& kind) const {
    return fmt::format("a number of elements such as {}", kind.example);
  }
  std::string operator()(const WholeOrWord& kind) const {
    return fmt::format("{}, or {}", kind.word, (*this)(kind.numbers));
  }
  std::string operator()(const Wrapping&) const {
    return "block, whole, or a number of blocks such as 4 blocks";
  }
  std::string operator()(const Resharding& kind) const {
    return fmt::format("true, false, or 2 to {}", kind.most);
  }
  std::string operator()(const AxisOrder&) const { return "an axis order such as tp-cp-ep-dp-pp"; }
  std::string operator()(const MedianAndWorst& kind) const {
    return fmt::format("a percentage such as 2.1 %, with {}", kind.worst);
  }
  std::string operator()(const Formatted& kind) const { return std::string{facts_of(kind).words}; }
  std::string operator()(const TextRows& kind) const { return fmt::format("rows of {}", kind.columns); }
  std::string operator()(const RowsOfExperts&) const {
    return "a list of numbers, one per expert, or a list of such lists, one per layer with experts";
  }
  std::string operator()(const Described& kind) const { return std::string{kind.text}; }
  std::string operator()(const Name&) const { return "a name"; }
  std::string operator()(const Text&) const { return "a text"; }
  std::string operator()(const Names&) const { return "a list of names"; }
  std::string operator()(const Map&) const { return "a map"; }
  std::string operator()(const Maps&) const { return "a list of maps"; }
};

}  // namespace

const UnitFacts& facts_of(Unit unit) {
  return units[static_cast<std::size_t>(unit)];
}
const RatioFacts& facts_of(Ratio ratio) {
  return ratios[static_cast<std::size_t>(ratio.meaning)];
}
const FormFacts& facts_of(Formatted formatted) {
  return forms[static_cast<std::size_t>(formatted.form)];
}

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
    std::vector<std::string_view> allowed{words->none};
    allowed.insert(allowed.end(), words->words.begin(), words->words.end());
    return allowed;
  }
  if (const auto* counted = std::get_if<WholeOrWord>(&kind)) return {counted->word};
  return {};
}

}  // namespace gradway::value

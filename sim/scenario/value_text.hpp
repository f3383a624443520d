// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "sim/scenario/job.hpp"
#include "sim/scenario/value_kind.hpp"

/// Values as a scenario writes them: text that is parsed to the same value.
namespace gradway::value {

/// "" for zero where zero is not allowed.
std::string text(const Amount& kind, double amount);
/// In the largest whole unit of time: "1 day" instead of "86400 s".
std::string readable_text(const Amount& kind, double amount);
std::string text(const Elements& kind, double count);
std::string text(const Wrapping& kind, const Wrap& wrap);
std::string text(const AxisOrder& kind, const std::array<RankAxis, 5>& order);
/// "" without rows.
std::string text(const RowsOfExperts& kind, const ExpertRows& rows);
inline std::string text(const Boolean&, bool flag) {
  return flag ? "true" : "false";
}
std::string text(const Real&, double number);
std::string text(const Slowdown&, double times);
inline std::string text(const Text&, const std::string& words) {
  return words;
}
std::string text(const Gpus&, int count);
/// "" for a number below the minimum, which means no value.
std::string text(const Whole& kind, std::int64_t number);
std::string text(const Resharding&, int over);
template <class Word>
std::string text(const Words& kind, Word word) {
  return std::string{kind.words[static_cast<std::size_t>(word)]};
}
template <class Word>
std::string text(const WordsOrNone& kind, const std::optional<Word>& word) {
  return word ? std::string{kind.words[static_cast<std::size_t>(*word)]} : "none";
}
template <class Unit>
std::string text(const Amount& kind, const Quantity<Unit>& amount) {
  return text(kind, amount.value());
}

}  // namespace gradway::value

namespace gradway {

/// Text of a member; "" if it has no value.
template <class Kind, class Member>
std::string value_text(const Kind& kind, const Member& member) {
  return value::text(kind, member);
}
template <class Kind, class Member>
std::string value_text(const Kind& kind, const std::optional<Member>& member) {
  if constexpr (std::is_same_v<Kind, value::WordsOrNone>) {
    return value::text(kind, member);
  } else {
    return member ? value::text(kind, *member) : "";
  }
}

}  // namespace gradway

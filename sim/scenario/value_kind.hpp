// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gradway {

/// The kinds of value that a key of a scenario can have. One record says what the parser accepts, what
/// `gradway list keys` and the JSON Schema say of it, and how a report writes it.
namespace value {

struct Boolean {};

/// A whole number in plain digits.
struct Whole {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// A number of GPUs; beyond the largest simulation the message says what can be done instead.
struct Gpus {
  std::int64_t most = 0;
};

struct Real {
  double least = 0;
  double most = 0;
};

/// How many times as long something takes: from 1, not at all, to 1000.
struct Slowdown {};

/// One of several words; an enum's values count from 0 in their order.
struct Words {
  std::string_view thing;  ///< with its article, for messages: "a schedule"
  std::span<const std::string_view> words;
};

/// The same, or "none" for an optional enum that has no value.
struct WordsOrNone {
  std::string_view thing;
  std::span<const std::string_view> words;
};

enum class Unit : std::uint8_t {
  size,
  bandwidth,
  time,
  latency,
  span,   ///< of a training: days, hours
  pause,  ///< of any length, or none
  share,
  positive_share,
  step_rate,
  tokens,
  samples,
  node_price,
  data_price,
  power,
  emission,
  compute_rate
};

/// A number with its unit.
struct Amount {
  Unit unit = Unit::size;
  std::string_view example;
  std::string_view zero{};        ///< how none of it is written; empty: there must be some
  std::string_view instead_of{};  ///< a word that can stand in place of the amount
};

struct Elements {
  std::string_view example;
};
/// A whole number, or a word in place of one of its values.
struct WholeOrWord {
  std::string_view word;
  Whole numbers;
};
struct Wrapping {};
struct Resharding {
  std::int64_t most = 0;
};
struct AxisOrder {};

/// Checked by a parser of its own; people read this of it.
struct Described {
  std::string_view text;
};
struct Name {};
struct Text {};
struct Names {};
struct Map {};
struct Maps {};

using Kind =
    std::variant<Boolean, Whole, Gpus, Real, Slowdown, Words, WordsOrNone, Amount, Elements, WholeOrWord,
                 Wrapping, Resharding, AxisOrder, Described, Name, Text, Names, Map, Maps>;

/// "1e-6" and "5e8", as people write them; six digits.
std::string plain_number(double number);

/// What can stand there, for people: "true or false", "1 to 1000", "a size such as 25 MiB".
std::string in_words(const Kind& kind);

/// The words that can stand there, alone or beside numbers; empty for other kinds.
std::vector<std::string_view> words_of(const Kind& kind);

}  // namespace value
}  // namespace gradway

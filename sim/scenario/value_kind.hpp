// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gradway {

/// The kinds of value that a key of a scenario can have. The parser, `gradway list keys`, the JSON Schema and
/// reports follow from one record.
namespace value {

struct Boolean {};

/// A whole number in plain digits.
struct Whole {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// A number of GPUs. The message for too many suggests an alternative.
struct Gpus {
  std::int64_t most = 0;
};

struct Real {
  double least = 0;
  double most = 0;
};

/// A plain number whose meaning limits its range.
struct Ratio {
  enum class Meaning : std::uint8_t {
    slowdown,    ///< of a time, from 1 (none) to 1000
    time_scale,  ///< of a time, from 0.25 to 4
    efficiency   ///< from 1e-6 to 1
  };
  Meaning meaning = Meaning::slowdown;
};
/// What numbers of a meaning have in common.
struct RatioFacts {
  std::string_view words;  ///< with the article: "an efficiency"
  double least;
  double most;
};
const RatioFacts& facts_of(Ratio ratio);
inline constexpr Ratio slowdown{Ratio::Meaning::slowdown};
inline constexpr Ratio time_scale{Ratio::Meaning::time_scale};
inline constexpr Ratio efficiency{Ratio::Meaning::efficiency};

/// One of several words; an enum's values count in their order.
struct Words {
  std::string_view thing;  ///< with its article, for messages: "a schedule"
  std::span<const std::string_view> words;
  std::int64_t first = 0;  ///< value of the first word
};

/// One of several words, or another one for an empty optional enum.
struct WordsOrNone {
  std::string_view thing;
  std::span<const std::string_view> words;
  std::string_view none = "none";
};

enum class Unit : std::uint8_t {
  size,
  bandwidth,
  time,
  latency,
  span,   ///< a long time: days, hours
  pause,  ///< a time of any length, or zero
  share,
  positive_share,
  step_rate,
  tokens,
  samples,
  node_price,
  data_price,
  power,
  emission,
  compute_rate,
  relative_error  ///< a percentage that may be above 100 %
};

/// What amounts of a unit have in common.
struct UnitFacts {
  std::string_view words;     ///< with the article: "a size"
  std::string_view quantity;  ///< kind of quantity whose units it has; "" with a format of its own ("300B")
  std::string_view suffix;    ///< of a number in the base unit
  bool is_positive;           ///< zero means no value
};
const UnitFacts& facts_of(Unit unit);

/// A number with its unit.
struct Amount {
  Unit unit = Unit::size;
  std::string_view example;
  std::string_view zero{};        ///< text for zero; empty: zero is not allowed
  std::string_view instead_of{};  ///< a word that is allowed instead of the amount
};

struct Elements {
  std::string_view example;
};
/// A whole number, or a word.
struct WholeOrWord {
  std::string_view word;
  Whole numbers;
};
struct Wrapping {};
struct Resharding {
  std::int64_t most = 0;
};
struct AxisOrder {};
/// Median and worst error. The key is that of the median; it and the key of the worst require each other.
struct MedianAndWorst {
  std::string_view worst;
};

/// A text of a fixed form.
struct Formatted {
  enum class Form : std::uint8_t { date, compute_capability, architecture };
  Form form = Form::date;
};
struct FormFacts {
  std::string_view words;
  std::string_view pattern;  ///< regular expression
};
const FormFacts& facts_of(Formatted formatted);
inline constexpr Formatted date{Formatted::Form::date};
inline constexpr Formatted compute_capability{Formatted::Form::compute_capability};  ///< 89 for 8.9
inline constexpr Formatted architecture{Formatted::Form::architecture};              ///< of AMD's GPUs

/// Rows of words between blanks, one a line.
struct TextRows {
  std::string_view columns;
};
/// Numbers by expert, or a list of such lists, one for each layer with experts.
struct RowsOfExperts {};

/// Checked by its own parser; `text` describes it.
struct Described {
  std::string_view text;
};
struct Name {};
struct Text {};
struct Names {};
struct Map {};
struct Maps {
  bool on_one_line = false;  ///< each map, where a file is written
};

using Kind = std::variant<Boolean, Whole, Gpus, Real, Ratio, Words, WordsOrNone, Amount, Elements,
                          WholeOrWord, Wrapping, Resharding, AxisOrder, RowsOfExperts, MedianAndWorst,
                          Formatted, TextRows, Described, Name, Text, Names, Map, Maps>;

/// Kinds of keys that are read and written by their own code.
template <class Kind>
concept Custom = std::is_same_v<Kind, WholeOrWord> || std::is_same_v<Kind, Described> ||
    std::is_same_v<Kind, TextRows> || std::is_same_v<Kind, Map> || std::is_same_v<Kind, Maps>;

/// "1e-6" and "5e8": six significant digits and a short exponent.
std::string plain_number(double number);

/// Description of the allowed values: "true or false", "1 to 1000", "a size such as 25 MiB".
std::string in_words(const Kind& kind);

/// The allowed words, including those of kinds that also allow numbers; empty for other kinds.
std::vector<std::string_view> words_of(const Kind& kind);

}  // namespace value
}  // namespace gradway

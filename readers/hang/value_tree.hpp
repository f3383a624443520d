// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradway {

/// Values of a JSON text or of a Python pickle. A value that a pickle uses several times is stored once, so
/// that memory is bounded by the size of the file. Readers follow a known schema and never recurse.
class ValueTree {
 public:
  using Id = std::uint32_t;
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, map };
  static constexpr Id nothing = 0;
  static constexpr std::size_t most_values = 4'000'000;

  ValueTree() { add(Kind::none); }
  bool is_full() const { return values_.size() >= most_values; }

  Id add(Kind kind);
  Id add_boolean(bool value);
  Id add_integer(std::int64_t value);
  Id add_real(double value);
  Id add_text(std::string text);
  void append(Id list, Id element) { lists_[values_[list].position].push_back(element); }
  void set(Id map, Id key, Id value) { maps_[values_[map].position].emplace_back(key, value); }

  Kind kind(Id value) const { return values_[value].kind; }
  bool is_list(Id value) const { return kind(value) == Kind::list; }
  bool is_map(Id value) const { return kind(value) == Kind::map; }
  /// Elements of a list; none of anything else.
  const std::vector<Id>& elements(Id value) const;
  /// Keys and values of a map; none of anything else.
  const std::vector<std::pair<Id, Id>>& entries(Id value) const;
  /// The value of a key of a map; `nothing` without it.
  Id at(Id map, std::string_view key) const;
  /// A text; "" for anything else.
  std::string_view text(Id value) const;
  /// A number, or a text that is one. Empty for anything else.
  std::optional<std::int64_t> integer(Id value) const;
  bool is_true(Id value) const;

 private:
  struct Value {
    Kind kind = Kind::none;
    std::uint32_t position = 0;  ///< in `texts_`, `lists_` or `maps_`
    std::int64_t integer = 0;
  };
  std::vector<Value> values_;
  std::vector<std::string> texts_;
  std::vector<std::vector<Id>> lists_;
  std::vector<std::vector<std::pair<Id, Id>>> maps_;
};

/// A tree and its outermost value.
struct ValueDocument {
  ValueTree tree;
  ValueTree::Id root = ValueTree::nothing;
};

/// Reads a Python pickle of plain values. Nothing in it is executed: an opcode that names code, calls it or
/// builds an object ends the reading.
/// @param file for messages @throws ConfigError if it is damaged, truncated, too large or would run code
ValueDocument read_pickle(std::string_view bytes, const std::string& file);

/// Reads JSON in bounded depth.
/// @param file for messages @throws ConfigError if it is not valid, too deep or too large
ValueDocument read_json_tree(std::string_view text, const std::string& file);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// Result of a parser, which converts a node into a value or throws ConfigError at the node's place.
template <class Parse>
using Parsed = std::invoke_result_t<const Parse&, const Node&>;

/// Reads the keys of one map. Invalid values are added to the problems and replaced by empty ones, and
/// reading continues. Nodes that are already reported as broken are skipped.
class Reader {
 public:
  /// @param where place for messages about the whole map: its key.
  Reader(const Node& node, Where where, Problems& problems);

  const Where& where() const { return where_; }
  Problems& problems() const { return *problems_; }

  /// Whether no problem was found since the first key was read, so that values can be cross-checked.
  bool is_valid() const;

  /// Whether the map has the key. Does not mark it as known.
  bool has(std::string_view key) const { return map_->find(key) != nullptr; }
  /// @return the key, or its name in earlier versions if the map has that one
  std::string_view key_or(std::string_view key, std::string_view former) const {
    return has(former) ? former : key;
  }

  Where key_place(std::string_view key) const;    ///< of the key, or of the map
  Where value_place(std::string_view key) const;  ///< of the value, or of the map

  template <class Parse>
  Parsed<Parse> required(std::string_view key, const Parse& parse) {
    const Node* node = value(key);
    if (node == nullptr) missing(key);
    return node != nullptr ? parsed(*node, key, parse) : Parsed<Parse>();
  }

  template <class Parse>
  std::optional<Parsed<Parse>> maybe(std::string_view key, const Parse& parse) {
    const Node* node = value(key);
    if (node == nullptr) return std::nullopt;
    return parsed(*node, key, parse);
  }

  template <class Parse>
  Parsed<Parse> optional(std::string_view key, const Parse& parse, Parsed<Parse> otherwise) {
    return maybe(key, parse).value_or(std::move(otherwise));
  }

  /// A list of values; an absent key is an empty list.
  template <class Parse>
  std::vector<Parsed<Parse>> list(std::string_view key, const Parse& parse) {
    std::vector<Parsed<Parse>> values;
    for (const auto* item : items(key)) values.push_back(parsed(*item, key, parse));
    return values;
  }

  Reader map(std::string_view key);                       ///< required
  std::optional<Reader> maybe_map(std::string_view key);  ///< optional
  std::vector<Reader> maps(std::string_view key);         ///< a list of maps; an absent key is an empty list
  std::vector<Reader> map_or_maps(std::string_view key);  ///< one map, or a list of them

  /// The keys of a map whose keys are not fixed, in their order.
  const std::vector<Entry>& entries() const { return map_->entries; }

  void error(const Where& where, std::string message, std::string hint = "", std::vector<Note> notes = {});

  /// Reports an error unless the map has exactly one of the keys. @param thing what they set, for messages
  void exactly_one(const std::vector<std::string>& keys, std::string_view thing);

  /// Reports an error if the map has the key, and marks it as known.
  void forbid(std::string_view key, const std::string& reason, const std::string& hint,
              std::optional<Note> note = {});

  /// Accepts a key of earlier versions without reading its value.
  void ignore(std::string_view key) { value(key); }

  /// Reports all keys that were not read as unknown. The last call on a reader.
  void finish();

  /// The same for a group of a scenario; recognises the names that other trainers use for its keys.
  /// @param group empty: the scenario itself
  void finish(std::string_view group);

 private:
  template <class Hint>
  void refuse_unknown(const Hint& hint_of);
  const Node* value(std::string_view key);
  std::vector<const Node*> items(std::string_view key);
  void missing(std::string_view key);
  void empty_value(const Node& node, std::string_view key);

  template <class Parse>
  Parsed<Parse> parsed(const Node& node, std::string_view key, const Parse& parse) {
    if (node.kind == Node::Kind::broken) return Parsed<Parse>();
    if (node.kind == Node::Kind::null) {
      empty_value(node, key);
      return Parsed<Parse>();
    }
    return problems_->attempt([&] { return parse(node); });
  }

  const Node* map_;
  Where where_;
  Problems* problems_;
  std::optional<std::size_t> problems_before_;  ///< empty until a key is read
  bool broken_ = false;                         ///< the node is not a map, so that its keys are not checked
  std::vector<std::string> known_;
};

/// Keys of entries that must differ.
template <class Key>
class DistinctKeys {
 public:
  /// Reports an entry with the key of an earlier one.
  void add(Key key, Reader& entry, const Where& where, const std::string& message,
           const std::string& hint = "") {
    const auto [first, is_new] = places_.emplace(std::move(key), where);
    if (!is_new) entry.error(where, message, hint, {{first->second, "the first one is here"}});
  }

 private:
  std::map<Key, Where> places_;
};

}  // namespace gradway::config

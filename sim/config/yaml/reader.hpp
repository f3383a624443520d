// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// Turns a node into a value; throws ConfigError at the node's place.
template <class Parse>
using Parsed = std::invoke_result_t<const Parse&, const Node&>;

/// Reads the keys of one map in the order of the fields they fill. What is wrong goes to the problems, an
/// empty value takes its place and reading goes on. A value that is already known to be broken is passed over
/// in silence.
class Reader {
 public:
  /// @param where what messages about the map as a whole point to: the key in front of it.
  Reader(const Node& node, Where where, Problems& problems);

  const Where& where() const { return where_; }
  Problems& problems() const { return *problems_; }

  /// Nothing was wrong since the first key was read: values can be checked against each other.
  bool sound() const;

  /// The map has the key. Says nothing about whether it may.
  bool has(std::string_view key) const { return map_->find(key) != nullptr; }

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

  void error(const Where& where, std::string what, std::string hint = "", std::vector<Note> notes = {});

  /// The value of `key` is one of several ways to say a thing: exactly one of `keys` must stand in the map.
  void exactly_one(const std::vector<std::string>& keys, std::string_view thing);

  /// The key must not stand here because of `reason`; counts as known.
  void forbid(std::string_view key, const std::string& reason, const std::string& hint,
              std::optional<Note> note = {});

  /// Accepts the key without reading its value: files of earlier versions have it.
  void ignore(std::string_view key) { value(key); }

  /// Every key that was not asked for is unknown. The last call on a reader.
  void finish();

  /// The same of a group of a scenario, where names that other trainers have for its keys are recognised.
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
  std::optional<std::size_t> problems_before_;  ///< none while no key was read
  bool broken_ = false;                         ///< the node is no map: nothing can be said about its keys
  std::vector<std::string> known_;
};

}  // namespace gradway::config

// SPDX-License-Identifier: Apache-2.0
#include "readers/hang/value_tree.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/problem.hpp"

namespace gradway {

ValueTree::Id ValueTree::add(Kind kind) {
  Value value{kind};
  if (kind == Kind::list) {
    value.position = static_cast<std::uint32_t>(lists_.size());
    lists_.emplace_back();
  } else if (kind == Kind::map) {
    value.position = static_cast<std::uint32_t>(maps_.size());
    maps_.emplace_back();
  }
  values_.push_back(value);
  return static_cast<Id>(values_.size() - 1);
}

ValueTree::Id ValueTree::add_integer(std::int64_t value) {
  const auto id = add(Kind::integer);
  values_[id].integer = value;
  return id;
}

ValueTree::Id ValueTree::add_boolean(bool value) {
  const auto id = add(Kind::boolean);
  values_[id].integer = value ? 1 : 0;
  return id;
}

ValueTree::Id ValueTree::add_real(double value) {
  constexpr double most = 9e18;
  const auto id = add(Kind::real);
  values_[id].integer = std::abs(value) < most ? static_cast<std::int64_t>(value) : 0;
  return id;
}

ValueTree::Id ValueTree::add_text(std::string text) {
  const auto id = add(Kind::text);
  values_[id].position = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(std::move(text));
  return id;
}

const std::vector<ValueTree::Id>& ValueTree::elements(Id value) const {
  static const std::vector<Id> none;
  return is_list(value) ? lists_[values_[value].position] : none;
}

const std::vector<std::pair<ValueTree::Id, ValueTree::Id>>& ValueTree::entries(Id value) const {
  static const std::vector<std::pair<Id, Id>> none;
  return is_map(value) ? maps_[values_[value].position] : none;
}

ValueTree::Id ValueTree::at(Id map, std::string_view key) const {
  constexpr std::size_t most_keys = 64;  // Maps of one schema have fewer; hostile ones must not cost time.
  std::size_t keys = 0;
  for (const auto& [name, value] : entries(map)) {
    if (keys++ == most_keys) break;
    if (kind(name) == Kind::text && text(name) == key) return value;
  }
  return nothing;
}

std::string_view ValueTree::text(Id value) const {
  return kind(value) == Kind::text ? std::string_view{texts_[values_[value].position]} : std::string_view{};
}

std::optional<std::int64_t> ValueTree::integer(Id value) const {
  if (kind(value) == Kind::integer || kind(value) == Kind::real) return values_[value].integer;
  const auto digits = text(value);
  std::int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || read.ec != std::errc{} || read.ptr != digits.data() + digits.size())
    return std::nullopt;
  return number;
}

bool ValueTree::is_true(Id value) const {
  return kind(value) == Kind::boolean && values_[value].integer != 0;
}

namespace {

constexpr std::size_t most_depth = 64;

/// Builds a tree from the events of nlohmann's parser, which does not recurse.
class TreeBuilder {
 public:
  using Json = nlohmann::json;
  explicit TreeBuilder(ValueTree& tree) : tree_{tree} {}
  ValueTree::Id root = ValueTree::nothing;
  std::string problem;

  bool null() { return put(ValueTree::nothing); }
  bool boolean(bool value) { return put(tree_.add_boolean(value)); }
  bool number_integer(std::int64_t value) { return put(tree_.add_integer(value)); }
  bool number_unsigned(std::uint64_t value) {
    return put(tree_.add_integer(static_cast<std::int64_t>(value)));
  }
  bool number_float(double value, const std::string&) { return put(tree_.add_real(value)); }
  bool string(std::string& value) { return put(tree_.add_text(std::move(value))); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(ValueTree::Kind::map); }
  bool start_array(std::size_t) { return open(ValueTree::Kind::list); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    key_ = tree_.add_text(std::move(name));
    return !is_full();
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) {
    problem = fmt::format("this is not valid JSON from byte {} on", position);
    return false;
  }

 private:
  bool is_full() {
    if (tree_.is_full()) problem = fmt::format("the file has more than {} values", ValueTree::most_values);
    return tree_.is_full();
  }
  bool put(ValueTree::Id value) {
    if (is_full()) return false;
    if (open_.empty()) {
      root = value;
    } else if (tree_.is_list(open_.back().first)) {
      tree_.append(open_.back().first, value);
    } else {
      tree_.set(open_.back().first, key_, value);
    }
    return true;
  }
  bool open(ValueTree::Kind kind) {
    if (open_.size() >= most_depth) {
      problem = fmt::format("values are nested more than {} deep", most_depth);
      return false;
    }
    const auto value = tree_.add(kind);
    if (!put(value)) return false;
    open_.emplace_back(value, key_);
    return true;
  }
  bool close() {
    key_ = open_.back().second;
    open_.pop_back();
    return true;
  }

  ValueTree& tree_;
  ValueTree::Id key_ = ValueTree::nothing;
  std::vector<std::pair<ValueTree::Id, ValueTree::Id>> open_;  ///< values and their keys
};

}  // namespace

ValueDocument read_json_tree(std::string_view text, const std::string& file) {
  ValueDocument document;
  TreeBuilder builder{document.tree};
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    refuse_at(Where{file, 0, 0, 0, {}}, builder.problem.empty() ? "this is not valid JSON" : builder.problem,
              "check whether the file was cut off");
  document.root = builder.root;
  return document;
}

}  // namespace gradway

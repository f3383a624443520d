// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/reader.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/yaml/foreign_names.hpp"

namespace gradway::config {
namespace {

const Node no_keys{.kind = Node::Kind::map};

}  // namespace

Reader::Reader(const Node& node, Where where, Problems& problems)
    : map_{&node}, where_{std::move(where)}, problems_{&problems} {
  if (node.kind == Node::Kind::map) return;
  map_ = &no_keys;
  broken_ = true;
  if (node.kind == Node::Kind::broken) return;
  const auto& place = node.kind == Node::Kind::null ? where_ : node.where;
  error(place, fmt::format("expected a map of keys and values, found {}", describe(node)));
}

bool Reader::is_valid() const {
  return !broken_ && (!problems_before_ || *problems_before_ == problems_->size());
}

Where Reader::key_place(std::string_view key) const {
  const auto* entry = map_->find(key);
  return entry != nullptr ? entry->where : where_;
}

Where Reader::value_place(std::string_view key) const {
  const auto* entry = map_->find(key);
  return entry != nullptr ? entry->value.where : where_;
}

const Node* Reader::value(std::string_view key) {
  if (!problems_before_) problems_before_ = problems_->size();
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  const auto* entry = map_->find(key);
  return entry != nullptr ? &entry->value : nullptr;
}

std::vector<const Node*> Reader::items(std::string_view key) {
  std::vector<const Node*> result;
  const Node* node = value(key);
  if (node == nullptr || node->kind == Node::Kind::broken) return result;
  if (node->kind != Node::Kind::sequence) {
    error(node->where, fmt::format("expected a list for '{}', found {}", key, describe(*node)),
          "write it in [ ]");
    return result;
  }
  for (const auto& item : node->items) result.push_back(&item);
  return result;
}

Reader Reader::map(std::string_view key) {
  static const Node broken{.kind = Node::Kind::broken};
  const Node* node = value(key);
  if (node == nullptr) missing(key);
  return Reader{node != nullptr ? *node : broken, key_place(key), *problems_};
}

std::optional<Reader> Reader::maybe_map(std::string_view key) {
  const Node* node = value(key);
  if (node == nullptr) return std::nullopt;
  return Reader{*node, key_place(key), *problems_};
}

std::vector<Reader> Reader::maps(std::string_view key) {
  std::vector<Reader> readers;
  for (const auto* item : items(key)) readers.emplace_back(*item, item->where, *problems_);
  return readers;
}

std::vector<Reader> Reader::map_or_maps(std::string_view key) {
  const Node* node = value(key);
  if (node != nullptr && node->kind == Node::Kind::sequence) return maps(key);
  if (node == nullptr) return {};
  return {Reader{*node, key_place(key), *problems_}};
}

void Reader::error(const Where& where, std::string message, std::string hint, std::vector<Note> notes) {
  problems_->add(where, std::move(message), std::move(hint), std::move(notes));
}

void Reader::missing(std::string_view key) {
  if (!broken_) error(where_, fmt::format("the key '{}' is missing", key));
}

void Reader::empty_value(const Node& node, std::string_view key) {
  error(node.where, fmt::format("'{}' has no value", key));
}

void Reader::exactly_one(const std::vector<std::string>& keys, std::string_view thing) {
  if (broken_) return;
  const Entry* first = nullptr;
  for (const auto& entry : map_->entries) {
    if (std::ranges::find(keys, entry.key) == keys.end()) continue;
    if (first == nullptr) {
      first = &entry;
    } else {
      error(entry.where, fmt::format("'{}' conflicts with '{}'", entry.key, first->key), "keep one of them",
            {{first->where, fmt::format("'{}' already sets {}", first->key, thing)}});
    }
  }
  if (first == nullptr)
    error(where_, fmt::format("{} is missing: expected one of '{}'", thing, fmt::join(keys, "', '")));
}

void Reader::forbid(std::string_view key, const std::string& reason, const std::string& hint,
                    std::optional<Note> note) {
  if (value(key) == nullptr) return;
  std::vector<Note> notes;
  if (note) notes.push_back(*std::move(note));
  error(key_place(key), reason, hint, std::move(notes));
}

template <class Hint>
void Reader::refuse_unknown(const Hint& hint_of) {
  for (const auto& entry : map_->entries) {
    if (std::ranges::find(known_, entry.key) != known_.end()) continue;
    const bool is_torn_text = entry.value.kind == Node::Kind::null;
    error(entry.where, fmt::format("unknown key '{}'", entry.key),
          is_torn_text ? "a ',' inside { } starts a new key: put text with a ',' in quotes"
                       : hint_of(entry.key));
  }
}

void Reader::finish() {
  refuse_unknown([&](const std::string& key) { return suggestion_of_keys(key, known_); });
}

void Reader::finish(std::string_view group) {
  refuse_unknown([&](const std::string& key) {
    const auto hint = hint_for_key(group, key, {});
    return hint.empty() ? suggestion_of_keys(key, known_) : hint;
  });
}

}  // namespace gradway::config

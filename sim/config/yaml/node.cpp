// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/node.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace gradway::config {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// Whether the text is safe as a plain scalar everywhere, also inside [] and {}.
bool is_plain(const std::string& text) {
  constexpr std::string_view inside = " ._-+/^";
  const auto safe = [&](char c) {
    const auto letter = static_cast<unsigned char>(c);
    return std::isalnum(letter) != 0 || inside.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) != 0 && text.back() != ' ' &&
         std::ranges::all_of(text, safe);
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  const auto entry = std::ranges::find(entries, key, &Entry::key);
  return entry == entries.end() ? nullptr : &*entry;
}

Entry* Node::find(std::string_view key) {
  return const_cast<Entry*>(std::as_const(*this).find(key));
}

void merge_into(Node& target, const std::vector<Entry>& entries) {
  for (const auto& entry : entries) {
    auto* existing = target.find(entry.key);
    if (existing == nullptr) {
      target.entries.push_back(entry);
    } else if (existing->value.kind == Node::Kind::map && entry.value.kind == Node::Kind::map) {
      merge_into(existing->value, entry.value.entries);
    } else {
      *existing = entry;
    }
  }
}

std::string to_yaml(const Node& node) {
  std::string body;
  const auto add = [&body](const std::string& item) { body += (body.empty() ? "" : ", ") + item; };
  switch (node.kind) {
    case Node::Kind::scalar:
      return node.quoted || !is_plain(node.text) ? quoted(node.text) : node.text;
    case Node::Kind::sequence:
      for (const auto& item : node.items) add(to_yaml(item));
      return "[" + body + "]";
    case Node::Kind::map:
      for (const auto& [key, where, value] : node.entries) add(quoted(key) + ": " + to_yaml(value));
      return "{" + body + "}";
    case Node::Kind::null:
    case Node::Kind::broken:
      break;
  }
  return "~";
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::scalar:
      return fmt::format("'{}'", node.text);
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      return "a map of keys and values";
    case Node::Kind::null:
    case Node::Kind::broken:
      break;
  }
  return "nothing";
}

}  // namespace gradway::config

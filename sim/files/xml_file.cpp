// SPDX-License-Identifier: Apache-2.0
#include "sim/files/xml_file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace gradway {
namespace {

constexpr int deepest_element = 64;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// The first element that is nested too deeply. Works without recursion, as the depth is unlimited.
pugi::xml_node first_too_deep(const pugi::xml_node& root) {
  int depth = 1;
  for (auto node = root; node;) {
    if (depth > deepest_element) return node;
    if (node.first_child()) {
      node = node.first_child();
      ++depth;
      continue;
    }
    while (node && node != root && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (!node || node == root) break;
    node = node.next_sibling();
  }
  return {};
}

}  // namespace

XmlFile::XmlFile(TextFile text) : text_{std::move(text)}, lines_{lines_of(text_.content)} {
  const auto& content = text_.content;
  const auto result =
      document_.load_buffer(content.data(), content.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    const auto offset =
        std::min(content.size() - 1, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, result.offset)));
    std::string why{result.description()};
    if (!why.empty()) why.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(why.front())));
    refuse_at(place(offset, 1), fmt::format("this is not XML: {}", why),
              "check whether the file is truncated or was edited by hand");
  }
  if (!root()) refuse_at(text_.whole(), "this is not XML: it has no element", "");
  if (const auto deep = first_too_deep(root()))
    refuse_at(at(deep), fmt::format("elements are nested deeper than {} levels", deepest_element),
              "expected a topology written by NCCL");
}

Where XmlFile::place(std::size_t offset, std::size_t length) const {
  const auto next = std::ranges::upper_bound(lines_, offset, {}, &TextLine::offset);
  return next == lines_.begin() ? text_.whole() : place_in(*(next - 1), text_.name, offset, length);
}

Where XmlFile::at(const pugi::xml_node& element) const {
  const auto offset = element.offset_debug();
  if (offset < 0) return text_.whole();
  return place(static_cast<std::size_t>(offset), std::string_view{element.name()}.size());
}

Where XmlFile::at(const pugi::xml_node& element, std::string_view attribute) const {
  const std::string_view content = text_.content;
  const auto start = element.offset_debug();
  if (start < 0) return text_.whole();
  char quote = 0;
  for (auto i = static_cast<std::size_t>(start); i < content.size() && (quote != 0 || content[i] != '>');
       ++i) {
    if (quote != 0) {
      if (content[i] == quote) quote = 0;
      continue;
    }
    if (content[i] == '"' || content[i] == '\'') quote = content[i];
    if (!is_blank(content[i]) || !content.substr(i + 1).starts_with(attribute)) continue;
    const auto end = content.find_first_of("\"'=> \t\r\n", i + 1);
    if (end != i + 1 + attribute.size()) continue;
    const auto open = content.find_first_of("\"'", end);
    if (open == std::string_view::npos) break;
    const auto close = content.find(content[open], open + 1);
    return place(open + 1, std::min(close, content.size()) - open - 1);
  }
  return at(element);
}

std::string XmlFile::attribute(const pugi::xml_node& element, const char* name) const {
  const std::string_view text = element.attribute(name).value();
  if (const auto bad = first_control(text); bad != std::string_view::npos) {
    refuse_at(at(element, name), fmt::format("the text has the control character {}", code_point(text, bad)),
              fmt::format("this is the '{}' of <{}>", name, element.name()));
  }
  return std::string{text};
}

std::optional<int> XmlFile::whole(const pugi::xml_node& element, const char* name, int least,
                                  int most) const {
  const std::string_view text = element.attribute(name).value();
  if (text.empty()) return std::nullopt;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = is_hex ? text.substr(2) : text;
  long long value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < least || value > most) {
    refuse_at(at(element, name), fmt::format("'{}' is not a whole number from {} to {}", text, least, most),
              fmt::format("this is the '{}' of <{}>", name, element.name()));
  }
  return static_cast<int>(value);
}

std::optional<double> XmlFile::number(const pugi::xml_node& element, const char* name, double least,
                                      double most) const {
  const std::string_view text = element.attribute(name).value();
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
    refuse_at(at(element, name), fmt::format("'{}' is not a number from {:g} to {:g}", text, least, most),
              fmt::format("this is the '{}' of <{}>", name, element.name()));
  }
  return value;
}

}  // namespace gradway

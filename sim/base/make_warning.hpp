// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/warning.hpp"
#include "sim/base/warning_table.hpp"

namespace gradway {
namespace warning_table {

/// Text as an argument of a template.
template <std::size_t size>
struct Text {
  char characters[size]{};
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): literals are arguments
  constexpr Text(const char (&literal)[size]) { std::copy_n(literal, size, characters); }
};

/// The sentence of a warning or of one of its forms; empty if there is none.
constexpr std::string_view sentence_of(std::string_view code) {
  const auto form = std::ranges::find(forms, code, &WarningForm::code);
  if (form != forms.end()) return form->sentence;
  const auto row = std::ranges::find(rows, code, &WarningRow::code);
  return row == rows.end() ? "" : row->sentence;
}

/// Whether a sentence has a place for each name, and no other places.
template <std::size_t count>
constexpr bool has_places(std::string_view sentence, const std::array<std::string_view, count>& names) {
  std::array<bool, count> is_used{};
  while (true) {
    const auto open = sentence.find('{');
    if (open == std::string_view::npos) return std::ranges::all_of(is_used, [](bool used) { return used; });
    sentence.remove_prefix(open + 1);
    const auto name = std::ranges::find(names, sentence.substr(0, sentence.find_first_of(":}")));
    if (name == names.end()) return false;
    is_used[static_cast<std::size_t>(name - names.begin())] = true;
  }
}

}  // namespace warning_table

/// A warning with its values: make_warning<"anchor-other-batch", "anchor", "job">(32, 64). A code that the
/// table does not have, or other names than those of its sentence, do not compile.
/// @tparam code of a row, or of a form ("memory-exceeded/surely")
/// @param values by name
template <warning_table::Text code, warning_table::Text... names, class... Values>
Warning make_warning(const Values&... values) {
  constexpr std::string_view text{code.characters};
  constexpr auto sentence = warning_table::sentence_of(text);
  static_assert(!sentence.empty(), "warning_table.hpp has no such code");
  static_assert(sizeof...(names) == sizeof...(Values), "each value has a name");
  static_assert(
      warning_table::has_places<sizeof...(names)>(sentence, {std::string_view{names.characters}...}),
      "the sentence has other names");
  return {text.substr(0, text.find('/')),
          fmt::format(fmt::runtime(sentence), fmt::arg(names.characters, values)...)};
}

}  // namespace gradway

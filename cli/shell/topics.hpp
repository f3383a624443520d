// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/rows.hpp"
#include "sim/base/warning_table.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::cli {

/// A topic of `gradway help TOPIC`, with its text in topics.txt. The help, the manual page and the
/// completions read this table.
struct Topic {
  std::string_view name;
  std::string_view help;  ///< one line
  /// Writes what follows the text; may be null.
  void (*write_more)(std::ostream& out, const report::Style& style) = nullptr;

  void write(std::ostream& out, const report::Style& style) const;
};

std::span<const Topic> topics();

/// Rows of typed_words.txt of this kind, and for this word in any case if one is given.
std::vector<TextRow> typed_words(std::string_view kind, std::string_view word = {});

/// What `gradway help CODE` says of a warning.
void write_warning(std::ostream& out, const WarningRow& warning, const report::Style& style);

}  // namespace gradway::cli

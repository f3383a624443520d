// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/yaml/source_file.hpp"

namespace gradway::config {

/// The text of a key that is written as `key: |` and indented lines below it.
struct LiteralText {
  int line = 0;    ///< of the '|', counted from 0
  int indent = 0;  ///< columns that the lines are indented by in the file
  std::string text;
};

/// A YAML text whose literal texts are cut out, with empty lines in their place, but for the last. yaml-cpp
/// takes 40 ns a character for them: a profile's tables would take most of the time of reading it.
struct CutText {
  std::string content;
  std::vector<LiteralText> literals;  ///< in the order of the file

  /// The one whose '|' stands in the line, or null.
  const LiteralText* find(int line) const;
};

CutText cut_literals(const SourceText& source);

}  // namespace gradway::config

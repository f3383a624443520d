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

/// A YAML text whose literal texts are replaced by empty lines, except at its end. yaml-cpp takes 40 ns per
/// character, so that a profile's tables would take most of the time to read it.
struct CutText {
  std::string content;
  std::vector<LiteralText> literals;  ///< in the order of the file

  /// The literal text whose '|' is in the line, or null.
  const LiteralText* find(int line) const;
};

CutText cut_literals(const SourceText& source);

}  // namespace gradway::config

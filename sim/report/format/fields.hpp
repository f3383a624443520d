// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Writes "  label       text" line by line. Long texts are wrapped and indented to the text column.
class Fields {
 public:
  Fields(std::ostream& out, const Style& style) : out_{out}, style_{style} {}

  void add(std::string_view label, std::string_view text, Paint paint = Paint::none);
  /// One field of several items, each after a dash if there are several. Writes nothing if there is none.
  void add(std::string_view label, const std::vector<std::string>& items, Paint paint = Paint::none);

 private:
  void write(std::string_view label, std::string_view bullet, std::string_view text, Paint paint);

  std::ostream& out_;
  Style style_;
};

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/copy_rows.hpp"

#include <fmt/format.h>

namespace gradway {

void add_copy(const JsonRow& row, LinkRole role, Samples& samples) {
  const auto measured = row.sized_time();
  samples.copies.push_back({role, measured.size, measured.time});
}

void add_pattern(const JsonRow& row, Samples& samples) {
  PatternRow pattern{row.text("name"), {}, row.bytes("bytes"), row.times("seconds")};
  pattern.copies = row.has("copies") ? row.copy_ways("copies") : copies_of_pattern(pattern.name);
  if (pattern.copies.empty()) {
    ++samples.unused[fmt::format("pattern {}", pattern.name)];
    return;
  }
  if (pattern.times.size() != pattern.copies.size()) {
    row.fail(
        "seconds",
        fmt::format("'{}' has {} times, not {}", pattern.name, pattern.times.size(), pattern.copies.size()),
        "one for each of its copies");
  }
  samples.patterns.push_back(std::move(pattern));
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/sample_rows.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gradway {
namespace {

constexpr int gpu_numbers = 1 << 20;

/// Reads `[0]` or `[0, 1]`; empty without the key.
std::vector<int> read_gpus(const JsonRow& row) {
  if (!row.has("gpus")) return {};
  const auto is_gpu = [](const nlohmann::json& value) {
    return value.is_number_integer() && value >= 0 && value < gpu_numbers;
  };
  const auto& gpus = row.json()["gpus"];
  if (!gpus.is_array() || gpus.empty() || gpus.size() > 2 || !std::ranges::all_of(gpus, is_gpu))
    row.fail("gpus", "'gpus' must be a list of one or two GPU numbers, such as [0] or [0, 1]", "");
  return gpus.get<std::vector<int>>();
}

}  // namespace

void add_copy(const JsonRow& row, LinkRole role, Samples& samples) {
  const auto measured = row.sized_time();
  samples.copies.push_back({role, measured.size, measured.time, read_gpus(row)});
}

void add_pattern(const JsonRow& row, Samples& samples) {
  PatternRow pattern{row.text("name"), {}, row.bytes("bytes"), row.times("seconds"), {}};
  // Rows without `copies` have a wall time by the CPU's clock, which includes the time to notice the end.
  if (row.has("copies") && row.has("wall")) pattern.wall = row.time("wall");
  pattern.copies = row.has("copies") ? row.copy_ways("copies") : copies_of_pattern(pattern.name);
  if (pattern.copies.empty()) {
    ++samples.unused[fmt::format("pattern {}", pattern.name)];
    return;
  }
  if (pattern.times.size() != pattern.copies.size()) {
    row.fail("seconds",
             fmt::format("'{}' has {} times instead of {}", pattern.name, pattern.times.size(),
                         pattern.copies.size()),
             "give one time per copy");
  }
  for (const auto& time : pattern.times) row.check_plausible("seconds", {pattern.size, time});
  samples.patterns.push_back(std::move(pattern));
}

}  // namespace gradway

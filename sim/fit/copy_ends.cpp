// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/copy_ends.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/fit/json_row.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

constexpr int most_gpus = 1 << 20;

bool is_gpu(const Json& value) {
  return value.is_number_integer() && value >= 0 && value < most_gpus;
}

bool is_end(const Json& value) {
  return is_gpu(value) || value == "host";
}

std::optional<int> gpu_of(const Json& end) {
  return end.is_string() ? std::nullopt : std::optional{end.get<int>()};
}

}  // namespace

std::vector<int> read_copy_gpus(const JsonRow& row) {
  if (!row.has("gpus")) return {};
  const auto& gpus = row.json()["gpus"];
  if (!gpus.is_array() || gpus.empty() || gpus.size() > 2 || !std::ranges::all_of(gpus, is_gpu))
    row.fail("gpus", "'gpus' must be the number of a GPU or of two, as in [0] or [0, 1]", "");
  return gpus.get<std::vector<int>>();
}

std::vector<CopyEnds> read_copy_ends(const JsonRow& row, std::size_t count) {
  if (!row.has("copies")) return {};
  const auto& copies = row.json()["copies"];
  const auto is_copy = [](const Json& copy) {
    return copy.is_array() && copy.size() == 2 && std::ranges::all_of(copy, is_end);
  };
  if (!copies.is_array() || !std::ranges::all_of(copies, is_copy))
    row.fail("copies", R"('copies' must be a list of ends, as in [["host", 0], [0, 1]])", "");
  if (copies.size() != count) {
    row.fail("copies", fmt::format("there are {} copies, but {} times in 'seconds'", copies.size(), count),
             "each copy has its own time");
  }
  std::vector<CopyEnds> ends;
  for (const auto& copy : copies) ends.push_back({gpu_of(copy[0]), gpu_of(copy[1])});
  return ends;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/gpu_list.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {
namespace {

/// The device's name in a line of the list; empty: it is another line.
std::string_view listed_device(std::string_view line) {
  constexpr std::string_view start = "GPU ";
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with(start)) return {};
  line.remove_prefix(start.size());
  const auto digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || line.substr(digits, 2) != ": ") return {};
  line.remove_prefix(digits + 2);
  const auto end = line.find(" (UUID:");
  return end == std::string_view::npos ? std::string_view{} : line.substr(0, end);
}

}  // namespace

GpuList find_gpu_list(const TextFile& file) {
  GpuList list;
  for (const auto& line : lines_of(file.content)) {
    const auto device = listed_device(line.text);
    if (device.empty()) continue;
    const auto offset = static_cast<std::size_t>(device.data() - file.content.data());
    const auto where = place_in(line, file.name, offset, device.size());
    if (list.gpus++ == 0) {
      list.device = device;
      list.first = where;
    }
    if (device == list.device) continue;
    throw ConfigError{
        Problem{where,
                fmt::format("the node has GPUs of two kinds, '{}' and '{}'", list.device, device),
                {{list.first, "the other one"}},
                "a platform has one kind of GPU: describe those of one kind alone"}};
  }
  return list;
}

}  // namespace gradway

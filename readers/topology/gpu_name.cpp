// SPDX-License-Identifier: Apache-2.0
#include "readers/topology/gpu_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

#include "sim/base/nearest.hpp"
#include "sim/base/rows.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

namespace tables {
extern const std::string_view gpu_names;
}

namespace {

const std::vector<TextRow>& gpu_names() {
  static const auto rows = rows_in(tables::gpu_names);
  return rows;
}

/// The name in a row of gpu_names.txt; empty if there is none.
std::string_view name_of(std::string_view kind, std::string_view key) {
  const auto row = std::ranges::find_if(gpu_names(), [&](const TextRow& candidate) {
    return candidate.kind == kind && candidate.word(0) == key;
  });
  return row == gpu_names().end() ? std::string_view{} : row->word(1);
}

constexpr std::string_view virtual_suffix = "-vf";  // of an AMD GPU in a virtual machine

/// A line of the list: the numbers of its GPUs, and their name; empty for other lines.
struct ListedGpus {
  std::vector<std::string_view> numbers;
  std::string_view device;
};

ListedGpus listed_gpus(std::string_view line) {
  constexpr std::string_view title = "GPU models and configuration :";  // vLLM's, before the first GPU
  constexpr std::string_view start = "GPU ";
  constexpr std::array<std::string_view, 4> makers{"NVIDIA ", "Tesla ", "GeForce ", "Quadro "};
  if (line.starts_with(title)) line.remove_prefix(title.size());
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with(start)) return {};
  line.remove_prefix(start.size());
  ListedGpus listed;
  for (bool is_more = true; is_more; is_more = line.starts_with(',')) {
    if (!listed.numbers.empty()) line.remove_prefix(1);
    const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (digits == 0) return {};
    listed.numbers.push_back(line.substr(0, digits));
    line.remove_prefix(digits);
  }
  if (!line.starts_with(": ")) return {};
  line.remove_prefix(2);
  const auto end = line.find(" (UUID:");
  const bool is_named = std::ranges::any_of(makers, [&](auto maker) { return line.starts_with(maker); });
  if (end == std::string_view::npos && !is_named) return {};
  listed.device = line.substr(0, std::min(end, line.find_last_not_of(" \t\r") + 1));
  return listed;
}

}  // namespace

std::string gpu_file_name(std::string_view device) {
  constexpr std::string_view maker = "NVIDIA ";
  if (device.starts_with(maker)) device.remove_prefix(maker.size());
  std::string name;
  for (const unsigned char c : device) {
    const bool is_inner_dot = c == '.' && !name.empty() && name.back() != '.';
    const bool is_plain = c < 0x80 && std::isalnum(c) != 0;
    if (is_plain || is_inner_dot) {
      name += static_cast<char>(std::tolower(c));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  for (const auto& row : gpu_names()) {
    if (row.kind != "family") continue;
    for (const auto family : row.words)
      if (name.starts_with(family)) name.erase(0, family.size());
  }
  if (name.ends_with(virtual_suffix)) name.erase(name.size() - virtual_suffix.size());
  if (name.empty()) name = "gpu";
  const auto file = name_of("file", name);
  return file.empty() ? name : std::string{file};
}

std::string gpu_name(const std::string& device, const std::optional<std::string>& chosen,
                     const std::vector<std::string>& known, const Where& file, std::string_view teller) {
  const auto exists = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  if (chosen) {
    if (exists(*chosen)) return *chosen;
    refuse_at({}, fmt::format("unknown GPU in '--gpu {}'", *chosen), suggestion(*chosen, known));
  }
  const auto choices = fmt::format("name one with --gpu: {}", fmt::join(known, ", "));
  if (device.empty()) refuse_at(file, fmt::format("{} does not name its GPU", teller), choices);
  auto name = gpu_file_name(device);
  if (exists(name)) return name;
  refuse_at(file, fmt::format("no file in platforms/gpus describes the GPU of {}, '{}'", teller, device),
            fmt::format("write platforms/gpus/{}.yaml, or {}", name, choices));
}

GpuList find_gpu_list(const TextFile& file) {
  GpuList list;
  std::set<std::string_view> numbers;
  for (const auto& line : lines_of(file.content)) {
    const auto listed = listed_gpus(line.text);
    const auto device = listed.device;
    if (list.gpus > 0 && line.text.find("  MIG ") == 0) list.has_instances = true;
    if (device.empty()) continue;
    const auto offset = static_cast<std::size_t>(device.data() - file.content.data());
    const auto where = place_in(line, file.name, offset, device.size());
    if (list.gpus == 0) {
      list.device = device;
      list.first = where;
    }
    numbers.insert(listed.numbers.begin(), listed.numbers.end());
    list.gpus = static_cast<int>(numbers.size());  // Programs may list them again.
    if (device == list.device) continue;
    throw ConfigError{
        Problem{where,
                fmt::format("the node has two kinds of GPU, '{}' and '{}'", list.device, device),
                {{list.first, "the other GPU is here"}},
                "a platform has one kind of GPU: keep the lines of one kind only"}};
  }
  return list;
}

std::string_view gpu_of_device(int device) {
  return name_of("pci", fmt::format("{:x}", device));
}

}  // namespace gradway

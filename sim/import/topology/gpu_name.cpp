// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/gpu_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

#include "sim/base/nearest.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

namespace {

/// Names of files that differ from the driver's name. By default the name is the driver's in lower case with
/// dashes, without the family in front: "NVIDIA L40S" is l40s, "Tesla V100-SXM2-16GB" is v100-sxm2-16gb.
struct DriverName {
  std::string_view device;
  std::string_view file;
};
constexpr std::array driver_names{
    DriverName{"a100-sxm4-40gb", "a100-sxm-40gb"},
    DriverName{"a100-sxm4-80gb", "a100-sxm-80gb"},
    DriverName{"a100-80gb-pcie", "a100-pcie-80gb"},
    DriverName{"a100-pcie", "a100-pcie-40gb"},
    DriverName{"h100-80gb-hbm3", "h100-sxm"},
    DriverName{"b300-sxm6-ac", "b300"},
    DriverName{"rtx-6000-ada-generation", "rtx-6000-ada"},
    DriverName{"rtx-pro-6000-blackwell-server-edition", "rtx-pro-6000"},
    DriverName{"rtx-pro-6000-blackwell-workstation-edition", "rtx-pro-6000"},
    DriverName{"rtx-pro-6000-blackwell-max-q-workstation-edition", "rtx-pro-6000"}};
constexpr std::array<std::string_view, 4> brand_prefixes{"tesla-", "geforce-", "amd-", "instinct-"};
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

struct PciName {
  int device;
  std::string_view name;
};
constexpr std::array known_pci_names{PciName{0x1db1, "Tesla V100-SXM2-16GB"},
                                     PciName{0x1db4, "Tesla V100-PCIE-16GB"},
                                     PciName{0x1db5, "Tesla V100-SXM2-32GB"},
                                     PciName{0x1db6, "Tesla V100-PCIE-32GB"},
                                     PciName{0x1eb8, "Tesla T4"},
                                     PciName{0x20b0, "NVIDIA A100-SXM4-40GB"},
                                     PciName{0x20b1, "NVIDIA A100-PCIE-40GB"},
                                     PciName{0x20b2, "NVIDIA A100-SXM4-80GB"},
                                     PciName{0x20b5, "NVIDIA A100 80GB PCIe"},
                                     PciName{0x20b7, "NVIDIA A30"},
                                     PciName{0x20f1, "NVIDIA A100-PCIE-40GB"},
                                     PciName{0x2204, "NVIDIA GeForce RTX 3090"},
                                     PciName{0x2230, "NVIDIA RTX A6000"},
                                     PciName{0x2235, "NVIDIA A40"},
                                     PciName{0x2236, "NVIDIA A10"},
                                     PciName{0x2237, "NVIDIA A10G"},
                                     PciName{0x2321, "NVIDIA H100 NVL"},
                                     PciName{0x2330, "NVIDIA H100 80GB HBM3"},
                                     PciName{0x2331, "NVIDIA H100 PCIe"},
                                     PciName{0x2335, "NVIDIA H200"},
                                     PciName{0x233b, "NVIDIA H200 NVL"},
                                     PciName{0x2684, "NVIDIA GeForce RTX 4090"},
                                     PciName{0x26b5, "NVIDIA L40"},
                                     PciName{0x26b9, "NVIDIA L40S"},
                                     PciName{0x27b8, "NVIDIA L4"},
                                     PciName{0x2901, "NVIDIA B200"},
                                     PciName{0x2941, "NVIDIA GB200"},
                                     PciName{0x74a1, "AMD Instinct MI300X"},
                                     PciName{0x74a5, "AMD Instinct MI325X"},
                                     PciName{0x74b5, "AMD Instinct MI300X VF"},
                                     PciName{0x75a0, "AMD Instinct MI350X"},
                                     PciName{0x75a3, "AMD Instinct MI355X"}};

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
  for (const auto family : brand_prefixes) {
    if (name.starts_with(family)) name.erase(0, family.size());
  }
  if (name.ends_with(virtual_suffix)) name.erase(name.size() - virtual_suffix.size());
  if (name.empty()) name = "gpu";
  const auto* const entry = std::ranges::find(driver_names, name, &DriverName::device);
  return entry == driver_names.end() ? name : std::string{entry->file};
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
  const auto* const entry = std::ranges::find(known_pci_names, device, &PciName::device);
  return entry == known_pci_names.end() ? std::string_view{} : entry->name;
}

}  // namespace gradway

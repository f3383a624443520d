// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/gpu_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

/// Where the driver's name is not that of the file. Others are the driver's in lower case with dashes,
/// without the family that it sets before them: "NVIDIA L40S" is l40s, "Tesla V100-SXM2-16GB" is
/// v100-sxm2-16gb.
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
constexpr std::array<std::string_view, 2> brand_prefixes{"tesla-", "geforce-"};

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
  if (name.empty()) name = "gpu";
  const auto* const other = std::ranges::find(driver_names, name, &DriverName::device);
  return other == driver_names.end() ? name : std::string{other->file};
}

std::string gpu_name(const std::string& device, const std::optional<std::string>& chosen,
                     const std::vector<std::string>& known, const Where& file, std::string_view teller) {
  const auto exists = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  if (chosen) {
    if (exists(*chosen)) return *chosen;
    refuse_at({}, fmt::format("'--gpu {}': there is no GPU of this name", *chosen),
              suggestion(*chosen, known));
  }
  const auto choices = fmt::format("name one with --gpu: {}", fmt::join(known, ", "));
  if (device.empty())
    refuse_at(file, fmt::format("{} does not say which GPU it was taken on", teller), choices);
  auto name = gpu_file_name(device);
  if (exists(name)) return name;
  refuse_at(file, fmt::format("no file of platforms/gpus describes {}'s GPU, '{}'", teller, device),
            fmt::format("write platforms/gpus/{}.yaml, or {}", name, choices));
}

}  // namespace gradway

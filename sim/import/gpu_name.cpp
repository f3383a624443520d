// SPDX-License-Identifier: Apache-2.0
#include "sim/import/gpu_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"

namespace gradway {
namespace {

/// Where the driver's name is not that of the file. Others are the driver's in lower case with dashes:
/// "NVIDIA L40S" is l40s.
struct DriverName {
  std::string_view device;
  std::string_view file;
};
constexpr std::array driver_names{DriverName{"a100-sxm4-40gb", "a100-sxm-40gb"},
                                  DriverName{"a100-sxm4-80gb", "a100-sxm-80gb"},
                                  DriverName{"h100-80gb-hbm3", "h100-sxm"}};

[[noreturn]] void refuse(const Where& file, std::string what, std::string hint) {
  throw ConfigError{Problem{file, std::move(what), {}, std::move(hint)}};
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
  if (name.empty()) name = "gpu";
  const auto* const other = std::ranges::find(driver_names, name, &DriverName::device);
  return other == driver_names.end() ? name : std::string{other->file};
}

std::string gpu_name(const std::string& device, const std::optional<std::string>& chosen,
                     const std::vector<std::string>& known, const Where& file) {
  const auto exists = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  if (chosen) {
    if (exists(*chosen)) return *chosen;
    refuse({}, fmt::format("'--gpu {}': there is no GPU of this name", *chosen), suggestion(*chosen, known));
  }
  const auto choices = fmt::format("name one with --gpu: {}", fmt::join(known, ", "));
  if (device.empty()) refuse(file, "the trace does not say which GPU it was taken on", choices);
  const auto name = gpu_file_name(device);
  if (exists(name)) return name;
  refuse(file, fmt::format("no file of platforms/gpus describes the trace's GPU, '{}'", device),
         fmt::format("write platforms/gpus/{}.yaml, or {}", name, choices));
}

}  // namespace gradway

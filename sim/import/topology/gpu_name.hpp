// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway {

/// The name that the file of a GPU has or would have. @param device as the driver names it, not empty
std::string gpu_file_name(std::string_view device);

/// The name of the GPU's file among `known`.
/// @param device as the driver names it, "NVIDIA A100-SXM4-40GB"; empty: nothing says it.
/// @param chosen by the user instead.
/// @param teller what should say it, for messages: "the trace"
/// @throws ConfigError at `file` if there is no such file, with those that there are.
std::string gpu_name(const std::string& device, const std::optional<std::string>& chosen,
                     const std::vector<std::string>& known, const Where& file, std::string_view teller);

}  // namespace gradway

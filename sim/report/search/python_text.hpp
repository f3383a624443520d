// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway::report {

/// A text in quotes.
std::string python_text(std::string_view text);

/// A call on one line, or with a line for each argument. @param start "model = DistributedDataParallel"
std::string python_call(std::string_view start, const std::vector<std::string>& arguments);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/problem.hpp"

namespace gradway {

/// Refuses input at its place. @throws ConfigError with one problem
[[noreturn]] void refuse_at(Where where, std::string problem, std::string hint);
/// Refuses what has no place in a file, such as an argument. @throws ConfigError with one problem
[[noreturn]] void refuse(std::string problem, std::string hint);

}  // namespace gradway

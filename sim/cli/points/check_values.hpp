// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::cli {

/// Where a value of an axis was written, for messages: "--vary job.gpus=4".
Where told_by(const Axis& axis, const std::string& value);

/// Finds values that are wrong at every point of a sweep (mistyped ones), and what is wrong at every point
/// with everything else, before any of them runs. What is wrong at some points only is theirs: a value of one
/// axis may not go with each of another.
/// @param problems_at what is wrong with the point that has these values; that of a value stands at `told_by`
/// @throws ConfigError with all that was found, each once
void check_values(const std::vector<Axis>& axes,
                  const std::function<std::vector<Problem>(const std::vector<std::string>&)>& problems_at);

}  // namespace gradway::cli

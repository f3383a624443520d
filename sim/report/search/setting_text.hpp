// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sim/scenario/job.hpp"

namespace gradway {

/// The value of a key of `job`, `parallel` or `strategy` as a scenario writes it, such as "parallel.tensor".
/// "" if it is the default, and for keys that no table of fields has a member for, except "strategy.kind".
std::string setting_text(const Job& job, std::string_view key);

}  // namespace gradway

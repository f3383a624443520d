// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>

#include "sim/config/scenario_keys.hpp"
#include "sim/report/text/style.hpp"

namespace gradway::report {

/// The keys of scenarios: what can stand there, what counts without it, what it means.
void write_keys(std::ostream& out, std::span<const config::ScenarioKey> keys, const Style& style);

/// The same as one JSON document, in the same order; the default is null where nothing counts instead.
void write_keys_json(std::ostream& out, std::span<const config::ScenarioKey> keys);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "sim/scenario/field_tables.hpp"

/// Settings in the form of a scenario file, by their tables of fields.
namespace gradway::report {

/// Adds the keys that have an effect, in the order of the table.
/// @param add_own called with each key that needs code of its own
void add_fields(nlohmann::ordered_json& json, const Record& settings,
                const std::function<void(std::string_view key)>& add_own = {});

/// Settings whose table describes all keys.
nlohmann::ordered_json fields_json(const Record& settings);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/platform/price.hpp"

namespace gradway::report {

/// What an amount of money follows from: "us-east-1, 2026-07-20", "spot, us-east-1, 2026-08-20",
/// "eu, 2026-03-02, 1.17 USD/EUR of 2026-03-01". The source of a price that was given without a date.
std::string basis_of_cost(const Price& price);

/// Null without a price.
nlohmann::ordered_json price_json(const std::optional<Price>& price);

}  // namespace gradway::report

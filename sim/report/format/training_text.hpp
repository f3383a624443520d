// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/platform/price.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/study/compare/training.hpp"

namespace gradway::report {

/// "300 B tokens", or "90 M samples" if that was asked for.
std::string amount_in_words(const TrainingGoal& goal);

/// "36.2 h" up to two days, "14.2 days" above.
std::string span_text(Seconds time);
std::string span_range_text(const Expected& seconds);  ///< "12.1 to 18.4 days"

/// Four digits, but all digits before the point: "0.25", "98.7", "123,456".
std::string usd_text(double usd);
/// USD per hour: "98.32", and four digits below 10: "0.526".
std::string price_text(double usd_per_hour);
std::string usd_range_text(const Expected& usd);  ///< "98,000 to 160,000"

std::string span_with_range_text(const Expected& seconds);  ///< "14.2 days (12.1 to 18.4 days)"
std::string usd_with_range_text(const Expected& usd);       ///< "123,456 USD (98,000 to 160,000)"

/// "met", "may be met", "not met"
std::string describe(LimitStatus met);

/// The limits that a training misses: "takes 15.2 days (12.1 to 18.4 days), but the deadline is 14 days: it
/// may be met". @pre it misses one
std::string missed_limits_in_words(const Training& training);

/// Adds the duration, the cost and whether limits are met.
void add_training(Fields& fields, const TrainingGoal& goal, const Training& training);

/// What an amount of money follows from: "us-east-1, 2026-07-20", "spot, us-east-1, 2026-08-20",
/// "eu, 2026-03-02, 1.17 USD/EUR of 2026-03-01". The source of a price that was given without a date.
std::string basis_of_cost(const Price& price);

/// Null without a price.
nlohmann::ordered_json price_json(const std::optional<Price>& price);

}  // namespace gradway::report

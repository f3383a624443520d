// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/study/compare/leaders.hpp"
#include "sim/study/compare/training.hpp"

namespace gradway::report {

/// Adds, by name, the index of the winner, or null if several are tied. Under `tied` adds, by name, the
/// indices of the tied runs with the first one first, the probability that the first is ahead of each, and
/// the relative difference; null if there is a winner.
void add_ranking(nlohmann::ordered_json& document, const Ranking& ranking);
void add_ranking(nlohmann::ordered_json& document,
                 const std::vector<std::pair<std::string, Leaders>>& leaders);

/// Duration and cost of a whole training, and whether it meets its limits ("yes", "may", "no"). What was not
/// asked for or is unknown is null.
nlohmann::ordered_json training_json(const Training& training);

}  // namespace gradway::report

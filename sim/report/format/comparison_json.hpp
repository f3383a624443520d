// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "sim/study/compare/leaders.hpp"
#include "sim/study/compare/training.hpp"

namespace gradway::report {

/// Adds by name the index of the one that is ahead of all others, or null; and under `tied` by name, where
/// several are tied, their indices, the first one's first, for each the probability that the first is ahead
/// of it, and how far they differ, else null.
void add_ranking(nlohmann::ordered_json& document, const Ranking& ranking);
void add_ranking(nlohmann::ordered_json& document,
                 const std::vector<std::pair<std::string, Leaders>>& leaders);

/// What a whole training takes and costs, and which limits it keeps ("yes", "may", "no"); what was not asked
/// for or is not known is null.
nlohmann::ordered_json training_json(const Training& training);

}  // namespace gradway::report

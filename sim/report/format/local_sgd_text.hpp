// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/campaign/local_sgd.hpp"

namespace gradway::report {

/// "local SGD: 4 workers, nesterov, meet every 500 steps in int8"
std::string in_words(const LocalSgd& settings);

/// "4 workers: every 500 steps (53 min) each sends 40.4 GB in 8.4 s: they train 99.7 % of the time"
std::string in_words(const OuterLoop& loop, const LocalSgd& settings);

/// A sentence for each class: what its clients do in a round.
std::vector<std::string> clients_in_words(const LocalSgd& settings, const std::vector<ClientTurn>& turns);

}  // namespace gradway::report

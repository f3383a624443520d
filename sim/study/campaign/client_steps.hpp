// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "sim/run/simulate.hpp"

namespace gradway {

/// The time of a step on each class of clients: as told, the model's FLOPs over the rate that training gets,
/// or as simulated on the class' platform. Empty if there are no clients.
/// @param run of the step on the scenario's own platform
/// @throws ConfigError if a class has a rate, but nobody knows the model's FLOPs
std::vector<Seconds> client_steps(const Run& run, std::string_view engine = "auto");

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/simgrid/answer.hpp"

namespace gradway {

/// The function of the module that has SimGrid in it, which is loaded by the first call: SimGrid and the 13
/// libraries that come with it would take ten times as long to load as everything else that a start needs.
/// @param file found as the program's RUNPATH says if it has no folder
/// @throws SimulationError if it cannot be loaded
AnswerFromSimgrid* load_simgrid(const char* file = simgrid_module);

}  // namespace gradway

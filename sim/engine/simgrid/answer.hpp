// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/module.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// The first character of an answer. The rest is the starts and then the ends of all ops, or a message.
enum SimgridAnswer : char { timeline = 't', cannot_finish = 's', fault = 'f' };

/// The function of the module. Runs a graph in this process.
using AnswerFromSimgrid = void(const Platform&, const OpGraph&, std::string& answer);

inline constexpr LoadableModule simgrid_module{
    .file = "libgradway_simgrid.so",
    .function = "gradway_answer_from_simgrid",
    .purpose = "the engine 'simgrid'",
    .library = "libsimgrid",
    .alternative = "; '--engine fluid' needs neither and gives the same times to 1e-9"};

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// What the module is asked to run.
enum class SimgridModel : char {
  network,  ///< SimGrid's own network model
  fluid,    ///< the fluid engine's solver, driven by SimGrid's clock
};

/// The first letter of an answer. The rest is the dates of all ops, first starts and then ends, or a message.
enum SimgridAnswer : char { timeline = 't', cannot_finish = 's', fault = 'f' };

/// The only function of the module: runs a graph, in this process. It throws nothing, because program and
/// module each have their own copy of what is thrown.
using AnswerFromSimgrid = void(SimgridModel, const Platform&, const OpGraph&, std::string& answer);

/// The module's file, and the name of that function in it.
inline constexpr auto simgrid_module = "libgradway_simgrid.so";
inline constexpr auto simgrid_function = "gradway_answer_from_simgrid";

}  // namespace gradway

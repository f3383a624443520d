// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// The first character of an answer. The rest is the starts and then the ends of all ops, or a message.
enum SimgridAnswer : char { timeline = 't', cannot_finish = 's', fault = 'f' };

/// The only function of the module. Runs a graph in this process. It throws nothing, because program and
/// module each have their own copy of the exception types.
using AnswerFromSimgrid = void(const Platform&, const OpGraph&, std::string& answer);

/// The file of the module, and the name of that function in it.
inline constexpr auto simgrid_module = "libgradway_simgrid.so";
inline constexpr auto simgrid_function = "gradway_answer_from_simgrid";

}  // namespace gradway

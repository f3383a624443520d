// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// The platform of a run as a graph, each link and memory with its use in the reported step: the key
/// `platform` of web/DATA.md. Of large platforms the first nodes are shown, with the switches of the fabric
/// that lie around them.
nlohmann::ordered_json platform_json(const Run& run);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// The way of what a GPU's process reads from storage that stands behind its node's network cards: from the
/// switch that the card nearest to the GPU hangs on (of several as near each GPU takes another one) over the
/// card to the GPU's socket. Uplinks between switches are left out: nobody says where storage hangs on.
/// @return nothing if the node has no card, or the GPU no socket
std::optional<std::vector<ResourceId>> way_over_network_card(const Routes& routes, DeviceId gpu);

}  // namespace gradway

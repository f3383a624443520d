// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// The way of traffic from one part of the platform to another: the fewest hops, and the first of several.
struct BackgroundWay {
  std::vector<ResourceId> resources;
  BytesPerSecond slowest{};
};

/// @return nothing if no links lead there
std::optional<BackgroundWay> background_way(const Routes& routes, DeviceId from, DeviceId to);

std::optional<DeviceId> find_device(const Platform& platform, const std::string& name);

}  // namespace gradway

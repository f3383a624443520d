// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/nccl/transport.hpp"

namespace gradway {

/// Adds the parts of a hop one after the other; forgets all of them if one is missing.
class HopBuilder {
 public:
  HopBuilder(const Routes& routes, const Platform& platform) : routes_{routes}, platform_{platform} {}

  HopBuilder& way(DeviceId from, DeviceId to, Routes::Over over, std::size_t label = 0);
  /// Host memory is written and read, so many times over.
  HopBuilder& through_memory(DeviceId socket, int times = 1);
  /// @return nothing if a part was missing
  std::optional<Hop> build(Transport transport);

 private:
  const Routes& routes_;
  const Platform& platform_;
  Hop hop_;
  bool complete_ = true;
};

}  // namespace gradway

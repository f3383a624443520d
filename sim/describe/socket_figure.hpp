// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// What NCCL takes the link between two sockets for, in each direction.
struct SocketFigure {
  std::string_view name;  ///< of the constant in NCCL's source
  BytesPerSecond rate{};
};

/// @param vendor as CPUs spell it: GenuineIntel, AuthenticAMD; others are taken for ARM.
/// @param model of an Intel CPU of family 6; not known: as Skylake
/// @source NCCL 2.28.9, src/graph/topo.h and topo.cc
SocketFigure socket_figure(std::string_view vendor, std::optional<int> model);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "sim/platform/routes.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// The devices that are shown. Tables name them as `nvidia-smi` does: GPU0, NIC0, ...
struct ShownDevices {
  std::vector<DeviceId> gpus;
  std::vector<DeviceId> nics;  ///< of the nodes of these GPUs
};

/// @param most_gpus of platforms with more GPUs only the first `first_gpus` are shown
ShownDevices select_shown_devices(const Platform& platform, std::size_t most_gpus, std::size_t first_gpus);

/// Writes the topology matrix with the socket of each GPU; then a legend of the words in use.
void write_topology(std::ostream& out, const Platform& platform, const Routes& routes,
                    const ShownDevices& shown, const Style& style);

/// Writes the transport that NCCL takes by default between each two GPUs.
void write_transports(std::ostream& out, const Platform& platform, const Routes& routes,
                      const ShownDevices& shown, const Style& style);

/// Writes the links of the shown nodes and of the fabric, both directions in one row.
void write_link_table(std::ostream& out, const Platform& platform, const ShownDevices& shown,
                      const Style& style);

/// Writes the routes from the first GPU to the next and to the last.
void write_routes(std::ostream& out, const Platform& platform, const Routes& routes, const Style& style);

}  // namespace gradway::report

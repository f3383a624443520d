// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "sim/platform/routes.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// The part of a platform that is shown, with the names of `nvidia-smi`: GPU0, NIC0, ...
struct Shown {
  std::vector<DeviceId> gpus;
  std::vector<DeviceId> nics;  ///< of the nodes of these GPUs
};

/// @param most_gpus platforms with more show the first `first_gpus`
Shown shown_part(const Platform& platform, std::size_t most_gpus, std::size_t first_gpus);

/// How near devices are, with the socket of each; then its legend, with only the words that appear.
void write_topology(std::ostream& out, const Platform& platform, const Routes& routes, const Shown& shown,
                    const Style& style);

/// What NCCL moves data with between each two GPUs, by its defaults.
void write_transports(std::ostream& out, const Platform& platform, const Routes& routes, const Shown& shown,
                      const Style& style);

/// The links of the shown nodes and of the fabric, both directions in one row.
void write_link_table(std::ostream& out, const Platform& platform, const Shown& shown, const Style& style);

/// The ways from the first GPU to the next and to the last.
void write_routes(std::ostream& out, const Platform& platform, const Routes& routes, const Style& style);

}  // namespace gradway::report

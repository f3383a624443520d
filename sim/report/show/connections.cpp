// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/connections.hpp"

#include <map>
#include <tuple>

namespace gradway::report {

std::vector<Connection> connections(const std::vector<Link>& links) {
  std::vector<Connection> paired;
  std::multimap<std::tuple<DeviceId, DeviceId, LinkKind>, std::size_t> unpaired;
  for (const auto& link : links) {
    const auto opposite = unpaired.find({link.to, link.from, link.kind});
    if (opposite != unpaired.end()) {
      paired[opposite->second].back = &link;
      unpaired.erase(opposite);
    } else {
      unpaired.emplace(std::tuple{link.from, link.to, link.kind}, paired.size());
      paired.push_back({&link, nullptr});
    }
  }
  return paired;
}

}  // namespace gradway::report

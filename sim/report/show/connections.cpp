// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/connections.hpp"

#include <map>
#include <tuple>

namespace gradway::report {

std::vector<Connection> connections(const std::vector<Link>& links) {
  std::vector<Connection> found;
  std::multimap<std::tuple<DeviceId, DeviceId, LinkKind>, std::size_t> unpaired;
  for (const auto& link : links) {
    const auto other = unpaired.find({link.to, link.from, link.kind});
    if (other != unpaired.end()) {
      found[other->second].back = &link;
      unpaired.erase(other);
    } else {
      unpaired.emplace(std::tuple{link.from, link.to, link.kind}, found.size());
      found.push_back({&link, nullptr});
    }
  }
  return found;
}

}  // namespace gradway::report

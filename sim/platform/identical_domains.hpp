// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Whether all NVLink domains of a platform, which are its nodes unless NVSwitches join several, are
/// interchangeable: they are identical and connected to one switch in the same way. A result for some domains
/// then holds for as many others, taken in the order of their numbers.
class IdenticalDomains {
 public:
  explicit IdenticalDomains(const Platform& platform);

  /// Whether all domains are interchangeable, which the other functions require.
  bool hold() const { return holds_; }
  /// Whether a domain has several nodes.
  bool join_nodes() const { return holds_ && nodes_ > 1; }
  std::size_t count() const { return domains_; }
  /// Number of devices of the nodes of a domain.
  std::size_t devices() const { return devices_; }
  std::size_t domain_of(DeviceId id) const { return id.index() / devices_; }
  /// The domain that a resource belongs to. Its links to NVSwitches and to the switch count as its own.
  std::size_t domain_of(ResourceId id) const {
    const auto& range = range_of(id);
    return (id.index() - range.first) / range.of_domain;
  }
  /// The corresponding resource of another domain.
  ResourceId on_domain(ResourceId id, std::size_t domain) const {
    const auto& range = range_of(id);
    return ResourceId{range.first + domain * range.of_domain + (id.index() - range.first) % range.of_domain};
  }
  /// The corresponding path on other domains.
  /// @param from domains that the path uses, in ascending order
  /// @param to the domain that replaces each of `from`, in ascending order
  std::vector<ResourceId> on_domains(const std::vector<ResourceId>& path,
                                     const std::vector<std::uint32_t>& from,
                                     const std::vector<std::uint32_t>& to) const;

 private:
  /// Resources, or links, of all domains, domain by domain.
  struct Range {
    std::size_t first = 0;
    std::size_t of_domain = 0;  ///< number for each domain
  };
  const Range& range_of(ResourceId id) const {
    if (id.index() < nvlinks_.first) return inside_;
    return id.index() < network_.first ? nvlinks_ : network_;
  }
  bool have_identical_links(const Platform& platform, const Range& resources, std::size_t first_link) const;

  std::size_t nodes_ = 1;  ///< of a domain
  std::size_t domains_ = 0;
  std::size_t devices_ = 0;
  Range inside_;   ///< the nodes' own resources
  Range nvlinks_;  ///< between GPUs and the NVSwitches that join nodes
  Range network_;  ///< between nodes and the switch
  bool holds_ = false;
};

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Whether all NVLink domains of a platform, which are its nodes unless NVSwitches join several, are
/// interchangeable: they are identical and connected to one switch in the same way. A result for some domains
/// then holds for as many others.
class IdenticalDomains {
 public:
  explicit IdenticalDomains(const Platform& platform);

  /// Whether all domains are interchangeable, which the other functions require.
  bool hold() const { return holds_; }
  std::size_t count() const { return domains_; }
  /// Number of devices of the nodes of a domain.
  std::size_t devices() const { return devices_; }
  /// Whether a device is an NVSwitch that joins nodes, or the switch. They come last.
  bool is_switch(DeviceId id) const { return id.index() >= domains_ * devices_; }
  std::size_t domain_of(DeviceId id) const {
    return is_switch(id) ? id.index() - domains_ * devices_ : id.index() / devices_;
  }
  /// Number of resources of a domain.
  std::size_t resources() const { return network_.before + network_.of_domain; }
  /// The domain that a resource belongs to. Its links to NVSwitches and to the switch count as its own.
  std::size_t domain_of(ResourceId id) const {
    const auto& range = range_of(id);
    return (id.index() - range.first) / range.of_domain;
  }
  /// The number of a resource among those of its domain.
  std::size_t number_in_domain(ResourceId id) const {
    const auto& range = range_of(id);
    return range.before + (id.index() - range.first) % range.of_domain;
  }
  /// The resource with such a number on a domain.
  ResourceId resource(std::size_t number, std::size_t domain) const {
    const auto& range = number < nvlinks_.before ? inside_ : number < network_.before ? nvlinks_ : network_;
    return ResourceId{range.first + domain * range.of_domain + (number - range.before)};
  }
  /// The corresponding resource of another domain.
  ResourceId on_domain(ResourceId id, std::size_t domain) const {
    const auto& range = range_of(id);
    return ResourceId{range.first + domain * range.of_domain + (id.index() - range.first) % range.of_domain};
  }

 private:
  /// Resources, or links, of all domains, domain by domain.
  struct Range {
    std::size_t first = 0;
    std::size_t of_domain = 0;  ///< number for each domain
    std::size_t before = 0;     ///< number for each domain in earlier ranges
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

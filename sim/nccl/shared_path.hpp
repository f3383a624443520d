// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/platform/identical_domains.hpp"

namespace gradway {

/// The resources of a flow, shared by the flows of all collectives of one kind and algorithm. Over
/// interchangeable domains, the resources of domains that the flow uses alike are stored once.
class SharedPath {
 public:
  using Resources = std::vector<ResourceId>;
  using Numbers = std::shared_ptr<const std::vector<std::uint32_t>>;

  /// What a flow uses of each of its domains, which are numbered in the order of the ranks.
  struct OverDomains {
    IdenticalDomains alike;
    Numbers use_of_domain;        ///< by domain of the flow: index into `uses`
    std::vector<Resources> uses;  ///< as on the first domain of the platform
  };

  // NOLINTNEXTLINE(google-explicit-constructor): a path can be used as its resources
  SharedPath(Resources resources) : resources_{std::make_shared<const Resources>(std::move(resources))} {}
  /// @param domains the platform's number of each domain of the flow
  SharedPath(OverDomains over, Numbers domains)
      : over_{std::make_shared<const OverDomains>(std::move(over))}, domains_{std::move(domains)} {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const Resources&() const { return resources(); }

  /// All resources, in the order of the domains. Found when first asked for.
  const Resources& resources() const {
    if (resources_) return *resources_;
    Resources all;
    for (std::size_t i = 0; i < domains_->size(); ++i)
      for (const auto id : over_->uses[(*over_->use_of_domain)[i]])
        all.push_back(over_->alike.on_domain(id, (*domains_)[i]));
    resources_ = std::make_shared<const Resources>(std::move(all));
    return *resources_;
  }
  auto begin() const { return resources().begin(); }
  auto end() const { return resources().end(); }
  std::size_t size() const { return resources().size(); }

  /// Null if the platform's domains are not interchangeable.
  const OverDomains* over_domains() const { return over_.get(); }
  const std::vector<std::uint32_t>& domains() const { return *domains_; }
  /// The corresponding path on other domains. @param domains null: the same ones
  SharedPath on(const Numbers& domains) const {
    auto moved = *this;
    if (over_ && domains) moved.domains_ = domains, moved.resources_ = nullptr;
    return moved;
  }
  /// Whether both have the same resources because one was copied from the other.
  bool is_copy_of(const SharedPath& other) const {
    return over_ ? over_ == other.over_ : resources_ == other.resources_;
  }

 private:
  std::shared_ptr<const OverDomains> over_;
  Numbers domains_;
  mutable std::shared_ptr<const Resources> resources_;
};

}  // namespace gradway

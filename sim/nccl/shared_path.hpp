// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"

namespace gradway {

/// The resources of a flow, which many flows have in common: all collectives of one kind and algorithm.
class SharedPath {
 public:
  using Resources = std::vector<ResourceId>;

  // NOLINTNEXTLINE(google-explicit-constructor): a path stands wherever its resources do
  SharedPath(Resources resources) : resources_{std::make_shared<const Resources>(std::move(resources))} {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const Resources&() const { return *resources_; }

  auto begin() const { return resources_->begin(); }
  auto end() const { return resources_->end(); }
  std::size_t size() const { return resources_->size(); }
  /// Paths with one address are one path.
  const Resources* address() const { return resources_.get(); }

 private:
  std::shared_ptr<const Resources> resources_;
};

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"

namespace gradway {

/// The resources of a flow, shared by the flows of all collectives of one kind and algorithm.
class SharedPath {
 public:
  using Resources = std::vector<ResourceId>;

  // NOLINTNEXTLINE(google-explicit-constructor): a path can be used as its resources
  SharedPath(Resources resources) : resources_{std::make_shared<const Resources>(std::move(resources))} {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const Resources&() const { return *resources_; }

  auto begin() const { return resources_->begin(); }
  auto end() const { return resources_->end(); }
  std::size_t size() const { return resources_->size(); }
  /// Equal addresses mean equal paths.
  const Resources* address() const { return resources_.get(); }

 private:
  std::shared_ptr<const Resources> resources_;
};

}  // namespace gradway

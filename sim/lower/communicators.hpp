// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/platform/identical_domains.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The communicators of a workload's groups. Groups that differ only in which of several interchangeable
/// NVLink domains they use are of one kind and share a communicator, that of the first such group.
class Communicators {
 public:
  /// @param scenario must outlive this @throws ConfigError as Communicator does
  Communicators(const Workload& workload, const Scenario& scenario);

  const Communicator& of(GroupId group) const { return *kinds_[kind(group)]; }
  /// The communicator of the first group; null if there are no groups.
  const Communicator* first() const { return kinds_.empty() ? nullptr : kinds_.front().get(); }
  /// The communicators of an actor, by slot.
  std::vector<const Communicator*> of(const Actor& actor) const;

  /// Equal for groups that share a communicator.
  std::size_t kind(GroupId group) const { return groups_[group.index()].kind; }
  /// Moves a path of the communicator to the domains of the group.
  SharedPath moved(const SharedPath& path, GroupId group) const {
    return path.on(groups_[group.index()].domains);
  }
  const Routes& routes() const { return *routes_; }

 private:
  struct GroupKind {
    std::size_t kind;
    SharedPath::Numbers domains{};  ///< in the order of the ranks; null if they are not interchangeable
  };

  std::unique_ptr<Routes> routes_;
  std::vector<std::unique_ptr<Communicator>> kinds_;
  std::vector<GroupKind> groups_;
};

/// By device: its GPU number, or `Op::absent` if it is no GPU.
std::vector<std::uint32_t> gpu_numbers(const Platform& platform);

}  // namespace gradway

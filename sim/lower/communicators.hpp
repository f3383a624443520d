// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/platform/identical_nodes.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The communicator of all ranks of a job, for questions that need no workload.
class CommunicatorOfAll {
 public:
  /// @param scenario must outlive this @throws ConfigError as Communicator does
  explicit CommunicatorOfAll(const Scenario& scenario);

  const Communicator& operator*() const { return communicator_; }
  const Communicator* operator->() const { return &communicator_; }

 private:
  Routes routes_;
  Communicator communicator_;
};

/// The communicators of a workload's groups. Groups that differ only in which of several interchangeable
/// nodes they are on are of one kind, and have one communicator: the first one's.
class Communicators {
 public:
  /// @param scenario must outlive this @throws ConfigError as Communicator does
  Communicators(const Workload& workload, const Scenario& scenario);

  const Communicator& of(GroupId group) const { return *kinds_[kind(group)].communicator; }
  /// That of the first group; null if there is none.
  const Communicator* first() const { return kinds_.empty() ? nullptr : kinds_.front().communicator.get(); }
  /// Those that an actor is in, by slot.
  std::vector<const Communicator*> of(const Actor& actor) const;

  /// Equal for groups that have one communicator.
  std::size_t kind(GroupId group) const { return groups_[group.index()].kind; }
  /// The paths of its communicator's flows are those of this very group.
  bool is_first_of_kind(GroupId group) const { return kinds_[kind(group)].first == group; }
  /// A path of the communicator, as the group has it.
  std::vector<ResourceId> moved(const std::vector<ResourceId>& path, GroupId group) const;

 private:
  using Nodes = std::vector<std::uint32_t>;  ///< rising
  struct Kind {
    std::unique_ptr<Communicator> communicator;
    GroupId first;
  };
  struct Place {
    std::size_t kind;
    Nodes nodes{};  ///< empty where nodes are not interchangeable
  };

  std::unique_ptr<Routes> routes_;
  std::vector<Kind> kinds_;
  std::vector<Place> groups_;
};

/// By device: the number of the GPU, or `Op::absent`.
std::vector<std::uint32_t> gpu_numbers(const Platform& platform);

}  // namespace gradway

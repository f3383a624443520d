// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/nccl/communicator.hpp"
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

/// The communicators of a workload's groups.
class Communicators {
 public:
  /// @param scenario must outlive this @throws ConfigError as Communicator does
  Communicators(const Workload& workload, const Scenario& scenario);

  const Communicator& of(GroupId group) const { return *all_[group.index()]; }
  /// That of the first group; null if there is none.
  const Communicator* first() const { return all_.empty() ? nullptr : all_.front().get(); }
  /// Those that an actor is in, by slot.
  std::vector<const Communicator*> of(const Actor& actor) const;

 private:
  std::unique_ptr<Routes> routes_;
  std::vector<std::unique_ptr<Communicator>> all_;  ///< by group
};

/// By device: the number of the GPU, or `Op::absent`.
std::vector<std::uint32_t> gpu_numbers(const Platform& platform);

}  // namespace gradway

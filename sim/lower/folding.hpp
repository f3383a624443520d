// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Which ranks and resources stand for others. Ranks of one class do the same at the same time: one of them
/// is simulated for all.
struct Folding {
  std::vector<std::size_t> rank_representative;     ///< by rank: the lowest rank of its class
  std::vector<ResourceId> resource_representative;  ///< by resource: the lowest of its class

  bool stands_for_itself(std::size_t rank) const { return rank_representative[rank] == rank; }
  bool stands_for_itself(ResourceId resource) const {
    return resource_representative[resource.index()] == resource;
  }
  /// The resources of a path that stand for themselves, as often as they are in it.
  std::vector<ResourceId> fold(const std::vector<ResourceId>& path) const;
  /// Ranks that are simulated.
  std::size_t simulated_ranks() const;
};

/// Everybody stands for themselves.
Folding no_folding(std::size_t ranks, const Platform& platform);

/// Finds the coarsest classes of which the following holds, by refining until it does (an equitable
/// partition):
/// * resources of a class have the same capacity, lie equally often on each collective flow, and equally
/// often on the
///   paths of the ranks of each class;
/// * the paths of the ranks of a class name resources of each class equally often, and their GPUs are alike.
/// Since all ranks run one program, ops of a class are then always in the same state: max-min rates are
/// unique, and a resource of a class is as loaded as any other of it. So simulating one rank a class, with
/// its paths repeated as often as the class uses the resource, gives the same dates.
/// @param rank_paths by rank: the resources of its own flows (the input copy), repeats included
/// @param collective_paths of the flows that all ranks share
Folding find_folding(const std::vector<std::vector<ResourceId>>& rank_paths,
                     const std::vector<const std::vector<ResourceId>*>& collective_paths,
                     const Platform& platform);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace gradway {

/// An index into one kind of table. No arithmetic, no conversion to another kind, no default "0".
template <class Tag>
class Id {
 public:
  constexpr explicit Id(std::size_t index) : index_{static_cast<std::uint32_t>(index)} {}
  constexpr std::size_t index() const { return index_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t index_;
};

using DeviceId = Id<struct DeviceTag>;  ///< a vertex of the platform: GPU, switch, socket, NIC
using ResourceId =
    Id<struct ResourceTag>;  ///< something with a capacity: one direction of a link, host memory, a GPU's SMs
using PathId = Id<struct PathTag>;    ///< a bag of resources that one flow uses together
using QueueId = Id<struct QueueTag>;  ///< something that serves one op at a time, first come first served
using TaskId = Id<struct TaskTag>;    ///< a node of the workload graph
using OpId = Id<struct OpTag>;        ///< a node of the op graph
using LayerId = Id<struct LayerTag>;  ///< a layer of the model
using RankId = Id<struct RankTag>;    ///< a rank of the job

}  // namespace gradway

template <class Tag>
struct std::hash<gradway::Id<Tag>> {
  std::size_t operator()(gradway::Id<Tag> id) const { return std::hash<std::size_t>{}(id.index()); }
};

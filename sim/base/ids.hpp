// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace gradway {

/// A typed index into one kind of table. It has no arithmetic, no conversion to other kinds and no default.
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
/// Something with a capacity: one direction of a link, host memory, a GPU's multiprocessors.
using ResourceId = Id<struct ResourceTag>;
using ProgramId = Id<struct ProgramTag>;  ///< a program of a workload
using ActorId = Id<struct ActorTag>;      ///< an actor of a workload; the ranks come first, in order
using GroupId = Id<struct GroupTag>;      ///< a process group of a workload
using ChannelId = Id<struct ChannelTag>;  ///< a bounded queue between two actors of a workload
using StreamId = Id<struct StreamTag>;    ///< a stream of a program
using TaskId = Id<struct TaskTag>;        ///< a task of a program
using OpId = Id<struct OpTag>;            ///< a vertex of the op graph

}  // namespace gradway

template <class Tag>
struct std::hash<gradway::Id<Tag>> {
  std::size_t operator()(gradway::Id<Tag> id) const { return std::hash<std::size_t>{}(id.index()); }
};

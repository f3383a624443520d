// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  send_recv,   ///< each rank sends to the next one and receives from the one before, as in nccl-tests
  all_to_all,  ///< each rank sends a part of its buffer to every other rank
  send         ///< the first of two ranks sends to the second
};

constexpr std::string_view name_of(CollectiveKind kind) {
  constexpr std::array<std::string_view, 7> names{
      "all-reduce", "all-gather", "reduce-scatter", "broadcast", "send/recv", "all-to-all", "send"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace gradway

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
  send_recv,   ///< each rank sends to the next and receives from the one before, as nccl-tests has it
  all_to_all,  ///< each rank sends every other one its part
  send         ///< the first of two ranks sends to the second
};

constexpr std::string_view name_of(CollectiveKind kind) {
  constexpr std::array<std::string_view, 7> names{
      "all-reduce", "all-gather", "reduce-scatter", "broadcast", "send/recv", "all-to-all", "send"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace gradway

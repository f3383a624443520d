// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

enum class CollectiveKind : std::uint8_t { all_reduce, all_gather, reduce_scatter, broadcast, send_recv };

constexpr std::string_view name_of(CollectiveKind kind) {
  constexpr std::array<std::string_view, 5> names{"all-reduce", "all-gather", "reduce-scatter", "broadcast",
                                                  "send/recv"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace gradway

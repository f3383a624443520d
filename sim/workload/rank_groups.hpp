// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// Groups of ranks that divide layers, tokens or experts and communicate within a pass.
enum class RankGroup : std::uint8_t { tensor, context, expert, expert_tensor };
inline constexpr std::array<std::string_view, 4> rank_group_words{
    "tensor parallel", "context parallel", "expert parallel", "tensor parallel of experts"};
constexpr std::string_view name_of(RankGroup group) {
  return rank_group_words[static_cast<std::size_t>(group)];
}

/// The communication of attention in context parallelism.
enum class ContextMethod : std::uint8_t {
  ring,        ///< keys and values move around a ring, overlapped with attention to the part before
  all_gather,  ///< keys and values are gathered
  all_to_all   ///< each rank gets whole sequences of some of the heads (Ulysses)
};
inline constexpr std::array<std::string_view, 3> context_method_words{"ring", "all_gather", "all_to_all"};
constexpr std::string_view name_of(ContextMethod method) {
  return context_method_words[static_cast<std::size_t>(method)];
}

}  // namespace gradway

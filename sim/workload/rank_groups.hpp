// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// Ranks that hold parts of the same layers, tokens or experts, and exchange inside a pass.
enum class RankGroup : std::uint8_t { tensor, context, expert, expert_tensor };
inline constexpr std::array<std::string_view, 4> rank_group_words{
    "tensor parallel", "context parallel", "expert parallel", "tensor parallel of experts"};
constexpr std::string_view name_of(RankGroup group) {
  return rank_group_words[static_cast<std::size_t>(group)];
}

/// How attention is shared by ranks that hold parts of each sequence.
enum class ContextMethod : std::uint8_t {
  ring,        ///< keys and values go round, a part a step, beside attention to the part before
  all_gather,  ///< keys and values are gathered
  all_to_all   ///< each rank gets whole sequences of some heads (Ulysses)
};
inline constexpr std::array<std::string_view, 3> context_method_words{"ring", "all_gather", "all_to_all"};
constexpr std::string_view name_of(ContextMethod method) {
  return context_method_words[static_cast<std::size_t>(method)];
}

}  // namespace gradway

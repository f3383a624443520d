// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/simulate.hpp"

namespace gradway {

/// A step without its communication, and the communication without the step.
struct Overlap {
  Seconds without_collectives{};  ///< the step if each collective ended as soon as it is ready
  Seconds collectives{};          ///< all of a step alone, back to back
  Seconds links{};  ///< the same if only links and memories bounded them: no latencies, no channels
  std::optional<ChannelLimit> limit;  ///< of the largest collective; empty without NCCL
  std::vector<ProvenanceFact> basis;  ///< of the collectives' rates

  /// Lower bound of the step: the collectives queue on one communicator, and the rest has its own time.
  /// Contention between the two is left out.
  Seconds bound() const { return std::max(without_collectives, collectives); }
};

/// @param engine "auto" or a name from engines()
Overlap overlap_of(const Run& run, std::string_view engine);

/// What the start of a call waited for.
struct CallWait {
  enum class For {
    earlier_call,  ///< on the same communicator
    step_start,
    launch,      ///< by the CPU
    optimizer,   ///< which writes what the call sends
    memory,      ///< that a task frees
    last_input,  ///< which is ready too late to be overlapped
  };
  For what = For::step_start;
  std::string task{};  ///< of `earlier_call` and `memory`: its kind, "block all-gather"

  auto operator<=>(const CallWait&) const = default;
};

/// Collectives of a step that no kernel overlaps.
struct ExposedCalls {
  std::string name;  ///< "block all-gather": those of all blocks together
  int calls = 0;
  Seconds exposed{};  ///< time under way while the GPU runs no kernel
  CallWait wait{};    ///< the one that most of this time follows
};

/// Exposed calls of the first rank in the last of the reported steps, the longest first, without those that
/// take less than a thousandth of the step.
std::vector<ExposedCalls> exposed_calls(const Run& run);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "readers/kineto/read/trace.hpp"

namespace gradway {

/// How the ranks of a traced job share its model, by what one of them did.
struct Communication {
  std::string_view strategy;  ///< "ddp" (also all-reduces by other programs), "fsdp" or "fsdp1"; empty: none
  /// All-to-alls of embeddings or of tokens for experts, whose parameters are divided over the ranks.
  bool has_exchange = false;
  /// The first call that divides layers or their inputs between ranks, which no strategy adds again.
  std::string divides;
  std::int64_t shards = 1;  ///< ranks among which the optimizer's work is divided; 0: unknown
  bool can_be_removed() const { return divides.empty() && (!strategy.empty() || has_exchange); }
};

Communication communication_of(const Trace& trace);

/// The trace that the same step would give on one GPU: without collectives, without the hooks and copies of
/// DDP and FSDP, and with the CPU's time for all of them counted as the profiler's. Scaling of gradients in
/// place, which no operation marks, remains, and the optimizer's work on shards stays as it is.
/// @param alone durations of activities without contention with collectives, by start, in nanoseconds
Trace without_communication(Trace trace, const std::unordered_map<std::int64_t, std::int64_t>& alone);

/// Whether an operation of the trace has this in its name.
bool has_operation(const Trace& trace, std::string_view fragment);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "observe/hang/hang_report.hpp"

namespace gradway {

/// The collective that NCCL runs: variants of one have the same.
std::string_view collective_of(std::string_view operation);

/// What calls of one number must agree in on all ranks.
struct CallSignature {
  std::string_view collective;
  std::int64_t elements = -1;  ///< -1: they may differ
  std::string_view type;
  auto operator<=>(const CallSignature&) const = default;
};
CallSignature signature_of(const CallKind& kind);

/// The collectives of a group: by number, of each rank, the position in its record.
struct GroupCalls {
  std::size_t group = 0;
  std::map<int, std::map<std::int64_t, std::size_t>> by_rank;

  std::int64_t last(int rank) const {
    const auto entry = by_rank.find(rank);
    return entry == by_rank.end() || entry->second.empty() ? 0 : entry->second.rbegin()->first;
  }
};

/// The calls of all ranks, by group and number.
class RecordedCalls {
 public:
  explicit RecordedCalls(const HangEvidence& evidence);

  const CallKind& kind_of(const RecordedCall& call) const { return evidence.kinds[call.kind]; }
  const RankRecord& record(int rank) const { return evidence.records.at(rank); }
  const std::vector<int>& members(std::size_t group) const { return evidence.groups[group].ranks; }

  /// Says which rank completed a collective that another had not even called in its dump; empty if none.
  std::string moving() const;
  std::optional<CallFacts> last_call(int rank, std::size_t end) const;
  /// Adds the rank's last call before a position, and where it is now: by its stack, else by its last line.
  void describe_rank(HangFinding& finding, int rank, std::size_t end) const;

  const HangEvidence& evidence;
  std::map<std::size_t, GroupCalls> groups;
};

/// Calls of one number that differ between ranks: the first of each group, the earliest first.
/// @param mismatched receives the groups
std::vector<HangFinding> mismatches(const RecordedCalls& calls, std::set<std::size_t>& mismatched);

}  // namespace gradway

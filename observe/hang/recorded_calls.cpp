// SPDX-License-Identifier: Apache-2.0
#include "observe/hang/recorded_calls.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace gradway {

Departure departure(const RankRecord& record, std::size_t position) {
  constexpr std::size_t least_history = 8;
  constexpr std::size_t most_history = 3000;
  Departure result;
  const auto first = position > most_history ? position - most_history : 0;
  if (position - first < least_history) return result;
  const auto kind = [&](std::size_t i) { return record.calls[i].kind; };
  // The earlier place whose calls before it agree longest with those before this one; the latest of equals.
  std::size_t longest = 0;
  result.is_new = true;
  for (auto earlier = position - 1; earlier > first; --earlier) {
    result.is_new = result.is_new && kind(earlier) != kind(position);
    std::size_t length = 0;
    while (length < earlier - first && kind(earlier - 1 - length) == kind(position - 1 - length)) ++length;
    if (length <= longest) continue;
    longest = length;
    result.expected = kind(earlier);
  }
  result.departs = result.is_new || (longest >= 2 && result.expected && *result.expected != kind(position));
  return result;
}

std::string_view collective_of(std::string_view operation) {
  for (const std::string_view name :
       {"barrier", "all_gather", "allgather", "reduce_scatter", "all_reduce", "allreduce"})
    if (contains(operation, name))
      return name == "allgather" ? "all_gather" : name == "allreduce" ? "all_reduce" : name;
  return operation;
}

namespace {

/// The elements that all ranks must agree in; -1 if they may differ.
std::int64_t agreed_elements(const CallKind& kind) {
  const auto collective = collective_of(kind.operation);
  if (contains(kind.operation, "coalesced") || contains(kind.operation, "alltoall") ||
      contains(kind.operation, "all_to_all"))
    return -1;
  if (collective == "all_gather") return kind.output;
  if (collective == "all_reduce" || collective == "reduce_scatter" || collective == "reduce" ||
      collective == "broadcast")
    return kind.input;
  return -1;
}

bool needs_all(const CallKind& kind) {
  const auto collective = collective_of(kind.operation);
  return collective == "all_reduce" || collective == "all_gather" || collective == "reduce_scatter" ||
         collective == "barrier";
}

}  // namespace

CallSignature signature_of(const CallKind& kind) {
  return {collective_of(kind.operation), agreed_elements(kind), kind.type};
}

RecordedCalls::RecordedCalls(const HangEvidence& job) : evidence{job} {
  for (const auto& [rank, record] : evidence.records) {
    for (const auto group : record.groups) groups[group].by_rank[rank];
    for (std::size_t i = 0; i < record.calls.size(); ++i) {
      const auto& call = record.calls[i];
      const auto& kind = kind_of(call);
      if (!kind.is_point_to_point()) groups[kind.group].by_rank[rank].try_emplace(call.sequence, i);
    }
  }
  for (auto& [number, calls] : groups) calls.group = number;
}

std::string RecordedCalls::moving() const {
  for (const auto& [number, calls] : groups) {
    if (members(number).empty()) continue;
    for (const auto& [rank, own] : calls.by_rank) {
      for (auto entry = own.rbegin(); entry != own.rend(); ++entry) {
        const auto& call = evidence.records.at(rank).calls[entry->second];
        if (call.state != CallState::completed || !needs_all(kind_of(call))) continue;
        for (const auto& [other, others] : calls.by_rank) {
          if (calls.last(other) >= entry->first || others.empty()) continue;
          return fmt::format(
              "rank {} had completed {}, which rank {} had not called in its dump: the dumps are of "
              "different moments of a running job",
              rank, call_text(facts_of(evidence, call), evidence.world), other);
        }
        break;
      }
    }
  }
  return {};
}

void RecordedCalls::describe_rank(HangFinding& finding, int rank, std::size_t end) const {
  finding.last = last_call(rank, end);
  finding.now = stack_place(evidence, rank);
  if (!finding.now.file.empty()) return;
  const auto& calls = record(rank).calls;
  for (auto i = end; i-- > 0;) {
    if (const auto& place = kind_of(calls[i]).place; !place.file.empty()) {
      if (finding.last && finding.last->place.file.empty())
        finding.notes.push_back(fmt::format("The last line of the program in the dump of rank {} is {}.",
                                            rank, place_text(place)));
      return;
    }
  }
}

std::optional<CallFacts> RecordedCalls::last_call(int rank, std::size_t end) const {
  if (end == 0) return std::nullopt;
  return facts_of(evidence, record(rank).calls[end - 1]);
}

DumpAges ages_of_dumps(const HangEvidence& evidence) {
  DumpAges ages;
  if (evidence.records.empty()) return ages;
  ages.why_moving = RecordedCalls{evidence}.moving();
  std::size_t same = 0;
  std::optional<int> went_on;  // between two dumps of its own
  std::int64_t newest = 0;
  std::int64_t oldest_wait = 0;
  constexpr double nanosecond = 1e-9;
  for (const auto& [rank, record] : evidence.records) {
    if (record.timeout > Seconds{}) ages.timeout = std::max(ages.timeout.value_or(Seconds{}), record.timeout);
    std::int64_t news = 0;
    bool waits = false;
    for (const auto& call : record.calls) {
      news = std::max(news, call.last_news);
      if (call.state == CallState::completed) continue;
      waits = true;
      if (oldest_wait == 0 || call.created < oldest_wait) oldest_wait = call.created;
    }
    newest = std::max(newest, news);
    const auto earlier = evidence.earlier.find(rank);
    if (earlier != evidence.earlier.end()) {
      const bool is_same = earlier->second.calls.size() == record.calls.size() && !record.calls.empty() &&
                           earlier->second.calls.back().created == record.calls.back().created;
      if (is_same) ++same;
      if (!is_same && !earlier->second.calls.empty() && !record.calls.empty()) went_on = rank;
    }
    // A file that was copied without its time is older than any wait could be.
    if (!waits || !record.written || news == 0) continue;
    const Seconds idle{static_cast<double>(*record.written - news) * nanosecond};
    const auto most = 2 * record.timeout + 120.0_s;
    if (idle > Seconds{-2} && idle < most) ages.idle = std::max(ages.idle.value_or(idle), idle);
  }
  ages.stands_still = same == evidence.records.size() && oldest_wait > 0;
  if (oldest_wait > 0) ages.waited = Seconds{static_cast<double>(newest - oldest_wait) * nanosecond};
  if (ages.idle) ages.waited = std::max(ages.waited.value_or(*ages.idle), *ages.idle);
  // The earlier dump may be from before the job stood still.
  const bool has_waited = ages.waited && ages.timeout && *ages.waited >= long_wait * *ages.timeout;
  if (went_on && !has_waited && evidence.timeouts.empty() && ages.why_moving.empty())
    ages.why_moving = fmt::format("rank {} made calls between its two dumps", *went_on);
  ages.is_moving = !ages.why_moving.empty();
  return ages;
}

}  // namespace gradway

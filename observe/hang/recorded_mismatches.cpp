// SPDX-License-Identifier: Apache-2.0
#include "observe/hang/recorded_calls.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace gradway {

namespace {

class Mismatches {
 public:
  Mismatches(const RecordedCalls& calls, std::set<std::size_t>& mismatched)
      : calls_{calls}, mismatched_{mismatched} {}

  std::vector<HangFinding> find() {
    std::vector<HangFinding> findings;
    for (const auto& [number, group] : calls_.groups) find_mismatch(group, findings);
    std::ranges::stable_sort(findings, {}, [&](const HangFinding& finding) { return order_of(finding); });
    return findings;
  }

 private:
  std::int64_t order_of(const HangFinding& finding) const {
    const auto& rank = finding.ranks.front();
    const auto position = position_.at({rank, finding.call->group, finding.call->sequence});
    return calls_.record(rank).calls[position].created;
  }

  void find_mismatch(const GroupCalls& calls, std::vector<HangFinding>& findings) {
    if (calls_.members(calls.group).empty() && calls_.evidence.groups[calls.group].name != "0") return;
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (const auto& [rank, own] : calls.by_rank) {
      if (own.empty()) continue;
      first = std::max(first, own.begin()->first);
      last = std::max(last, own.rbegin()->first);
    }
    for (auto number = first; number <= last; ++number) {
      std::map<CallSignature, std::vector<int>> ranks;
      for (const auto& [rank, own] : calls.by_rank) {
        const auto entry = own.find(number);
        if (entry != own.end())
          ranks[signature_of(calls_.kind_of(calls_.record(rank).calls[entry->second]))].push_back(rank);
      }
      if (ranks.size() < 2) continue;
      add_mismatch(calls, number, ranks, findings);
      return;
    }
  }

  void add_mismatch(const GroupCalls& calls, std::int64_t number,
                    const std::map<CallSignature, std::vector<int>>& ranks,
                    std::vector<HangFinding>& findings) {
    const auto position = [&](int rank) { return calls.by_rank.at(rank).at(number); };
    const auto departs = [&](int rank) { return departure(calls_.record(rank), position(rank)); };
    // The call of most ranks counts as right; of equally many, that of ranks that do what they did before.
    const std::vector<int>* right = nullptr;
    std::pair<std::size_t, int> best{};
    for (const auto& [signature, same] : ranks) {
      const auto change = departs(same.front());
      const std::pair weight{same.size(), change.is_new ? 0 : change.departs ? 1 : 2};
      if (right == nullptr || weight > best) right = &same, best = weight;
    }
    HangFinding finding;
    for (const auto& [signature, same] : ranks)
      if (&same != right) finding.ranks.insert(finding.ranks.end(), same.begin(), same.end());
    std::ranges::sort(finding.ranks);
    for (const auto rank : finding.ranks)
      position_[{rank, calls_.evidence.groups[calls.group].name, number}] = position(rank);
    const auto odd = finding.ranks.front();
    const auto& right_record = calls_.record(right->front());
    const auto& right_call = right_record.calls[position(right->front())];
    const auto& odd_call = calls_.record(odd).calls[position(odd)];
    finding.waiting = *right;
    finding.call = facts_of(calls_.evidence, right_call);
    finding.instead = facts_of(calls_.evidence, odd_call);
    finding.source = "flight recorder";
    classify(finding, calls, number, right->front());
    calls_.describe_rank(finding, odd, position(odd));
    finding.is_pending = odd_call.state != CallState::completed || right_call.state != CallState::completed;
    if (odd_call.state == CallState::completed || right_call.state == CallState::completed)
      finding.notes.push_back("This call is recorded as completed, but its ranks did not do the same in it.");
    mismatched_.insert(calls.group);
    findings.push_back(std::move(finding));
  }

  /// What happened, by what the rank did in earlier steps and by what the other ranks call later.
  void classify(HangFinding& finding, const GroupCalls& calls, std::int64_t number, int right) {
    const auto odd = finding.ranks.front();
    const auto& own = calls.by_rank.at(odd);
    const auto odd_kind = calls_.record(odd).calls[own.at(number)].kind;
    const auto& odd_facts = calls_.evidence.kinds[odd_kind];
    const auto& right_facts = calls_.kind_of(calls_.record(right).calls[calls.by_rank.at(right).at(number)]);
    const auto change = departure(calls_.record(odd), own.at(number));
    const bool same_line = !odd_facts.place.file.empty() && odd_facts.place == right_facts.place;
    const bool same_collective = collective_of(odd_facts.operation) == collective_of(right_facts.operation);
    const auto later = calls_later(calls, number, finding, odd_facts);
    if (const auto before = group_before(odd, own.at(number)); !before.empty() && change.is_new) {
      finding.kind = HangKind::wrong_group;
      finding.notes.push_back(fmt::format("Rank {} made this call on the group of {} before.", odd, before));
      finding.remedy = remedy_text("wrong-group");
    } else if (same_line && same_collective) {
      finding.kind = later > 0                            ? HangKind::other_order
                     : odd_facts.type != right_facts.type ? HangKind::other_type
                                                          : HangKind::other_sizes;
      finding.remedy = later > 0 ? remedy_text("order") : remedy_text("sizes");
    } else if (later > 0) {
      finding.kind = HangKind::left_out;
      finding.notes.push_back(
          fmt::format("The other ranks call this {} {} later: rank {} left out what is between.", later,
                      later == 1 ? "call" : "calls", odd));
      finding.remedy = remedy_text("left-out");
    } else if (change.departs && change.expected &&
               signature_of(calls_.evidence.kinds[*change.expected]) == signature_of(right_facts) &&
               !change.is_new) {
      finding.kind = HangKind::left_out;
      finding.notes.push_back(fmt::format("In earlier steps rank {} called what the others call here.", odd));
      finding.remedy = remedy_text("condition");
    } else {
      finding.kind = same_collective ? HangKind::other_sizes : HangKind::other_call;
      if (change.is_new)
        finding.notes.push_back(
            fmt::format("Rank {} did not make this call in its {} calls before.", odd, own.at(number)));
      finding.remedy = remedy_text("other-way");
    }
  }

  /// How many calls later another rank makes the same call; 0: it does not.
  std::int64_t calls_later(const GroupCalls& calls, std::int64_t number, const HangFinding& finding,
                           const CallKind& kind) const {
    for (const auto& [rank, own] : calls.by_rank) {
      if (std::ranges::find(finding.ranks, rank) != finding.ranks.end()) continue;
      for (auto entry = own.upper_bound(number); entry != own.end(); ++entry) {
        const auto& later_kind = calls_.kind_of(calls_.record(rank).calls[entry->second]);
        if (signature_of(later_kind) == signature_of(kind) && later_kind.place == kind.place &&
            !kind.place.file.empty())
          return entry->first - number;
      }
    }
    return 0;
  }

  /// The group on which the rank made this call at this line before; empty if it did not.
  std::string group_before(int rank, std::size_t position) const {
    const auto& calls = calls_.record(rank).calls;
    const auto& kind = calls_.kind_of(calls[position]);
    if (kind.place.file.empty()) return {};
    for (auto i = position; i-- > 0;) {
      const auto& earlier = calls_.kind_of(calls[i]);
      if (earlier.group != kind.group && earlier.place == kind.place && earlier.operation == kind.operation &&
          earlier.input == kind.input)
        return ranks_text(calls_.members(earlier.group), calls_.evidence.world);
    }
    return {};
  }

  const RecordedCalls& calls_;
  std::set<std::size_t>& mismatched_;
  std::map<std::tuple<int, std::string, std::int64_t>, std::size_t> position_;
};

}  // namespace

std::vector<HangFinding> mismatches(const RecordedCalls& calls, std::set<std::size_t>& mismatched) {
  return Mismatches{calls, mismatched}.find();
}

}  // namespace gradway

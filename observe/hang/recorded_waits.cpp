// SPDX-License-Identifier: Apache-2.0
#include "observe/hang/recorded_calls.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace gradway {

namespace {

class Waits {
 public:
  explicit Waits(const HangEvidence& evidence) : calls_{evidence} {}

  std::vector<HangFinding> findings() {
    auto findings = mismatches(calls_, mismatched_);
    find_waits();
    auto roots = root_ranks();
    if (wait_behind(roots)) roots = root_ranks();
    const bool has_mismatch = !findings.empty();
    if (!roots.empty()) {
      add_not_called(findings, roots);
    } else if (!has_mismatch) {
      add_crossed(findings);
    }
    if (findings.empty()) add_blocked(findings);
    return findings;
  }

 private:
  struct Edge {
    int waiting = 0;
    int missing = 0;
    std::size_t position = 0;  ///< of the call in the record of the waiting rank
  };

  void find_waits() {
    for (const auto& [rank, own] : calls_.evidence.records) {
      std::set<std::size_t> groups;
      for (std::size_t i = 0; i < own.calls.size(); ++i) {
        const auto& call = own.calls[i];
        if (call.state == CallState::completed) continue;
        const auto& kind = calls_.kind_of(call);
        if (kind.is_point_to_point()) {
          wait_for_peer(rank, i);
        } else if (!groups.contains(kind.group) && wait_for_members(rank, i)) {
          groups.insert(kind.group);
        }
      }
    }
  }

  /// @return whether members are missing
  bool wait_for_members(int rank, std::size_t position) {
    const auto& call = calls_.record(rank).calls[position];
    const auto& calls = calls_.groups.at(calls_.kind_of(call).group);
    const auto before = edges_.size();
    for (const auto member : calls_.members(calls.group)) {
      if (calls_.evidence.records.contains(member) && calls.by_rank.contains(member) &&
          calls.last(member) < call.sequence)
        edges_.push_back({rank, member, position});
    }
    return edges_.size() > before;
  }

  /// A rank for which others wait may itself be in a call that all have made: it waits for those of them that
  /// have an earlier call pending. That matters if such a call departs from what they did in earlier steps.
  /// @return whether there are such waits
  bool wait_behind(const std::vector<int>& roots) {
    const auto before = edges_.size();
    for (const auto root : roots) {
      const auto position = first_pending(root);
      if (!position) continue;
      const auto& call = calls_.record(root).calls[*position];
      const auto group = calls_.kind_of(call).group;
      if (calls_.kind_of(call).is_point_to_point() || mismatched_.contains(group)) continue;
      for (const auto& [member, own] : calls_.groups.at(group).by_rank) {
        const auto same = own.find(call.sequence);
        const auto pending = first_pending(member);
        if (member != root && same != own.end() && pending && *pending < same->second &&
            departure(calls_.record(member), *pending).departs)
          edges_.push_back({root, member, *position});
      }
    }
    return edges_.size() > before;
  }

  std::optional<std::size_t> first_pending(int rank) const {
    const auto& calls = calls_.record(rank).calls;
    const auto first = std::ranges::find_if(
        calls, [](const RecordedCall& call) { return call.state != CallState::completed; });
    return first == calls.end() ? std::nullopt : std::optional<std::size_t>(first - calls.begin());
  }

  /// The n-th send to a rank meets the n-th receive there.
  void wait_for_peer(int rank, std::size_t position) {
    const auto& kind = calls_.kind_of(calls_.record(rank).calls[position]);
    if (!calls_.evidence.records.contains(kind.peer)) return;
    const auto count = [&](int from, std::string_view operation, int peer, std::size_t end) {
      const auto& calls = calls_.record(from).calls;
      return std::count_if(
          calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(end), [&](const RecordedCall& call) {
            return calls_.kind_of(call).operation == operation && calls_.kind_of(call).peer == peer;
          });
    };
    const auto& peer_record = calls_.record(kind.peer);
    const auto opposite = kind.is_send() ? "recv" : "send";
    bool is_met = false;
    if (calls_.record(rank).is_whole && peer_record.is_whole) {
      is_met = count(kind.peer, opposite, rank, peer_record.calls.size()) >=
               count(rank, kind.operation, kind.peer, position + 1);
    } else {
      is_met = std::ranges::any_of(peer_record.calls, [&](const RecordedCall& call) {
        return call.state != CallState::completed && calls_.kind_of(call).operation == opposite &&
               calls_.kind_of(call).peer == rank;
      });
    }
    if (!is_met) edges_.push_back({rank, kind.peer, position});
  }

  /// Ranks for which others wait and which wait for no rank.
  std::vector<int> root_ranks() const {
    std::set<int> waiting;
    std::set<int> missing;
    for (const auto& edge : edges_) {
      // Behind a call that did not match, numbers of calls say nothing.
      if (is_behind_mismatch(edge)) continue;
      waiting.insert(edge.waiting);
      missing.insert(edge.missing);
    }
    std::vector<int> roots;
    std::ranges::set_difference(missing, waiting, std::back_inserter(roots));
    return roots;
  }

  bool is_behind_mismatch(const Edge& edge) const {
    const auto group = calls_.kind_of(calls_.record(edge.waiting).calls[edge.position]).group;
    return mismatched_.contains(group);
  }

  /// The earliest call in which ranks wait for one of these.
  const Edge* first_wait(const std::vector<int>& missing) const {
    const Edge* first = nullptr;
    for (const auto& edge : edges_) {
      if (std::ranges::find(missing, edge.missing) == missing.end() || is_behind_mismatch(edge)) continue;
      const auto created = [&](const Edge& wait) {
        return calls_.record(wait.waiting).calls[wait.position].created;
      };
      if (first == nullptr || created(edge) < created(*first)) first = &edge;
    }
    return first;
  }

  HangFinding finding_of(const Edge& wait, HangKind kind) const {
    HangFinding finding;
    finding.kind = kind;
    finding.source = "flight recorder";
    const auto& call = calls_.record(wait.waiting).calls[wait.position];
    finding.call = facts_of(calls_.evidence, call);
    for (const auto& edge : edges_) {
      const auto& waiting_call = calls_.record(edge.waiting).calls[edge.position];
      if (calls_.kind_of(waiting_call).group != calls_.kind_of(call).group ||
          waiting_call.sequence != call.sequence ||
          calls_.kind_of(waiting_call).operation != calls_.kind_of(call).operation ||
          calls_.kind_of(waiting_call).is_point_to_point() != calls_.kind_of(call).is_point_to_point() ||
          (calls_.kind_of(call).is_point_to_point() && edge.waiting != wait.waiting))
        continue;
      finding.waiting.push_back(edge.waiting);
      finding.missing.push_back(edge.missing);
      if (finding.call->place.file.empty()) finding.call->place = calls_.kind_of(waiting_call).place;
    }
    for (auto* const ranks : {&finding.waiting, &finding.missing}) {
      std::ranges::sort(*ranks);
      ranks->erase(std::unique(ranks->begin(), ranks->end()), ranks->end());
    }
    return finding;
  }

  void add_not_called(std::vector<HangFinding>& findings, const std::vector<int>& roots) {
    const auto* const wait = first_wait(roots);
    if (wait == nullptr) return;
    auto finding = finding_of(*wait, HangKind::not_called);
    finding.ranks = roots;
    const auto rank = roots.front();
    calls_.describe_rank(finding, rank, calls_.record(rank).calls.size());
    finding.remedy = remedy_text("stack");
    findings.push_back(std::move(finding));
  }

  /// Ranks wait for each other: those are named first that depart from what they did in earlier steps.
  void add_crossed(std::vector<HangFinding>& findings) {
    const Edge* first = nullptr;
    std::set<int> departing;
    std::map<std::pair<int, std::size_t>, Departure> known;
    for (const auto& edge : edges_) {
      const std::pair key{edge.waiting, edge.position};
      const auto [entry, is_new] = known.try_emplace(key);
      if (is_new) entry->second = departure(calls_.record(edge.waiting), edge.position);
      if (!entry->second.departs) continue;
      departing.insert(edge.waiting);
      if (!is_in_cycle(edge)) continue;
      const auto created = [&](const Edge& wait) {
        return calls_.record(wait.waiting).calls[wait.position].created;
      };
      if (first == nullptr || created(edge) < created(*first)) first = &edge;
    }
    if (first == nullptr) {
      std::vector<int> all;
      for (const auto& edge : edges_) all.push_back(edge.missing);
      first = first_wait(all);
    }
    if (first == nullptr) return;
    auto finding = finding_of(*first, HangKind::crossed);
    // The rank whose call this is comes first; others that depart wait for it.
    finding.ranks = {first->waiting};
    for (const auto rank : departing)
      if (rank != first->waiting) finding.ranks.push_back(rank);
    describe_crossed(finding, known);
    findings.push_back(std::move(finding));
  }

  /// Whether the missing rank waits, through others, for the waiting one.
  bool is_in_cycle(const Edge& start) const {
    std::set<int> reached{start.missing};
    for (auto size = std::size_t{0}; size != reached.size();) {
      size = reached.size();
      for (const auto& edge : edges_)
        if (reached.contains(edge.waiting)) reached.insert(edge.missing);
    }
    return reached.contains(start.waiting);
  }

  void describe_crossed(HangFinding& finding,
                        const std::map<std::pair<int, std::size_t>, Departure>& departures) const {
    const auto rank = finding.ranks.front();
    for (const auto& [key, change] : departures) {
      if (key.first != rank || !change.departs) continue;
      if (change.is_new) {
        finding.notes.push_back(
            fmt::format("Rank {} did not make this call in its {} calls before.", rank, key.second));
      } else if (change.expected) {
        const auto& expected = calls_.evidence.kinds[*change.expected];
        finding.notes.push_back(
            fmt::format("In earlier steps rank {} called {}{} at this point.", rank, operation_text(expected),
                        expected.place.file.empty() ? "" : " at " + place_text(expected.place)));
      }
      break;
    }
    std::set<int> explained;
    for (const auto missing : finding.missing) {
      for (const auto& edge : edges_) {
        if (edge.waiting != missing || !explained.insert(missing).second) continue;
        auto facts = facts_of(calls_.evidence, calls_.record(missing).calls[edge.position]);
        finding.notes.push_back(
            fmt::format("Rank {} waits for rank {} meanwhile, in {}{}.", missing, edge.missing,
                        call_text(facts, calls_.evidence.world),
                        facts.place.file.empty() ? "" : ", called at " + place_text(facts.place)));
      }
    }
    finding.now = stack_place(calls_.evidence, rank);
    finding.remedy = remedy_text("crossed");
  }

  static std::string operation_text(const CallKind& kind) {
    return kind.peer < 0
               ? kind.operation
               : fmt::format("{} {} rank {}", kind.operation, kind.is_send() ? "to" : "from", kind.peer);
  }

  /// All ranks have called, and the call does not complete.
  void add_blocked(std::vector<HangFinding>& findings) const {
    for (const auto& [number, calls] : calls_.groups) {
      std::map<std::int64_t, std::vector<int>> pending;
      for (const auto& [rank, own] : calls.by_rank) {
        for (const auto& [sequence, position] : own) {
          if (calls_.record(rank).calls[position].state == CallState::completed) continue;
          pending[sequence].push_back(rank);
          break;
        }
      }
      if (pending.empty()) continue;
      const auto& [sequence, ranks] = *pending.begin();
      HangFinding finding;
      finding.source = "flight recorder";
      const auto position = calls.by_rank.at(ranks.front()).at(sequence);
      finding.call = facts_of(calls_.evidence, calls_.record(ranks.front()).calls[position]);
      finding.waiting = ranks;
      std::vector<int> begun;
      for (const auto rank : ranks) {
        const auto state = calls_.record(rank).calls[calls.by_rank.at(rank).at(sequence)].state;
        (state == CallState::started ? begun : finding.ranks).push_back(rank);
      }
      for (const auto member : calls_.members(number))
        if (!calls_.evidence.records.contains(member)) finding.missing.push_back(member);
      if (!finding.missing.empty() && finding.missing.size() <= ranks.size()) {
        finding.kind = HangKind::not_called;
        finding.ranks = finding.missing;
        finding.notes.push_back(fmt::format("There is no dump of {}: it died, or its dump was not given.",
                                            ranks_text(finding.missing)));
        finding.remedy = remedy_text("no-dump");
      } else if (!begun.empty() && !finding.ranks.empty()) {
        finding.kind = HangKind::gpu_behind;
        finding.waiting = begun;
        calls_.describe_rank(finding, finding.ranks.front(),
                             calls_.record(finding.ranks.front()).calls.size());
        finding.remedy = remedy_text("gpu");
      } else {
        finding.kind = HangKind::error;
        finding.ranks.clear();
        finding.notes.push_back("All ranks have called it, alike.");
        finding.remedy = remedy_text("network");
      }
      findings.push_back(std::move(finding));
      return;
    }
  }

  RecordedCalls calls_;
  std::vector<Edge> edges_;
  std::set<std::size_t> mismatched_;
};

}  // namespace

std::vector<HangFinding> recorded_findings(const HangEvidence& evidence, bool is_moving) {
  if (evidence.records.empty()) return {};
  if (!is_moving) return Waits{evidence}.findings();
  std::set<std::size_t> mismatched;
  return mismatches(RecordedCalls{evidence}, mismatched);
}

}  // namespace gradway

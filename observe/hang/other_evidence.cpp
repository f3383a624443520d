// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "observe/hang/hang_report.hpp"
#include "readers/hang/hang_files.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

constexpr int terminated = -15;  // SIGTERM, which launchers send to the other ranks
constexpr int aborted = -6;      // SIGABRT, by which PyTorch's watchdog ends its process
constexpr int killed = -9;

std::string signal_text(int exit_code) {
  switch (exit_code) {
    case killed:
      return "was killed (signal 9)";
    case aborted:
      return "aborted (signal 6)";
    case -11:
      return "crashed (signal 11, segmentation fault)";
    case -7:
      return "crashed (signal 7, bus error)";
    default:
      return exit_code < 0 ? fmt::format("ended by signal {}", -exit_code)
                           : fmt::format("ended with exit code {}", exit_code);
  }
}

}  // namespace

std::vector<HangFinding> process_findings(const HangEvidence& evidence) {
  std::vector<HangFinding> findings;
  const FailedProcess* first = nullptr;
  for (const auto& process : evidence.failed) {
    if (process.exit_code == terminated || process.exit_code == aborted) continue;
    if (first == nullptr || (process.is_first && !first->is_first)) first = &process;
  }
  if (first != nullptr) {
    HangFinding finding;
    finding.kind = HangKind::died;
    finding.ranks = {first->rank};
    finding.source = "launcher";
    finding.notes.push_back(fmt::format("Rank {}{} {}; it was the first to end.", first->rank,
                                        first->pid > 0 ? fmt::format(" (process {})", first->pid) : "",
                                        signal_text(first->exit_code)));
    finding.remedy = first->exit_code == killed ? remedy_text("killed")
                     : first->exit_code < 0     ? remedy_text("signal")
                                                : remedy_text("exception");
    findings.push_back(std::move(finding));
  }
  for (const auto& joined : evidence.joined) {
    HangFinding finding;
    finding.kind = HangKind::never_joined;
    if (joined.what.empty()) {
      finding.source = "standard error";
      finding.notes.push_back(
          fmt::format("{} of {} ranks joined at the start of the job.", joined.count, joined.expected));
    } else {
      for (int rank = 0; rank < joined.expected; ++rank)
        if (!joined.joined.contains(rank)) finding.missing.push_back(rank);
      const bool is_complete =
          std::ranges::any_of(joined.joined, [](const auto& rank) { return rank.second; });
      if (is_complete || finding.missing.empty()) continue;
      finding.source = "NCCL's log";
      // With the logs of few ranks only, the others may have joined.
      if (finding.missing.size() <= joined.joined.size()) finding.ranks = finding.missing;
      finding.notes.push_back(
          fmt::format("{} of {} ranks began to initialise communicator {}, and none completed it.",
                      joined.joined.size(), joined.expected, joined.what));
    }
    finding.remedy = remedy_text("not-joined");
    findings.push_back(std::move(finding));
  }
  return findings;
}

namespace {

/// A process of RAS as a rank of the job, if that is known.
class RasRanks {
 public:
  explicit RasRanks(const HangEvidence& evidence) : evidence_{evidence} {}

  int rank(const RasCommunicator& communicator, const RasProcess& process) const {
    for (const auto& host : {process.host, std::string{}}) {
      const auto entry = evidence_.rank_of_process.find({host, process.pid});
      if (entry != evidence_.rank_of_process.end()) return entry->second;
    }
    const bool is_of_all = communicator.size > 0 && communicator.size == evidence_.world;
    return is_of_all ? process.rank : -1;
  }

  std::string text(const RasCommunicator& communicator, const RasProcess& process) const {
    const auto number = rank(communicator, process);
    const auto of_process = fmt::format("process {} on {}", process.pid, process.host);
    if (number >= 0) return fmt::format("rank {} ({})", number, of_process);
    return fmt::format("rank {} of communicator {} ({})", process.rank, communicator.hash, of_process);
  }

 private:
  const HangEvidence& evidence_;
};

/// Which processes have launched more, and which fewer, than others of their communicator.
struct RasDepartures {
  std::set<RasProcess> ahead;
  std::set<RasProcess> behind;
  int others = 0;  ///< ranks at the most frequent count
};

RasDepartures departures(const RasDifference& difference) {
  RasDepartures result;
  const auto most = std::ranges::max_element(difference.levels, {}, &RasLevel::ranks);
  std::int64_t top = 0;
  for (const auto& level : difference.levels) top = std::max(top, level.launched);
  const bool has_majority = std::ranges::count(difference.levels, most->ranks, &RasLevel::ranks) == 1;
  result.others = has_majority ? most->ranks : 0;
  for (const auto& level : difference.levels) {
    if (has_majority && level.launched == most->launched) continue;
    const auto reference = has_majority ? most->launched : top;
    for (const auto& process : level.named)
      (level.launched < reference ? result.behind : result.ahead).insert(process);
    if (!has_majority && level.launched == top) result.ahead.insert(level.named.begin(), level.named.end());
  }
  return result;
}

void add_counts(HangFinding& finding, const RasRanks& ranks, const RasCommunicator& communicator,
                const RasDifference& difference) {
  const auto departing = departures(difference);
  for (const auto& level : difference.levels) {
    for (const auto& process : level.named) {
      if (!departing.ahead.contains(process) && !departing.behind.contains(process)) continue;
      const auto most = std::ranges::max_element(difference.levels, {}, &RasLevel::ranks);
      finding.notes.push_back(fmt::format(
          "{} has launched {} of {}{}.", ranks.text(communicator, process),
          level.launched == 0 ? "none" : fmt::format("{}", level.launched), difference.operation,
          departing.others > 0 ? fmt::format(", {} others {}", departing.others, most->launched) : ""));
      if (auto& text = finding.notes.back(); text.starts_with("rank")) text.front() = 'R';
    }
  }
}

void add_ras_communicator(std::vector<HangFinding>& findings, const RasRanks& ranks,
                          const RasCommunicator& communicator) {
  HangFinding finding;
  finding.source = "RAS";
  std::set<RasProcess> ahead;
  std::set<RasProcess> behind;
  for (const auto& difference : communicator.differences) {
    if (difference.levels.size() < 2) continue;
    const auto departing = departures(difference);
    ahead.insert(departing.ahead.begin(), departing.ahead.end());
    behind.insert(departing.behind.begin(), departing.behind.end());
    add_counts(finding, ranks, communicator, difference);
  }
  std::vector<RasProcess> both;
  std::ranges::set_intersection(ahead, behind, std::back_inserter(both));
  const auto& named = !both.empty()     ? std::set<RasProcess>(both.begin(), both.end())
                      : !behind.empty() ? behind
                                        : ahead;
  if (named.empty()) return;
  finding.kind = !both.empty()     ? HangKind::other_call
                 : !behind.empty() ? HangKind::not_called
                                   : HangKind::ahead;
  std::set<int> numbers;
  for (const auto& process : named)
    if (const auto rank = ranks.rank(communicator, process); rank >= 0) numbers.insert(rank);
  finding.ranks.assign(numbers.begin(), numbers.end());
  if (finding.kind == HangKind::not_called) {
    finding.missing = finding.ranks;
    std::set<int> waiting;
    for (const auto& process : ahead)
      if (const auto rank = ranks.rank(communicator, process); rank >= 0) waiting.insert(rank);
    finding.waiting.assign(waiting.begin(), waiting.end());
  }
  CallFacts call;
  call.operation = communicator.differences.front().operation;
  if (finding.kind == HangKind::other_call && communicator.differences.size() > 1)
    call.operation += " and " + communicator.differences[1].operation;
  call.group = communicator.size > 0
                   ? fmt::format("communicator {} of {} ranks", communicator.hash, communicator.size)
                   : "communicator " + communicator.hash;
  finding.call = std::move(call);
  finding.remedy = finding.kind == HangKind::ahead ? remedy_text("ahead") : remedy_text("process");
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<HangFinding> ras_findings(const HangEvidence& evidence) {
  std::vector<HangFinding> findings;
  const RasRanks ranks{evidence};
  for (const auto& status : evidence.ras) {
    std::vector<HangFinding> of_status;
    for (const auto& communicator : status.communicators) {
      HangFinding failed;
      failed.source = "RAS";
      for (const auto& [process, error] : communicator.errors) {
        failed.kind = HangKind::error;
        failed.notes.push_back(
            fmt::format("NCCL on {} reported: {}.", ranks.text(communicator, process), error));
        if (const auto rank = ranks.rank(communicator, process); rank >= 0) failed.ranks.push_back(rank);
      }
      for (const auto& process : communicator.missing) {
        failed.kind = HangKind::died;
        failed.notes.push_back(fmt::format("RAS has no data of {}.", ranks.text(communicator, process)));
        if (const auto rank = ranks.rank(communicator, process); rank >= 0) failed.ranks.push_back(rank);
      }
      if (!failed.notes.empty()) {
        failed.remedy =
            failed.kind == HangKind::died ? remedy_text("process-gone") : remedy_text("nccl-warning");
        of_status.push_back(std::move(failed));
      }
      add_ras_communicator(of_status, ranks, communicator);
    }
    for (const auto& process : status.dead) {
      if (std::ranges::any_of(of_status, [](const auto& known) { return known.kind == HangKind::died; }))
        break;
      HangFinding finding;
      finding.kind = HangKind::died;
      finding.source = "RAS";
      const auto entry = evidence.rank_of_process.find({"", process.pid});
      if (entry != evidence.rank_of_process.end()) finding.ranks = {entry->second};
      finding.notes.push_back(fmt::format("RAS cannot reach process {} on {}.", process.pid, process.host));
      finding.remedy = remedy_text("process-gone");
      of_status.push_back(std::move(finding));
    }
    if (of_status.size() > findings.size()) findings = std::move(of_status);
  }
  std::ranges::stable_sort(findings, {}, [](const HangFinding& finding) {
    return std::tuple{finding.kind != HangKind::died, finding.kind == HangKind::ahead,
                      finding.waiting.empty(), finding.call ? finding.call->group.size() : 0};
  });
  return findings;
}

namespace {

CallFacts facts_of(const WatchdogTimeout& timeout) {
  CallFacts facts;
  facts.operation = timeout.operation;
  facts.group =
      timeout.group.empty() || timeout.group == "0" ? "the default group" : "group " + timeout.group;
  facts.sequence = timeout.sequence;
  if (timeout.input >= 0) facts.sizes = fmt::format("[{}]", timeout.input);
  facts.place = timeout.place;
  return facts;
}

/// The calls of one number of a group that did not match: those of fewer ranks.
void add_watchdog_mismatch(std::vector<HangFinding>& findings,
                           const std::vector<const WatchdogTimeout*>& calls) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<const WatchdogTimeout*>> by_call;
  for (const auto* const call : calls) by_call[{call->operation, call->input}].push_back(call);
  if (by_call.size() < 2) return;
  const auto size = [](const auto& entry) { return entry.second.size(); };
  const auto right = std::ranges::max_element(by_call, {}, size);
  HangFinding finding;
  const auto& operation = by_call.begin()->first.first;
  const bool is_same =
      std::ranges::all_of(by_call, [&](const auto& call) { return call.first.first == operation; });
  finding.kind = is_same ? HangKind::other_sizes : HangKind::other_call;
  finding.source = "watchdog";
  for (const auto& [call, same] : by_call) {
    for (const auto* const timeout : same)
      (&same == &right->second ? finding.waiting : finding.ranks).push_back(timeout->rank);
    if (&same != &right->second && !finding.instead) finding.instead = facts_of(*same.front());
  }
  finding.call = facts_of(*right->second.front());
  finding.remedy = remedy_text("other-way");
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<HangFinding> watchdog_findings(const HangEvidence& evidence) {
  std::vector<HangFinding> findings;
  std::map<std::string, std::map<std::int64_t, std::vector<const WatchdogTimeout*>>> groups;
  std::set<int> waits;
  for (const auto& timeout : evidence.timeouts) {
    groups[timeout.group.empty() ? "0" : timeout.group][timeout.sequence].push_back(&timeout);
    waits.insert(timeout.rank);
  }
  for (const auto& [group, numbers] : groups) add_watchdog_mismatch(findings, numbers.begin()->second);
  for (const auto& [group, numbers] : groups) {
    const auto& [number, calls] = *numbers.begin();
    HangFinding finding;
    finding.source = "watchdog";
    finding.call = facts_of(*calls.front());
    for (const auto* const call : calls) finding.waiting.push_back(call->rank);
    for (const auto& [rank, progress] : evidence.progress) {
      for (const auto& known : progress)
        if ((known.group.empty() ? "0" : known.group) == group && known.enqueued < number)
          finding.missing.push_back(rank);
    }
    if (finding.missing.empty()) {
      if (findings.empty() && calls.front()->is_error) {
        finding.kind = HangKind::error;
        finding.remedy = remedy_text("first-to-end");
        findings.push_back(std::move(finding));
      }
      continue;
    }
    finding.kind = HangKind::not_called;
    finding.ranks = finding.missing;
    for (const auto rank : finding.ranks) {
      const auto own = std::ranges::find(evidence.timeouts, rank, &WatchdogTimeout::rank);
      if (own == evidence.timeouts.end()) continue;
      finding.kind = HangKind::crossed;
      const auto facts = facts_of(*own);
      finding.notes.push_back(
          fmt::format("Rank {} waits itself in {}{}.", rank, call_text(facts, evidence.world),
                      facts.place.file.empty() ? "" : ", called at " + place_text(facts.place)));
    }
    finding.remedy = remedy_text("not-called");
    findings.push_back(std::move(finding));
  }
  if (!findings.empty() || evidence.timeouts.empty()) return findings;
  HangFinding finding;
  finding.kind = HangKind::error;
  finding.source = "watchdog";
  finding.call = facts_of(evidence.timeouts.front());
  for (const auto rank : waits) finding.waiting.push_back(rank);
  finding.notes.push_back("Nothing says who is missing.");
  finding.remedy = remedy_text("record");
  findings.push_back(std::move(finding));
  return findings;
}

CodePlace stack_place(const HangEvidence& evidence, int rank) {
  const auto entry = evidence.stacks.find(rank);
  return entry == evidence.stacks.end() || entry->second.samples.empty()
             ? CodePlace{}
             : user_place(entry->second.samples.front());
}

namespace {

/// What a main thread is doing, by the innermost frames of its stack.
std::string activity_of(const StackSample& stack) {
  for (const auto& path : stack.paths)
    if (contains(path, "utils/data/dataloader.py")) return "waits for its DataLoader";
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    if (contains(stack.paths[i], "distributed_c10d.py"))
      return fmt::format("is in {}", stack.frames[i].function);
    if (contains(stack.paths[i], "rendezvous")) return "waits for the other ranks to start";
    if (contains(stack.paths[i], "/torch/serialization.py") ||
        contains(stack.paths[i], "distributed/checkpoint"))
      return "reads or writes a checkpoint";
  }
  if (!stack.frames.empty() && !is_library(stack.paths.front()))
    return "is in this line itself: it computes there, or waits for its GPU (a copy, .item(), a "
           "synchronisation)";
  return {};
}

}  // namespace

std::vector<HangFinding> stack_findings(const HangEvidence& evidence) {
  std::map<CodePlace, std::vector<int>> places;
  for (const auto& [rank, stacks] : evidence.stacks) places[stack_place(evidence, rank)].push_back(rank);
  if (evidence.stacks.size() < 2 || places.size() < 2) return {};
  const auto most =
      std::ranges::max_element(places, {}, [](const auto& entry) { return entry.second.size(); });
  HangFinding finding;
  finding.kind = HangKind::elsewhere;
  finding.source = "stacks";
  finding.waiting = most->second;
  CallFacts others;
  others.place = most->first;
  finding.call = others;
  for (const auto& [place, ranks] : places) {
    if (&place == &most->first) continue;
    finding.ranks.insert(finding.ranks.end(), ranks.begin(), ranks.end());
  }
  std::ranges::sort(finding.ranks);
  finding.now = stack_place(evidence, finding.ranks.front());
  for (const auto rank : {finding.ranks.front(), finding.waiting.front()}) {
    if (const auto activity = activity_of(evidence.stacks.at(rank).samples.front()); !activity.empty())
      finding.notes.push_back(fmt::format("Rank {} {}.", rank, activity));
  }
  finding.remedy = remedy_text("elsewhere");
  return {std::move(finding)};
}

}  // namespace gradway

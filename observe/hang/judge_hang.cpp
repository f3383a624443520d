// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "observe/hang/hang_report.hpp"
#include "sim/base/text.hpp"
#include "sim/report/format/text.hpp"

namespace gradway {
namespace {

/// Evidence as a sentence lists it.
std::vector<std::string> evidence_texts(const HangEvidence& evidence) {
  std::vector<std::string> texts;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) texts.push_back(fmt::format("{} of {}", what, report::counted_text(count, "rank")));
  };
  add(evidence.records.size(), "flight recorder");
  if (!evidence.ras.empty()) texts.push_back(report::counted_text(evidence.ras.size(), "answer") + " of RAS");
  add(evidence.stacks.size(), "stacks");
  if (!evidence.timeouts.empty() || !evidence.progress.empty()) {
    std::set<int> ranks;
    for (const auto& timeout : evidence.timeouts) ranks.insert(timeout.rank);
    for (const auto& [rank, progress] : evidence.progress) ranks.insert(rank);
    add(ranks.size(), "messages of the watchdog");
  }
  if (!evidence.failed.empty()) texts.push_back("the launcher's summary");
  if (!evidence.members.empty()) texts.push_back("NCCL's logs");
  return texts;
}

bool has_ras_differences(const HangEvidence& evidence) {
  return std::ranges::any_of(evidence.ras, [](const RasStatus& status) {
    return !status.dead.empty() ||
           std::ranges::any_of(status.communicators, [](const RasCommunicator& communicator) {
             return !communicator.differences.empty() || !communicator.missing.empty() ||
                    !communicator.errors.empty();
           });
  });
}

/// The stacks of most ranks were taken twice, and are the same.
bool stacks_stand_still(const HangEvidence& evidence) {
  std::size_t same = 0;
  for (const auto& [rank, stacks] : evidence.stacks) {
    if (stacks.samples.size() < 2) continue;
    if (stacks.samples.front().frames != stacks.samples.back().frames) return false;
    ++same;
  }
  return 2 * same > evidence.stacks.size();
}

/// The dumps of all ranks were written at once after their last news, and no rank reported an error.
bool are_fresh(const HangEvidence& evidence, const DumpAges& ages) {
  constexpr Seconds fresh{3};  // Dumps of running jobs were younger than a second.
  return ages.idle && *ages.idle < fresh && evidence.messages.empty() &&
         std::ssize(evidence.records) == evidence.world;
}

/// Decides whether the job hangs, before anyone is named.
void judge_state(HangReport& report, const HangEvidence& evidence, const DumpAges& ages) {
  const auto died = std::ranges::find_if(report.findings, [](const HangFinding& finding) {
    return finding.kind == HangKind::died || finding.kind == HangKind::never_joined;
  });
  const auto timed_out =
      std::ranges::find_if(evidence.timeouts, [](const auto& timeout) { return !timeout.is_error; });
  report.timeout = timed_out != evidence.timeouts.end() ? timed_out->timeout : ages.timeout;
  if (died != report.findings.end()) {
    report.verdict = HangVerdict::failed;
    report.why = died->kind == HangKind::died ? "a rank ended" : "not all ranks joined";
  } else if (timed_out != evidence.timeouts.end()) {
    report.verdict = HangVerdict::hung;
    report.why = fmt::format("the watchdog waited for {}", report::time_text(timed_out->timeout));
  } else if (!evidence.timeouts.empty()) {
    report.verdict = HangVerdict::failed;
    const bool differ = std::ranges::any_of(
        report.findings, [](const HangFinding& finding) { return finding.instead.has_value(); });
    report.why = differ ? "ranks called different collectives" : "NCCL reported an error";
  } else if (ages.is_moving) {
    report.verdict = HangVerdict::running;
    report.why = ages.why_moving;
  } else if (ages.waited && ages.timeout && *ages.waited >= long_wait * *ages.timeout) {
    report.verdict = HangVerdict::hung;
    report.why = fmt::format("ranks waited for {}", report::time_text(*ages.waited));
  } else if (std::ranges::any_of(report.findings, &HangFinding::is_pending)) {
    report.verdict = HangVerdict::hung;
    report.why = "ranks called different collectives, which cannot complete";
  } else if (ages.stands_still) {
    report.verdict = HangVerdict::hung;
    report.why = "no rank made a call between two dumps";
  } else if (has_ras_differences(evidence)) {
    report.verdict = HangVerdict::hung;
    report.why = "RAS found ranks that have launched different numbers of operations";
  } else if (stacks_stand_still(evidence)) {
    report.verdict = HangVerdict::hung;
    report.why = "each rank is at the same place in two stacks";
  } else if (are_fresh(evidence, ages)) {
    report.verdict = HangVerdict::running;
    report.why = fmt::format("the last news of the waiting ranks is {} old", report::time_text(*ages.idle));
  } else if (!report.findings.empty()) {
    report.verdict = HangVerdict::undecided;
    report.why =
        !evidence.records.empty() && !ages.waited
            ? "no rank waits for another in its dump"
            : "nothing shows how long ranks have waited; in a running job they wait for each other, too";
  } else {
    report.verdict = evidence.ras.empty() ? HangVerdict::undecided : HangVerdict::running;
    report.why = evidence.ras.empty() ? "nothing here shows that a rank waits for another"
                                      : "RAS found the same numbers of operations on all ranks";
  }
  if (ages.waited) report.waited = ages.waited;
}

/// What a rank wrote before it fell behind, for the findings that name it.
void add_messages(HangReport& report, const HangEvidence& evidence) {
  for (const auto& message : evidence.messages) {
    if (message.is_consequence) continue;
    const auto text = fmt::format("{}{} wrote: {} ({}:{})", message.rank >= 0 ? "Rank " : "The output",
                                  message.rank >= 0 ? fmt::format("{}", message.rank) : "", message.text,
                                  message.file.substr(message.file.rfind('/') + 1), message.line);
    const auto names = [&](const HangFinding& finding) {
      return std::ranges::find(finding.ranks, message.rank) != finding.ranks.end();
    };
    const auto named = std::ranges::find_if(report.findings, names);
    if (named != report.findings.end()) {
      named->notes.push_back(text);
      continue;
    }
    const bool is_known =
        std::ranges::any_of(report.findings,
                            [&](const HangFinding& finding) { return finding.source == message.kind; }) ||
        std::ranges::any_of(evidence.messages, [&](const JobMessage& other) {
          return message.rank < 0 && other.rank >= 0 && other.kind == message.kind;
        });
    if (is_known) continue;
    HangFinding finding;
    finding.kind = message.kind == "not-joined" ? HangKind::never_joined : HangKind::error;
    if (message.rank >= 0) finding.ranks = {message.rank};
    finding.source = message.kind;
    finding.notes = {text, fmt::format("It means that {}.", message.means)};
    finding.remedy = message.remedy;
    report.findings.push_back(std::move(finding));
  }
}

/// NCCL failed on other ranks because the connection to a rank was lost that wrote nothing and left no dump.
void find_silent_rank(HangReport& report, const HangEvidence& evidence) {
  std::set<int> lost;
  for (const auto& message : evidence.messages)
    if (message.is_consequence && message.rank >= 0) lost.insert(message.rank);
  const bool is_known = std::ranges::any_of(
      report.findings, [](const HangFinding& finding) { return finding.kind == HangKind::died; });
  if (lost.empty() || is_known) return;
  std::set<int> seen = lost;
  for (const auto& [rank, record] : evidence.records) seen.insert(rank);
  for (const auto& [rank, progress] : evidence.progress) seen.insert(rank);
  for (const auto& timeout : evidence.timeouts) seen.insert(timeout.rank);
  HangFinding finding;
  finding.kind = HangKind::died;
  for (int rank = 0; rank < evidence.world; ++rank)
    if (!seen.contains(rank)) finding.ranks.push_back(rank);
  const bool has_other_cause = std::ranges::any_of(
      report.findings, [](const HangFinding& known) { return known.instead.has_value(); });
  if (finding.ranks.empty() || finding.ranks.size() > lost.size() || has_other_cause) return;
  finding.source = "standard error";
  finding.notes.push_back(fmt::format("{} lost a connection, and {} wrote nothing and left no dump.",
                                      report::one_line(ranks_text({lost.begin(), lost.end()})),
                                      ranks_text(finding.ranks)));
  finding.notes.back().front() = 'R';
  if (const auto known =
          std::ranges::find_if(report.findings, [&](const auto& other) { return other.call.has_value(); });
      known != report.findings.end()) {
    finding.call = known->call;
    finding.waiting = known->waiting;
  }
  finding.remedy = remedy_text("unknown-death");
  report.findings.insert(report.findings.begin(), std::move(finding));
}

/// Adds the lines of stacks to findings that lack them, and what other evidence says of the same ranks.
void merge(HangReport& report, const HangEvidence& evidence) {
  std::vector<HangFinding> kept;
  for (auto& finding : report.findings) {
    if (!finding.ranks.empty() && finding.now.file.empty())
      finding.now = stack_place(evidence, finding.ranks.front());
    const auto same = std::ranges::find_if(kept, [&](const HangFinding& known) {
      return known.ranks == finding.ranks && !finding.ranks.empty();
    });
    if (same == kept.end()) {
      kept.push_back(std::move(finding));
      continue;
    }
    if (same->remedy.empty()) same->remedy = finding.remedy;
    for (auto& note : finding.notes)
      if (std::ranges::find(same->notes, note) == same->notes.end()) same->notes.push_back(std::move(note));
    if (!contains(same->source, finding.source)) same->source += ", " + finding.source;
    if (same->kind == HangKind::error && finding.call) {
      same->kind = finding.kind;
      same->remedy = finding.remedy;
      same->missing = finding.missing;
    }
    if (!same->call) same->call = finding.call;
    if (same->waiting.empty()) same->waiting = finding.waiting;
  }
  // A rank that died explains the call that did not complete.
  if (!kept.empty() && kept.front().kind == HangKind::died && !kept.front().call) {
    const auto call =
        std::ranges::find_if(kept, [](const auto& finding) { return finding.call.has_value(); });
    if (call != kept.end() && call->kind != HangKind::elsewhere) {
      kept.front().call = call->call;
      kept.front().waiting = call->waiting;
      kept.front().source += ", " + call->source;
      kept.erase(call);
    }
  }
  // Counts and lines say less than calls that do not match.
  if (!kept.empty() && kept.front().instead)
    std::erase_if(kept, [&](const HangFinding& finding) {
      return finding.ranks != kept.front().ranks &&
             (finding.kind == HangKind::ahead || finding.kind == HangKind::elsewhere);
    });
  report.findings = std::move(kept);
}

}  // namespace

HangReport judge_hang(const HangEvidence& evidence) {
  HangReport report;
  report.world = evidence.world;
  report.evidence = evidence_texts(evidence);
  report.remarks = evidence.damaged;
  if (evidence.numbers_ranks)
    report.remarks.push_back(
        "Ranks of some stacks are unknown: they are numbered in the order of their files.");
  const auto ages = ages_of_dumps(evidence);
  const auto add = [&](std::vector<HangFinding> findings) {
    for (auto& finding : findings) report.findings.push_back(std::move(finding));
  };
  add(process_findings(evidence));
  add(recorded_findings(evidence, ages.is_moving));
  add(watchdog_findings(evidence));
  add(ras_findings(evidence));
  const bool has_cause = !report.findings.empty();
  if (!ages.is_moving || has_cause) add(stack_findings(evidence));
  find_silent_rank(report, evidence);
  add_messages(report, evidence);
  judge_state(report, evidence, ages);
  merge(report, evidence);
  std::set<int> missing;
  for (const auto& group : evidence.groups)
    for (const auto rank : group.ranks)
      if (!evidence.records.contains(rank)) missing.insert(rank);
  if (!missing.empty() && !evidence.records.empty())
    report.remarks.push_back(
        fmt::format("There is no dump of {}.", ranks_text({missing.begin(), missing.end()})));
  return report;
}

}  // namespace gradway

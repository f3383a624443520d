// SPDX-License-Identifier: Apache-2.0
#include "observe/hang/report.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/problem.hpp"
#include "sim/base/text.hpp"
#include "sim/nccl/alone_time.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/platform/routes.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

std::optional<CollectiveKind> collective_kind(std::string_view operation) {
  const auto name = lower_case(operation);
  if (contains(name, "reduce_scatter") || contains(name, "reducescatter"))
    return CollectiveKind::reduce_scatter;
  if (contains(name, "all_reduce") || contains(name, "allreduce") || name == "barrier")
    return CollectiveKind::all_reduce;
  if (contains(name, "all_gather") || contains(name, "allgather")) return CollectiveKind::all_gather;
  if (contains(name, "broadcast")) return CollectiveKind::broadcast;
  if (contains(name, "alltoall") || contains(name, "all_to_all")) return CollectiveKind::all_to_all;
  return std::nullopt;
}

/// "rank 1 has not called ..., in which ranks 0, 2 and 3 wait"
std::string title_of(const HangFinding& finding, int world) {
  const auto ranks = finding.ranks.empty() ? "a process" : ranks_text(finding.ranks, world);
  const bool is_many = finding.ranks.size() > 1;
  const auto call = finding.call ? call_text(*finding.call, world) : "";
  const auto place = finding.call && !finding.call->place.file.empty()
                         ? fmt::format(", called at {}", place_text(finding.call->place))
                         : "";
  const auto waiting = finding.waiting.empty()
                           ? ""
                           : fmt::format("; {} wait{} in it", ranks_text(finding.waiting, world),
                                         finding.waiting.size() == 1 ? "s" : "");
  const auto instead = [&] {
    if (!finding.instead) return std::string{};
    return fmt::format("{} called {}{}, where {} called {}{}", ranks, call_text(*finding.instead, world),
                       finding.instead->place.file.empty() ? "" : " at " + place_text(finding.instead->place),
                       ranks_text(finding.waiting, world), call,
                       finding.call->place.file.empty() ? "" : " at " + place_text(finding.call->place));
  };
  switch (finding.kind) {
    case HangKind::died:
      return fmt::format("{} ended{}", ranks,
                         call.empty()
                             ? ""
                             : fmt::format(", and {} wait{} for {}{}", ranks_text(finding.waiting, world),
                                           finding.waiting.size() == 1 ? "s" : "", call, place));
    case HangKind::never_joined:
      return fmt::format("{} did not join at the start of the job", ranks);
    case HangKind::not_called:
      return fmt::format("{} {} not called {}{}{}", ranks, is_many ? "have" : "has", call, place, waiting);
    case HangKind::crossed:
      if (finding.call &&
          (finding.call->operation.starts_with("recv ") || finding.call->operation.starts_with("send ")))
        return fmt::format("{} waits in {}{}, and {} waits for it elsewhere",
                           ranks_text(finding.waiting, world), call, place,
                           ranks_text(finding.missing, world));
      return fmt::format("{} called {}{}, which {} {} not called",
                         ranks_text(finding.waiting.empty() ? finding.ranks : finding.waiting, world), call,
                         place, ranks_text(finding.missing, world),
                         finding.missing.size() == 1 ? "has" : "have");
    case HangKind::left_out:
    case HangKind::other_call:
    case HangKind::other_order:
    case HangKind::other_sizes:
    case HangKind::other_type:
    case HangKind::wrong_group:
      return finding.instead ? instead()
                             : fmt::format("{} launched other operations than the others: {}", ranks, call);
    case HangKind::gpu_behind:
      return fmt::format("the GPU of {} has not begun {}{}; those of {} have", ranks, call, place,
                         ranks_text(finding.waiting, world));
    case HangKind::error:
      return call.empty() ? fmt::format("{} reported an error", finding.ranks.empty() ? "the job" : ranks)
                          : fmt::format("{} did not complete{}{}", call, place, waiting);
    case HangKind::ahead:
      return fmt::format("{} {} launched more of {} than the others", ranks, is_many ? "have" : "has", call);
    case HangKind::elsewhere:
      return fmt::format("{} {} at another line than {}: {} instead of {}", ranks, is_many ? "are" : "is",
                         ranks_text(finding.waiting, world), place_text(finding.now),
                         place_text(finding.call->place));
  }
  return {};
}

std::string label_of(HangKind kind) {
  std::string label{name_of(kind)};
  std::ranges::replace(label, '_', ' ');
  return label;
}

/// Calls that do not match are wrong in a running job, too.
bool has_mismatch(const HangReport& report) {
  return std::ranges::any_of(report.findings,
                             [](const auto& finding) { return finding.instead.has_value(); });
}

/// Findings that are shown: in a running job, waiting accuses no rank.
bool is_shown(const HangReport& report, const HangFinding& finding) {
  return report.verdict != HangVerdict::running || finding.instead.has_value();
}

std::string verdict_text(const HangReport& report) {
  switch (report.verdict) {
    case HangVerdict::running:
      return fmt::format("running{}: {}",
                         has_mismatch(report) ? ", but ranks called different collectives" : "", report.why);
    case HangVerdict::undecided:
      return fmt::format("undecided: {}", report.why);
    case HangVerdict::hung:
      return fmt::format("hung: {}", report.why);
    case HangVerdict::failed:
      return fmt::format("failed: {}", report.why);
  }
  return {};
}

bool is_conditional(const HangReport& report, const HangFinding& finding) {
  return report.verdict == HangVerdict::undecided && !finding.instead && finding.kind != HangKind::error;
}

class Writer {
 public:
  Writer(std::ostream& out, const HangReport& report, const Style& style)
      : out_{out}, report_{report}, style_{style} {}

  void write(const std::optional<HangPrice>& price) {
    const bool has_findings = report_.verdict != HangVerdict::running || has_mismatch(report_);
    row("job",
        fmt::format("{}; {}", report_.world > 0 ? counted_text(report_.world, "rank") : "ranks unknown",
                    report_.evidence.empty() ? "output of the job"
                                             : fmt::format("{}", fmt::join(report_.evidence, ", "))));
    row("verdict", verdict_text(report_));
    if (report_.timeout && report_.verdict == HangVerdict::hung) row("timeout", time_text(*report_.timeout));
    if (price && has_findings) write_price(*price);
    bool is_first = true;
    for (const auto& remark : report_.remarks) {
      row(is_first ? "missing" : "", remark);
      is_first = false;
    }
    constexpr std::size_t most_findings = 5;
    for (std::size_t i = 0; i < report_.findings.size() && i < most_findings; ++i)
      if (is_shown(report_, report_.findings[i])) write_finding(report_.findings[i]);
  }

 private:
  void row(std::string_view key, const std::string& value) {
    constexpr std::size_t indent = 15;
    const auto lines = wrap(value, std::max<std::size_t>(style_.width, 40) - indent);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out_ << fmt::format("  {:<12} {}\n", i == 0 ? key : "", lines[i]);
  }

  void write_price(const HangPrice& price) {
    if (price.healthy)
      row("healthy", fmt::format("this call takes {} on {}", time_text(*price.healthy), price.platform));
    if (report_.timeout && price.price) {
      constexpr double hour = 3600;
      const auto usd = price.price->value() * report_.timeout->value() / hour;
      row("cost",
          fmt::format("{:.2f} USD for a timeout of {}: {} at {:.2f} USD/h", usd, time_text(*report_.timeout),
                      counted_text(price.gpus, "GPU"), price.price->value()));
    }
  }

  void write_finding(const HangFinding& finding) {
    out_ << '\n';
    const auto condition = is_conditional(report_, finding) ? "if the job stands still: " : "";
    row(label_of(finding.kind), condition + title_of(finding, report_.world));
    const auto rank = finding.ranks.empty() ? -1 : finding.ranks.front();
    if (!finding.now.file.empty() && finding.kind != HangKind::elsewhere)
      row("", fmt::format("Rank {} is at {}, by its stack.", rank, place_text(finding.now)));
    if (finding.last)
      row("", fmt::format("Its last call{}: {}{}.", finding.instead ? " before that" : "",
                          call_text(*finding.last, report_.world),
                          finding.last->place.file.empty() ? "" : " at " + place_text(finding.last->place)));
    constexpr std::size_t most_notes = 12;
    for (std::size_t i = 0; i < finding.notes.size() && i < most_notes; ++i) row("", finding.notes[i]);
    row("", fmt::format("try: {}", finding.remedy));
    row("", fmt::format("by: {}", finding.source));
  }

  std::ostream& out_;
  const HangReport& report_;
  const Style& style_;
};

using Json = nlohmann::ordered_json;

Json place_json(const CodePlace& place) {
  if (place.file.empty()) return nullptr;
  return {{"file", place.file}, {"line", place.line}, {"function", place.function}};
}

Json call_json(const std::optional<CallFacts>& call) {
  if (!call) return nullptr;
  return {{"operation", call->operation}, {"group", call->group},
          {"group_ranks", call->members}, {"sequence", call->sequence},
          {"sizes", call->sizes},         {"type", call->type},
          {"bytes", call->bytes.value()}, {"place", place_json(call->place)}};
}

}  // namespace

HangPrice price_of_hang(const HangReport& report, const Platform& platform, const Calibration& calibration,
                        const std::string& name) {
  HangPrice price;
  price.platform = name;
  price.gpus = report.world;
  const auto per_node = std::max(1, static_cast<int>(platform.gpus.size()) / std::max(1, platform.nodes));
  if (const auto& paid = platform.price)
    price.price = paid->of(report.world, (report.world + per_node - 1) / per_node, per_node);
  for (const auto& finding : report.findings) {
    if (!finding.call || finding.call->bytes <= Bytes{0}) continue;
    const auto kind = collective_kind(finding.call->operation);
    const auto& members = finding.call->members;
    if (!kind || members.size() < 2 || static_cast<std::size_t>(members.back()) >= platform.gpus.size())
      break;
    GpuNumbers gpus(members.begin(), members.end());
    try {
      const Routes routes{platform};
      NcclSettings settings;
      constexpr std::size_t least_nvls = 3;
      if (members.size() < least_nvls) settings.nvls = false;
      const Communicator communicator{routes, settings, calibration, std::move(gpus)};
      price.healthy = time_alone(communicator.lower(*kind, finding.call->bytes), platform);
    } catch (const ConfigError&) {  // NOLINT(bugprone-empty-catch): no transport between these GPUs
    }
    break;
  }
  return price;
}

void write_hang(std::ostream& out, const HangReport& report, const std::optional<HangPrice>& price,
                const Style& style) {
  Writer{out, report, style}.write(price);
}

void write_hang_json(std::ostream& out, const HangReport& report, const std::optional<HangPrice>& price) {
  Json json{{"schema", 1},
            {"verdict", name_of(report.verdict)},
            {"why", report.why},
            {"ranks", report.world},
            {"evidence", report.evidence},
            {"timeout_s", report.timeout ? Json(report.timeout->value()) : Json(nullptr)},
            {"waited_s", report.waited ? Json(report.waited->value()) : Json(nullptr)},
            {"platform", price ? Json(price->platform) : Json(nullptr)},
            {"healthy_s", price && price->healthy ? Json(price->healthy->value()) : Json(nullptr)},
            {"usd_per_hour", price && price->price ? Json(price->price->value()) : Json(nullptr)},
            {"remarks", report.remarks}};
  auto& findings = json["findings"] = Json::array();
  for (const auto& finding : report.findings) {
    if (is_shown(report, finding))
      findings.push_back({{"kind", name_of(finding.kind)},
                          {"only_if_it_hangs", is_conditional(report, finding)},
                          {"text", title_of(finding, report.world)},
                          {"ranks", finding.ranks},
                          {"waiting", finding.waiting},
                          {"missing", finding.missing},
                          {"call", call_json(finding.call)},
                          {"called_instead", call_json(finding.instead)},
                          {"last_call", call_json(finding.last)},
                          {"stack", place_json(finding.now)},
                          {"notes", finding.notes},
                          {"try", finding.remedy},
                          {"source", finding.source}});
  }
  write(out, JsonDocument{std::move(json)});
}

}  // namespace gradway::report

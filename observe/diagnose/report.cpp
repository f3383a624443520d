// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/report.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/diagnose/cause_words.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;

constexpr std::size_t indent = 15;

class Writer {
 public:
  Writer(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis,
         const Style& style)
      : out_{out}, run_{run}, basis_{basis}, diagnosis_{diagnosis}, style_{style} {}

  void write() {
    write_run();
    write_unknown();
    write_steps();
    row("verdict", verdict_text(run_, basis_, diagnosis_));
    for (const auto& cause : diagnosis_.causes) write_cause(cause, "");
    for (const auto& cause : diagnosis_.possible) write_cause(cause, " if it is not meant");
    write_harmless();
    write_classes();
    write_collectives();
    write_ranks();
  }

 private:
  void row(std::string_view key, const std::string& value) {
    const auto lines = wrap(value, std::max<std::size_t>(style_.width, 40) - indent);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out_ << fmt::format("  {:<12} {}\n", i == 0 ? key : "", lines[i]);
  }

  void write_run() {
    const auto& first = run_.ranks.front();
    auto text = fmt::format("{}, {}", run_.world > 1 ? fmt::format("{} ranks", run_.world) : "1 rank",
                            first.gpu.empty() ? "unknown GPU" : first.gpu);
    if (!run_.is_whole()) text += fmt::format(", traces of {}", counted_text(run_.ranks.size(), "rank"));
    row("run", text);
    row("training", training_text(run_, diagnosis_));
    row("expectation",
        fmt::format("{}{}", basis_.platform_name,
                    basis_.is_platform_assumed ? ", assumed for this GPU (--platform NAME changes it)" : ""));
  }

  void write_unknown() {
    bool is_first = true;
    for (const auto& text : unknown_facts(run_)) {
      row(is_first ? "unknown" : "", text);
      is_first = false;
    }
  }

  void write_steps() {
    row("steps", fmt::format("{} per rank, {} under the profiler", run_.steps, time_text(diagnosis_.traced)));
    const bool is_given = diagnosis_.measured != diagnosis_.replayed;
    row("step", is_given
                    ? fmt::format("{} measured, {} replayed without the profiler",
                                  time_text(diagnosis_.measured), time_text(diagnosis_.replayed))
                    : fmt::format("{} without the profiler, by a replay", time_text(diagnosis_.replayed)));
    row("expected", fmt::format("{} without what was found", time_text(diagnosis_.expected)));
    if (const auto& elsewhere = diagnosis_.elsewhere)
      row("elsewhere", fmt::format("{} expected on {}, with its collectives by NCCL's model",
                                   time_text(elsewhere->step), elsewhere->platform));
    if (basis_.step)
      row("predicted", fmt::format("{} (90 % prediction interval: {})", time_text(basis_.step->time),
                                   range_text(basis_.step->low, basis_.step->high)));
  }

  void write_cause(const RunCause& cause, std::string_view condition) {
    out_ << '\n';
    auto text = cause_text(cause, basis_.platform_name);
    const auto where = ranks_text(cause, static_cast<int>(run_.ranks.size()));
    row(time_text(cause.lost), fmt::format("{}{}{} ({} confidence)", title_of(cause),
                                           where.empty() ? "" : " ", where, name_of(cause.confidence)));
    row("", text);
    row("", fmt::format("try{}: {}", condition, remedy_text(cause)));
  }

  static std::string title_of(const RunCause& cause) {
    std::string title{key_of(cause.kind)};
    std::ranges::replace(title, '_', ' ');
    return title;
  }

  void write_harmless() {
    bool is_first = true;
    for (const auto& cause : diagnosis_.harmless) {
      // Small differences between GPUs are not worth a line.
      if (cause.kind == CauseKind::low_clocks || cause.kind == CauseKind::shared_gpu) continue;
      if (is_first) out_ << '\n';
      const auto where = ranks_text(cause, static_cast<int>(run_.ranks.size()));
      row(is_first ? "harmless" : "", fmt::format("{}{}{}: costs {}", title_of(cause),
                                                  where.empty() ? "" : " ", where, time_text(cause.lost)));
      is_first = false;
    }
  }

  void write_classes() {
    Table table{{{"work per step"}, {"measured", right}, {"expected", right}}};
    for (const auto& work_class : diagnosis_.classes)
      table.add({std::string{name_of(work_class.work)}, time_text(work_class.measured),
                 time_text(work_class.expected)});
    out_ << '\n';
    table.write(out_, style_, "  ");
  }

  void write_collectives() {
    if (diagnosis_.collectives.empty()) return;
    constexpr std::size_t most = 8;
    Table table;
    for (std::size_t i = 0; i < std::min(most, diagnosis_.collectives.size()); ++i) {
      const auto& collective = diagnosis_.collectives[i];
      table.add_cells({{"collective", std::string{name_of(collective.kind)}},
                       {"size", collective.bytes > Bytes{} ? bytes_text(collective.bytes) : "unknown", right},
                       {"per step", digits_text(collective.per_step, 3), right},
                       {"waiting", time_text(collective.waiting), right},
                       {"transfer", time_text(collective.transfer), right},
                       {"alone", collective.expected ? time_text(*collective.expected) : "unknown", right}});
    }
    out_ << '\n';
    table.write(out_, style_, "  ");
    if (diagnosis_.collectives.size() > most)
      out_ << fmt::format("  and {} others\n", diagnosis_.collectives.size() - most);
  }

  void write_ranks() {
    constexpr std::size_t most = 16;
    Table table;
    for (std::size_t i = 0; i < std::min(most, diagnosis_.ranks.size()); ++i) {
      const auto& rank = diagnosis_.ranks[i];
      table.add_cells({{"rank", fmt::format("{}", rank.rank)},
                       {"GPU busy", time_text(rank.busy), right},
                       {"exposed", time_text(rank.exposed), right},
                       {"idle", time_text(rank.idle), right},
                       {"forward", time_text(rank.phases[0]), right},
                       {"backward", time_text(rank.phases[1]), right},
                       {"optimizer", time_text(rank.phases[2]), right},
                       {"launches", digits_text(rank.launches, 3), right},
                       {"CPU each", time_text(rank.launch), right}});
    }
    out_ << '\n';
    table.write(out_, style_, "  ");
    if (diagnosis_.ranks.size() > most)
      out_ << fmt::format("  and {} others\n", diagnosis_.ranks.size() - most);
  }

  std::ostream& out_;
  const JobRun& run_;
  const DiagnosisBasis& basis_;
  const Diagnosis& diagnosis_;
  const Style& style_;
};

}  // namespace

std::vector<std::string> unknown_facts(const JobRun& run) {
  std::vector<std::string> facts;
  for (const auto& rank : run.ranks) {
    for (const auto& text : rank.unknown) {
      if (std::ranges::find(facts, text) == facts.end()) facts.push_back(text);
    }
  }
  return facts;
}

std::string training_text(const JobRun& run, const Diagnosis& diagnosis) {
  const auto& first = run.ranks.front();
  auto text = fmt::format("{}", name_of(first.precision));
  if (first.batch > 0) text = fmt::format("batch {} per GPU, {}", first.batch, text);
  if (first.optimizer) text += fmt::format(", {}", name_of(*first.optimizer));
  switch (diagnosis.exchange) {
    case ExchangeKind::none:
      return text;
    case ExchangeKind::ddp:
      text += ", DDP";
      break;
    case ExchangeKind::sharded:
      text += ", sharded (FSDP, ZeRO or a distributed optimizer)";
      break;
    case ExchangeKind::other:
      text += ", with collectives";
      break;
  }
  if (diagnosis.buckets > 0)
    text += fmt::format(", {} reductions of gradients per step", digits_text(diagnosis.buckets, 3));
  return text;
}

std::string verdict_text(const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis) {
  static_cast<void>(run);
  Seconds lost{};
  for (const auto& cause : diagnosis.causes) lost += cause.lost;
  if (!diagnosis.causes.empty())
    return fmt::format("{} of {} are lost ({})", time_text(lost), time_text(diagnosis.measured),
                       percent_text(lost / diagnosis.measured));
  if (basis.step && diagnosis.measured > basis.step->high)
    return "slower than predicted, for a reason that the traces do not show";
  if (diagnosis.is_slower_than_traced())
    return "slower than the traces, for a reason that they do not show: trace steps that are as slow";
  const std::string unjudged =
      diagnosis.has_unjudged_collectives() ? "; collectives of unknown size were not judged" : "";
  if (!diagnosis.possible.empty()) return "healthy, if what follows is meant" + unjudged;
  return "healthy: nothing was found that costs 2 % of the step or more" + unjudged;
}

void write_diagnosis(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis,
                     const Diagnosis& diagnosis, const Style& style) {
  Writer{out, run, basis, diagnosis, style}.write();
}

namespace {

using Json = nlohmann::ordered_json;

Json cause_json(const RunCause& cause, const JobRun& run, const std::string& platform) {
  Json json{{"kind", key_of(cause.kind)},
            {"lost_s", cause.lost.value()},
            {"confidence", name_of(cause.confidence)},
            {"ranks", cause.ranks.empty() ? Json::array() : Json(cause.ranks)},
            {"every_step", !cause.is_sporadic}};
  if (cause.ranks.empty()) {
    for (const auto& rank : run.ranks) json["ranks"].push_back(rank.rank);
  }
  auto& evidence = json["evidence"] = Json::object();
  if (cause.events > 0) evidence["events_per_step"] = cause.events;
  if (cause.measured > Seconds{}) evidence["measured_s"] = cause.measured.value();
  if (cause.expected > Seconds{}) evidence["expected_s"] = cause.expected.value();
  if (!cause.example.empty()) evidence["example"] = cause.example;
  if (!cause.next.empty()) evidence["before"] = cause.next;
  if (cause.bytes) evidence["bytes"] = *cause.bytes;
  if (cause.stream >= 0) evidence["stream"] = cause.stream;
  if (cause.expected_channels > 0) {
    evidence["channels"] = cause.found_channels;
    evidence["expected_channels"] = cause.expected_channels;
  }
  json["what"] = cause_text(cause, platform);
  json["try"] = remedy_text(cause);
  return json;
}

Json run_json(const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis) {
  const auto& first = run.ranks.front();
  Json json{{"ranks", run.world},
            {"traces", run.ranks.size()},
            {"steps", run.steps},
            {"gpu", first.gpu},
            {"precision", name_of(first.precision)},
            {"batch_per_gpu", first.batch > 0 ? Json(first.batch) : Json(nullptr)},
            {"optimizer", first.optimizer ? Json(name_of(*first.optimizer)) : Json(nullptr)},
            {"what", training_text(run, diagnosis)},
            {"reductions_per_step", diagnosis.buckets},
            {"platform", basis.platform_name},
            {"platform_assumed", basis.is_platform_assumed},
            {"unknown", unknown_facts(run)}};
  return json;
}

Json times_json(const DiagnosisBasis& basis, const Diagnosis& diagnosis) {
  Json json{{"traced_s", diagnosis.traced.value()},
            {"measured_s", diagnosis.measured.value()},
            {"replayed_s", diagnosis.replayed.value()},
            {"expected_s", diagnosis.expected.value()},
            {"unexplained_s", diagnosis.unexplained().value()},
            {"cpu_share", diagnosis.cpu_share},
            {"predicted", nullptr},
            {"elsewhere", nullptr}};
  if (basis.step)
    json["predicted"] = {{"step_time_s", basis.step->time.value()},
                         {"low_s", basis.step->low.value()},
                         {"high_s", basis.step->high.value()}};
  if (const auto& elsewhere = diagnosis.elsewhere)
    json["elsewhere"] = {{"platform", elsewhere->platform}, {"expected_s", elsewhere->step.value()}};
  return json;
}

Json collectives_json(const Diagnosis& diagnosis) {
  auto json = Json::array();
  for (const auto& collective : diagnosis.collectives) {
    json.push_back(
        {{"kind", name_of(collective.kind)},
         {"bytes", collective.bytes.value()},
         {"ranks", collective.ranks},
         {"channels", collective.channels},
         {"per_step", collective.per_step},
         {"waiting_s", collective.waiting.value()},
         {"transfer_s", collective.transfer.value()},
         {"expected_s", collective.expected ? Json(collective.expected->value()) : Json(nullptr)}});
  }
  return json;
}

}  // namespace

void write_json(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis,
                const Diagnosis& diagnosis) {
  Json json{{"schema", 1},
            {"healthy", diagnosis.is_healthy(basis)},
            {"verdict", verdict_text(run, basis, diagnosis)},
            {"run", run_json(run, basis, diagnosis)},
            {"step", times_json(basis, diagnosis)}};
  for (const auto& [key, list] :
       {std::pair{"causes", &diagnosis.causes}, std::pair{"possible", &diagnosis.possible},
        std::pair{"harmless", &diagnosis.harmless}}) {
    auto& causes = json[key] = Json::array();
    for (const auto& cause : *list) causes.push_back(cause_json(cause, run, basis.platform_name));
  }
  auto& classes = json["classes"] = Json::array();
  for (const auto& work_class : diagnosis.classes)
    classes.push_back({{"work", name_of(work_class.work)},
                       {"measured_s", work_class.measured.value()},
                       {"expected_s", work_class.expected.value()}});
  json["collectives"] = collectives_json(diagnosis);
  auto& ranks = json["ranks"] = Json::array();
  for (const auto& rank : diagnosis.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"traced_step_s", rank.traced_step.value()},
                     {"busy_s", rank.busy.value()},
                     {"exposed_s", rank.exposed.value()},
                     {"idle_s", rank.idle.value()},
                     {"forward_s", rank.phases[0].value()},
                     {"backward_s", rank.phases[1].value()},
                     {"optimizer_s", rank.phases[2].value()},
                     {"launches", rank.launches},
                     {"cpu_per_launch_s", rank.launch.value()}});
  write(out, JsonDocument{std::move(json)});
}

}  // namespace gradway::report

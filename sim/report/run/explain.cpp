// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/explain.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/json_values.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/run/terminal.hpp"
#include "sim/report/run/ways_in.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t bar_width = 20;
constexpr std::size_t narrowest_text = 20;

/// "587 ms"
std::string ms_text(Seconds time) {
  return fmt::format("{:.4g} ms", time.value() * 1e3);
}

/// Sentences without full stops: why the bottleneck is the limit, then the facts that support it.
std::vector<std::string> evidence_in_words(const Explanation& explanation) {
  const auto& run = explanation.run;
  std::vector<std::string> evidence{describe(run.measured.bottleneck).why};
  if (run.scenario.model.run) {
    std::vector<std::string> classes;
    for (const auto& [kind, share] : explanation.kernels)
      classes.push_back(
          fmt::format("{} {:.0f} %", operation_class_words[static_cast<std::size_t>(kind)], 100 * share));
    evidence.push_back(fmt::format("share of the kernel time: {}", fmt::join(classes, ", ")));
  }
  if (!explanation.overlap) return evidence;
  const auto& overlap = *explanation.overlap;
  if (trains(run.scenario.job.strategy))
    evidence.push_back(
        fmt::format("without any communication the step would take {}; the collectives alone, one after the "
                    "other, take {}",
                    ms_text(overlap.without_collectives), ms_text(overlap.collectives)));
  if (!explanation.mostly_communication) return evidence;
  if (overlap.links > Seconds{}) {
    const auto carried = run.measured.metrics.bytes_sent_per_gpu / overlap.links;
    evidence.push_back(fmt::format("the links and memories on the paths could carry {:.3g} GB/s of each GPU",
                                   carried.value() / 1e9));
  }
  for (const auto& basis : overlap.basis) evidence.push_back(describe(basis));
  return evidence;
}

/// "host memory twice as fast, which does not fit"
std::string words_of(const Counterfactual& answer) {
  auto words = answer.words;
  if (answer.verdict > MemoryVerdict::tight) words += fmt::format(", which {}", name_of(answer.verdict));
  return words;
}

std::string words_of(const CallWait& wait) {
  switch (wait.what) {
    case CallWait::For::earlier_call:
      return fmt::format("waits for {} on its communicator", wait.task);
    case CallWait::For::step_start:
      return "starts with the step";
    case CallWait::For::launch:
      return "waits for its launch by the CPU";
    case CallWait::For::optimizer:
      return "waits for the optimizer, which writes what it sends";
    case CallWait::For::memory:
      return fmt::format("waits for its memory: {}", wait.task);
    case CallWait::For::last_input:
      return "its input is ready last, so no kernel is left to overlap it";
  }
  return {};
}

/// As much of the bar as the gain is of the step.
std::string bar(double gain) {
  const auto filled = std::lround(std::clamp(gain, 0.0, 1.0) * static_cast<double>(bar_width));
  std::string text;
  for (std::size_t i = 0; i < bar_width; ++i) text += static_cast<long>(i) < filled ? "█" : "·";
  return text;
}

void write_counterfactual(std::ostream& out, const Counterfactual& answer, Seconds step, const Style& style) {
  const auto gain = answer.gain(step);
  const auto head = fmt::format("{:>13}  ", percent_text(gain) + " less");
  const auto indent = 2 + bar_width + head.size();
  const auto lines = wrap(fmt::format("{}: {}", words_of(answer), time_text(answer.step_time)),
                          std::max(style.width, indent + narrowest_text) - indent);
  out << "  " << style.paint(answer.is_bound ? Paint::dim : Paint::green, bar(gain)) << head << lines.front()
      << '\n';
  for (std::size_t i = 1; i < lines.size(); ++i) out << std::string(indent, ' ') << lines[i] << '\n';
}

/// Writes whole lines, however long, so that each can be copied: settings that fit first, then hardware.
void write_commands(std::ostream& out, std::vector<Counterfactual> answers, const RunCommand& command) {
  std::erase_if(answers,
                [](const auto& answer) { return answer.is_bound || answer.verdict > MemoryVerdict::tight; });
  std::ranges::stable_partition(
      answers, [](const auto& answer) { return !answer.set.front().first.starts_with("faster."); });
  if (answers.empty()) return;
  out << "\n  commands to try\n";
  for (const auto& answer : answers) out << fmt::format("    {}\n", command.with(answer.set));
}

/// What other settings of local SGD would change, per step with its share of the exchanges.
void write_outer_loop(std::ostream& out, Fields& fields, const Explanation& explanation, const Style& style) {
  out << '\n';
  fields.add("workers", describe(*explanation.outer, *explanation.run.scenario.job.local_sgd));
  fields.add("", fmt::format("a step takes {}, its share of the exchanges included",
                             time_text(explanation.outer->mean_step())));
  out << '\n';
  for (const auto& answer : explanation.meeting)
    write_counterfactual(out, answer, explanation.outer->mean_step(), style);
}

/// What would end the first epoch of a staged dataset earlier.
void write_staging(std::ostream& out, Fields& fields, const Explanation& explanation, const Style& style) {
  const auto& input = explanation.run.scenario.job.input;
  const auto until = explanation.ways_in->chosen(input.stage_in).time_of(1);
  out << '\n';
  fields.add("staging", staging_in_words(explanation.ways_in->copy, input));
  fields.add("", fmt::format("the first epoch ends {} after the start, staging included", span_text(until)));
  if (!explanation.staging.empty()) out << '\n';
  for (const auto& answer : explanation.staging) write_counterfactual(out, answer, until, style);
}

void write_answers(std::ostream& out, Fields& fields, const Explanation& explanation,
                   const RunCommand& command, const Style& style) {
  const auto step = explanation.run.measured.metrics.step_time;
  if (!explanation.helps.empty()) {
    out << '\n' << style.paint(Paint::bold, "  what would help") << "\n\n";
    for (const auto& answer : explanation.helps) write_counterfactual(out, answer, step, style);
  }
  std::vector<std::string> useless;
  for (const auto& answer : explanation.no_help) useless.push_back(words_of(answer));
  if (!useless.empty()) {
    out << '\n';
    fields.add("no help",
               fmt::format("less than {:.0f} % gain each: {}", 100 * least_gain, fmt::join(useless, "; ")));
  }
  if (const auto& slow = explanation.slow_gpu) {
    if (useless.empty()) out << '\n';
    fields.add("slow GPU", fmt::format("{}: {}, {} longer", words_of(*slow), time_text(slow->step_time),
                                       percent_text(-slow->gain(step))));
  }
  if (explanation.outer) write_outer_loop(out, fields, explanation, style);
  if (explanation.ways_in) write_staging(out, fields, explanation, style);
  auto commands = explanation.helps;
  for (const auto& answer : explanation.meeting)
    if (answer.gain(explanation.outer->mean_step()) >= least_gain) commands.push_back(answer);
  commands.insert(commands.end(), explanation.staging.begin(), explanation.staging.end());
  write_commands(out, commands, command);
}

/// @param predicted time of the run. @param name of the time, as in `step_time_s`
Json answer_json(const Counterfactual& answer, Seconds predicted, const std::string& name = "step_time_s") {
  auto set = answer.is_bound ? Json::object() : settings_json(answer.set);
  return {{"name", answer.name},
          {"words", words_of(answer)},
          {"set", std::move(set)},
          {name, answer.step_time.value()},
          {"gain", answer.gain(predicted)},
          {"gain_s", (predicted - answer.step_time).value()},
          {"bound", answer.is_bound}};
}

Json answers_json(const std::vector<Counterfactual>& answers, Seconds predicted,
                  const std::string& name = "step_time_s") {
  Json list = Json::array();
  for (const auto& answer : answers) list.push_back(answer_json(answer, predicted, name));
  return list;
}

Json outer_loop_json_of(const Explanation& explanation) {
  auto json = outer_loop_json(*explanation.outer, *explanation.run.scenario.job.local_sgd);
  json["counterfactuals"] = answers_json(explanation.meeting, explanation.outer->mean_step(), "mean_step_s");
  return json;
}

/// "1.6 ms of root reduce-scatter: its input is ready last ..."
std::vector<std::string> exposed_in_words(const Explanation& explanation) {
  std::vector<std::string> words;
  for (const auto& [name, calls, exposed, wait] : explanation.exposed) {
    const auto times = calls > 1 ? fmt::format("{} calls of {}", calls, name) : name;
    words.push_back(fmt::format("{} of {}: {}", time_text(exposed), times, words_of(wait)));
  }
  return words;
}

Json exposed_json(const Explanation& explanation) {
  auto list = Json::array();
  for (const auto& [name, calls, exposed, wait] : explanation.exposed)
    list.push_back(
        {{"name", name}, {"calls", calls}, {"exposed_s", exposed.value()}, {"why", words_of(wait)}});
  return list;
}

}  // namespace

std::string RunCommand::with(const Settings& changes) const {
  auto text = "gradway run " + shell_word(scenario);
  for (const auto& [key, value] : set) {
    const auto is_same = [&](const auto& change) { return change.first == key; };
    if (std::ranges::none_of(changes, is_same))
      text += fmt::format(" --set {}", shell_word(fmt::format("{}={}", key, value)));
  }
  for (const auto& [key, value] : changes)
    text += fmt::format(" --set {}", shell_word(fmt::format("{}={}", key, value)));
  return text;
}

void write_text(std::ostream& out, const Explanation& explanation, const RunCommand& command,
                const Style& style) {
  const auto& run = explanation.run;
  const auto& scenario = run.scenario;
  const auto& metrics = run.measured.metrics;
  Fields fields{out, style};
  write_memory_verdict(out, run, style);
  out << style.paint(Paint::bold, fit(scenario.name, style.width)) << "\n\n";
  fields.add("platform", fmt::format("{}: {}", scenario.platform.name,
                                     hardware_in_words(scenario.platform, scenario.job.gpus)));
  fields.add("job", !trains(scenario.job.strategy)
                        ? describe(scenario.job.strategy)
                        : fmt::format("{}, {}", scenario.model.name, describe(scenario.job.strategy)));
  fields.add(surely_does_not_fit(scenario, run.measured.memory) ? "would take" : "step time",
             time_text(metrics.step_time), Paint::bold);
  if (run.range.low < run.range.high)
    fields.add("interval",
               fmt::format("{} (90 % prediction interval)", range_text(run.range.low, run.range.high)));
  if (metrics.cost_usd_per_million_samples)
    fields.add("cost", fmt::format("{:.4g} USD per million samples", *metrics.cost_usd_per_million_samples));
  out << '\n';
  write_breakdown(out, metrics, style, Detail::full);
  out << '\n';
  fields.add("bottleneck", describe(run.measured.bottleneck).resource, Paint::bold);
  fields.add("", evidence_in_words(explanation));
  if (!explanation.exposed.empty()) fields.add("exposed", exposed_in_words(explanation));
  write_answers(out, fields, explanation, command, style);
  if (run.warnings.empty()) return;
  out << '\n';
  fields.add("warning", with_codes(run.warnings), Paint::yellow);
}

JsonDocument json_document(const Explanation& explanation, std::string_view version) {
  const auto& run = explanation.run;
  const auto step = run.measured.metrics.step_time;
  const auto memory = memory_range(run.scenario, run.measured.memory);
  const bool is_possible = memory.verdict != MemoryVerdict::does_not_fit;
  const auto bottleneck = describe(run.measured.bottleneck);
  Json json{{"schema", 1},
            {"gradway", version},
            {"scenario", scenario_json(run.scenario)},
            {"engine", run.engine},
            {"step_time_s", step.value()},
            {"interval", {{"step_time_s", {run.range.low.value(), run.range.high.value()}}}},
            {"fits", fits_json(memory.verdict, knows_memory(run.scenario))},
            {"does_not_fit", is_possible ? Json(nullptr) : Json(verdict_in_words(memory))},
            {"memory_verdict", memory_verdict_json(memory.verdict, knows_memory(run.scenario))},
            {"bottleneck", {{"resource", bottleneck.resource}, {"why", bottleneck.why}}},
            {"evidence", evidence_in_words(explanation)},
            {"exposed", exposed_json(explanation)},
            {"counterfactuals", answers_json(explanation.helps, step)},
            {"no_help", answers_json(explanation.no_help, step)},
            {"slow_gpu", explanation.slow_gpu ? answer_json(*explanation.slow_gpu, step) : Json(nullptr)},
            {"basis", describe(run.basis)},
            {"warnings", describe(run.warnings)},
            {"warning_codes", codes_of(run.warnings)}};
  if (explanation.outer) json["local_sgd"] = outer_loop_json_of(explanation);
  if (const auto& ways = explanation.ways_in) {
    const auto& input = run.scenario.job.input;
    json["staging"] = ways_in_json(*ways, input);
    json["staging"]["counterfactuals"] =
        answers_json(explanation.staging, ways->chosen(input.stage_in).time_of(1), "epoch_s");
  }
  return json;
}

}  // namespace gradway::report

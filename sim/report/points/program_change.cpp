// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/program_change.hpp"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/memory_parts.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;
using enum Table::Align;

constexpr std::size_t most_changes = 12;

/// A figure before and after the change.
struct ChangedFigure {
  std::string title;
  std::string before;
  std::string after;
  std::string change;
};

std::string step_change_text(const ProgramChange& change) {
  const auto& [value, low, high] = change.ratio;
  if (change.sign == ChangeSign::equal) return "unchanged";
  return fmt::format("{} ({} to {})", signed_percent_text(value - 1), signed_percent_text(low - 1),
                     signed_percent_text(high - 1));
}

/// "+3.2 % (+1.4 % to +5 %), slower with certainty"
std::string step_in_words(const ProgramChange& change) {
  switch (change.sign) {
    case ChangeSign::equal:
      break;
    case ChangeSign::tied:
      return fmt::format("{}, tied: the difference is within the prediction error", step_change_text(change));
    case ChangeSign::faster:
      return fmt::format("{}, faster with certainty", step_change_text(change));
    case ChangeSign::slower:
      return fmt::format("{}, slower with certainty", step_change_text(change));
  }
  return "unchanged";
}

template <class Amount, class Text>
std::string signed_text(Amount before, Amount after, const Text& text) {
  constexpr double rounding = 1e-9;
  const auto most = std::max(std::abs(before.value()), std::abs(after.value()));
  if (std::abs(after.value() - before.value()) <= rounding * most) return "unchanged";
  return after < before ? fmt::format("-{}", text(before - after)) : fmt::format("+{}", text(after - before));
}

std::string signed_time(Seconds before, Seconds after) {
  return signed_text(before, after, time_text);
}
std::string signed_bytes(Bytes before, Bytes after) {
  return signed_text(before, after, bytes_text);
}

/// The parts of memory that change, the largest change first: "activations -2.1 GB".
std::vector<std::string> memory_in_words(const ProgramChange& change) {
  struct Part {
    std::string_view title;
    Bytes before;
    Bytes after;
    Bytes size() const { return before < after ? after - before : before - after; }
  };
  std::vector<Part> parts;
  for (const auto& part : memory_parts) {
    const auto before = change.before.memory.*part.size;
    const auto after = change.after.memory.*part.size;
    constexpr Bytes least{1e6};
    if (Part{part.title, before, after}.size() >= least) parts.push_back({part.title, before, after});
  }
  std::ranges::stable_sort(parts, [](const Part& a, const Part& b) { return a.size() > b.size(); });
  std::vector<std::string> words;
  for (const auto& part : parts)
    words.push_back(fmt::format("{} {}", part.title, signed_bytes(part.before, part.after)));
  return words;
}

std::string memory_text(const ProgramCost& cost) {
  const auto verdict = cost.memory_range.verdict;
  return fmt::format("{}{}", bytes_text(cost.answer.memory),
                     verdict == MemoryVerdict::fits ? "" : fmt::format(", {}", name_of(verdict)));
}

/// The figures of a change, those that are the same on both sides only if they are of interest anyway.
std::vector<ChangedFigure> figures_of(const ProgramChange& change) {
  const auto& before = change.before.answer.metrics;
  const auto& after = change.after.answer.metrics;
  const bool per_sample = before.samples != after.samples;
  std::vector<ChangedFigure> figures{
      {"step time", time_text(before.step_time), time_text(after.step_time),
       per_sample ? fmt::format("{} per sample", step_change_text(change)) : step_change_text(change)}};
  const auto add_time = [&](const char* title, Seconds StepParts::*part) {
    if (before.*part == Seconds{} && after.*part == Seconds{}) return;
    figures.push_back(
        {title, time_text(before.*part), time_text(after.*part), signed_time(before.*part, after.*part)});
  };
  add_time("forward and backward kernels", &StepParts::compute);
  add_time("optimizer", &StepParts::optimizer);
  add_time("exposed communication", &StepParts::exposed_communication);
  add_time("waits for launches", &StepParts::launch_bound);
  figures.push_back({"CPU time to launch", time_text(before.issue), time_text(after.issue),
                     signed_time(before.issue, after.issue)});
  if (before.collectives > 0 || after.collectives > 0)
    figures.push_back({"sent per GPU", bytes_text(before.bytes_sent_per_gpu),
                       bytes_text(after.bytes_sent_per_gpu),
                       signed_bytes(before.bytes_sent_per_gpu, after.bytes_sent_per_gpu)});
  figures.push_back({"memory per GPU", memory_text(change.before), memory_text(change.after),
                     signed_bytes(change.before.answer.memory, change.after.answer.memory)});
  return figures;
}

std::string numbers_text(int before, int after) {
  return before == after ? thousands_text(after)
                         : fmt::format("{} to {}", thousands_text(before), thousands_text(after));
}

/// A row of modules or kernels.
struct ChangedRow {
  std::string name;
  Seconds before;
  Seconds after;
  std::string number;
  std::int64_t parameters = 0;  ///< by which the module grows
};

std::string parameters_text(std::int64_t difference) {
  return difference == 0
             ? ""
             : fmt::format("{}{}", difference > 0 ? "+" : "-", thousands_text(std::abs(difference)));
}

/// The largest changes; the others are one row.
std::vector<ChangedRow> rows_of(const std::vector<ModuleChange>& modules) {
  std::vector<ChangedRow> rows;
  ChangedRow others;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const auto& [name, before, after] = modules[i];
    const auto parameters = after.parameters - before.parameters;
    if (i < most_changes || modules.size() == most_changes + 1) {
      rows.push_back({name, before.kernels, after.kernels, numbers_text(before.operations, after.operations),
                      parameters});
    } else {
      others.before += before.kernels;
      others.after += after.kernels;
      others.parameters += parameters;
    }
  }
  if (modules.size() > rows.size()) {
    others.name = fmt::format("{} others", modules.size() - rows.size());
    rows.push_back(std::move(others));
  }
  return rows;
}

/// "rows layer_norm bf16: -49, -1.2 ms"
std::vector<std::string> kernels_in_words(const ProgramChange& change) {
  constexpr std::size_t most = 6;
  std::vector<std::string> words;
  for (const auto& kernel : change.kernels) {
    if (words.size() == most) break;
    std::vector<std::string> numbers;
    if (kernel.removed > 0) numbers.push_back(fmt::format("-{}", kernel.removed));
    if (kernel.added > 0) numbers.push_back(fmt::format("+{}", kernel.added));
    words.push_back(fmt::format("{}: {}, {}", kernel.kernel, fmt::join(numbers, " and "),
                                signed_time(kernel.time_removed, kernel.time_added)));
  }
  return words;
}

/// "8 GPUs of aws-p5.48xlarge (h100-sxm, 85.5 GB)"
std::string hardware_of(const ProgramCost& cost) {
  const auto& answer = cost.answer;
  return fmt::format("{} of {} ({}, {})", counted_text(answer.gpus, "GPU"), answer.platform,
                     cost.memory_range.gpu, bytes_text(cost.memory_range.capacity));
}

/// The hardware of both, once if it is the same.
std::string hardware_of(const ProgramChange& change) {
  const auto before = hardware_of(change.before);
  const auto after = hardware_of(change.after);
  return before == after ? after : fmt::format("{}, then {}", before, after);
}

/// The jobs in words: one if they are the same.
std::vector<std::string> jobs_of(const ProgramChange& change) {
  const auto before = describe(change.before.name, change.before.job);
  const auto after = describe(change.after.name, change.after.job);
  const auto without_name = [](const ProgramCost& cost) { return describe("", cost.job); };
  if (without_name(change.before) == without_name(change.after))
    return {fmt::format("{} and {}", change.before.name, after)};
  return {before, after};
}

void write_modules(std::ostream& out, const ProgramChange& change, const Style& style) {
  if (change.modules.empty()) return;
  out << '\n';
  Table table;
  for (const auto& row : rows_of(change.modules))
    table.add_cells({{"module", row.name},
                     {"kernels before", time_text(row.before), right},
                     {"after", time_text(row.after), right},
                     {"change", signed_time(row.before, row.after), right},
                     {"launches", row.number, right, 2},
                     {"parameters", parameters_text(row.parameters), right, 1}});
  table.write(out, style);
}

Json cost_json(const ProgramCost& cost) {
  Json json{{"name", cost.name}};
  json.update(figures_json(
      cost.answer, {"step_time_s", "interval", "samples_per_s", "compute_s", "optimizer_s", "communication_s",
                    "exposed_communication_s", "launch_bound_s", "collectives", "bytes_sent_per_gpu",
                    "memory_needed_bytes", "memory_verdict"}));
  json["launch_cpu_s"] = cost.answer.metrics.issue.value();
  for (const auto& part : memory_parts)
    json["memory"][std::string{part.key}] = (cost.memory.*part.size).value();
  return json;
}

Json module_json(const ModuleCost& cost) {
  return {{"kernels_s", cost.kernels.value()},
          {"launch_cpu_s", cost.launches.value()},
          {"launches", cost.operations},
          {"parameters", cost.parameters}};
}

Json change_json(const ProgramChange& change) {
  const auto& [value, low, high] = change.ratio;
  Json json{{"platform", change.after.answer.platform},
            {"gpus", change.after.answer.gpus},
            {"before", cost_json(change.before)},
            {"after", cost_json(change.after)},
            {"time_ratio", value},
            {"interval", {low, high}},
            {"sign", name_of(change.sign)},
            {"no_longer_fits", change.no_longer_fits()},
            {"modules", Json::array()},
            {"kernels", Json::array()}};
  for (const auto& [name, before, after] : change.modules)
    json["modules"].push_back(
        {{"name", name}, {"before", module_json(before)}, {"after", module_json(after)}});
  for (const auto& kernel : change.kernels)
    json["kernels"].push_back({{"kernel", kernel.kernel},
                               {"removed", kernel.removed},
                               {"added", kernel.added},
                               {"removed_s", kernel.time_removed.value()},
                               {"added_s", kernel.time_added.value()}});
  return json;
}

/// Warnings of the state after the change that those before it do not have.
std::vector<std::string> new_warnings(const ProgramChange& change) {
  std::vector<std::string> words;
  for (const auto& warning : change.after.answer.warnings) {
    const auto is_same = [&](const Warning& other) { return other.code == warning.code; };
    if (std::ranges::none_of(change.before.answer.warnings, is_same)) words.push_back(warning.sentence);
  }
  return words;
}

}  // namespace

void write_text(std::ostream& out, const std::vector<ProgramChange>& changes, const Style& style) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& change = changes[i];
    if (i > 0) out << '\n';
    write_wrapped(out, hardware_of(change), style, Paint::bold);
    for (const auto& job : jobs_of(change)) write_wrapped(out, job, style, Paint::dim);
    out << '\n';
    const auto paint = change.sign == ChangeSign::faster   ? Paint::green
                       : change.sign == ChangeSign::slower ? Paint::red
                                                           : Paint::yellow;
    Fields fields{out, style};
    fields.add("change", step_in_words(change), paint);
    if (change.no_longer_fits()) fields.add("memory", "the job no longer fits", Paint::red);
    out << '\n';
    Table table;
    for (const auto& figure : figures_of(change))
      table.add_cells({{"", figure.title},
                       {"before", figure.before, right},
                       {"after", figure.after, right},
                       {"change", figure.change}});
    table.write(out, style);
    write_modules(out, change, style);
    const auto memory = memory_in_words(change);
    const auto kernels = kernels_in_words(change);
    const auto warnings = new_warnings(change);
    if (!memory.empty() || !kernels.empty() || !warnings.empty()) out << '\n';
    if (!memory.empty()) fields.add("memory", fmt::format("{}", fmt::join(memory, ", ")));
    fields.add("kernels", kernels);
    fields.add("warnings", warnings, Paint::yellow);
  }
}

void write_markdown(std::ostream& out, const std::vector<ProgramChange>& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& change = changes[i];
    out << fmt::format("{}**Predicted step time: {}**, on {}\n", i > 0 ? "\n" : "", step_in_words(change),
                       hardware_of(change));
    if (change.no_longer_fits()) out << "\n**The job no longer fits into the GPU's memory.**\n";
    out << "\n| | before | after | change |\n| --- | ---: | ---: | --- |\n";
    for (const auto& [title, before, after, difference] : figures_of(change))
      out << fmt::format("| {} | {} | {} | {} |\n", title, before, after, difference);
    if (!change.modules.empty())
      out << "\n| module | kernels before | after | change | launches | parameters |\n"
             "| --- | ---: | ---: | ---: | ---: | ---: |\n";
    for (const auto& row : rows_of(change.modules))
      out << fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.name, time_text(row.before),
                         time_text(row.after), signed_time(row.before, row.after), row.number,
                         parameters_text(row.parameters));
    if (const auto memory = memory_in_words(change); !memory.empty())
      out << fmt::format("\nMemory: {}.\n", fmt::join(memory, ", "));
    for (const auto& warning : new_warnings(change)) out << fmt::format("\nNew warning: {}\n", warning);
  }
}

JsonDocument json_document(const std::vector<ProgramChange>& changes, std::string_view version) {
  Json document{{"schema", 1}, {"gradway", version}, {"changes", Json::array()}};
  for (const auto& change : changes) document["changes"].push_back(change_json(change));
  return document;
}

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/layouts.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/json_values.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json tried_layout_json(const LayoutSearchReport& search_report, std::size_t i) {
  const auto& tried = search_report.found.ranked[i];
  Json json{{"set", settings_json(settings_of(tried.job))}};
  json.update(figures_json(
      tried, {"step_time_s", "interval", "samples_per_s", "tokens_per_s_per_gpu", "mfu", "bubble_s",
              "memory_needed_bytes", "memory_verdict", "cost_usd_per_million_samples"}));
  json["tied_with_fastest"] = search_report.found.leaders.has(i);
  json["on_front"] = bool{search_report.found.on_front[i]};
  if (search_report.goal)
    json["training"] = training_json(training_of(*search_report.goal, tried.metrics, tried.range));
  return json;
}

}  // namespace

SnippetModel LayoutSearchReport::shape() const {
  const auto& model = written.model;
  return {blocks_of(model).count, model.tokens_per_sample, model.experts.number > 0};
}

std::string LayoutSearchReport::hardware() const {
  return hardware_in_words(written.platform, written.job.gpus);
}

JsonDocument json_document(const LayoutSearchReport& search_report, std::string_view version) {
  const auto& search = search_report.found;
  Json layouts = Json::array();
  for (std::size_t i = 0; i < search.ranked.size(); ++i)
    layouts.push_back(tried_layout_json(search_report, i));
  Json left_out = Json::array();
  for (const auto& layout : search.unfit)
    left_out.push_back({{"set", settings_json(settings_of(layout.job))},
                        {"reason", "does not fit"},
                        {"memory_needed_bytes", layout.memory.value()}});
  for (const auto& layout : search.refused)
    left_out.push_back({{"set", settings_json(settings_of(layout.job))}, {"reason", layout.failure_reason}});
  Json worth = Json::array();
  for (const auto& gain : search.key_gains) {
    worth.push_back(figures_json(gain, {"step_time_s", "memory_needed_bytes"}));
    worth.back()["set"] = settings_json(gain.set);
  }
  const auto& best = search.recommended();
  const auto snippet = layout_snippet(best.job, search_report.shape());
  Json document{{"schema", 1},
                {"gradway", version},
                {"scenario", search_report.written.name},
                {"model", search_report.written.model.name},
                {"platform", search_report.written.platform.name},
                {"engine", search_report.engine},
                {"global_batch", search_report.global_batch},
                {"layouts", std::move(layouts)},
                {"recommended", search.recommended_index()},
                {"candidates", search.candidates},
                {"do_not_fit", search.do_not_fit},
                {"simulated", search.simulated},
                {"slower", search.slower},
                {"not_searched", std::move(worth)},
                {"left_out", std::move(left_out)},
                {"basis", describe(best.basis)},
                {"warnings", describe(best.warnings)},
                {"warning_codes", codes_of(best.warnings)},
                {snippet.framework, snippet.text}};
  if (search.not_tried > 0) document["not_tried"] = search.not_tried;
  return document;
}

namespace {

// In the order of Recompute.
constexpr std::array<std::string_view, 4> recompute_phrases{
    "", ", attention scores recomputed", ", selective op recomputation", ", blocks recomputed"};

using enum Table::Align;

constexpr std::size_t most_unfit = 5;

std::string full_words(const Job& job) {
  const auto recompute = recompute_phrases[static_cast<std::size_t>(job.recompute)];
  return fmt::format("{}; {} of {}{}; {}", describe(job.layout, job),
                     job.accumulate == 1 ? "1 micro-batch" : fmt::format("{} micro-batches", job.accumulate),
                     job.batch_per_gpu, recompute, describe(job.strategy));
}

/// Writes the fastest layouts, then those that need less memory than all faster ones.
void write_ranked(std::ostream& out, const LayoutSearchReport& search_report, const Style& style) {
  const auto& search = search_report.found;
  Table table{{{"layout", left},
               {"step time", right},
               {"MFU", right},
               {"bubble", right},
               {"memory", right},
               {"", left}}};
  for (std::size_t i = 0; i < search.ranked.size(); ++i) {
    const bool smaller = search.on_front[i] && i > 0;
    if (i >= search_report.rows && !smaller) continue;
    auto mark = mark_of(search.leaders, i, "fastest");
    if (smaller) mark += mark.empty() ? "smaller" : ", smaller";
    if (search.is_written(i)) mark += mark.empty() ? "as written" : ", as written";
    const auto& tried = search.ranked[i];
    const auto& [step, mfu, bubble] =
        std::tie(tried.metrics.step_time, tried.metrics.mfu, tried.metrics.bubble);
    table.add({describe_briefly(tried.job), time_text(step), mfu ? percent_text(*mfu) : "-",
               bubble ? percent_text(*bubble / step) : "-", bytes_text(tried.memory), std::move(mark)});
  }
  table.write(out, style);
  std::vector<const Job*> jobs;
  for (const auto& tried : search.ranked) jobs.push_back(&tried.job);
  const auto key =
      fmt::format("{}; smaller: needs less memory than all faster layouts", layout_letters(jobs));
  write_wrapped(out, key, style, Paint::dim);
}

std::vector<std::string> left_out(const LayoutSearchReport& search_report) {
  const auto& search = search_report.found;
  std::vector<std::string> items;
  for (const auto& layout : search.unfit) {
    if (items.size() == most_unfit) break;
    items.push_back(
        fmt::format("{}: does not fit, needs {}", describe_briefly(layout.job), bytes_text(layout.memory)));
  }
  for (const auto& layout : search.refused)
    items.push_back(fmt::format("{}: {}", describe_briefly(layout.job), layout.failure_reason));
  return items;
}

/// "job.compile: true would shorten the step of the fastest layout by 8.1 %"
std::vector<std::string> not_searched(const LayoutSearchResult& search) {
  std::vector<std::string> items;
  const auto step = search.ranked.front().metrics.step_time;
  for (const auto& gain : search.key_gains) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : gain.set) keys.push_back(fmt::format("{}: {}", key, value));
    const bool is_all = search.key_gains.size() > 1 && &gain == &search.key_gains.back();
    items.push_back(fmt::format("{} would shorten the step of the fastest layout by {}",
                                is_all ? "all of these" : fmt::format("{}", fmt::join(keys, " and ")),
                                percent_text(1 - gain.metrics.step_time / step)));
  }
  if (!items.empty())
    items.emplace_back("search again with the settings you want: another layout may then be the fastest");
  return items;
}

void write_remarks(std::ostream& out, const LayoutSearchReport& search_report, const Style& style) {
  const auto& search = search_report.found;
  Fields fields{out, style};
  out << '\n';
  fields.add("tried", fmt::format("{} of {} layouts were simulated; {} do not fit; {} were skipped, because "
                                  "a lower bound of their step is slower",
                                  search.simulated, search.candidates, search.do_not_fit, search.slower));
  fields.add("not searched", not_searched(search));
  fields.add("left out", left_out(search_report), Paint::yellow);
  fields.add("warning", with_codes(search.recommended().warnings), Paint::yellow);
}

void write_indented(std::ostream& out, const std::string& text) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) out << (line.empty() ? "" : "    ") << line << '\n';
}

/// Why the fastest layout is not recommended: another is tied with it and leaves free memory.
std::string tied_with_the_fastest(const LayoutSearchResult& search) {
  const auto& fastest = search.ranked.front();
  const auto best = search.recommended_index();
  return fmt::format(
      "tied with the fastest, {}, which takes {} and is faster with a probability of {}, but leaves no free "
      "memory ({}: {})",
      describe_briefly(fastest.job), time_text(fastest.metrics.step_time),
      probability_text(*search.leaders.probability_first_leads[best]), name_of(fastest.verdict),
      bytes_text(fastest.memory));
}

}  // namespace

void write_table(std::ostream& out, const LayoutSearchReport& search_report, const Style& style) {
  const auto& search = search_report.found;
  const auto& best = search.recommended();
  out << style.paint(Paint::bold, fit(search_report.written.name, style.width)) << '\n';
  const auto about = fmt::format("{} on {}: {}, {}, {} samples per step", search_report.written.model.name,
                                 search_report.written.platform.name, search_report.hardware(),
                                 name_of(best.job.precision), search_report.global_batch);
  write_wrapped(out, about, style, Paint::dim);
  out << '\n';
  Fields fields{out, style};
  fields.add("best", full_words(best.job), Paint::bold);
  fields.add("step time", fmt::format("{} (90 % prediction interval: {})", time_text(best.metrics.step_time),
                                      range_text(best.range.low, best.range.high)));
  if (const auto& tokens = best.metrics.tokens_per_s)
    fields.add("throughput", fmt::format("{} tokens/s per GPU", digits_text(*tokens / best.job.gpus, 4)));
  if (const auto& cost = best.metrics.cost_usd_per_million_samples)
    fields.add("cost", fmt::format("{:.4g} USD per million samples", *cost));
  if (&best != &search.ranked.front()) {
    fields.add("", tied_with_the_fastest(search));
  } else if (search.leaders.tied()) {
    std::vector<std::string> names;
    for (const auto& tried : search.ranked) names.push_back(describe_briefly(tried.job));
    fields.add("", tie_in_words(search.leaders, names, "faster"));
  }
  out << '\n';
  if (search_report.goal) {
    add_training(fields, *search_report.goal, training_of(*search_report.goal, best.metrics, best.range));
    out << '\n';
  }
  write_ranked(out, search_report, style);
  write_remarks(out, search_report, style);
  out << '\n' << style.paint(Paint::dim, "  in gradway") << "\n\n";
  std::string options;
  for (const auto& [key, value] : settings_of(best.job))
    options += fmt::format("--set {}\n", shell_word(fmt::format("{}={}", key, value)));
  write_indented(out, options);
  const auto snippet = layout_snippet(best.job, search_report.shape());
  out << '\n' << style.paint(Paint::dim, fmt::format("  in {}", snippet.framework)) << "\n\n";
  write_indented(out, snippet.text);
}

}  // namespace gradway::report

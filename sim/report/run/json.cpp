// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/json.hpp"

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/compute/memory_range.hpp"
#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/errors_json.hpp"
#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/json_values.hpp"
#include "sim/report/format/memory_parts.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/run/ways_in.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json bottleneck_json(const Bottleneck& bottleneck) {
  const auto words = describe(bottleneck);
  return {{"resource", words.resource}, {"why", words.why}};
}

/// The GPU's memory at the peak, by part.
Json memory_json(const MemoryUse& memory, bool knows_activations) {
  Json json;
  for (const auto& [key, title, size, is_allocated] : memory_parts)
    json[key] = amount((memory.*size).value());
  if (!knows_activations) json["activations_bytes"] = nullptr;
  if (memory.beyond_step() > 0_B) json["beyond_step_bytes"] = amount(memory.beyond_step().value());
  json["needed_bytes"] = amount(memory.needed().value());
  return json;
}

Json peak_of_run_json(const PeakOfRun& peak, const MemoryUse& memory) {
  const auto range = [&](Bytes beside) -> Json {
    return {amount((peak.reserved_low + beside).value()), amount((peak.reserved_high + beside).value())};
  };
  auto parts = Json::object();
  for (std::size_t i = 0; i < memory.of_run.size(); ++i)
    if (memory.of_run[i] > 0_B) parts[std::string{run_part_words[i]}] = amount(memory.of_run[i].value());
  return {{"allocated_bytes", amount(peak.allocated.value())},
          {"part", name_of(peak.part)},
          {"decided_by", peak.decided_by},
          {"step", peak.step > 0 ? Json(peak.step) : Json(nullptr)},
          {"allocated_bytes_by_part", std::move(parts)},
          {"reserved_bytes", amount(peak.reserved.value())},
          {"reserved_interval_bytes", range(0_B)},
          {"nvidia_smi_bytes", amount(peak.nvidia_smi().value())},
          {"nvidia_smi_interval_bytes", range(peak.beside)}};
}

Json changes_to_fit_json(const RunQuestions& questions) {
  auto changes = Json::array();
  for (const auto& change : questions.fit.changes) {
    changes.push_back({{"name", change.name},
                       {"words", change.words},
                       {"set", settings_json(change.set)},
                       {"step_time_s", change.step_time.value()},
                       {"gain", change.gain(questions.fit.step_as_written)},
                       {"memory_verdict", name_of(change.verdict)},
                       {"needed_bytes", amount(change.needs.value())}});
  }
  return changes;
}

/// 90 % prediction interval of the memory that a GPU needs; null where not all activations are known.
Json memory_range_json(const Run& run, const MemoryRange& range) {
  if (!knows_memory(run.scenario)) return nullptr;
  return {amount(range.low.value()), amount(range.high.value())};
}

Json programs_json(const Run& run) {
  Json programs = Json::array();
  for (const auto& program : run.measured.by_program) {
    Json json{{"name", program.name}, {"ranks", program.ranks}};
    json.update(parts_json(program.parts));
    json["memory"] = memory_json(program.memory, knows_memory(run.scenario));
    programs.push_back(std::move(json));
  }
  return programs;
}

Json largest_batch_json(const LargestBatch& largest) {
  Json json{{"batch_per_gpu", largest.batch},
            {"as_written", largest.as_written},
            {"needed_bytes", amount(largest.needs.value())},
            {"one_more_needs_bytes", nullptr},
            {"tight_batch_per_gpu", largest.tight_batch}};
  if (largest.one_more_needs) json["one_more_needs_bytes"] = amount(largest.one_more_needs->value());
  return json;
}

}  // namespace

JsonDocument json_document(const Run& run, std::string_view version, const RunQuestions& questions) {
  Json links = Json::array();
  for (const auto& link : run.measured.links) {
    auto& entry = links.emplace_back(Json::object());  // a list of pairs would be copied, for many links
    entry["name"] = link.name;
    entry["busy_fraction"] = link.busy_fraction;
    entry["bytes"] = amount(link.bytes.value());
    if (link.alike > 0) entry["alike"] = link.alike;
  }
  const auto& memory = run.measured.memory;
  const auto& gpu = run.scenario.platform.gpu_models.front();
  const auto range = memory_range(run.scenario, memory);
  const bool is_possible = range.verdict != MemoryVerdict::does_not_fit;
  Json json{{"schema", 1},
            {"gradway", version},
            {"scenario", scenario_json(run.scenario)},
            {"engine", run.engine},
            {"ranks", {{"all", run.workload.ranks}, {"simulated", run.folding.simulated_ranks()}}},
            {"metrics", figures_json(run.measured.metrics, run.scenario.job.gpus)},
            {"interval",
             {{"step_time_s", {run.range.low.value(), run.range.high.value()}},
              {"memory_bytes", memory_range_json(run, range)}}},
            {"fits", fits_json(range.verdict, knows_memory(run.scenario))},
            {"does_not_fit", is_possible ? Json(nullptr) : Json(verdict_in_words(run.scenario, memory))},
            {"gpu_memory_bytes", gpu.ideal ? Json(nullptr) : amount(gpu.memory.value())},
            {"memory_verdict", memory_verdict_json(range.verdict, knows_memory(run.scenario))},
            {"memory_largest_part", range.largest_part},
            {"memory", memory_json(memory, knows_memory(run.scenario))},
            {"peak_of_run", peak_of_run_json(peak_of_run(run.scenario, memory), memory)},
            {"price", price_json(run.scenario.platform.price)},
            {"bottleneck", bottleneck_json(run.measured.bottleneck)},
            {"links", std::move(links)},
            {"provenance", name_of(provenance_class_of(run.step_basis))},
            {"rests_on", name_of(provenance_class_of(run.step_basis))},  // its name in 0.2; goes with 0.4
            {"basis", describe(run.basis)},
            {"uncertainties", errors_json(run.errors)},
            {"warnings", describe(run.warnings)},
            {"warning_codes", codes_of(run.warnings)}};
  if (run.measured.by_program.size() > 1) json["programs"] = programs_json(run);
  if (questions.fit.largest_batch) json["largest_batch"] = largest_batch_json(*questions.fit.largest_batch);
  if (!questions.fit.changes.empty()) json["changes_to_fit"] = changes_to_fit_json(questions);
  if (const auto& input = run.scenario.job.input; input.dataset) json["data_tiers"] = data_tiers_json(input);
  if (questions.ways_in) json["staging"] = ways_in_json(*questions.ways_in, run.scenario.job.input);
  if (const auto& loading = run.measured.metrics.loading; loading && loading->usd_per_million_samples) {
    const auto& usd = *loading->usd_per_million_samples;
    json["storage_usd_per_million_samples"] = {
        {"keeping", usd.keeping}, {"requests", usd.requests}, {"egress", usd.egress}};
  }
  if (questions.goal)
    json["training"] = training_json(training_of(*questions.goal, run.measured.metrics, run.range));
  if (const auto& local = run.scenario.job.local_sgd; local && local->wan)
    json["local_sgd"] =
        outer_loop_json(outer_loop_of(run.scenario.model, *local, run.measured.metrics.step_time), *local);
  if (run.measured.links_left_out > 0) json["links_left_out"] = run.measured.links_left_out;
  return json;
}

void write_json(std::ostream& out, const Run& run, std::string_view version, const RunQuestions& questions) {
  write(out, json_document(run, version, questions));
}

JsonDocument json_document(const Validation& validation) {
  Json cases = Json::array();
  for (const auto& validated : validation.cases) {
    cases.push_back({{"name", validated.name},
                     {"measured_s", validated.measured.value()},
                     {"predicted_s", validated.predicted.value()},
                     {"interval_s", {validated.range.low.value(), validated.range.high.value()}},
                     {"in_interval", validated.in_interval()},
                     {"error", validated.error()},
                     {"group", validated.group},
                     {"model", validated.model},
                     {"gpu", validated.gpu},
                     {"gpus", validated.gpus},
                     {"strategy", validated.strategy},
                     {"parameters", validated.parameters}});
    if (validated.is_given) cases.back()["is_given"] = true;
    if (validated.anchor && !validated.in_interval()) cases.back()["anchor"] = anchor_yaml(*validated.anchor);
  }
  Json coverage = Json::array();
  for (const auto& [group, count, inside] : validation.coverage())
    coverage.push_back({{"group", group}, {"cases", count}, {"in_interval", inside}});
  return Json{{"source", validation.source},
              {"cases", std::move(cases)},
              {"counted", validation.counted().size()},
              {"mean_abs_error", validation.mean_abs_error()},
              {"median_abs_error", validation.median_abs_error()},
              {"max_abs_error", validation.max_abs_error()},
              {"bias", validation.bias()},
              {"in_interval", validation.in_interval()},
              {"coverage", std::move(coverage)}};
}

}  // namespace gradway::report

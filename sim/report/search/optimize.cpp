// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/optimize.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/make_warning.hpp"
#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/json_values.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/scenario/lossy_steps.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/trust/lossy_warning.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double worth_changing = 0.005;

/// Keys and values of a setting, as `gradway run --set` takes them.
Json set_json(const Answer& tried) {
  Json set{{"strategy", strategy_json(tried.job.strategy)}};
  if (const auto* replicate = replicate_of(tried.job.strategy)) set["parallel.replicate"] = *replicate;
  set.update(settings_json(tried.set));
  return set;
}

Json tried_json(const SettingsSearchReport& search, const Answer& tried) {
  Json json{{"set", set_json(tried)}};
  const bool is_refused = !tried.can_run() && tried.memory == 0_B;  // NCCL cannot run it
  json["fits"] = fits_json(is_refused ? MemoryVerdict::fits : tried.verdict);
  if (!tried.can_run()) json["cannot_run"] = tried.failure_reason;
  json.update(figures_json(
      tried, {"step_time_s", "interval", "samples_per_s", "tokens_per_s_per_gpu", "exposed_communication_s",
              "collectives", "memory_needed_bytes", "memory_verdict", "cost_usd_per_million_samples"}));
  if (search.goal() && tried.can_run())
    json["training"] = training_json(training_of(*search.goal(), tried.metrics, tried.range));
  return json;
}

Json caps_json(const Optimum& optimum) {
  Json points = Json::array();
  for (const auto& [mib, tried] : optimum.curve)
    points.push_back({{"bucket_cap_mib", mib}, {"step_time_s", tried.metrics.step_time.value()}});
  Json json{{"points", std::move(points)}, {"within", flatness}, {"from_mib", nullptr}, {"to_mib", nullptr}};
  if (optimum.flat) {
    json["from_mib"] = optimum.flat->first;
    if (!optimum.is_flat_to_end) json["to_mib"] = optimum.flat->last;
  }
  return json;
}

Json values_json(const SettingsSearchReport& search) {
  Json list = Json::array();
  for (const auto& [setting, value, tried] : search.optimum().best_of_values) {
    Json json{
        {"setting", setting}, {"value", value.empty() ? Json(nullptr) : Json(value)}, {"best", nullptr}};
    if (tried) json["best"] = tried_json(search, *tried);
    list.push_back(std::move(json));
  }
  return list;
}

constexpr double is_as_fast = 1e-4;

/// A clause if a faster setting was tried than the recommended one; else empty.
std::string note_on_fastest(const SettingsSearchReport& search) {
  const auto gain = -search.optimum().gain_over(search.optimum().fastest);
  if (gain < is_as_fast) return "";
  return fmt::format(
      "; tied with the fastest setting tried: the difference of {} is within the prediction error",
      percent_text(gain));
}

}  // namespace

std::string_view framework_of(const SettingsSearchReport& search) {
  const bool is_deepspeed = facts_of(search.optimum().best.job.strategy).framework == Framework::deepspeed;
  return is_deepspeed ? "DeepSpeed" : "PyTorch";
}

std::string verdict(const SettingsSearchReport& search) {
  const auto whose = fmt::format("{}'s defaults", framework_of(search));
  const auto& optimum = search.optimum();
  const auto& defaults = optimum.defaults;
  if (!defaults.can_run()) return whose + " do not run: the job " + defaults.failure_reason;
  const auto note = note_on_fastest(search);
  const auto gain = optimum.gain_over(defaults);
  if (std::abs(gain) < is_as_fast) {
    return fmt::format("not worth changing: {} are{}", whose,
                       note.empty() ? " as fast as the best" : note.substr(1));
  }
  if (gain < worth_changing)
    return fmt::format("not worth changing: {} are {:.2f} % from the best{}", whose, gain * 100, note);
  if (optimum.is_tied_with_best(defaults)) {
    return fmt::format(
        "not worth changing before a measurement confirms it: tied with {}; the difference of {} is within "
        "the prediction error{}",
        whose, percent_text(gain), note);
  }
  return fmt::format("{} faster than {}{}", percent_text(gain), whose, note);
}

std::vector<Warning> warnings_of(const SettingsSearchReport& search) {
  std::vector<Warning> warnings;
  if (search.result.none_meets &&
      !(search.goal()->budget_usd && !search.optimum().best.metrics.cost_per_hour))
    add(warnings, make_warning<"no-setting-within-limits">());
  for (const auto& [key, value] : search.optimum().best.set) {
    if (key == "job.accumulate" || key == "job.batch_per_gpu" || key == "optimizer")
      add(warnings, make_warning<"learning-changed", "key", "value">(key, value));
  }
  if (auto unknown = unknown_lossy_steps(search.optimum().best.job.strategy))
    add(warnings, *std::move(unknown));
  for (const auto& of_run : search.optimum().best.warnings) add(warnings, of_run);
  return warnings;
}

JsonDocument json_document(const SettingsSearchReport& search, std::string_view version) {
  const auto& optimum = search.optimum();
  Json hooks = Json::array();
  for (const auto& tried : optimum.best_of_hooks) {
    hooks.push_back(tried_json(search, tried));
    if (const auto published = lossy_steps(hook_of(tried.job.strategy)))
      hooks.back()["steps_to_same_loss"] = {{"factor", published->is_general ? Json(1) : Json(nullptr)},
                                            {"source", published->source}};
  }
  Json reverted = Json::array();
  for (const auto& [key, without] : optimum.reverted) {
    auto json = tried_json(search, without);
    json["key"] = key.empty() ? Json(nullptr) : Json(key);
    json["gain"] = optimum.gain_over(without);
    reverted.push_back(std::move(json));
  }
  Json lossy = Json::array();
  for (const auto hook : search.asked.lossy_left_out) lossy.push_back(name_of(hook));
  Json left_out = Json::array();
  for (const auto& tried : search.result.left_out)
    left_out.push_back({{"set", set_json(tried)}, {"reason", tried.failure_reason}});
  for (const auto& tried : search.result.missed) {
    const auto training = training_of(*search.goal(), tried.metrics, tried.range);
    left_out.push_back({{"set", set_json(tried)},
                        {"reason", missed_limits_in_words(training)},
                        {"training", training_json(training)}});
  }
  const auto snippet = snippet_of(optimum.best.job);
  const auto warnings = warnings_of(search);
  Json document{
      {"schema", 1},
      {"gradway", version},
      {"scenario", search.written().name},
      {"model", search.written().model.name},
      {"platform", search.written().platform.name},
      {"engine", search.engine},
      {"searched", search.asked.keys},
      {"best", tried_json(search, optimum.best)},
      {"fastest", tried_json(search, optimum.fastest)},
      {"defaults", tried_json(search, optimum.defaults)},
      {"as_written", tried_json(search, optimum.as_written)},
      {"gain_over_defaults", optimum.gain_over(optimum.defaults)},
      {"gain_over_as_written", optimum.gain_over(optimum.as_written)},
      {"tied_with_defaults", optimum.defaults.can_run() && optimum.is_tied_with_best(optimum.defaults)},
      {"tied_with_as_written", optimum.as_written.can_run() && optimum.is_tied_with_best(optimum.as_written)},
      {"verdict", verdict(search)},
      {"best_of_hooks", std::move(hooks)},
      {"best_of_values", values_json(search)},
      {"turned_back", std::move(reverted)},
      {"bucket_caps", optimum.curve.empty() ? Json(nullptr) : caps_json(optimum)},
      {"lossy_left_out", std::move(lossy)},
      {"left_out", std::move(left_out)},
      {"basis", describe(optimum.best.basis)},
      {"warnings", describe(warnings)},
      {"warning_codes", codes_of(warnings)},
      {"settings", search.result.settings},
      {"simulated", search.result.simulated},
      {snippet.framework, snippet.text}};
  if (search.goal()) document["no_setting_meets_limits"] = search.result.none_meets;
  return document;
}

}  // namespace gradway::report

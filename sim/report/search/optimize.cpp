// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/optimize.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/make_warning.hpp"
#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/fact_words.hpp"
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
Json set_json(const SettingsSearchReport& search, const SettingResult& tried) {
  Json set{{"strategy", strategy_json(tried.strategy)}};
  if (const auto* replicate = replicate_of(tried.strategy)) set["parallel.replicate"] = *replicate;
  for (const auto& [key, value, where] : search.changes_of(tried)) set[key] = value;
  return set;
}

Json tried_json(const SettingsSearchReport& search, const SettingResult& tried) {
  Json json{{"set", set_json(search, tried)}};
  json["fits"] = tried.failure_reason.empty() || tried.memory == 0_B;  // otherwise NCCL cannot run it
  if (!tried.failure_reason.empty()) json["cannot_run"] = tried.failure_reason;
  const auto& metrics = tried.metrics;
  json["step_time_s"] = metrics.step_time.value();
  json["interval"] = {tried.range.low.value(), tried.range.high.value()};
  json["samples_per_s"] = metrics.samples_per_s;
  json["tokens_per_s_per_gpu"] = nullptr;
  if (metrics.tokens_per_s) json["tokens_per_s_per_gpu"] = *metrics.tokens_per_s / search.job_of(tried).gpus;
  json["exposed_communication_s"] = metrics.exposed_communication.value();
  json["collectives"] = metrics.collectives;
  json["memory_needed_bytes"] = tried.memory.value();
  json["cost_usd_per_million_samples"] = or_null(metrics.cost_usd_per_million_samples);
  if (search.goal() && tried.failure_reason.empty())
    json["training"] = training_json(training_of(*search.goal(), metrics, tried.range));
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

Choice choice_in(const SettingsSearchReport& search, const SettingResult& tried) {
  return choice_of(search.job_of(tried), tried);
}

/// The settings that the report names and that can run.
std::vector<const SettingResult*> named_settings(const SettingsSearchReport& search) {
  const auto& optimum = search.optimum();
  std::vector<const SettingResult*> named{&optimum.fastest, &optimum.defaults, &optimum.as_written};
  for (const auto& tried : optimum.best_of_hooks) named.push_back(&tried);
  for (const auto& value : optimum.best_of_values)
    if (value.tried) named.push_back(&*value.tried);
  for (const auto& reverted : optimum.reverted) named.push_back(&reverted.without);
  std::erase_if(named, [](const SettingResult* tried) { return !tried->failure_reason.empty(); });
  return named;
}

/// A clause if a faster setting was tried than the recommended one; else empty.
std::string note_on_fastest(const SettingsSearchReport& search) {
  const auto gain = -gain_over(search, search.optimum().fastest);
  if (gain < is_as_fast) return "";
  return fmt::format(
      "; tied with the fastest setting tried: the difference of {} is within the prediction error",
      percent_text(gain));
}

}  // namespace

double gain_over(const SettingsSearchReport& search, const SettingResult& setting) {
  const auto time = [&](const SettingResult& tried) {
    return time_per_sample(search.job_of(tried), tried).value();
  };
  const auto best = time(search.optimum().best);
  return best > 0 ? time(setting) / best - 1 : 0;
}

bool is_tied_with_best(const SettingsSearchReport& search, const SettingResult& setting) {
  const auto best = choice_in(search, search.optimum().best);
  const auto is_tied = [&](const SettingResult& tried) {
    return gradway::are_tied(best, choice_in(search, tried));
  };
  if (!is_tied(setting)) return false;
  const auto gain = gain_over(search, setting);
  return std::ranges::none_of(named_settings(search), [&](const SettingResult* tried) {
    const auto nearer = gain_over(search, *tried);
    return (gain < 0 ? gain <= nearer && nearer <= 0 : 0 <= nearer && nearer <= gain) && !is_tied(*tried);
  });
}

double best_is_faster(const SettingsSearchReport& search, const SettingResult& setting) {
  return probability_of_less(
      figure_ratio(choice_in(search, search.optimum().best), choice_in(search, setting)));
}

std::string_view framework_of(const SettingsSearchReport& search) {
  const bool is_deepspeed = facts_of(search.optimum().best.strategy).framework == Framework::deepspeed;
  return is_deepspeed ? "DeepSpeed" : "PyTorch";
}

std::string verdict(const SettingsSearchReport& search) {
  const auto whose = fmt::format("{}'s defaults", framework_of(search));
  const auto& defaults = search.optimum().defaults;
  if (!defaults.failure_reason.empty()) return whose + " do not run: the job " + defaults.failure_reason;
  const auto note = note_on_fastest(search);
  const auto gain = gain_over(search, defaults);
  if (std::abs(gain) < is_as_fast) {
    return fmt::format("not worth changing: {} are{}", whose,
                       note.empty() ? " as fast as the best" : note.substr(1));
  }
  if (gain < worth_changing)
    return fmt::format("not worth changing: {} are {:.2f} % from the best{}", whose, gain * 100, note);
  if (is_tied_with_best(search, defaults)) {
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
  for (const auto& [key, value, where] : search.changes_of(search.optimum().best)) {
    if (key == "job.accumulate" || key == "job.batch_per_gpu" || key == "optimizer")
      add(warnings, make_warning<"learning-changed", "key", "value">(key, value));
  }
  if (auto unknown = unknown_lossy_steps(search.optimum().best.strategy)) add(warnings, *std::move(unknown));
  for (const auto& of_run : search.optimum().best.warnings) add(warnings, of_run);
  return warnings;
}

JsonDocument json_document(const SettingsSearchReport& search, std::string_view version) {
  const auto& optimum = search.optimum();
  Json hooks = Json::array();
  for (const auto& tried : optimum.best_of_hooks) {
    hooks.push_back(tried_json(search, tried));
    if (const auto published = lossy_steps(hook_of(tried.strategy)))
      hooks.back()["steps_to_same_loss"] = {{"factor", published->is_general ? Json(1) : Json(nullptr)},
                                            {"source", published->source}};
  }
  Json reverted = Json::array();
  for (const auto& [key, without] : optimum.reverted) {
    auto json = tried_json(search, without);
    json["key"] = key.empty() ? Json(nullptr) : Json(key);
    json["gain"] = gain_over(search, without);
    reverted.push_back(std::move(json));
  }
  Json lossy = Json::array();
  for (const auto hook : search.asked.lossy_left_out) lossy.push_back(name_of(hook));
  Json left_out = Json::array();
  for (const auto& tried : search.result.left_out)
    left_out.push_back({{"set", set_json(search, tried)}, {"reason", tried.failure_reason}});
  for (const auto& tried : search.result.missed) {
    const auto training = training_of(*search.goal(), tried.metrics, tried.range);
    left_out.push_back({{"set", set_json(search, tried)},
                        {"reason", missed_limits_in_words(training)},
                        {"training", training_json(training)}});
  }
  const auto snippet = snippet_of(search.job_of(optimum.best));
  const auto warnings = warnings_of(search);
  Json document{{"schema", 1},
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
                {"gain_over_defaults", gain_over(search, optimum.defaults)},
                {"gain_over_as_written", gain_over(search, optimum.as_written)},
                {"tied_with_defaults",
                 optimum.defaults.failure_reason.empty() && is_tied_with_best(search, optimum.defaults)},
                {"tied_with_as_written",
                 optimum.as_written.failure_reason.empty() && is_tied_with_best(search, optimum.as_written)},
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

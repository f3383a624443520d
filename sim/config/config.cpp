// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/printable.hpp"
#include "sim/compute/profile_costs.hpp"
#include "sim/config/check/captured.hpp"
#include "sim/config/check/check.hpp"
#include "sim/config/find/campaign_phases.hpp"
#include "sim/config/loader.hpp"
#include "sim/config/model_shape.hpp"
#include "sim/config/read/prices.hpp"
#include "sim/config/yaml/disk.hpp"
#include "sim/config/yaml/source_file.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/platform/with_network.hpp"
#include "sim/platform/with_speeds.hpp"
#include "sim/platform/without_nvlink.hpp"
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway {
namespace {

using namespace config;

/// Whether the step needs kernel times from a calibration: the model has neither times nor a profile.
bool needs_kernel_times(const ScenarioSpec& scenario, const ModelSpec& model) {
  return !model.has_times && !model.model.profile && trains(scenario.job.strategy);
}

std::string stem(const FoundFile& file) {
  return printable(file.path.stem().string());
}

/// Reports a text model with images as samples, and an image model with text.
void check_samples(const ScenarioSpec& spec, const ModelSpec& model, Loader& loader) {
  const auto& dataset = spec.job.input.dataset;
  if (!dataset || !dataset->content || !model.model.run) return;
  const auto wanted = model.model.tokens_per_sample > 0 ? SampleContent::text : SampleContent::images;
  if (*dataset->content == wanted) return;
  const auto suited = loader.datasets_of(wanted);
  loader.problems().add(spec.place("input.dataset"),
                        fmt::format("the dataset{} contains {}, but the model '{}' trains on {}",
                                    dataset->name.empty() ? "" : fmt::format(" '{}'", dataset->name),
                                    name_of(*dataset->content), model.model.name, name_of(wanted)),
                        suited.empty()
                            ? "choose another dataset, or leave it out: samples are then in memory"
                            : fmt::format("datasets of {}: {}", name_of(wanted), fmt::join(suited, ", ")),
                        {{model.kind, "the model is here"}});
}

/// Reads the files that the scenario names, and cross-checks the result.
Scenario resolved(ScenarioSpec spec, const FoundFile& scenario_file, Loader& loader, const DataPath& data,
                  const PriceChoice& price, const std::string& model_text = {}) {
  ModelSpec model;
  PlatformSpec platform;
  if (!model_text.empty()) {
    model = loader.model(model_text, spec.model.name);
  } else if (const auto model_file = loader.find(DataKind::model, spec.model)) {
    model = loader.model(*model_file, spec.model.name, spec.model_changes);
  }
  if (const auto platform_file = loader.find(DataKind::platform, spec.platform)) {
    platform = loader.platform(*platform_file, spec.platform.name);
    loader.price(platform.description, price, data);
  }
  const auto gpu = loader.gpu_of(platform);
  auto calibration = loader.calibration(platform.calibration);
  Scenario scenario;
  if (const auto& profile = model.model.profile) {
    apply_profile_defaults(spec, *profile);
    if (profile->gpu != gpu.gpu.name) scenario.profiled_gpu = loader.gpu({profile->gpu, model.kind}).gpu;
  }
  apply_capture_defaults(spec, model);
  KernelTimesSource timed;
  if (needs_kernel_times(spec, model)) timed = loader.kernel_times(platform, calibration, gpu);
  if (spec.dataset) spec.job.input.dataset = loader.dataset(*spec.dataset);
  choose_columns(spec, loader.problems());
  choose_rows(spec, loader.problems());
  if (spec.storage) spec.job.input.storage = loader.storage(*spec.storage);
  if (spec.staged_from) spec.job.input.staged_from = loader.storage(*spec.staged_from);
  check_staging(spec, loader.problems());
  if (spec.checkpoints) spec.campaign->checkpoint->storage = loader.storage(*spec.checkpoints);
  if (spec.cache) spec.job.input.cache->tier = loader.storage(*spec.cache);
  loader.problems().raise();
  check_scenario(spec, model, platform, gpu, loader.problems());
  check_captured(spec, model, loader.problems());
  check_samples(spec, model, loader);
  check_nvjpeg(spec, gpu.gpu, loader.problems());
  check_effects(spec, model, nullptr, loader.problems());
  if (spec.faster[HardwarePart::nvlink] == 0)
    platform.description = without_nvlink(std::move(platform.description));
  set_conditions(platform.description, spec.job.network);
  set_segment(platform.description, spec, loader.problems());
  auto built =
      loader.problems().attempt([&] { return build_platform(platform.description, gpu.gpu, spec.job.gpus); });
  loader.problems().raise();
  if (built.network) {
    const auto conditions = built.network->conditions;
    built = with_network(std::move(built), conditions, nccl_settings(spec.job.nccl).queue_pairs);
  }
  check_traffic(spec, built, loader.problems());
  check_storage_network(spec, built, loader.problems());
  check_effects(spec, model, &built, loader.problems());
  loader.problems().raise();
  built = with_speeds(std::move(built), spec.faster);
  apply_job(spec.job, model.model);
  tune_threads(spec, built);
  built = with_loaders(std::move(built), spec.job);
  apply_anchor(spec, model.model);
  scenario.warnings = loader.problems().warnings();
  if (auto unused = unused_anchor(spec, gpu.gpu)) scenario.warnings.emplace_back(*std::move(unused));
  std::ranges::move(capture_warnings(model.model), std::back_inserter(scenario.warnings));
  scenario.name = stem(scenario_file);
  scenario.model = std::move(model.model);
  scenario.platform = std::move(built);
  scenario.job = spec.job;
  scenario.anchor = spec.anchor;
  scenario.campaign = spec.campaign;
  scenario.kernel_costs = std::move(timed.costs);
  scenario.timed_on = std::move(timed.gpu);
  scenario.calibration = std::move(calibration.calibration);
  scenario.digest = loader.problems().digest().hex();
  return scenario;
}

}  // namespace

Scenario load_scenario(const std::string& file, const std::vector<Override>& overrides, const DataPath& data,
                       const PriceChoice& price) {
  const auto scenario_file = find_file(DataKind::scenario, file, data, in_file(file));
  const auto load = [&](const std::vector<Override>& changes) {
    Loader loader{scenario_file, data};
    return resolved(loader.scenario(scenario_file, changes), scenario_file, loader, data, price);
  };
  auto scenario = load(overrides);
  if (scenario.campaign && scenario.campaign->has_phases() && !scenario.job.local_sgd)
    for (const auto& phase_changes : phase_overrides(scenario, overrides)) {
      auto& phase = scenario.phases.emplace_back(ScenarioPhase{phase_changes.until, {}});
      for (const auto& changes : phase_changes.steps)
        phase.steps.push_back(std::make_shared<const Scenario>(load(changes)));
    }
  const auto& local = scenario.job.local_sgd;
  if (!local || !local->clients) return scenario;
  for (const auto& client_class : local->clients->classes) {
    std::shared_ptr<const Scenario> there;
    if (!client_class.platform.empty()) {
      auto changes = overrides;
      changes.push_back({"platform", client_class.platform, client_class.platform_at});
      there = std::make_shared<const Scenario>(load(changes));
    }
    scenario.clients.push_back(std::move(there));
  }
  return scenario;
}

ModelShape load_model_shape(const std::string& scenario, const std::vector<Override>& overrides,
                            const DataPath& data) {
  const auto scenario_file = find_file(DataKind::scenario, scenario, data, in_file(scenario));
  Loader loader{scenario_file, data};
  const auto spec = loader.scenario(scenario_file, overrides);
  ModelSpec model;
  if (const auto model_file = loader.find(DataKind::model, spec.model))
    model = loader.model(*model_file, spec.model.name, spec.model_changes);
  loader.problems().raise();
  return model.shape;
}

std::string load_scenario_source(const std::string& scenario, const DataPath& data) {
  const auto scenario_file = find_file(DataKind::scenario, scenario, data, in_file(scenario));
  return scenario_file.text ? *scenario_file.text
                            : read_source(scenario_file.path, scenario_file.shown).content();
}

Scenario load_scenario_text(const std::string& text, const std::string& file, const DataPath& data,
                            const std::string& model) {
  const FoundFile scenario_file{file, file};
  Loader loader{scenario_file, data};
  return resolved(loader.scenario("text", text), scenario_file, loader, data, {}, model);
}

std::vector<Problem> check_values(const std::string& file, const std::vector<Override>& overrides,
                                  const DataPath& data, const PriceChoice& price) {
  try {
    const auto scenario_file = find_file(DataKind::scenario, file, data, in_file(file));
    Loader loader{scenario_file, data};
    const auto spec = loader.scenario(scenario_file, overrides);
    loader.find(DataKind::model, spec.model);
    if (const auto platform_file = loader.find(DataKind::platform, spec.platform)) {
      auto platform = loader.platform(*platform_file, spec.platform.name);
      loader.price(platform.description, price, data);
    }
    loader.problems().raise();
  } catch (const ConfigError& error) {
    return error.problems();
  }
  return {};
}

Platform load_platform(const std::string& name, int ranks, const DataPath& data, Calibration* calibration) {
  const auto platform_file = find_file(DataKind::platform, name, data, in_file(name));
  Loader loader{platform_file, data};
  auto platform = loader.platform(platform_file, stem(platform_file));
  loader.price(platform.description, {}, data);
  const auto gpu = loader.gpu_of(platform);
  CalibrationSpec measured;
  if (calibration != nullptr) measured = loader.calibration(platform.calibration);
  loader.problems().raise();
  auto built =
      loader.problems().attempt([&] { return build_platform(platform.description, gpu.gpu, ranks); });
  loader.problems().raise();
  if (calibration != nullptr) *calibration = std::move(measured.calibration);
  return built;
}

Gpu load_gpu(const std::string& name, const std::string& platform, const DataPath& data) {
  Loader loader{FoundFile{platform, platform}, data};
  const auto spec = loader.gpu({name, {}});
  loader.problems().raise();
  return spec.gpu;
}

std::string gpu_of_kernel_times(const std::string& gpu, const DataPath& data) {
  Loader loader{FoundFile{}, data};
  const auto spec = loader.gpu({gpu, {}});
  loader.problems().raise();
  if (spec.kernel_times) return gpu;
  return spec.kernel_times_like ? spec.kernel_times_like->name : "";
}

std::vector<std::string> gpu_names(const std::string& platform, const DataPath& data) {
  return available_names(DataKind::gpu, platform, data);
}

std::vector<std::string> available_names(DataKind kind, const std::string& file, const DataPath& data) {
  return Lookup{FoundFile{file, file}, data}.names(kind);
}

Model load_model(const std::string& name, const DataPath& data) {
  const auto model_file = find_file(DataKind::model, name, data, in_file(name));
  Loader loader{model_file, data};
  auto model = loader.model(model_file, stem(model_file));
  loader.problems().raise();
  return std::move(model.model);
}

namespace {

/// Reads a file that names none but the one that it is based on.
template <class Read>
auto load_alone(DataKind kind, const std::string& name, const DataPath& data, const Read& read) {
  const auto file = find_file(kind, name, data, in_file(name));
  Problems problems;
  const auto root = load_with_base(kind, file, Lookup{file, data}, problems);
  Reader reader{root, in_file(file.shown), problems};
  auto value = read(reader, stem(file));
  problems.raise();
  return value;
}

}  // namespace

StorageTier load_storage(const std::string& name, const DataPath& data) {
  return load_alone(DataKind::storage, name, data, read_storage);
}

Dataset load_dataset(const std::string& name, const DataPath& data) {
  return load_alone(DataKind::dataset, name, data, read_dataset);
}

Calibration load_calibration(const std::string& name, const DataPath& data) {
  const auto file = find_file(DataKind::calibration, name, data, in_file(name));
  Problems problems;
  const auto root = load_document(file, problems);
  Reader reader{root, in_file(file.shown), problems};
  const bool is_named_by_folder = stem(file) == "calibration" && file.path.has_parent_path();
  auto calibration = read_calibration(
      reader, is_named_by_folder ? printable(file.path.parent_path().filename().string()) : stem(file));
  problems.raise();
  return calibration;
}

std::filesystem::path find_name(DataKind kind, const std::string& name, const DataPath& data,
                                const Where& where, const std::string& scenario) {
  return Lookup{FoundFile{scenario, scenario}, data}.find(kind, name, where).path;
}

std::optional<std::filesystem::path> model_file_of(const std::string& argument, const DataPath& data) {
  if (is_file(argument))
    return is_model_file(argument) ? std::optional{std::filesystem::path{argument}} : std::nullopt;
  const Lookup lookup{data};
  if (lookup.known_file(DataKind::scenario, argument)) return std::nullopt;
  const auto model = lookup.known_file(DataKind::model, argument);
  return model ? std::optional{model->path} : std::nullopt;
}

std::string gpu_of_platform(const std::string& platform, const DataPath& data) {
  return Lookup{data}.gpu_of(platform);
}

std::vector<std::string> list_names(DataKind kind, const DataPath& data) {
  return Lookup{data}.names(kind);
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/config/loader.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/make_warning.hpp"
#include "sim/base/text.hpp"
#include "sim/compute/profile_costs.hpp"
#include "sim/config/read/prices.hpp"
#include "sim/config/yaml/source_file.hpp"

namespace gradway::config {
namespace {

/// "bloom_176b {layers: 100, heads: 64}"
std::string changed_name(const std::string& name, const std::vector<Entry>& changes) {
  if (changes.empty()) return name;
  std::vector<std::string> words;
  for (const auto& [key, where, value] : changes) words.push_back(key + ": " + to_yaml(value));
  return fmt::format("{} {{{}}}", name, fmt::join(words, ", "));
}

std::optional<Model::Changes> described(const std::string& name, const std::vector<Entry>& changes) {
  if (changes.empty()) return std::nullopt;
  Model::Changes result{.based_on = name, .values = {}};
  for (const auto& [key, where, value] : changes) result.values.emplace_back(key, to_yaml(value));
  return result;
}

/// Maps are merged; any other value replaces that of the file. Measured steps of the model in the file say
/// nothing about another shape.
void change_model(Node& model, const std::vector<Entry>& changes) {
  std::erase_if(model.entries, [](const Entry& entry) { return entry.key == "anchors"; });
  merge_into(model, changes);
}

}  // namespace

ScenarioSpec Loader::scenario(const FoundFile& file, const std::vector<Override>& overrides) {
  auto root = once(DataKind::scenario, file, "", [&](Problems& problems) {
    return load_with_base(DataKind::scenario, file, lookup_, problems);
  });
  if (const auto* cases = root.find("cases")) {
    fail(cases->where, "the file is a file of cases, not a scenario",
         "try: gradway validate " + shell_word(file.shown));
  }
  apply_overrides(root, overrides, problems_);
  Reader reader{root, in_file(file.shown), problems_};
  auto spec = read_scenario(reader);
  for (const auto& gpu : spec.anchor_gpus) find(DataKind::gpu, gpu);
  return spec;
}

ScenarioSpec Loader::scenario(const std::string& shown, const std::string& text) {
  const auto root = read_document(SourceText{shown, text}, problems_);
  Reader reader{root, in_file(shown), problems_};
  return read_scenario(reader);
}

ModelSpec Loader::model(const std::string& text, const std::string& name) {
  const auto root = read_document(SourceText{"text", text}, problems_);
  Reader reader{root, in_file("text"), problems_};
  return read_model(reader, name);
}

ModelSpec Loader::model(const FoundFile& file, const std::string& name, const std::vector<Entry>& changes) {
  auto spec = once(DataKind::model, file, changed_name(name, changes), [&](Problems& problems) {
    auto root = load_with_base(DataKind::model, file, lookup_, problems);
    if (!changes.empty()) change_model(root, changes);
    Reader reader{root, in_file(file.shown), problems};
    auto read = read_model(reader, changed_name(name, changes));
    read.model.changes = described(name, changes);
    if (read_ && read.model.profile) {  // shared by all runs that use the cached model
      auto profile = *read.model.profile;
      profile.unprofiled = without_profiler(profile);
      read.model.profile = std::make_shared<const Profile>(std::move(profile));
    }
    return read;
  });
  for (const auto& gpu : spec.anchor_gpus) find(DataKind::gpu, gpu);
  return spec;
}

PlatformSpec Loader::platform(const FoundFile& file, const std::string& name) {
  return once(DataKind::platform, file, name, [&](Problems& problems) {
    const auto root = load_with_base(DataKind::platform, file, lookup_, problems);
    Reader reader{root, in_file(file.shown), problems};
    return read_platform(reader, name);
  });
}

void Loader::price(PlatformDescription& platform, const PriceChoice& choice, const DataPath& data) {
  for (const auto& word : {choice.date, choice.region, choice.terms}) problems_.add_to_digest(word);
  auto prices = problems_.attempt([&] { return load_prices(choice, data, lookup_, problems_); });
  if (const auto listed = prices.find(platform.name); listed != prices.end())
    platform.prices = listed->second;
  const auto* built = std::get_if<BuiltPlatform>(&platform.hardware);
  for (auto& price : platform.prices) price = of_node(price, built != nullptr ? built->node.gpus : 1);
  platform.price = problems_.attempt([&] { return choose_price(platform.prices, choice, platform.name); });
  platform.price_by_terms = prices_by_terms(platform.prices, choice);
}

std::vector<std::string> Loader::datasets_of(SampleContent content) {
  std::vector<std::string> names;
  for (const auto& name : lookup_.names(DataKind::dataset)) {
    Problems ignored;
    const auto dataset = ignored.attempt([&] {
      const auto file = lookup_.find(DataKind::dataset, name, {});
      const auto root = load_with_base(DataKind::dataset, file, lookup_, ignored);
      Reader reader{root, in_file(name), ignored};
      return read_dataset(reader, name);
    });
    if (dataset.content == content) names.push_back(name);
  }
  return names;
}

KernelTimesSource Loader::kernel_times(const PlatformSpec& platform, const CalibrationSpec& measured,
                                       const GpuSpec& gpu) {
  if (const auto& timed_gpu = measured.kernel_times_gpu; timed_gpu && !timed_gpu->name.empty()) {
    if (timed_gpu->name == gpu.gpu.name)
      return {kernel_times_of(*platform.calibration, gpu.gpu), gpu.gpu.name};
    problems_.warn(make_warning<"unused-kernel-times", "calibration", "timed", "gpu">(
        measured.calibration.name, timed_gpu->name, gpu.gpu.name));
  }
  return kernel_times_of_gpus(gpu);
}

GpuSpec Loader::gpu_of(const PlatformSpec& platform) {
  auto spec = gpu(platform.gpu);
  const auto& limit = platform.description.gpu_power_limit;
  if (!limit) return spec;
  auto& power = spec.gpu.power;
  if (!power)
    problems_.add(platform.power_limit,
                  fmt::format("'gpu_power_limit' has no effect: it is not known what kernels of '{}' draw",
                              spec.gpu.name),
                  "leave it out, or add 'power' to the GPU's file");
  else if (*limit <= power->idle)
    problems_.add(platform.power_limit,
                  fmt::format("the power limit must be more than a GPU draws while it waits, {:.4g} W",
                              power->idle.value()),
                  "nvidia-smi shows it as power.limit");
  else
    power->limit = *limit;
  return spec;
}

KernelTimesSource Loader::kernel_times_of_gpus(const GpuSpec& gpu) {
  KernelTimesSource source;
  std::vector<std::string> read;
  const auto add = [&](const GpuSpec& timed) {
    read.push_back(timed.gpu.name);
    const auto costs = timed.kernel_times ? kernel_times_of(*timed.kernel_times, timed.gpu) : nullptr;
    if (costs == nullptr) return;
    if (source.costs) {
      source.costs = std::make_shared<const OperationCosts>(source.costs->with(*costs));
    } else {
      source = {costs, timed.gpu.name};
    }
  };
  add(gpu);
  const auto is_new = [&](const std::string& name) { return std::ranges::find(read, name) == read.end(); };
  for (auto like = gpu.kernel_times_like; like && (source.costs == nullptr || is_new(like->name));) {
    const auto before = problems_.size();
    const auto similar = this->gpu(*like);
    if (problems_.size() > before) return {};
    if (!similar.kernel_times) {
      problems_.add(like->where, fmt::format("the GPU '{}' has no 'kernel_times'", like->name),
                    "choose a GPU that has them");
      return {};
    }
    add(similar);
    if (source.costs == nullptr) return {};
    like = similar.kernel_times_like;
  }
  return source;
}

std::optional<FoundFile> Loader::find(DataKind kind, const Named& name) {
  if (name.name.empty()) return std::nullopt;  // the missing name is reported already
  auto& file = found_[{kind, name.name}];
  if (!file && read_) file = read_->find_name(kind, name.name, folder_);
  if (file) return file;
  file = problems_.attempt([&] { return std::optional{lookup_.find(kind, name.name, name.where)}; });
  if (read_ && file) read_->keep_name(kind, name.name, folder_, *file);
  return file;
}

/// Costs of the kernels whose times a calibration has.
std::shared_ptr<const OperationCosts> Loader::kernel_times_of(const Named& name, const Gpu& gpu) {
  struct Timed {
    std::string gpu;
    std::shared_ptr<const OperationCosts> costs;
  };
  const auto before = problems_.size();
  const auto timed = read_named(DataKind::calibration, name, [&](Reader& reader, const std::string& file) {
    const auto calibration = read_calibration(reader, file);
    if (!calibration.kernel_times) return Timed{};
    const auto& times = *calibration.kernel_times;
    // Times of another GPU are reported below.
    return Timed{times.gpu,
                 times.gpu == gpu.name ? std::make_shared<const OperationCosts>(times, gpu) : nullptr};
  });
  if (problems_.size() > before || timed.costs) return timed.costs;
  const bool has_some = !timed.gpu.empty();
  problems_.add(name.where,
                has_some ? fmt::format("the calibration '{}' has kernel times of {}, not of {}", name.name,
                                       timed.gpu, gpu.name)
                         : fmt::format("the calibration '{}' has no kernel times", name.name),
                has_some ? fmt::format("write 'kernel_times_like: {}' in the GPU's file", timed.gpu)
                         : "'gradway calibrate fit' writes them from the output of "
                           "calibration/torch/measure_kernels.py");
  return nullptr;
}

}  // namespace gradway::config

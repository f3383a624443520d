// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/lookup.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/find/document.hpp"
#include "sim/config/yaml/disk.hpp"
#include "sim/config/yaml/foreign_names.hpp"
#include "sim/config/yaml/problems.hpp"
#include "sim/dialects/model_names.hpp"

namespace gradway::config {
namespace {

namespace fs = std::filesystem;

/// The folder of a kind of file in a data folder, and keys that only this kind has.
struct Place {
  DataKind kind;
  std::string_view noun;
  std::string_view listed;  ///< argument of `gradway list`
  std::string_view folder;
  std::string_view ending;                ///< after the name
  bool nested;                            ///< names may contain folders
  std::array<std::string_view, 6> marks;  ///< empty ones are unused
};

constexpr std::array places = {
    Place{DataKind::scenario,
          "scenario",
          "scenarios",
          "scenarios",
          ".yaml",
          true,
          {"model", "platform", "job", "strategy", "optimizer", "cases"}},
    Place{DataKind::platform,
          "platform",
          "platforms",
          "platforms",
          ".yaml",
          false,
          {"gpu", "node", "generate", "fabric", "cores", "calibration"}},
    Place{DataKind::gpu,
          "GPU",
          "gpus",
          "platforms/gpus",
          ".yaml",
          false,
          {"compute_capability", "peak", "ideal", "memory_bandwidth", "launch_cost", "kernel_latency"}},
    Place{DataKind::model,
          "model",
          "models",
          "models",
          ".yaml",
          false,
          {"kind", "layers", "anchors", "hidden", "image_size", "optimizer_time"}},
    Place{DataKind::calibration,
          "calibration",
          "calibrations",
          "calibration/results",
          "/calibration.yaml",
          false,
          {"date", "contention"}},
    Place{DataKind::prices, "list of prices", "prices", "platforms/prices", ".yaml", false, {"prices"}},
    Place{DataKind::storage,
          "storage tier",
          "storage",
          "platforms/storage",
          ".yaml",
          false,
          {"read", "per_connection", "first_byte", "requests_per_second", "burst"}},
    Place{DataKind::dataset,
          "dataset",
          "datasets",
          "models/datasets",
          ".yaml",
          false,
          {"samples", "sample_size", "spread", "delivered", "gpu_decode", "row_group"}},
};

const Place& place_of(DataKind kind) {
  return *std::ranges::find(places, kind, &Place::kind);
}

/// The top-level keys of a file; none if it is invalid YAML, which is reported when the file is read.
std::set<std::string> top_keys(const fs::path& path, const std::string* text = nullptr) {
  Problems ignored;
  std::set<std::string> keys;
  const auto node = ignored.attempt([&] {
    return parse_yaml(text ? SourceText{"", *text} : read_source(path, ""), ignored);
  });
  for (const auto& entry : node.entries) keys.insert(entry.key);
  return keys;
}

bool has_marks(const std::set<std::string>& keys, const Place& place) {
  return std::ranges::any_of(
      place.marks, [&](std::string_view mark) { return !mark.empty() && keys.contains(std::string{mark}); });
}

/// A file next to the scenario can have the name of its model and be a scenario, or a file of another
/// program. Their keys distinguish them.
bool is_another_kind(const std::set<std::string>& keys, DataKind kind) {
  if (keys.empty() || has_marks(keys, place_of(kind))) return false;
  return !keys.contains("schema") ||
         std::ranges::any_of(places, [&](const Place& place) { return has_marks(keys, place); });
}

bool is_name(const Place& place, const std::string& text) {
  const auto is_good = [&](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+' || (place.nested && c == '/');
  };
  return !text.empty() && text.front() != '.' && text.front() != '/' &&
         text.find("..") == std::string::npos && std::ranges::all_of(text, is_good);
}

/// @param alike hint with names that may be meant
void check_name(const Place& place, const std::string& name, const std::string& alike, const Where& where) {
  if (!is_name(place, name)) {
    fail(where, fmt::format("invalid {} name '{}'", place.noun, name),
         alike.empty() ? fmt::format("write the name of its file in '{}' without '.yaml'", place.folder)
                       : alike);
  }
  if (name.ends_with(".yaml")) {
    const auto bare = name.substr(0, name.size() - 5);
    fail(where, fmt::format("'{}' is a file name, not the name of a {}", name, place.noun),
         fmt::format("write '{}'", bare));
  }
}

std::string without_ending(const std::string& text) {
  return text.substr(0, text.size() - std::string_view{".yaml"}.size());
}

/// @return the name of a file of the folder, or "" if it has none
std::string name_of(const Place& place, const fs::path& folder, const fs::path& file) {
  const auto relative = file.lexically_relative(folder).generic_string();
  if (!relative.ends_with(place.ending) || relative.starts_with('.')) return "";
  if (place.kind == DataKind::scenario && top_keys(file).contains("cases")) return "";
  if (place.ending != ".yaml") return relative.substr(0, relative.size() - place.ending.size());
  return without_ending(relative);
}

void add_names(const Place& place, const fs::path& folder, std::set<std::string>& names) {
  const int most_depth = place.nested ? 8 : place.ending == ".yaml" ? 0 : 1;
  for (const auto& file : files_below(folder, most_depth)) {
    const auto name = name_of(place, folder, file);
    if (is_name(place, name)) names.insert(name);
  }
}

/// Messages omit data folders with an absolute path.
std::string shown_name(const fs::path& root, const fs::path& file) {
  return (root.is_absolute() ? file : root / file).generic_string();
}

/// The file, with a note if it replaces an installed one.
FoundFile before_installed(FoundFile file, const Place& place, const std::string& name,
                           const DataPath& data) {
  if (data.roots.empty()) return file;
  const auto installed = data.roots.back() / place.folder / fmt::format("{}{}", name, place.ending);
  if (file.path == installed) return file;
  if (is_file(installed) && !is_same_file(file.path, installed))
    file.instead_of = fmt::format("the {} {}", place.noun, name);
  return file;
}

std::optional<FoundFile> find_in_data(const Place& place, const std::string& name, const DataPath& data) {
  const auto file = fs::path{place.folder} / fmt::format("{}{}", name, place.ending);
  for (const auto& root : data.roots) {
    if (is_file(root / file))
      return before_installed({root / file, shown_name(root, file)}, place, name, data);
  }
  return std::nullopt;
}

std::optional<FoundFile> find_next_to(const Place& place, const std::string& name, const FoundFile& folder) {
  const auto in_its_folder = fs::path{place.folder} / fmt::format("{}{}", name, place.ending);
  const fs::path alone = name + ".yaml";
  const auto found_file = [&](const fs::path& file) {
    return FoundFile{folder.path / file, (fs::path{folder.shown} / file).generic_string()};
  };
  if (is_file(folder.path / in_its_folder)) return found_file(in_its_folder);
  // The GPU of a platform in platforms/ is in its gpus/.
  const auto in_a_folder_of_data =
      fs::path{place.folder}.filename() / fmt::format("{}{}", name, place.ending);
  if (is_file(folder.path / in_a_folder_of_data)) return found_file(in_a_folder_of_data);
  if (is_file(folder.path / alone) && !is_another_kind(top_keys(folder.path / alone), place.kind))
    return found_file(alone);
  return std::nullopt;
}

/// A text that replaces a file of this name, beside the scenario or in its folder of data.
std::optional<FoundFile> find_in_texts(const Place& place, const std::string& name, const DataPath& data) {
  const auto in_its_folder = fmt::format("{}/{}{}", place.folder, name, place.ending);
  for (const auto& file : {in_its_folder, name + ".yaml"}) {
    const auto text = data.texts.find(file);
    if (text == data.texts.end() || is_another_kind(top_keys(file, &text->second), place.kind)) continue;
    return FoundFile{file, file, text->second};
  }
  return std::nullopt;
}

}  // namespace

Lookup::Lookup(const FoundFile& first, const DataPath& data)
    : folders_{{first.path.parent_path(), fs::path{first.shown}.parent_path().string()}, {}},
      data_{&data},
      has_other_texts_{std::ranges::any_of(
          data.texts, [&](const auto& text) { return text.first != first.path.generic_string(); })} {}

FoundFile Lookup::find(DataKind kind, const std::string& name, const Where& where) const {
  const auto& place = place_of(kind);
  check_name(place, name, is_name(place, name) ? std::string{} : near_hint(kind, name), where);
  if (const auto file = known_file(kind, name)) return *file;
  fail(where,
       fmt::format("unknown {} '{}': there is no '{}/{}{}' next to your file or in the data folders",
                   place.noun, name, place.folder, name, place.ending),
       hint_for(kind, name));
}

std::optional<FoundFile> Lookup::known_file(DataKind kind, const std::string& name) const {
  const auto& place = place_of(kind);
  auto file = find_in_texts(place, name, *data_);
  for (const auto& folder : folders_)
    if (!file) file = find_next_to(place, name, folder);
  if (file) return before_installed(*file, place, name, *data_);
  return find_in_data(place, name, *data_);
}

std::string Lookup::hint_for(DataKind kind, const std::string& name) const {
  auto hint = hint_of_kind(kind, name);
  return hint.empty() ? suggestion(name, names(kind)) : hint;
}

/// Empty: no name is near.
std::string Lookup::near_hint(DataKind kind, const std::string& name) const {
  auto hint = hint_of_kind(kind, name);
  if (!hint.empty() || near_names(name, names(kind)).empty()) return hint;
  return suggestion(name, names(kind));
}

/// Models by their names at Hugging Face, platforms by their GPU, what is known by another name or is not
/// modelled; empty: none of these.
std::string Lookup::hint_of_kind(DataKind kind, const std::string& name) const {
  constexpr std::size_t most_platforms = 12;
  if (kind == DataKind::model) {
    const auto alike = models_alike(name, names(kind));
    return alike.empty() ? "" : fmt::format("did you mean '{}'?", fmt::join(alike, "' or '"));
  }
  if (kind == DataKind::storage) return hint_for_storage(name);
  if (kind == DataKind::platform || kind == DataKind::gpu) {
    if (auto hint = hint_for_accelerator(name); !hint.empty()) return hint;
  }
  if (kind != DataKind::platform || !hints_at_gpus_ || !near_names(name, names(kind)).empty()) return "";
  std::vector<std::pair<std::string, std::string>> gpus;  // platforms and their GPUs; each is read once
  for (const auto& word : gpu_words(name)) {
    if (gpus.empty())
      for (const auto& platform : names(kind)) gpus.emplace_back(platform, gpu_of(platform));
    std::vector<std::string> platforms;
    for (const auto& [platform, gpu] : gpus)
      if (is_gpu_model(gpu, word)) platforms.push_back(platform);
    if (platforms.empty()) continue;
    const bool has_more = platforms.size() > most_platforms;
    if (has_more) platforms.resize(most_platforms);
    return fmt::format("platforms with such a GPU: {}{}", fmt::join(platforms, ", "), has_more ? " ..." : "");
  }
  return "";
}

std::string Lookup::gpu_of(const std::string& platform) const {
  Problems ignored;
  auto lookup = *this;
  lookup.hints_at_gpus_ = false;
  const auto node = ignored.attempt([&] {
    return load_with_base(DataKind::platform, lookup.find(DataKind::platform, platform, {}), lookup, ignored);
  });
  const auto* entry = node.find("gpu");
  return entry == nullptr ? "" : entry->value.text;
}

const std::vector<std::string>& Lookup::names(DataKind kind) const {
  const auto [known, is_new] = names_.try_emplace(kind);
  if (!is_new) return known->second;
  const auto& place = place_of(kind);
  std::set<std::string> sorted_names;
  for (const auto& near : folders_) {
    const auto folder = near.path / place.folder;
    if (!data_->roots.empty() && is_same_file(folder, data_->roots.back() / place.folder)) continue;
    add_names(place, folder, sorted_names);
    // In platforms/: its gpus/. Other folders with such a name may hold a million files of other programs.
    const fs::path place_folder{place.folder};
    if (place_folder.has_parent_path() && near.path.filename() == place_folder.parent_path().filename())
      add_names(place, near.path / place_folder.filename(), sorted_names);
  }
  for (const auto& root : data_->roots) add_names(place, root / place.folder, sorted_names);
  known->second.assign(sorted_names.begin(), sorted_names.end());
  return known->second;
}

FoundFile find_file(DataKind kind, const std::string& file, const Lookup& lookup, const Where& where,
                    const fs::path& from) {
  if (const auto text = lookup.data().texts.find(file); text != lookup.data().texts.end())
    return {file, file, text->second};
  const auto& place = place_of(kind);
  for (const auto& path : {from / file, fs::path{file}}) {
    if (is_file(path) || (path.extension() == ".yaml" && is_folder(path)))
      return {path, path.generic_string()};
  }
  const auto bare = file.ends_with(".yaml") ? without_ending(file) : file;
  if (const auto known = lookup.known_file(kind, bare)) return *known;
  if (is_folder(file)) return {file, file};
  const auto near = lookup.near_hint(kind, bare);
  fail(where, where.line == 0 ? "there is no such file" : fmt::format("there is no file '{}'", file),
       near.empty() ? fmt::format("write a path, or a name from 'gradway list {}'", place.listed) : near);
}

FoundFile find_file(DataKind kind, const std::string& file, const DataPath& data, const Where& where,
                    const fs::path& from) {
  return find_file(kind, file, Lookup{data}, where, from);
}

bool is_model_file(const fs::path& file) {
  const auto keys = top_keys(file);
  return has_marks(keys, place_of(DataKind::model)) && !keys.contains("model") && !keys.contains("platform");
}

std::vector<std::string> scenario_files(const fs::path& folder) {
  std::vector<std::string> scenarios;
  for (const auto& file : files_below(folder, 0)) {
    if (file.extension() != ".yaml") continue;
    const auto keys = top_keys(file);
    if (has_marks(keys, place_of(DataKind::scenario)) && !keys.contains("cases"))
      scenarios.push_back(file.filename().string());
  }
  std::ranges::sort(scenarios);
  return scenarios;
}

}  // namespace gradway::config

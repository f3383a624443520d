// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/what_if.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/shell/files.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/text.hpp"
#include "sim/config/find/file_cache.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/config/yaml/disk.hpp"
#include "sim/config/yaml/source_file.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

/// Without links and "..", so that files can be compared.
fs::path resolved_path(const fs::path& path) {
  std::error_code ignored;
  auto resolved = fs::weakly_canonical(path, ignored);
  return resolved.empty() ? path : resolved;
}

std::string text_in(const fs::path& file) {
  return config::read_source(file, file.filename().string()).content();
}

/// Gives the files of a run their names in the page.
class Packing {
 public:
  /// @param has_working_folder whether the page looks up names in the working folder, as a folder of data
  Packing(const DataPath& data, bool has_working_folder) {
    const auto working_folder = resolved_path(".");
    if (has_working_folder && working_folder != resolved_path(data.roots.back()))
      roots_.push_back(working_folder);
    for (const auto& root : data.roots) roots_.push_back(resolved_path(root));
    for (std::size_t i = 0; i + 1 < roots_.size(); ++i) names_.push_back(fmt::format("/data-{}/", i + 1));
    names_.emplace_back("/");
  }

  void add_installed() { add_data(roots_.back()); }
  void add_all_data() {
    for (const auto& root : roots_) add_data(root);
  }
  /// Files that belong to no data folder are named from a folder that they share.
  void add_own(std::vector<fs::path> files) {
    std::erase_if(files, [&](const fs::path& file) { return in_data(file); });
    if (files.empty()) return;
    own_folder_ = files.front().parent_path();
    for (const auto& file : files)
      while (!is_below(file, own_folder_)) own_folder_ = own_folder_.parent_path();
    for (const auto& file : files) add(file);
  }
  void add(const fs::path& file) { files_.try_emplace(name_of(file), text_in(file)); }

  bool in_data(const fs::path& file) const {
    return std::ranges::any_of(roots_, [&](const fs::path& root) { return is_below(file, root); });
  }
  std::string name_of(const fs::path& file) const {
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (is_below(file, roots_[i])) return names_[i] + file.lexically_relative(roots_[i]).generic_string();
    return file.lexically_relative(own_folder_).generic_string();
  }
  /// Names of the data folders that precede the installed data.
  std::vector<std::string> roots() const { return {names_.begin(), names_.end() - 1}; }
  std::map<std::string, std::string> take() && { return std::move(files_); }

 private:
  void add_data(const fs::path& root) {
    constexpr std::array folders{"platforms", "models", "calibration/results"};
    for (const auto* folder : folders) {
      for (const auto& file : config::files_below(root / folder))
        if (file.extension() == ".yaml") add(file);
    }
  }

  std::vector<fs::path> roots_;
  std::vector<std::string> names_;  ///< of each root, with a slash at the end
  fs::path own_folder_;
  std::map<std::string, std::string> files_;
};

}  // namespace

report::WhatIfFiles what_if_files(const std::string& scenario, const std::vector<Override>& overrides,
                                  const DataPath& data) {
  report::WhatIfFiles page_files{.scenario = "",
                                 .set = {},
                                 .roots = {},
                                 .command = "gradway run " + shell_word(scenario),
                                 .yaml = scenario_yaml(scenario, overrides, data),
                                 .files = {}};
  for (const auto& [key, value, where] : overrides) page_files.set.emplace_back(key, value);
  const auto scenario_file = config::find_file(DataKind::scenario, scenario, data, config::in_file(scenario));
  Packing packing{data, !is_below(resolved_path(scenario_file.path), resolved_path("."))};
  packing.add_installed();
  std::vector<fs::path> read;
  for (const auto& file : data.read->files()) read.push_back(resolved_path(file));
  for (const auto& file : read)
    if (packing.in_data(file)) packing.add(file);
  packing.add_own(read);
  page_files.scenario = packing.name_of(resolved_path(scenario_file.path));
  page_files.roots = packing.roots();
  page_files.files = std::move(packing).take();
  if (scenario_file.text) page_files.files[page_files.scenario] = *scenario_file.text;
  return page_files;
}

void add_plan_files(report::PlanPage& page, const DataPath& data) {
  Packing packing{data, true};
  packing.add_all_data();
  page.roots = packing.roots();
  page.files = std::move(packing).take();
  // Texts replace files of all folders.
  constexpr auto prefix = "/own/";
  if (data.texts.empty()) return;
  page.roots.insert(page.roots.begin(), prefix);
  for (const auto& [name, text] : data.texts) page.files[prefix + name] = text;
}

void check_has_engine() {
  if (report::has_engine()) return;
  refuse("gradway was built without pages, and so without the engine that simulates in them",
         "build it without -DGRADWAY_PAGE=OFF (docs/install.md)");
}

}  // namespace gradway::cli

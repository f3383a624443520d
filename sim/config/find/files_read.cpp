// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/files_read.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gradway {

std::shared_ptr<const FilesRead::Kept> FilesRead::find(const Key& key) {
  const std::lock_guard lock{mutex_};
  const auto known = kept_.find(key);
  if (known == kept_.end()) return nullptr;
  const auto& files = known->second->told.files();
  const auto has_changed = [](const config::FileState& file) { return config::state_of(file.path) != file; };
  if (changes_ == Changes::noticed && std::ranges::any_of(files, has_changed)) return nullptr;
  return known->second;
}

void FilesRead::keep(const Key& key, Kept kept) {
  if (changes_ == Changes::noticed && std::ranges::any_of(kept.told.files(), config::is_fresh)) return;
  const std::lock_guard lock{mutex_};
  kept_.insert_or_assign(key, std::make_shared<const Kept>(std::move(kept)));
}

std::optional<config::Found> FilesRead::find_name(DataKind kind, const std::string& name,
                                                  const std::filesystem::path& beside) {
  if (changes_ == Changes::noticed) return std::nullopt;  // another file may have come to stand before it
  const std::lock_guard lock{mutex_};
  const auto known = names_.find({kind, name, beside.string()});
  return known == names_.end() ? std::nullopt : std::optional{known->second};
}

void FilesRead::keep_name(DataKind kind, const std::string& name, const std::filesystem::path& beside,
                          const config::Found& found) {
  const std::lock_guard lock{mutex_};
  names_.emplace(Name{kind, name, beside.string()}, found);
}

DataPath each_file_once(DataPath data) {
  data.read = std::make_shared<FilesRead>(FilesRead::Changes::unnoticed);
  return data;
}

DataPath each_file_until_it_changes(DataPath data) {
  data.read = std::make_shared<FilesRead>(FilesRead::Changes::noticed);
  return data;
}

}  // namespace gradway

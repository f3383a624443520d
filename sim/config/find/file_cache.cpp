// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/file_cache.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace gradway {

std::shared_ptr<const FileCache::CacheEntry> FileCache::find(const Key& key) {
  const std::lock_guard lock{mutex_};
  const auto known = entries_.find(key);
  if (known == entries_.end()) return nullptr;
  const auto& files = known->second->problems.files();
  const auto has_changed = [](const config::FileState& file) { return config::state_of(file.path) != file; };
  if (changes_ == Changes::noticed && std::ranges::any_of(files, has_changed)) return nullptr;
  return known->second;
}

void FileCache::keep(const Key& key, CacheEntry entry) {
  if (changes_ == Changes::noticed && std::ranges::any_of(entry.problems.files(), config::is_fresh)) return;
  const std::lock_guard lock{mutex_};
  entries_.insert_or_assign(key, std::make_shared<const CacheEntry>(std::move(entry)));
}

std::optional<config::FoundFile> FileCache::find_name(DataKind kind, const std::string& name,
                                                      const std::filesystem::path& folder) {
  if (changes_ == Changes::noticed) return std::nullopt;  // a new file may take precedence
  const std::lock_guard lock{mutex_};
  const auto known = names_.find({kind, name, folder.string()});
  return known == names_.end() ? std::nullopt : std::optional{known->second};
}

void FileCache::keep_name(DataKind kind, const std::string& name, const std::filesystem::path& folder,
                          const config::FoundFile& file) {
  const std::lock_guard lock{mutex_};
  names_.emplace(Name{kind, name, folder.string()}, file);
}

std::vector<std::filesystem::path> FileCache::files() {
  const std::lock_guard lock{mutex_};
  std::set<std::filesystem::path> paths;
  for (const auto& [key, entry] : entries_)
    for (const auto& file : entry->problems.files()) paths.insert(file.path);
  return {paths.begin(), paths.end()};
}

DataPath with_file_cache(DataPath data) {
  data.read = std::make_shared<FileCache>(FileCache::Changes::unnoticed);
  return data;
}

DataPath with_refreshing_file_cache(DataPath data) {
  data.read = std::make_shared<FileCache>(FileCache::Changes::noticed);
  return data;
}

}  // namespace gradway

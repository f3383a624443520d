// SPDX-License-Identifier: Apache-2.0
#include "sim/config/files_read.hpp"

#include <optional>
#include <utility>

namespace gradway {

std::shared_ptr<const FilesRead::Kept> FilesRead::find(const Key& key) {
  const std::lock_guard lock{mutex_};
  const auto known = kept_.find(key);
  return known == kept_.end() ? nullptr : known->second;
}

void FilesRead::keep(const Key& key, Kept kept) {
  const std::lock_guard lock{mutex_};
  kept_.emplace(key, std::make_shared<const Kept>(std::move(kept)));
}

std::optional<config::Found> FilesRead::find_name(DataKind kind, const std::string& name,
                                                  const std::filesystem::path& beside) {
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
  data.read = std::make_shared<FilesRead>();
  return data;
}

}  // namespace gradway

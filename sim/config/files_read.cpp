// SPDX-License-Identifier: Apache-2.0
#include "sim/config/files_read.hpp"

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

DataPath each_file_once(DataPath data) {
  data.read = std::make_shared<FilesRead>();
  return data;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/files/settings_file.hpp"

#include <algorithm>

namespace gradway {

const FileSetting* FileSetting::find(std::string_view entry) const {
  if (kind != Kind::table) return nullptr;
  const auto setting = std::ranges::find(entries, entry, &FileSetting::key);
  return setting == entries.end() ? nullptr : &*setting;
}

Where SettingsFile::value_place(const FileSetting& setting) const {
  return text.at(setting.span.at, setting.span.length);
}

Where SettingsFile::key_place(const FileSetting& setting) const {
  return text.at(setting.key_span.at, setting.key_span.length);
}

}  // namespace gradway

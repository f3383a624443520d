// SPDX-License-Identifier: Apache-2.0
#include "sim/wasm/given_files.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "sim/config/yaml/disk.hpp"

namespace gradway {
namespace {

namespace fs = std::filesystem;

/// By their names without "." and "..".
std::map<std::string, std::string>& files() {
  static std::map<std::string, std::string> all;
  return all;
}

std::string name_of(const fs::path& path) {
  return path.lexically_normal().generic_string();
}

/// What the names of all files in a folder start with.
std::string start_of(const fs::path& folder) {
  auto name = name_of(folder);
  if (name == ".") return "";
  if (!name.empty() && !name.ends_with('/')) name += '/';
  return name;
}

}  // namespace

namespace wasm {

void give_file(const std::string& name, std::string text) {
  files().insert_or_assign(name_of(name), std::move(text));
}

}  // namespace wasm

namespace config {

bool is_file(const fs::path& path) {
  return files().contains(name_of(path));
}

bool is_folder(const fs::path& path) {
  return !files_below(path).empty();
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  return name_of(one) == name_of(other);
}

std::vector<fs::path> files_below(const fs::path& folder, int most_depth) {
  std::vector<fs::path> found;
  const auto start = start_of(folder);
  if (start.empty()) return found;
  for (auto file = files().lower_bound(start); file != files().end() && file->first.starts_with(start);
       ++file)
    if (std::ranges::count(file->first.substr(start.size()), '/') <= most_depth)
      found.emplace_back(file->first);
  return found;
}

std::optional<std::string> read_bytes(const fs::path& path, std::size_t) {
  const auto file = files().find(name_of(path));
  if (file == files().end()) return std::nullopt;
  return file->second;
}

FileState state_of(const fs::path& path) {
  return {.path = path};
}

bool is_fresh(const FileState&) {
  return false;
}

}  // namespace config
}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "wasm/given_files.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "sim/config/yaml/disk.hpp"

// What the page does for the engine: web/src/what_if/engine.ts.
extern "C" {
/// Size in bytes of a file that the page has.
[[clang::import_module("gradway"), clang::import_name("file_size")]] std::size_t gradway_file_size(
    const char* name, std::size_t length);
/// Copies the content of the file to `buffer`.
[[clang::import_module("gradway"), clang::import_name("read_file")]] void gradway_read_file(
    const char* name, std::size_t length, char* buffer);
}

namespace gradway {
namespace {

namespace fs = std::filesystem;

/// Names of the files that the page has, without "." and "..". A run needs few of them, so that their
/// contents are copied when they are read.
std::set<std::string>& names() {
  static std::set<std::string> known;
  return known;
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

void give_names(std::string_view list) {
  while (!list.empty()) {
    const auto end = std::min(list.find('\0'), list.size());
    names().emplace(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

}  // namespace wasm

namespace config {

bool is_file(const fs::path& path) {
  return names().contains(name_of(path));
}

bool is_folder(const fs::path& path) {
  return !files_below(path).empty();
}

bool is_same_file(const fs::path& first, const fs::path& second) {
  return name_of(first) == name_of(second);
}

std::vector<fs::path> files_below(const fs::path& folder, int most_depth) {
  std::vector<fs::path> files;
  const auto start = start_of(folder);
  if (start.empty()) return files;
  for (auto name = names().lower_bound(start); name != names().end() && name->starts_with(start); ++name)
    if (std::ranges::count(name->substr(start.size()), '/') <= most_depth) files.emplace_back(*name);
  return files;
}

std::optional<std::string> read_bytes(const fs::path& path, std::size_t) {
  const auto name = name_of(path);
  if (!names().contains(name)) return std::nullopt;
  std::string content(gradway_file_size(name.data(), name.size()), '\0');
  gradway_read_file(name.data(), name.size(), content.data());
  return content;
}

FileState state_of(const fs::path& path) {
  return {.path = path};
}

bool is_fresh(const FileState&) {
  return false;
}

}  // namespace config
}  // namespace gradway

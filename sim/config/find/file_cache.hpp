// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "sim/base/mutex.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway {

/// Results of reading files without errors, so that the points of a sweep, or successive requests to one
/// process, read each file once. Thread-safe.
class FileCache {
 public:
  enum class Changes : char { unnoticed, noticed };

  explicit FileCache(Changes changes) : changes_{changes} {}

  /// Whether it serves several commands, each with texts of its own that replace files.
  bool outlives_texts() const { return changes_ == Changes::noticed; }

  /// The result of `read`, or the cached one, with its notes and digest added to `problems`. A file may be
  /// read as several types.
  /// @param name passed to the reader and part of its result
  /// @param folder the folder in which names in the file are looked up first
  template <class Read>
  auto once(DataKind kind, const config::FoundFile& file, const std::string& name,
            const std::filesystem::path& folder, config::Problems& problems, const Read& read) {
    using Result = std::invoke_result_t<const Read&, config::Problems&>;
    const Key key{kind, typeid(Result), file.path.string(), file.shown, file.instead_of,
                  name, folder.string()};
    if (const auto known = find(key)) {
      problems.add(known->problems);
      return std::any_cast<const Result&>(known->result);
    }
    config::Problems new_problems;
    Result result = read(new_problems);
    problems.add(new_problems);
    if (new_problems.empty()) keep(key, CacheEntry{result, std::move(new_problems)});
    return result;
  }

  /// The file that a name was resolved to before, with lookup starting in this folder.
  std::optional<config::FoundFile> find_name(DataKind kind, const std::string& name,
                                             const std::filesystem::path& folder);
  void keep_name(DataKind kind, const std::string& name, const std::filesystem::path& folder,
                 const config::FoundFile& file);

  /// The files whose results are cached, sorted.
  std::vector<std::filesystem::path> files();

 private:
  using Name = std::tuple<DataKind, std::string, std::string>;
  using Key =
      std::tuple<DataKind, std::type_index, std::string, std::string, std::string, std::string, std::string>;
  struct CacheEntry {
    std::any result;
    config::Problems problems;
  };

  std::shared_ptr<const CacheEntry> find(const Key& key);
  void keep(const Key& key, CacheEntry entry);

  const Changes changes_;

  Mutex mutex_;
  std::map<Key, std::shared_ptr<const CacheEntry>> entries_;
  std::map<Name, config::FoundFile> names_;
};

}  // namespace gradway

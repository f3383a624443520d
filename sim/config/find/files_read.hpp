// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>

#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway {

/// What sound files gave, so that the points of a sweep, or what one process is asked in turn, read each of
/// them once. Several threads may use it.
class FilesRead {
 public:
  enum class Changes : char { unnoticed, noticed };

  explicit FilesRead(Changes changes) : changes_{changes} {}

  /// What `read` gives, which tells its problems what it saw: read now, or before. A file may be read as
  /// several types.
  /// @param name what the reader calls the thing, which goes into what it gives
  /// @param beside the folder where names in the file are looked up first
  template <class Read>
  auto once(DataKind kind, const config::Found& file, const std::string& name,
            const std::filesystem::path& beside, config::Problems& problems, const Read& read) {
    using Result = std::invoke_result_t<const Read&, config::Problems&>;
    const Key key{kind, typeid(Result), file.path.string(), file.shown, file.instead_of,
                  name, beside.string()};
    if (const auto known = find(key)) {
      problems.add(known->told);
      return std::any_cast<const Result&>(known->result);
    }
    config::Problems told;
    Result result = read(told);
    problems.add(told);
    if (told.empty()) keep(key, Kept{result, std::move(told)});
    return result;
  }

  /// The file that a name stood for before, looked up first in the folder `beside`.
  std::optional<config::Found> find_name(DataKind kind, const std::string& name,
                                         const std::filesystem::path& beside);
  void keep_name(DataKind kind, const std::string& name, const std::filesystem::path& beside,
                 const config::Found& found);

 private:
  using Name = std::tuple<DataKind, std::string, std::string>;
  using Key =
      std::tuple<DataKind, std::type_index, std::string, std::string, std::string, std::string, std::string>;
  struct Kept {
    std::any result;
    config::Problems told;
  };

  std::shared_ptr<const Kept> find(const Key& key);
  void keep(const Key& key, Kept kept);

  const Changes changes_;

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Kept>> kept_;
  std::map<Name, config::Found> names_;
};

}  // namespace gradway

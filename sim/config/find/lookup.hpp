// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway::config {

/// A file and its name in messages: as the user typed it, or where it stands in a data folder.
struct Found {
  std::filesystem::path path;
  std::string shown;
  std::optional<std::string> text{};  ///< it is no file, but this
  std::string instead_of{};  ///< what of the installed data the name would else stand for; "": nothing
};

/// Looks names up: beside the first file of a run, then in the data folders.
class Lookup {
 public:
  /// @param first the file whose folder is looked through first. @param data must outlive this.
  Lookup(const Found& first, const DataPath& data);

  /// Looks through the data folders only.
  explicit Lookup(const DataPath& data) : data_{&data} {}

  /// @throws ConfigError at `where` if nothing has the name, with the nearest that there is.
  Found find(DataKind kind, const std::string& name, const Where& where) const;

  /// Names of all files of a kind that could be found, sorted, each once. Looks for them at the first call,
  /// and reads files to tell their kinds. Not for several threads at once.
  const std::vector<std::string>& names(DataKind kind) const;

  /// What a name that nothing has may stand for: a name of Hugging Face's for a model, platforms with the GPU
  /// that a platform's name has in it; else the nearest, or all.
  std::string hint_for(DataKind kind, const std::string& name) const;

  const DataPath& data() const { return *data_; }

 private:
  std::string hint_of_kind(DataKind kind, const std::string& name) const;
  std::vector<std::string> platforms_with(const std::string& gpu) const;

  std::optional<Found> beside_;  ///< a folder
  const DataPath* data_;
  mutable std::map<DataKind, std::vector<std::string>> names_;
};

/// A file given on the command line or by a file of cases: a path, or a name of the data folders.
/// @param from a folder that a relative path starts from before the working folder is tried.
/// @throws ConfigError at `where`.
Found find_file(DataKind kind, const std::string& file, const DataPath& data, const Where& where,
                const std::filesystem::path& from = {});
/// The same for one of many files.
Found find_file(DataKind kind, const std::string& file, const Lookup& all, const Where& where,
                const std::filesystem::path& from);

}  // namespace gradway::config

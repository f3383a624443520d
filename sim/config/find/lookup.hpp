// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway::config {

/// A file and its name in messages: as the user typed it, or its path in a data folder.
struct FoundFile {
  std::filesystem::path path;
  std::string shown;
  std::optional<std::string> text{};  ///< text that replaces the file
  std::string instead_of{};           ///< installed file that it replaces; "": none
};

/// Looks up names: next to the first file of a run, in the working folder, then in the data folders.
class Lookup {
 public:
  /// @param first file whose folder is searched first. @param data must outlive this.
  Lookup(const FoundFile& first, const DataPath& data);

  /// Searches the working folder and the data folders only.
  explicit Lookup(const DataPath& data) : data_{&data} {}

  /// @throws ConfigError at `where` for an unknown name, with the nearest known one.
  FoundFile find(DataKind kind, const std::string& name, const Where& where) const;

  /// The same; none for an unknown name.
  std::optional<FoundFile> known_file(DataKind kind, const std::string& name) const;

  /// Names of all files of a kind, sorted, without duplicates. The first call searches for them and reads
  /// files to distinguish their kinds. Not thread-safe.
  const std::vector<std::string>& names(DataKind kind) const;

  /// Hint for an unknown name: models with that name at Hugging Face, platforms with a GPU that the name
  /// contains; else the nearest names, or all.
  std::string hint_for(DataKind kind, const std::string& name) const;

  /// The same, but empty instead of all names.
  std::string near_hint(DataKind kind, const std::string& name) const;

  /// The GPU that a platform names; "" if its file has an error.
  std::string gpu_of(const std::string& platform) const;

  const DataPath& data() const { return *data_; }

  /// Whether texts may replace files that the first file names. What is read may then differ from what was
  /// read before under the same name.
  bool has_other_texts() const { return has_other_texts_; }

 private:
  std::string hint_of_kind(DataKind kind, const std::string& name) const;
  std::vector<FoundFile> folders_{{}};  ///< searched before the data folders; "": the working folder
  const DataPath* data_;
  bool has_other_texts_ = false;
  bool hints_at_gpus_ = true;  ///< false while `gpu_of` reads platforms, whose errors would read them again
  mutable std::map<DataKind, std::vector<std::string>> names_;
};

/// A file named on the command line or in a file of cases: a path, or a name in the data folders.
/// @param from folder in which a relative path is tried before the working folder.
/// @throws ConfigError at `where`.
FoundFile find_file(DataKind kind, const std::string& file, const DataPath& data, const Where& where,
                    const std::filesystem::path& from = {});
/// The same, with a lookup that is shared by many files.
FoundFile find_file(DataKind kind, const std::string& file, const Lookup& lookup, const Where& where,
                    const std::filesystem::path& from);

/// Whether a file describes a model. Captures share keys with scenarios, but name neither model nor platform.
bool is_model_file(const std::filesystem::path& file);

/// The names of the scenarios in a folder, but not in folders within, sorted.
std::vector<std::string> scenario_files(const std::filesystem::path& folder);

}  // namespace gradway::config

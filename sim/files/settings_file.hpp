// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/text_file.hpp"

namespace gradway {

/// A value in a file of settings, with its entries.
struct FileSetting {
  enum class Kind : std::uint8_t { table, list, text, number, boolean, null };
  /// A range of bytes of the file.
  struct Span {
    std::size_t at = 0;
    std::size_t length = 0;
  };

  Kind kind = Kind::table;
  std::string key;   ///< Empty for the whole file and for items of a list.
  std::string text;  ///< A text; or a number, true or false as written, without '_' and '+'.
  Span key_span{};
  Span span{};
  /// Entries of a table or a list. Of an argument with several words, those after the first.
  std::vector<FileSetting> entries{};
  std::string group{};  ///< In YAML of arguments, the groups that a key is in, with dots.

  /// An entry of a table; null if there is no such key.
  const FileSetting* find(std::string_view entry) const;
};

/// A file of settings: its text, for places, and its values.
struct SettingsFile {
  TextFile text;
  FileSetting root;

  Where value_place(const FileSetting& setting) const;
  Where key_place(const FileSetting& setting) const;
};

/// Reads JSON whose top level is a map.
/// @throws ConfigError for invalid JSON, duplicate keys and values that are nested too deeply
SettingsFile read_json_settings(TextFile text);

/// Reads TOML 1.0. Dates and times are texts. @throws ConfigError for invalid TOML and control characters
SettingsFile read_toml_settings(TextFile text);

/// Reads the first document of a YAML file whose top level is a map, as PyYAML does: with anchors, merge keys
/// and tags. @throws ConfigError for invalid YAML and control characters
SettingsFile read_yaml_settings(TextFile text);

/// Reads what a function of a Python file returns as nested calls with literals: a call is a table of its
/// named arguments with the called name as its text, arguments without a name have no key. Nothing is
/// executed. @param function empty: the only one @throws ConfigError for unknown functions
SettingsFile read_python_function(TextFile text, const std::string& function);

/// Likewise the variables of a Python file. @throws ConfigError if it has none
SettingsFile read_python_variables(TextFile text);

/// Arguments of a command line.
struct ArgumentSettings {
  SettingsFile file;
  std::vector<FileSetting> replaced{};  ///< Arguments that occur again later with another value.
};

/// Reads the arguments of a command line, '--num-layers 24' as num_layers, alone or in a shell script:
/// through quotes, comments, continued lines, arrays and $variables of the script. A switch is true. All
/// branches of a script count. A file that ends in .yaml or .yml has keys such as 'num_layers' or
/// '--num-layers' instead, in groups or not. Environment variables, which have no small letters, are left
/// out.
/// @throws ConfigError for missing closing quotes, invalid YAML, and if there are no arguments
ArgumentSettings read_argument_settings(TextFile text);

/// Limits that keep a wrong file from filling memory.
inline constexpr int most_settings = 20'000;
inline constexpr int max_setting_depth = 32;

}  // namespace gradway

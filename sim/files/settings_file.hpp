// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/text_file.hpp"

namespace gradway {

/// A value in a file of settings, and what stands in it.
struct FileSetting {
  enum class Kind : std::uint8_t { table, list, text, number, boolean, null };
  /// Bytes of the file.
  struct Span {
    std::size_t at = 0;
    std::size_t length = 0;
  };

  Kind kind = Kind::table;
  std::string key;   ///< empty: the file as a whole, or an item of a list
  std::string text;  ///< of a text; a number, true and false as they are written, without '_' and '+'
  Span key_span{};
  Span span{};
  std::vector<FileSetting> entries{};  ///< of a table or a list

  /// An entry of a table; null if it has none of that key.
  const FileSetting* find(std::string_view entry) const;
};

/// A file of settings that was read: its text, for places, and its values.
struct SettingsFile {
  TextFile text;
  FileSetting root;

  Where value_place(const FileSetting& setting) const;
  Where key_place(const FileSetting& setting) const;
};

/// Reads JSON whose top is a map.
/// @throws ConfigError at what is no JSON, at keys that stand twice, and at what is nested too deep
SettingsFile read_json_settings(TextFile text);

/// Reads TOML 1.0. Dates and times are texts. @throws ConfigError at what is no TOML, and at control
/// characters
SettingsFile read_toml_settings(TextFile text);

/// Arguments of a command line.
struct ArgumentSettings {
  SettingsFile file;
  std::vector<FileSetting> replaced{};  ///< the same argument stands further down with another value
};

/// Reads the arguments of a command line, '--num-layers 24' as num_layers, from a shell script or bare:
/// through quotes, comments, continued lines, arrays and $variables of the script. A switch is true. Every
/// branch of a script counts. A file that ends in .yaml or .yml has lines of 'num_layers: 24' instead.
/// @throws ConfigError at quotes that are not closed, at lines that are no YAML, and if there are no
/// arguments
ArgumentSettings read_argument_settings(TextFile text);

/// Keeps a wrong file from filling memory.
inline constexpr int most_settings = 20'000;
inline constexpr int deepest_setting = 32;

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/yaml/problems.hpp"
#include "sim/scenario/fields.hpp"

namespace gradway::config {

/// Description of a key of a scenario, or of another file, for `gradway list keys` and docs/scenario-keys.md.
/// A test compares keys, values and defaults with the reader.
struct ScenarioKey {
  std::string name;  ///< with dots, also in entries of lists: "traffic.from"
  value::Kind kind;  ///< of its value
  std::string meaning;
  std::string default_text = {};  ///< value without the key, as it would be written; empty: none
  bool is_required = false;       ///< within its group
  bool is_settable = true;        ///< with --set, --vary and in the rows of a file of cases
  /// Kinds of strategy, or of model in its file, that have the key; empty: all. A key whose values differ by
  /// kind has several rows.
  std::vector<std::string_view> strategies = {};
  /// Why jobs that differ only in the key share all prediction errors; empty: they do not. Applies to all
  /// keys of a group.
  std::string_view outside_identity = {};

  /// Description of the allowed values.
  std::string value() const { return in_words(kind); }
  /// Help text, with the strategies that have the key.
  std::string help() const;
  bool is_group() const { return std::holds_alternative<value::Map>(kind); }
};

/// Describes a row as a key. @param group prefix such as "job."
ScenarioKey key_of_row(std::string_view group, const Field& field);

/// All keys: groups ("job") before their keys ("job.gpus").
const std::vector<ScenarioKey>& described_keys();

/// The names of the keys that can be set.
std::vector<std::string> scenario_keys();

/// @throws ConfigError at `where` for a key that cannot be set, with the nearest one.
void check_scenario_key(const std::string& key, const Where& where);

}  // namespace gradway::config

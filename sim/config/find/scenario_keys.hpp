// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/yaml/problems.hpp"
#include "sim/scenario/value_kind.hpp"

namespace gradway::config {

/// A key that a scenario can have, for people: `gradway list keys` and docs/scenario-keys.md. A test holds
/// the rows against the reader: its keys, their values and their defaults.
struct ScenarioKey {
  std::string name;  ///< with dots; what is in an entry of a list, too: "traffic.from"
  value::Kind kind;  ///< of what can stand there
  std::string meaning;
  std::string otherwise = {};  ///< what counts without the key, as it would be written; empty if nothing does
  bool is_required = false;    ///< where its group stands
  bool is_set_alone = true;    ///< by --set, --vary and the rows of a file of cases
  /// Kinds of strategy that have the key; empty: all. Where two kinds give a key different values, each has a
  /// row of its own.
  std::vector<std::string_view> strategies = {};
  /// Why jobs that differ in the key alone share all errors of prediction; empty: they do not. Of a group:
  /// that holds for what is in it.
  std::string_view outside_identity = {};

  /// What can stand there, for people.
  std::string value() const { return in_words(kind); }
  /// What the key does, for people, with the strategies that have it.
  std::string help() const;
  bool is_group() const { return std::holds_alternative<value::Map>(kind); }
};

/// All keys: groups ("job") before what is in them ("job.gpus").
const std::vector<ScenarioKey>& described_keys();

/// The names of those that can be set.
std::vector<std::string> scenario_keys();

/// @throws ConfigError at `where` for a key that cannot be set, with the nearest that can.
void check_scenario_key(const std::string& key, const Where& where);

}  // namespace gradway::config

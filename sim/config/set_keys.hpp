// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Keys of a scenario and the texts of their values, as for `--set`. An empty text: without the key.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Sets a key of the strategy or `replicate` of `parallel`.
/// @throws ConfigError for a value that the key cannot have
/// @pre the strategy has the key
void set_key(Strategy& strategy, std::string_view key, const std::string& text);

/// Sets keys of a job that was read, without reading its files again. Rules between keys are not checked.
/// @param tiers by whose names `input.storage` and `input.staged_from` refer to them
/// @throws ConfigError for a value that a key cannot have
/// @pre the keys are those of a table of fields, `optimizer`, `strategy.kind`, `parallel.replicate`,
/// `input.codec` or NCCL's
void set_keys(Job& job, const Settings& set, const std::vector<StorageTier>& tiers = {});

/// The same, with `faster`, and with the platform under the changed conditions and with the changed loaders.
void set_keys(Scenario& scenario, const Settings& set, const std::vector<StorageTier>& tiers = {});

/// Copies the value of a key from one strategy to another of the same kind. @pre the strategies have the key
void copy_key(Strategy& target, const Strategy& source, std::string_view key);

}  // namespace gradway

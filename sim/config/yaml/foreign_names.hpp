// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway::config {

/// Hint for an unknown key of a scenario: the key that other trainers call by this name, else the nearest of
/// `known`, else all of them.
/// @param group "job", "strategy" ...; empty: a top-level key @param known keys of the group
std::string hint_for_key(std::string_view group, std::string_view key, const std::vector<std::string>& known);

/// Hint for an invalid word. @param thing what the key expects: "a precision"
std::string hint_for_word(std::string_view thing, std::string_view word,
                          const std::vector<std::string>& known);

/// Hint for another trainer's name of a key; empty: unknown.
std::string hint_for_foreign_key(std::string_view group, std::string_view key);

/// What to use instead of an accelerator that is not modelled, such as "tpu-v5p-8"; empty: the name is of
/// none.
std::string hint_for_accelerator(std::string_view name);

/// Hint for another name of a storage tier, such as "S3 One Zone"; empty: unknown.
std::string hint_for_storage(std::string_view name);

/// Words of a platform's name that may name a GPU: "h100" of "8xH100" and of "coreweave-h100".
std::vector<std::string> gpu_words(std::string_view platform);

/// Whether a GPU is of this model: "h100-sxm" is an "h100", but "l40s" is no "l4".
bool is_gpu_model(std::string_view gpu, std::string_view model);

}  // namespace gradway::config

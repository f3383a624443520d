// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway::config {

/// The hint for an unknown key of a scenario: what other trainers call a key of ours, else the nearest of
/// `known`, else all of them.
/// @param group "job", "strategy" ...; empty: the key stands by itself @param known keys of the group
std::string hint_for_key(std::string_view group, std::string_view key, const std::vector<std::string>& known);

/// The same of a word that a key cannot have. @param thing what the key takes: "a precision"
std::string hint_for_word(std::string_view thing, std::string_view word,
                          const std::vector<std::string>& known);

/// What another trainer's name of a key means here; empty: it is no such name.
std::string hint_for_foreign_key(std::string_view group, std::string_view key);

/// Known models that a name of Hugging Face may stand for, such as "meta-llama/Meta-Llama-3-8B".
std::vector<std::string> models_alike(std::string_view name, const std::vector<std::string>& known);

/// Parts of a platform's name that a GPU's may have: "h100" of "8xH100" and of "coreweave-h100".
std::vector<std::string> gpu_words(std::string_view platform);

}  // namespace gradway::config

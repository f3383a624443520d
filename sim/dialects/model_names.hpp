// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// Known models that another name may mean, such as "meta-llama/Meta-Llama-3-8B" of Hugging Face, or
/// "qwen3_1.7B" of a trainer.
std::vector<std::string> models_alike(std::string_view name, const std::vector<std::string>& known);

}  // namespace gradway

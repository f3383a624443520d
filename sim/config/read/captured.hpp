// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/config/yaml/reader.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway::config {

/// Reads the keys of a model of kind `captured`, as python/gradway/capture writes them. The layers are the
/// modules in the order of the forward pass, each with the parameters whose gradients are ready in its
/// backward pass.
void read_captured(Reader& file, Model& model);

/// Reads the strategy that the captured program sets, with the keys of a scenario. Empty if it sets none.
std::optional<Strategy> read_captured_strategy(Reader& file);

}  // namespace gradway::config

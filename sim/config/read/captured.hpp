// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/reader.hpp"
#include "sim/workload/model.hpp"

namespace gradway::config {

/// Reads the keys of a model of kind `captured`, as python/gradway/capture writes them. The layers are the
/// modules in the order of the forward pass, each with the parameters whose gradients are ready in its
/// backward pass.
void read_captured(Reader& file, Model& model);

}  // namespace gradway::config

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/yaml/reader.hpp"
#include "sim/workload/architectures.hpp"

namespace gradway::config {

/// Reads the `layers` of a model of kind layers and follows the image through them: every kernel must fit
/// what the layer before gives.
std::vector<LayerShape> read_layer_stack(Reader& file, const ImageShape& input);

}  // namespace gradway::config

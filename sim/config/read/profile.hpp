// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/reader.hpp"
#include "sim/workload/model.hpp"

namespace gradway::config {

/// Reads the keys of a model of kind `profile` into the model's profile and checks them against each other.
/// Its layers become the gradients: the last one to get ready first, because gradients get ready from the
/// last layer to the first. They have no work of their own.
void read_profile(Reader& file, Model& model);

}  // namespace gradway::config

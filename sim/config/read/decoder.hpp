// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/reader.hpp"
#include "sim/workload/model.hpp"

namespace gradway::config {

// The keys of these kinds of models; the model gets its layers if nothing is wrong with them.
void read_decoder(Reader& file, Model& model);
void read_encoder_decoder(Reader& file, Model& model);

}  // namespace gradway::config

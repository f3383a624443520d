// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sim/import/training/hugging_face_model.hpp"

namespace gradway {

/// Reads a decoder of a family whose differences from Llama are in a table. @return whether it is in the
/// table
bool read_known_decoder(HuggingFaceModel& model, std::string_view model_type);
std::vector<std::string_view> known_decoders();

/// The keys that a file of unknown model_type needs to be read as a decoder, and lacks.
std::vector<std::string_view> missing_decoder_keys(HuggingFaceModel& model);
/// Reads a decoder by its keys alone. @pre no key is missing
void read_decoder_by_keys(HuggingFaceModel& model);

}  // namespace gradway

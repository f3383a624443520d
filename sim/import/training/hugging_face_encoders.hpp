// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/import/training/hugging_face_model.hpp"

namespace gradway {

// Readers of config.json of these families.
void read_t5(HuggingFaceModel& model);
void read_bert(HuggingFaceModel& model);
void read_modernbert(HuggingFaceModel& model);
void read_whisper(HuggingFaceModel& model);
void read_vit(HuggingFaceModel& model);

}  // namespace gradway

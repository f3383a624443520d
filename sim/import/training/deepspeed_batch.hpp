// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/import/training/scenario_draft.hpp"
#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

/// Ranks and batches of a job; zeros where there was a problem.
struct DeepSpeedBatch {
  int gpus = 0;
  int micro = 0;  ///< samples of a micro-step on each GPU
  int accumulate = 0;
};

/// DeepSpeed's law: train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x ranks;
/// what is missing follows, accumulation is 1 if only one of them is there.
/// @param split GPUs that work on the same samples
DeepSpeedBatch deepspeed_batch(TrainerSettings& settings, const DraftOptions& options, int split);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/input/batch_cost.hpp"

namespace gradway {

/// The program of a loader whose threads share each batch. It puts into the slots `made_batches` and `begun`,
/// each once per batch.
///
/// tf.data: `map` with `num_parallel_calls` threads, which read and decode samples, then `batch` and
/// `prefetch`. @source tensorflow.org/guide/data_performance; tf.data: A Machine Learning Data Processing
/// Framework, VLDB 2021
///
/// DALI: a reader with one thread of its own, which is a batch ahead; CPU threads to which samples are
/// dealt; the mixed decoder and operators on the GPU, on streams of their own. `prefetch_queue_depth` runs of
/// the pipeline are under way. @source NVIDIA DALI 1.42, user guide; github.com/NVIDIA/DALI, issue 4857: one
/// reader delivers ImageNet's 140 GB from memory in 70 s, 16 readers in 8 s
Program thread_loader_program(const Scenario& scenario, const BatchCost& cost, Slot made_batches, Slot begun);

/// Number of batches that are begun and not taken.
int batches_under_way(const InputSettings& input);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/platform/platform.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

/// Samples in storage.
struct StoredSamples {
  Bytes size{};      ///< of one compressed sample
  Bytes read{};      ///< from storage for one sample
  Bytes request{};   ///< of one read request
  double waits = 0;  ///< requests for one sample that a reader waits for, one after the other
  double hits = 0;   ///< hit ratio of the node's cache; each epoch gives its ranks other samples
};

/// @pre the input has a dataset
StoredSamples stored_samples(const InputSettings& input);

/// Hardware threads of a node for each of its ranks. More loader workers only wait for each other (see
/// `cores_for_loaders`).
int loader_threads_of_a_rank(const Platform& platform, int gpus);

/// Whether the loader itself copies batches to the GPU.
bool delivers_to_gpu(const InputSettings& input);

/// Size of a sample that the loader decodes into the GPU's memory; else 0.
Bytes decoded_on_gpu(const InputSettings& input);

/// Whether samples come over the NICs that collectives use, from storage outside the node.
bool shares_nics(const InputSettings& input);

/// The platform with the resources that the job's loaders share: storage, caches, cores. Replaces those of
/// another job.
Platform with_loaders(Platform platform, const Job& job);

/// What samples on storage cost in USD.
struct SamplesCost {
  double usd_per_s = 0;       ///< for keeping the dataset
  double usd_of_sample = 0;   ///< requests and egress of a sample, with the hits of later epochs
  double usd_of_filling = 0;  ///< what the first epoch reads in addition, because its caches are empty
};

/// Empty if the price is unknown.
std::optional<SamplesCost> samples_cost(const InputSettings& input);

/// Price of storage for a million samples in USD: storing the dataset meanwhile, requests for samples that
/// are not cached, and egress. Empty if the price is unknown.
std::optional<double> storage_usd_per_million_samples(const InputSettings& input, double samples_per_s);

}  // namespace gradway

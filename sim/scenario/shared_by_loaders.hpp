// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/platform/platform.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

/// Samples in the store, over the network and in the caches of nodes, with compression and deduplication.
struct StoredSamples {
  Bytes size{};      ///< of one sample over the network
  Bytes read{};      ///< from storage for one sample, with what its requests read in addition
  Bytes request{};   ///< of one read request
  double waits = 0;  ///< requests for one sample that a reader waits for, one after the other
  double hits = 0;   ///< hit ratio of the node's cache; each epoch gives its ranks other samples
  Bytes kept{};      ///< by the store, per sample: without duplicates that it keeps once
  Bytes cached{};    ///< of one sample that is read from a cache
  Bytes in_cache{};  ///< that a cache needs per sample of the dataset: without duplicates
  Seconds core{};    ///< CPU time of the node per sample to compress, decompress and hash it
};

/// Rate at which one core hashes pieces with SHA-256. Own measurement, 2026-11-26, OpenSSL 3.0 on a Xeon with
/// SHA extensions, pieces of 64 KiB.
inline constexpr BytesPerSecond hash_rate{1.9e9};

/// Share of the samples that are not staged yet: all at the start of a job that stages during training.
double cold_share(const InputSettings& input);

/// The tier that a step waits for, and whose errors its reads have: the cold one while samples are not
/// staged. Empty: host memory.
const std::optional<StorageTier>& tier_of_reads(const InputSettings& input);

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
  double usd_per_s = 0;        ///< for keeping the dataset
  double usd_of_requests = 0;  ///< of a sample, with the hits of later epochs
  double usd_of_egress = 0;    ///< likewise
  double usd_of_filling = 0;   ///< what the first epoch reads in addition, because its caches are empty
  double usd_of_sample() const { return usd_of_requests + usd_of_egress; }
};

/// Empty if the price is unknown.
std::optional<SamplesCost> samples_cost(const InputSettings& input);

/// Price of storage for a million samples in USD.
struct StorageUsd {
  double keeping = 0;   ///< the dataset meanwhile
  double requests = 0;  ///< for samples that are not cached
  double egress = 0;    ///< likewise
  double sum() const { return keeping + requests + egress; }
};

/// Empty if the price is unknown.
std::optional<StorageUsd> storage_usd_per_million_samples(const InputSettings& input, double samples_per_s);

}  // namespace gradway

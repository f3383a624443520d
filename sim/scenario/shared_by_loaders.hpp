// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/platform/platform.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

/// Samples as they lie in storage.
struct StoredSamples {
  Bytes size{};     ///< of one, packed
  Bytes request{};  ///< what one request brings
  double hits =
      0;  ///< share of reads that the node's cache answers: each epoch brings its ranks other samples
};

/// @pre the input has a dataset
StoredSamples stored_samples(const InputSettings& input);

/// Whether samples come over the network cards that collectives use: from storage outside the node.
bool shares_cards(const InputSettings& input);

/// The platform with what the job's loaders share: storage, caches, cores; in place of those of another job.
Platform with_loaders(Platform platform, const Job& job);

/// What storage takes for a million samples, in USD: to keep the dataset meanwhile, to ask for samples that
/// no cache has, and to move them out. Empty where its file tells no price.
std::optional<double> storage_usd_per_million_samples(const InputSettings& input, double samples_per_s);

}  // namespace gradway

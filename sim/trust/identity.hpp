// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>

#include "sim/lower/communicators.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Digests of the settings of a job, one for each kind of prediction error. Two jobs share an error only if
/// its digest is equal.
struct JobIdentity {
  std::string kernels;   ///< kernels of a GPU, without those of the optimizer, the batch and the sequence
  std::string launches;  ///< how a program launches them, on any CPU
  std::string exchange;  ///< what ranks exchange, and when
  std::string step;      ///< `exchange`, and whether gradients are views into buckets
  std::string samples;   ///< CPU time of a sample
  std::string storage;   ///< source of samples, and how they are read

  auto operator<=>(const JobIdentity&) const = default;
};

/// Each key of a scenario takes part, or states why not (`ScenarioKey::outside_identity`). A test checks all
/// keys.
JobIdentity identity_of(const Scenario& scenario);

/// Digest of the links of a node that NCCL uses with this transport, and of the network if it is NET. Equal
/// for platforms whose GPUs are of one generation and joined alike, whatever their names.
std::string identity_of_links(const Platform& platform, Transport transport);

}  // namespace gradway

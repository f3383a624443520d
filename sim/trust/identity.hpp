// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>

#include "sim/lower/communicators.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A job by value, as digests of the settings that each kind of prediction error depends on. Two jobs share
/// an error only if the digest that it depends on is equal.
struct JobIdentity {
  std::string kernels;   ///< which kernels a GPU runs, but for the optimizer's, the batch and the sequence
  std::string launches;  ///< how a program issues them, on any CPU
  std::string exchange;  ///< everything that decides what ranks exchange, and when
  std::string step;      ///< the same, and whether gradients are views into buckets: all but `samples`
  std::string samples;   ///< what a sample costs to make
  std::string storage;   ///< what samples are read from, and how

  auto operator<=>(const JobIdentity&) const = default;
};

/// Each key of a scenario takes part, or says why not (`ScenarioKey::outside_identity`): a test walks them.
JobIdentity identity_of(const Scenario& scenario);

/// Digest of the links of a node that NCCL uses with this transport, and of the network if it is NET. Equal
/// for platforms whose GPUs are of one generation and joined alike, whatever their names.
std::string identity_of_links(const Platform& platform, Transport transport);

}  // namespace gradway

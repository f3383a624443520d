// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "sim/import/chakra/chakra_node.hpp"
#include "sim/import/kineto/kineto.hpp"

namespace gradway {

/// A data-parallel rank's execution trace of Chakra as a profile: its compute nodes on the GPU are the
/// launches, in the order in which they can run; what it reduces is its gradients, each all-reduce or
/// reduce-scatter one. The trace does not tell the GPU, the batch and the optimizer: the first two must be
/// given, the profile says sgd. The CPU's launches are not in it either and cost nothing. Phases are those of
/// the nodes' attribute, or follow from their names ("...Backward...", "optimizer").
/// @param shown the file's name in messages
/// @throws ConfigError if the trace is no such step: no compute nodes, no backward pass, nothing reduced,
/// dependencies that go round or lead nowhere, or ranks that exchange more than gradients
ImportedProfile import_chakra(std::span<const ChakraNode> nodes, const std::string& shown,
                              const ImportOptions& options);

}  // namespace gradway

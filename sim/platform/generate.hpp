// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/builder.hpp"
#include "sim/platform/description.hpp"

namespace gradway {

/// Adds made-up hardware for `ranks` GPUs. ring: each GPU to the next. star: all GPUs to one switch that is
/// never the bottleneck. leaf_spine: `gpus_per_leaf` GPUs to a leaf, each leaf to each spine.
void generate(const GeneratedPlatform& made_up, const Gpu& gpu, int ranks, PlatformBuilder& builder);

}  // namespace gradway

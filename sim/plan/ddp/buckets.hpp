// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// DDP's buckets after it has rebuilt them in the order in which gradients become ready. A bucket closes when
/// its size reaches the cap, so it may overshoot.
/// @param width bytes of a gradient element
/// @param cap of all buckets; if absent, PyTorch's default of 1 MiB for the first bucket and 25 MiB for the
/// others
/// @source torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size, PyTorch 2.8
std::vector<Unit> ddp_buckets(const Model& model, std::optional<Bytes> cap, double width = fp32_bytes);

/// DDP's buckets as it builds them before the first step, which it keeps with `find_unused_parameters` and
/// without a static graph: in the order of parameters, then reversed, so that the small one is reduced last.
/// @source torch/nn/parallel/distributed.py, _ddp_init_helper, and reducer.hpp, should_rebuild_buckets,
/// PyTorch 2.11
std::vector<Unit> first_ddp_buckets(const Model& model, std::optional<Bytes> cap, double width = fp32_bytes);

}  // namespace gradway

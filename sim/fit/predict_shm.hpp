// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Tables of SHM all-reduce for each number of GPUs of which the host memory's rate is known, but no
/// collective over SHM was measured: NCCL's own latency for the algorithm and protocol that it would choose,
/// and what that protocol moves for a ring's bytes at the rate at which the host memory serves all its hops
/// at once. Sizes from 1 KiB to 1 GiB.
///
/// What it leaves out makes it too slow for buffers of some MB, which the caches of the CPU serve.
/// @validated tests/fit/predict_shm_test.cpp
std::vector<CollectiveTable> predict_shm(const std::vector<LinkRate>& links,
                                         const std::vector<CollectiveTable>& measured);

}  // namespace gradway

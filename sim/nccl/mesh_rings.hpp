// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// Links of each GPU to others if every two of these GPUs of a node have the same number of links of their
/// own and no switch, as 8 MI300X with XGMI: the number of other GPUs. 0 if they do not form such a mesh.
int mesh_links(const Routes& routes, const std::vector<std::size_t>& gpus);

/// Rings through all GPUs of a full mesh, by position, that use every link in each direction equally often.
/// So a ring all-reduce has the bus bandwidth of all links of a GPU. Sizes from 2 to 8: with 8 GPUs there are
/// 7 rings without a common link, with a prime number n - 1, with n - 1 prime each link is in n - 2 rings.
/// @source github.com/ROCm/rccl at 0cbce2a7, src/graph/rome_models.cc: the rings of its models of meshes use
///         all links equally, twice for 8 GPUs and 4 MI300A. Ours are other rings with that property; for
///         other sizes RCCL searches, and is assumed to find as good ones
/// @return empty for other sizes
std::vector<std::vector<std::size_t>> mesh_rings(std::size_t gpus);

/// Chain through an even number of GPUs of a full mesh that starts at this one, by position. The chains of
/// all starts together use each link in each direction once, so that the ring of each NIC has links of its
/// own.
/// @source a row-complete Latin square (E. J. Williams 1949): start, start + 1, start - 1, start + 2, ...;
/// the
///         eight rings between nodes of RCCL's model of 8 MI300X (rome_model_81) have the same property
std::vector<std::size_t> mesh_chain(std::size_t gpus, std::size_t start);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Nodes that the first `ranks` GPUs lie on.
int node_count(const Platform& platform, int ranks);

/// The orders in which rings visit the ranks: node by node, inside a node by number. On several nodes there
/// is one ring for each NIC of a node, and each leaves the nodes at another GPU, so that together they use
/// all NICs.
std::vector<std::vector<std::size_t>> ring_orders(const Platform& platform, int ranks);

/// The edges (child, parent) of NCCL's double binary trees: a chain through the GPUs of each node, and
/// between the nodes a binary tree; the second tree of a pair takes the nodes in reverse, so that leaves of
/// one are inner nodes of the other. On several nodes there is a pair for each NIC of a node, whose chains
/// start at the GPU beside it (trees 2i and 2i + 1 for NIC i). One tree on a single node.
/// @source NCCL 2.28.9, src/graph/trees.cc (the shape); the exact numbering differs
std::vector<std::vector<std::pair<std::size_t, std::size_t>>> tree_edges(const Platform& platform, int ranks);

}  // namespace gradway

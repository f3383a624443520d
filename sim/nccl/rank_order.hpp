// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// GPUs of a communicator in the order of its ranks, each by its number on the platform.
using GpuNumbers = std::vector<std::size_t>;

/// Whether rings between nodes pass the GPUs of this node in the chains of `mesh_chain`.
bool has_mesh_chains(const Routes& routes, const GpuNumbers& node);

/// The first GPUs of the platform: those of a whole job.
GpuNumbers first_gpus(int count);

/// GPUs by NCCL's nodes, in order: a node, or all nodes that NVSwitches join.
std::vector<GpuNumbers> gpus_by_domain(const Platform& platform, const GpuNumbers& gpus);

/// Number of machines with the first `gpus` GPUs. @pre the platform has them
int node_count(const Platform& platform, int gpus);

/// The orders in which rings visit the GPUs: node by node, inside a node along NVLinks if they form a ring,
/// else in the order of the ranks. One node has as many rings as its direct NVLinks allow; one if an NVSwitch
/// or no NVLink joins the GPUs. Several nodes have one ring for each NIC of a node: it enters a node at a GPU
/// near that NIC, and leaves it at another GPU near it, if there is one. If direct NVLinks form no ring,
/// rings go through relays (`nvlink_rings`), provided that `relays` is true. A communicator of some GPUs of
/// each node uses the NICs nearest to these.
/// @param alternates rings in pairs: one enters a node at the GPU near its NIC and leaves it at the GPU near
/// the
///        NIC of the other, and on every second node the other way round, so that data stays on its rail
/// @source NCCL 2.28.9, src/graph/connect.cc, "Alternate rings to avoid crossing rails"
std::vector<GpuNumbers> ring_orders(const Routes& routes, const GpuNumbers& gpus, bool relays = true,
                                    bool alternates = false);

/// The NIC of each ring, and of each pair of trees, by number within its node.
/// @param first_node GPUs of the communicator on the first of its several nodes
std::vector<std::size_t> ring_rails(const Routes& routes, const GpuNumbers& first_node);

/// A tree edge between two GPUs.
struct Edge {
  std::size_t child = 0;
  std::size_t parent = 0;
};

/// The edges of NCCL's double binary trees: a chain through the GPUs of each node, and between nodes the
/// binary tree of their numbers; the second tree of a pair is its mirror image (or shifted by one for an odd
/// number of nodes), so that leaves of one are inner nodes of the other. Several nodes have a pair for each
/// NIC of a node, whose chains start at a GPU near it (trees 2i and 2i + 1 for NIC i). A single node has one
/// tree.
/// @source NCCL 2.28.9, src/graph/trees.cc
std::vector<std::vector<Edge>> tree_edges(const Routes& routes, const GpuNumbers& gpus, bool relays = true);

/// The edges of the same trees between nodes: they join the GPUs near the NIC.
std::vector<std::vector<Edge>> tree_edges_between_nodes(const Routes& routes, const GpuNumbers& gpus,
                                                        bool relays = true);

/// The number of edges between nodes that each node has in the first and in the second tree of a pair.
/// @pre several nodes
std::array<std::vector<std::uint32_t>, 2> tree_degrees(std::size_t nodes);
/// In a binary tree: to the parent and to two children.
constexpr std::size_t most_tree_degree = 3;

}  // namespace gradway

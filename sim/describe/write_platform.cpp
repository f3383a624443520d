// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/write_platform.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/refuse.hpp"
#include "sim/cost/size_text.hpp"
#include "sim/fit/yaml_text.hpp"
#include "sim/import/topology/node_layout.hpp"

namespace gradway {
namespace {

/// The topology of the node's row.
struct Shape {
  NodeLayout layout;
  std::vector<std::string> remarks;  ///< Source of the layout, and what is uncertain.
  std::vector<std::string> warnings;
};

std::optional<int> nvlinks_of(const NodeRow& node) {
  return node.gpus.front().nvlinks;
}

/// Substitute for a missing matrix: NUMA nodes, and NVLinks between all GPUs or none.
TopologyMatrix made_up_matrix(const NodeRow& node) {
  TopologyMatrix matrix;
  matrix.gpus = node.gpus.size();
  const auto links = nvlinks_of(node).value_or(0);
  for (const auto& gpu : node.gpus) {
    auto& row = matrix.cells.emplace_back();
    for (const auto& peer : node.gpus) {
      const bool is_far = gpu.numa_node != peer.numa_node;
      row.push_back(&gpu == &peer ? Connection{}
                    : links > 0   ? Connection{PathType::nvlink, links}
                                  : Connection{is_far ? PathType::sys : PathType::node, 0});
    }
    matrix.numa_nodes.push_back(gpu.numa_node);
  }
  return matrix;
}

/// Keeps only the first GPUs, and all NICs.
void keep_gpus(TopologyMatrix& matrix, std::size_t count) {
  const auto cut = [&](auto& list) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(count),
               list.begin() + static_cast<std::ptrdiff_t>(matrix.gpus));
  };
  cut(matrix.cells);
  std::ranges::for_each(matrix.cells, cut);
  matrix.numa_nodes.resize(count);
  matrix.gpus = count;
}

TopologyMatrix read_matrix(const NodeRow& node) {
  try {
    return read_topology_matrix(*node.matrix, "topology_matrix");
  } catch (const ConfigError& error) {
    const auto& problem = error.problems().front();
    const auto place = problem.where.line == 0
                           ? std::string{}
                           : fmt::format(", line {}, column {}", problem.where.line, problem.where.column);
    refuse_at(node.matrix_where, fmt::format("in the text of 'topology_matrix'{}: {}", place, problem.what),
              problem.hint);
  }
}

Shape shape_of(const NodeRow& node) {
  Shape shape;
  TopologyMatrix matrix;
  if (node.matrix) {
    matrix = read_matrix(node);
    if (matrix.gpus < node.gpus.size()) {
      refuse_at(
          node.matrix_where,
          fmt::format("the matrix has {} GPUs, but the node's row has {}", matrix.gpus, node.gpus.size()),
          "check whether the matrix is of another node");
    }
    if (matrix.gpus > node.gpus.size()) {
      shape.warnings.push_back(fmt::format(
          "the matrix has {} GPUs, of which {} were measured: they are assumed to be the first ones",
          matrix.gpus, node.gpus.size()));
      keep_gpus(matrix, node.gpus.size());
    }
    for (std::size_t i = 0; i < matrix.gpus; ++i) {
      if (!matrix.numa_nodes[i]) matrix.numa_nodes[i] = node.gpus[i].numa_node;
    }
    shape.remarks.emplace_back(
        "Parts and their connections: from the node row's topology_matrix (`nvidia-smi topo -m`).");
  } else {
    matrix = made_up_matrix(node);
    shape.remarks.emplace_back(
        "Inferred: the samples have no topology_matrix. Each GPU has a root complex of its own, on the "
        "socket of its NUMA "
        "node; NVLinks, if any, connect all GPUs.");
    if (matrix.gpus > 1) {
      shape.warnings.emplace_back(
          "the samples have no matrix of 'nvidia-smi topo -m': PCIe switches and pairs of GPUs are unknown");
    }
  }
  shape.layout = node_layout(matrix, {nvlinks_of(node), node.names_nvswitch});
  shape.warnings.insert(shape.warnings.end(), shape.layout.remarks.begin(), shape.layout.remarks.end());
  shape.remarks.insert(shape.remarks.end(), shape.warnings.begin(), shape.warnings.end());
  if (!shape.layout.switched.empty() && !node.names_nvswitch) shape.remarks.emplace_back(inferred_nvswitch);
  return shape;
}

/// Adds the path of TCP inside the node, if it was measured.
void add_loopback(const NodeRow& node, const NodeRates& rates, PlatformDraft& draft) {
  const auto ring = node.nodes == 1 ? rates.through_net() : std::nullopt;
  if (!ring) return;
  draft.nics.emplace_back("loopback");
  draft.nic_remarks.emplace_back(
      "Path of TCP inside the host, for NCCL without P2P and SHM. It does not leave the node: replace it by "
      "the real NICs to describe several nodes.");
  draft.links.groups.push_back(
      {fmt::format("Rows of collectives with the tag net: the best ring, in which each of {} ranks sends {}.",
                   ring->ranks, platform_rate(ring->each)),
       {{draft.links.sockets.front().name, "loopback", LinkKind::pcie, ring->rate, ring->rate}}});
}

/// Names the NICs, which were not measured, with their parent in the file.
void name_nics(const NodeLayout& layout, PlatformDraft& draft) {
  std::vector<std::string> names;
  for (auto i = layout.gpus; i < layout.gpus + layout.nics; ++i) {
    names.push_back(layout.name(i));
    const auto ancestors = layout.above(i);
    const auto parent =
        std::ranges::find_if(ancestors, [&](std::size_t above) { return !layout.gpus_below(above).empty(); });
    draft.loose_links.push_back(fmt::format("- {{ from: {}, to: {}, kind: pcie, bandwidth: ... }}",
                                            parent == ancestors.end() ? "..." : layout.name(*parent),
                                            names.back()));
  }
  if (names.empty()) return;
  draft.nic_remarks.push_back(
      fmt::format("The node has NICs whose rates were not measured: {}. To use them, list them in 'nics' and "
                  "link them, as below.",
                  fmt::join(names, ", ")));
}

void add_fabric(const NodeRow& node, PlatformDraft& draft, std::vector<std::string>& warnings) {
  if (node.nodes < 2) return;
  draft.closing = {fmt::format("The samples come from {} nodes; this is one of them. To describe all, give "
                               "the network between their NICs:",
                               node.nodes),
                   fmt::format("nodes: {}", node.nodes),
                   "fabric: { kind: star, bandwidth: ..., latency: ... }"};
  warnings.push_back(fmt::format(
      "the samples come from {} nodes and the file describes one: add 'nodes: {}', 'fabric' and its NICs",
      node.nodes, node.nodes));
}

}  // namespace

const NodeRow& node_of(const Samples& samples, const std::string& file) {
  if (samples.nodes.empty()) {
    Where where;
    where.file = file;
    refuse_at(std::move(where), "no row describes the measured node",
              "expected a row of kind 'node', as written by gradway-probe, with the GPUs and their topology");
  }
  const auto& node = samples.nodes.front();
  if (samples.nodes.size() > 1) {
    throw ConfigError{Problem{samples.nodes[1].where,
                              "the samples describe two different nodes",
                              {{node.where, "the other node is here"}},
                              "keep the samples of each node in a separate file"}};
  }
  if (node.gpus.empty()) {
    refuse_at(node.where, "the row of the node has no 'gpus'", "measure again with gradway-probe");
  }
  for (const auto& gpu : node.gpus) {
    if (gpu.name == node.gpus.front().name) continue;
    refuse_at(node.where,
              fmt::format("the node has two kinds of GPU, '{}' and '{}'", node.gpus.front().name, gpu.name),
              "a platform has one kind of GPU: measure each kind separately (CUDA_VISIBLE_DEVICES)");
  }
  return node;
}

WrittenPlatform platform_yaml(const Samples& samples, const PlatformTitle& title) {
  const auto& node = node_of(samples);
  const NodeRates rates{samples};
  auto shape = shape_of(node);
  WrittenPlatform written;
  PlatformDraft draft;
  draft.source = source_text(node);
  draft.gpu = title.gpu;
  draft.calibration = title.calibration;
  draft.cpu_vendor = node.cpu_vendor;
  draft.nvls_was_off = node.nvls_was_off;
  draft.no_vendor = "not in the node row";
  if (const auto copies = rates.pageable())
    draft.pageable_copy = {copies->rate,
                           fmt::format("Rows h2d_pageable: copies of {}.", size_text(copies->size))};
  draft.layout = without_nics(shape.layout);
  draft.remarks = std::move(shape.remarks);
  draft.links = node_links(node, draft.layout, rates);
  written.warnings = std::move(shape.warnings);
  written.warnings.insert(written.warnings.end(), draft.links.warnings.begin(), draft.links.warnings.end());
  add_loopback(node, rates, draft);
  name_nics(shape.layout, draft);
  add_fabric(node, draft, written.warnings);
  written.yaml = platform_text(draft);
  return written;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/write_platform.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/fit/kernels.hpp"
#include "readers/fit/yaml_text.hpp"
#include "readers/topology/node_layout.hpp"
#include "sim/base/problem.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/cost/size_text.hpp"

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

namespace {

// Defaults for what was not measured, from platforms/gpus/h200.yaml.
constexpr double usual_memory_efficiency = 0.88;
constexpr double usual_widening = 0.5;  // Share of the memory efficiency.
constexpr auto usual_kernel_latency = 4.2_us;
constexpr auto usual_launch_cost = 5.3_us;

std::string memory_text(Bytes memory) {
  constexpr auto mebibyte = 1_MiB;
  const auto size = memory / mebibyte;
  return size == std::floor(size) ? fmt::format("{:.0f} MiB", size) : fmt::format("{:.0f} B", memory.value());
}

/// Memory bandwidth, with two transfers per clock.
/// @source CUDA C++ Best Practices Guide, "Theoretical Bandwidth Calculation"
std::optional<BytesPerSecond> bandwidth_of(const NodeGpu& gpu) {
  const auto bytes_a_second = gpu.memory_clock.value_or(0) * gpu.memory_bus.value_or(0) / 8 * 2;
  return bytes_a_second < 1 ? std::nullopt : std::optional{BytesPerSecond{bytes_a_second}};
}

/// The slowest rate of copies, additions and scalings, or the rate of casts from 16 to 32 bits.
std::optional<BytesPerSecond> memory_rate(const KernelRates& rates, bool widens) {
  std::optional<BytesPerSecond> slowest;
  for (const auto& rate : rates.memory) {
    const bool is_cast =
        rate.kernel == MemoryKernel::cast_fp32_bf16 || rate.kernel == MemoryKernel::cast_bf16_fp32;
    const bool is_wanted = widens ? rate.kernel == MemoryKernel::cast_bf16_fp32 : !is_cast;
    if (is_wanted && (!slowest || rate.bandwidth < *slowest)) slowest = rate.bandwidth;
  }
  return slowest;
}

std::optional<Seconds> launch_time(const KernelRates& rates) {
  const auto launch = std::ranges::find(rates.launches, LaunchCost::launch, &LaunchTime::what);
  return launch == rates.launches.end() ? std::nullopt : std::optional{launch->time};
}

class GpuWriter {
 public:
  explicit GpuWriter(const Samples& samples)
      : node_{node_of(samples)}, gpu_{node_.gpus.front()}, rates_{fit_kernels(samples, {})} {
    std::erase_if(rates_.matrix, [](const MatrixRate& matrix) {
      return matrix.shape != ProductShape::large ||
             static_cast<std::size_t>(matrix.arithmetic) >= precision_count;
    });
    require(gpu_.memory.has_value(), "the node row does not contain its memory");
    require(gpu_.compute_capability.has_value(), "the node row does not contain its compute capability");
    require(!rates_.matrix.empty(), "there are no rows 'gemm' of 4096 x 4096 x 4096 or larger");
    bandwidth_ = bandwidth_of(gpu_);
    stream_ = memory_rate(rates_, false);
    widen_ = memory_rate(rates_, true);
    require(bandwidth_ || stream_, "neither the node row nor rows 'memory' give its memory bandwidth");
  }

  WrittenGpu write() {
    add("schema: 1\nsource: >-\n");
    add(wrapped(
        "  ", ascii_line(fmt::format("{}, measured by gradway-probe {}{}{}; sizes from the driver", gpu_.name,
                                     node_.probe, node_.date.empty() ? "" : ", ", node_.date))));
    add(fmt::format("compute_capability: {}.{}\n", *gpu_.compute_capability / 10,
                    *gpu_.compute_capability % 10));
    if (gpu_.multiprocessors) add(fmt::format("multiprocessors: {}\n", *gpu_.multiprocessors));
    add(fmt::format("memory: {}\n", memory_text(*gpu_.memory)));
    write_bandwidth();
    write_products();
    write_efficiencies();
    write_times();
    return std::move(written_);
  }

 private:
  void require(bool is_known, std::string_view lack) const {
    if (is_known) return;
    refuse_at(node_.where,
              fmt::format("no file of platforms/gpus describes '{}', and {}", ascii_line(gpu_.name), lack),
              "measure kernels with the probe too, or write a file of platforms/gpus by hand");
  }

  void add(std::string_view text) { written_.yaml += text; }

  /// Adds a number with its source above it.
  void add(std::string_view key, const std::string& value, std::string_view source) {
    add(wrapped("# ", source));
    add(fmt::format("{}: {}\n", key, value));
  }

  void guess(std::string_view key, const std::string& value) {
    add(key, value, "Not measured: value of our H200 node (platforms/gpus/h200.yaml).");
    written_.to_complete.emplace_back(key);
  }

  void write_bandwidth() {
    const bool is_nominal = bandwidth_.has_value();
    if (!is_nominal) bandwidth_ = stream_;
    if (stream_ && *stream_ > *bandwidth_) bandwidth_ = stream_;
    add("memory_bandwidth", fmt::format("{:.4g} GB/s", bandwidth_->value() / 1e9),
        is_nominal ? "From the driver: memory clock times bus width times two."
                   : "Measured, not from the datasheet: rows memory, the slowest of copies, additions and "
                     "scalings.");
    if (!is_nominal) written_.to_complete.emplace_back("memory_bandwidth");
  }

  void write_products() {
    std::vector<std::string> peaks;
    std::vector<std::string> efficiencies;
    for (const auto& matrix : rates_.matrix) {
      const auto precision = calibration_words::arithmetics[static_cast<std::size_t>(matrix.arithmetic)];
      peaks.push_back(fmt::format("{}: {:.4g} TFLOP/s", precision, matrix.rate.value() / 1e12));
      efficiencies.push_back(fmt::format("{}: 1", precision));
    }
    add("peak", fmt::format("{{ {} }}", fmt::join(peaks, ", ")),
        "Measured, not from the datasheet: rows gemm, the median of products of at least 100 GFLOP (4096 x "
        "4096 "
        "x 4096). "
        "It includes the efficiencies.");
    add(fmt::format("matrix_efficiency: {{ {} }}\n", fmt::join(efficiencies, ", ")));
    written_.to_complete.emplace_back("peak");
    written_.to_complete.emplace_back("matrix_efficiency");
  }

  void write_efficiencies() {
    const auto share = [&](BytesPerSecond rate) { return std::clamp(rate / *bandwidth_, 1e-4, 1.0); };
    const auto text = [](double value) { return fmt::format("{:.3g}", value); };
    const auto memory = stream_ ? share(*stream_) : usual_memory_efficiency;
    if (stream_) {
      add("memory_efficiency", text(memory),
          fmt::format("Rows memory: the slowest of copies, additions and scalings reached {:.4g} GB/s.",
                      stream_->value() / 1e9));
    } else {
      guess("memory_efficiency", text(memory));
    }
    if (widen_) {
      add("widen_efficiency", text(share(*widen_)),
          fmt::format("Rows memory: casts from 16 to 32 bits reached {:.4g} GB/s.", widen_->value() / 1e9));
    } else {
      guess("widen_efficiency", text(usual_widening * memory));
    }
  }

  void write_times() {
    const auto text = [](Seconds time) { return fmt::format("{:.4g} us", time.value() * 1e6); };
    if (rates_.smallest_kernel) {
      add("kernel_latency", text(*rates_.smallest_kernel), "Rows memory: the smallest kernels.");
    } else {
      guess("kernel_latency", text(usual_kernel_latency));
    }
    if (const auto launch = launch_time(rates_)) {
      add(wrapped("# ", fmt::format("Rows launch: {} of CPU time for an empty kernel, without PyTorch.",
                                    text(*launch))));
    }
    guess("launch_cost", text(usual_launch_cost));
  }

  const NodeRow& node_;
  const NodeGpu& gpu_;
  KernelRates rates_;
  std::optional<BytesPerSecond> stream_;  ///< Copies, additions and scalings.
  std::optional<BytesPerSecond> widen_;   ///< Casts from 16 to 32 bits.
  std::optional<BytesPerSecond> bandwidth_;
  WrittenGpu written_;
};

}  // namespace

WrittenGpu gpu_yaml(const Samples& samples) {
  return GpuWriter{samples}.write();
}

}  // namespace gradway

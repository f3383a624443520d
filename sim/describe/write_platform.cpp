// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/write_platform.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/size_text.hpp"
#include "sim/describe/node_links.hpp"
#include "sim/fit/plain_text.hpp"

namespace gradway {
namespace {

std::string rate_text(BytesPerSecond rate) {
  return fmt::format("{:.4g} GB/s", rate.value() / 1e9);
}

/// "gpu12" -> "gpu" and 12; a name without a number at its end -> itself and nothing.
std::pair<std::string_view, std::optional<int>> split(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789") + 1;
  int number = 0;
  const auto [last, error] = std::from_chars(name.data() + end, name.data() + name.size(), number);
  if (error != std::errc{} || end == 0) return {name, std::nullopt};
  return {name.substr(0, end), number};
}

bool follows(std::string_view name, std::string_view before) {
  const auto [start, number] = split(name);
  const auto [start_before, number_before] = split(before);
  return number && number_before && start == start_before && *number == *number_before + 1;
}

/// A name, or the names from the first to the last.
std::string pattern(const std::string& first, const std::string& last) {
  if (first == last) return first;
  return fmt::format("\"{}[{}-{}]\"", split(first).first, *split(first).second, *split(last).second);
}

/// The names of a list of parts, runs of them as one.
std::string patterns(const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < names.size();) {
    auto end = i + 1;
    while (end < names.size() && follows(names[end], names[end - 1])) ++end;
    found.push_back(pattern(names[i], names[end - 1]));
    i = end;
  }
  return fmt::format("[{}]", fmt::join(found, ", "));
}

/// Whether an end of a row of links goes on at the next link: always the same, or each time the next.
struct End {
  std::string first;
  std::string last;
  bool moves = false;

  bool takes(const std::string& name, bool is_second) const {
    return (name == first && (is_second || !moves)) || (follows(name, last) && (is_second || moves));
  }
  void take(const std::string& name) {
    moves = name != first;
    last = name;
  }
};

std::string link_line(const NodeLink& link, const End& from, const End& to) {
  constexpr std::array<std::string_view, 4> kinds{"pcie", "nvlink", "inter_socket", "network"};
  const auto forward = rate_text(link.forward);
  const auto backward = rate_text(link.backward);
  const auto rates = forward == backward
                         ? fmt::format("bandwidth: {}", forward)
                         : fmt::format("bandwidth_forward: {}, bandwidth_backward: {}", forward, backward);
  const auto count = link.kind == LinkKind::nvlink ? fmt::format(", count: {}", link.count) : std::string{};
  return fmt::format("    - {{ from: {}, to: {}, kind: {}, {}{} }}\n", pattern(from.first, from.last),
                     pattern(to.first, to.last), kinds[static_cast<std::size_t>(link.kind)], rates, count);
}

bool are_equal(const NodeLink& one, const NodeLink& other) {
  return one.kind == other.kind && rate_text(one.forward) == rate_text(other.forward) &&
         rate_text(one.backward) == rate_text(other.backward) && one.count == other.count;
}

/// Links one a line, runs of equal ones on one line.
std::string link_lines(const std::vector<NodeLink>& links) {
  std::string text;
  for (std::size_t i = 0; i < links.size();) {
    End from{links[i].from, links[i].from};
    End to{links[i].to, links[i].to};
    auto end = i + 1;
    for (; end < links.size() && are_equal(links[end], links[i]); ++end) {
      const bool is_second = end == i + 1;
      if (!from.takes(links[end].from, is_second) || !to.takes(links[end].to, is_second)) break;
      from.take(links[end].from);
      to.take(links[end].to);
    }
    text += link_line(links[i], from, to);
    i = end;
  }
  return text;
}

/// The topology that the node's row tells, in its own words or in those of the driver.
struct Shape {
  NodeLayout layout;
  std::vector<std::string> remarks;  ///< where the layout comes from, and what is doubtful
  std::vector<std::string> warnings;
};

std::optional<int> nvlinks_of(const NodeRow& node) {
  return node.gpus.front().nvlinks;
}

/// What stands in for a matrix: NUMA nodes, and NVLinks between all GPUs or none.
TopologyMatrix made_up_matrix(const NodeRow& node) {
  TopologyMatrix matrix;
  matrix.gpus = node.gpus.size();
  const auto links = nvlinks_of(node).value_or(0);
  for (const auto& one : node.gpus) {
    auto& row = matrix.cells.emplace_back();
    for (const auto& other : node.gpus) {
      const bool is_far = one.numa_node != other.numa_node;
      row.push_back(&one == &other ? Connection{}
                    : links > 0    ? Connection{PathType::nvlink, links}
                                   : Connection{is_far ? PathType::sys : PathType::node, 0});
    }
    matrix.numa_nodes.push_back(one.numa_node);
  }
  return matrix;
}

/// Leaves only the first GPUs; NICs stay.
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
    throw ConfigError{Problem{node.matrix_where,
                              fmt::format("in the text of 'topology_matrix'{}: {}", place, problem.what),
                              {},
                              problem.hint}};
  }
}

Shape shape_of(const NodeRow& node) {
  Shape shape;
  TopologyMatrix matrix;
  if (node.matrix) {
    matrix = read_matrix(node);
    if (matrix.gpus < node.gpus.size()) {
      throw ConfigError{Problem{
          node.matrix_where,
          fmt::format("the matrix has {} GPUs, but the node's row has {}", matrix.gpus, node.gpus.size()),
          {},
          "has the matrix been taken on another node?"}};
    }
    if (matrix.gpus > node.gpus.size()) {
      shape.warnings.push_back(
          fmt::format("the matrix has {} GPUs and {} were measured: they are taken for the first ones",
                      matrix.gpus, node.gpus.size()));
      keep_gpus(matrix, node.gpus.size());
    }
    for (std::size_t i = 0; i < matrix.gpus; ++i) {
      if (!matrix.numa_nodes[i]) matrix.numa_nodes[i] = node.gpus[i].numa_node;
    }
    shape.remarks.emplace_back(
        "Parts and what they hang on: from the node row's topology_matrix (`nvidia-smi topo -m`).");
  } else {
    matrix = made_up_matrix(node);
    shape.remarks.emplace_back(
        "Inferred: the samples have no topology_matrix. Each GPU has a root complex of its own, on the "
        "socket of its NUMA "
        "node; NVLinks, if any, connect all GPUs.");
    if (matrix.gpus > 1) {
      shape.warnings.emplace_back(
          "the samples have no matrix of 'nvidia-smi topo -m': PCIe switches and pairs of GPUs are not "
          "known");
    }
  }
  shape.layout = lay_out(matrix, {nvlinks_of(node), node.names_nvswitch});
  const auto& doubts = shape.layout.remarks;
  if (!doubts.empty()) {
    shape.warnings.push_back(
        doubts.size() == 1 ? doubts.front()
                           : fmt::format("{}; and {} more such pairs", doubts.front(), doubts.size() - 1));
  }
  shape.remarks.insert(shape.remarks.end(), shape.warnings.begin(), shape.warnings.end());
  if (shape.layout.switched > 0 && !node.names_nvswitch)
    shape.remarks.emplace_back("Inferred: an NVSwitch, since the NVLinks of all pairs of GPUs are alike.");
  return shape;
}

std::string vendor_line(const NodeRow& node) {
  struct Vendor {
    std::string_view part;
    std::string_view word;
  };
  constexpr std::array vendors{Vendor{"Intel", "intel"}, Vendor{"AMD", "amd"}, Vendor{"ARM", "arm"},
                               Vendor{"Arm", "arm"}, Vendor{"NVIDIA", "arm"}};
  for (const auto& vendor : vendors) {
    if (node.cpu_vendor.find(vendor.part) != std::string::npos)
      return fmt::format("cpu_vendor: {}\n", vendor.word);
  }
  return fmt::format("# The vendor of the CPUs is not known ({}): NCCL's rules for Intel are taken.\n",
                     node.cpu_vendor.empty() ? "not in the node row" : plain_line(node.cpu_vendor));
}

class Writer {
 public:
  Writer(const Samples& samples, const PlatformTitle& title)
      : node_{node_of(samples)}, title_{title}, rates_{samples}, shape_{shape_of(node_)} {
    links_ = node_links(node_, shape_.layout, rates_);
    written_.warnings = shape_.warnings;
    written_.warnings.insert(written_.warnings.end(), links_.warnings.begin(), links_.warnings.end());
  }

  WrittenPlatform write() {
    write_head();
    write_parts();
    write_links();
    if (node_.nodes > 1) write_fabric();
    return std::move(written_);
  }

 private:
  void add(std::string_view text) { written_.yaml += text; }
  void comment(std::string_view indent, std::string_view text) {
    add(wrapped(fmt::format("{}# ", indent), plain_line(text)));
  }

  void write_head() {
    add("schema: 1\nsource: >-\n");
    add(wrapped("  ", plain_line(source_text(node_))));
    add(fmt::format("gpu: {}\n", title_.gpu));
    if (!title_.calibration.empty()) add(fmt::format("calibration: {}\n", title_.calibration));
    add(vendor_line(node_));
    if (const auto copies = rates_.pageable()) {
      comment("", fmt::format("Rows h2d_pageable: copies of {}.", size_text(copies->size)));
      add(fmt::format("pageable_copy: {}\n", rate_text(copies->rate)));
    }
  }

  std::vector<std::string> names_of(DeviceKind kind) const {
    std::vector<std::string> names;
    for (const auto& part : shape_.layout.parts) {
      if (part.kind == kind) names.push_back(part.name);
    }
    return names;
  }

  void write_parts() {
    add(fmt::format("node:\n  gpus: {}\n", shape_.layout.gpus));
    for (const auto& remark : shape_.remarks) comment("  ", remark);
    add("  sockets:\n");
    for (const auto& socket : links_.sockets) {
      comment("    ", socket.source);
      add(fmt::format("    - {{ name: {}, memory_bandwidth: {} }}\n", socket.name,
                      rate_text(socket.bandwidth)));
    }
    add(fmt::format("  root_complexes: {}\n", patterns(names_of(DeviceKind::root_complex))));
    if (const auto switches = names_of(DeviceKind::pcie_switch); !switches.empty())
      add(fmt::format("  pcie_switches: {}\n", patterns(switches)));
    if (has_nvswitch()) add("  nvswitches: [nvswitch]\n");
    if (loopback_) {
      comment("  ",
              "The host talks to itself over TCP when NCCL may use neither P2P nor SHM. It is no way out of "
              "the node: who "
              "builds several of these nodes replaces it by their real NICs.");
      add("  nics: [loopback]\n");
    }
    if (const auto nics = names_of(DeviceKind::nic); !nics.empty()) {
      comment("  ",
              fmt::format(
                  "The node has NICs whose rates were not measured: {}. To use them, list them in 'nics' and "
                  "link them, as below.",
                  fmt::join(nics, ", ")));
    }
  }

  bool has_nvswitch() const {
    return std::ranges::any_of(links_.groups, [](const LinkGroup& group) {
      return !group.links.empty() && group.links.front().to == "nvswitch";
    });
  }

  void write_links() {
    add("  links:\n");
    for (const auto& group : links_.groups) {
      comment("    ", group.source);
      add(link_lines(group.links));
    }
    if (loopback_) {
      comment("    ",
              fmt::format("Rows of collectives with the tag net: the best ring, {} ranks that each send {}.",
                          loopback_->ranks, rate_text(loopback_->each)));
      add(link_lines(
          {{links_.sockets.front().name, "loopback", LinkKind::pcie, loopback_->rate, loopback_->rate}}));
    }
    for (auto i = shape_.layout.gpus; i < shape_.layout.gpus + shape_.layout.nics; ++i) {
      const auto& nic = shape_.layout.parts[i];
      add(fmt::format("    # - {{ from: {}, to: {}, kind: pcie, bandwidth: ... }}\n",
                      nic.parent ? shape_.layout.parts[*nic.parent].name : "...", plain_line(nic.name)));
    }
  }

  void write_fabric() {
    comment("", fmt::format(
                    "The samples come from {} nodes; this is one of them. For all, say how their NICs meet:",
                    node_.nodes));
    add(fmt::format("# nodes: {}\n# fabric: {{ kind: star, bandwidth: ..., latency: ... }}\n", node_.nodes));
    written_.warnings.push_back(fmt::format(
        "the samples come from {} nodes and the file describes one: add 'nodes: {}', 'fabric' and its NICs",
        node_.nodes, node_.nodes));
  }

  const NodeRow& node_;
  const PlatformTitle& title_;
  NodeRates rates_;
  Shape shape_;
  NodeLinks links_;
  std::optional<NodeRates::RingRate> loopback_ = node_.nodes == 1 ? rates_.through_net() : std::nullopt;
  WrittenPlatform written_;
};

}  // namespace

const NodeRow& node_of(const Samples& samples, const std::string& file) {
  if (samples.nodes.empty()) {
    Where where;
    where.file = file;
    throw ConfigError{
        Problem{std::move(where),
                "no row says which node was measured",
                {},
                "a row of kind 'node', as gradway-probe writes it, names the GPUs and their topology"}};
  }
  const auto& node = samples.nodes.front();
  if (samples.nodes.size() > 1) {
    throw ConfigError{Problem{samples.nodes[1].where,
                              "the samples describe two nodes that are not alike",
                              {{node.where, "the other one"}},
                              "keep the samples of each node in a file of its own"}};
  }
  if (node.gpus.empty()) {
    throw ConfigError{
        Problem{node.where, "the row of the node names no 'gpus'", {}, "measure again with gradway-probe"}};
  }
  for (const auto& gpu : node.gpus) {
    if (gpu.name == node.gpus.front().name) continue;
    throw ConfigError{Problem{
        node.where,
        fmt::format("the node has GPUs of two kinds, '{}' and '{}'", node.gpus.front().name, gpu.name),
        {},
        "a platform has one kind of GPU: measure those of each kind alone (CUDA_VISIBLE_DEVICES)"}};
  }
  return node;
}

WrittenPlatform platform_yaml(const Samples& samples, const PlatformTitle& title) {
  return Writer{samples, title}.write();
}

}  // namespace gradway

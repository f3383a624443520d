// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/config/read/fabric.hpp"
#include "sim/config/read/fields.hpp"
#include "sim/config/read/prices.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"

namespace gradway::config {
namespace {

NamePattern pattern(const Node& node) {
  NamePattern names{text(node), node.where};
  expand(names);  // throws if it is neither a name nor a range
  return names;
}

SocketDescription read_socket(Reader socket) {
  SocketDescription description{.name = socket.required("name", pattern)};
  read_fields(socket, description);
  socket.finish();
  return description;
}

void read_link_rates(Reader& link, LinkDescription& description) {
  const bool is_one_way = link.has("bandwidth_forward") || link.has("bandwidth_backward");
  if (!is_one_way) {
    description.forward = description.backward = link.required("bandwidth", bandwidth);
    link.maybe("bandwidth_forward", bandwidth);  // marks the keys as known, for suggestions
    link.maybe("bandwidth_backward", bandwidth);
    return;
  }
  link.forbid(
      "bandwidth",
      "'bandwidth' conflicts with 'bandwidth_forward' and 'bandwidth_backward': it sets both directions",
      "keep 'bandwidth', or both 'bandwidth_forward' and 'bandwidth_backward'");
  description.forward = link.required("bandwidth_forward", bandwidth);
  description.backward = link.required("bandwidth_backward", bandwidth);
}

LinkDescription read_described_link(Reader link) {
  LinkDescription description;
  description.where = link.where();
  description.from = link.required("from", pattern);
  description.to = link.required("to", pattern);
  const auto kind = link.required("kind", nullopt_on_error(one_of<LinkKind>("a link kind", link_words)));
  description.kind = kind.value_or(LinkKind::pcie);
  read_link_rates(link, description);
  read_fields(link, description);
  if (joins_gpus(kind.value_or(LinkKind::nvlink))) {
    description.count = link.optional("count", integer(1, 1024), 1);
  } else {
    link.forbid("count", "'count' requires a link of kind nvlink or xgmi",
                "leave it out; the bandwidth is that of the whole link",
                Note{link.value_place("kind"), "the kind is here"});
  }
  link.finish();
  return description;
}

NodeDescription read_node(Reader node) {
  NodeDescription description;
  read_fields(node, description);
  for (auto& socket : node.maps("sockets")) description.sockets.push_back(read_socket(socket));
  description.root_complexes = node.list("root_complexes", pattern);
  description.pcie_switches = node.list("pcie_switches", pattern);
  description.nvswitches = node.list("nvswitches", pattern);
  description.nics = node.list("nics", pattern);
  for (auto& link : node.maps("links")) description.links.push_back(read_described_link(link));
  node.finish();
  return description;
}

GeneratedPlatform read_generated(Reader generate) {
  using Topology = GeneratedPlatform::Topology;
  GeneratedPlatform description;
  const auto topology =
      generate.required("topology", nullopt_on_error(one_of<Topology>("a topology", topology_words)));
  if (topology) description.topology = *topology;
  read_fields(generate, description);
  const auto has_leaves = topology ? std::optional{*topology == Topology::leaf_spine} : std::nullopt;
  read_leaves(generate, description, has_leaves, {"gpus_per_leaf", "leaf_spine"},
              &GeneratedPlatform::gpus_per_leaf);
  generate.finish();
  return description;
}

/// A number of nodes; empty: as many as the job's ranks need.
std::optional<int> node_count(const Node& node) {
  if (node.kind == Node::Kind::scalar && node.text == "as_needed") return std::nullopt;
  try {
    return integer(1, most_nodes)(node);
  } catch (const ConfigError& error) {
    auto problem = error.problems().front();
    if (problem.hint.empty()) problem.hint = "write a number, or as_needed";
    throw ConfigError{problem};
  }
}

NvlinkDomainDescription read_nvlink_domain(Reader domain) {
  const auto where = domain.where();
  auto description = read_group<NvlinkDomainDescription>(std::move(domain));
  description.where = where;
  return description;
}

/// Whether one NVLink domain contains all nodes.
bool is_one_domain(const BuiltPlatform& built) {
  return built.nvlink_domain && built.nodes && *built.nodes <= built.nvlink_domain->nodes;
}

BuiltPlatform read_built(Reader& file, Where& size) {
  BuiltPlatform built;
  auto node = file.map("node");
  size = node.value_place("gpus");
  built.node = read_node(std::move(node));
  built.nodes = file.optional("nodes", node_count, std::optional{1});
  if (auto domain = file.maybe_map("nvlink_domain")) built.nvlink_domain = read_nvlink_domain(*domain);
  if (auto fabric = file.maybe_map("fabric")) {
    built.fabric = read_fabric(*fabric);
  } else if (built.nodes != 1 && !is_one_domain(built)) {
    file.error(file.value_place("nodes"),
               built.nodes
                   ? fmt::format("the key 'fabric' is missing: it connects the {} nodes", *built.nodes)
                   : "the key 'fabric' is missing: it connects the nodes",
               "add 'fabric: { kind: star, bandwidth: ..., latency: ... }'");
  }
  return built;
}

void read_hardware(Reader& file, PlatformSpec& spec) {
  file.exactly_one({"node", "generate"}, "the hardware");
  spec.description.where = file.key_place(file.has("node") ? "node" : "generate");
  if (file.has("node")) {
    spec.description.hardware = read_built(file, spec.size);
    file.maybe("generate", describe);  // the conflict is reported already
    return;
  }
  auto generate = file.maybe_map("generate");
  if (generate) spec.description.hardware = read_generated(*generate);
  for (const std::string key : {"nodes", "fabric", "nvlink_domain"}) {
    file.forbid(key, fmt::format("'{}' has no effect on a generated platform", key), "leave it out",
                Note{file.key_place("generate"), "the platform is generated"});
  }
  file.maybe("node", describe);  // marks the key as known
}

}  // namespace

PlatformSpec read_platform(Reader& file, const std::string& name) {
  PlatformSpec spec;
  auto& description = spec.description;
  description.name = name;
  description.source = file.required("source", text);
  spec.gpu = file.required("gpu", named);
  description.gpu = spec.gpu.name;
  spec.calibration = file.maybe("calibration", named);
  read_fields(file, description);
  if (description.gpu_power_limit) spec.power_limit = file.value_place("gpu_power_limit");
  description.prices = read_prices(file);
  read_hardware(file, spec);
  file.finish();
  return spec;
}

}  // namespace gradway::config

// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/nominal_links.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/describe/nominal_rates.hpp"
#include "sim/describe/platform_draft.hpp"

namespace gradway {
namespace {

constexpr int usual_lanes = 16;
constexpr std::size_t cpus_of_a_server = 2;

class NominalRating {
 public:
  NominalRating(const NodeLayout& layout, const UnmeasuredNode& facts)
      : layout_{layout}, facts_{facts}, usual_{pcie_transfers(facts.compute_capability, facts.gpu)} {}

  NodeLinks make() {
    for (const auto kind :
         {DeviceKind::gpu, DeviceKind::nic, DeviceKind::pcie_switch, DeviceKind::root_complex}) {
      for (const auto part : layout_.of_kind(kind)) add_link(part);
    }
    rate_memories();
    rate_sockets();
    rate_nvlinks();
    return std::move(result_);
  }

 private:
  PartLink known(std::size_t part) const { return facts_.parts.empty() ? PartLink{} : facts_.parts[part]; }

  NominalRate slot(std::size_t part) const {
    const auto link = known(part);
    if (link.is_c2c) return c2c_rate();
    const auto transfers = std::min(link.transfers.value_or(usual_), part < layout_.gpus ? usual_ : 64);
    auto rate = pcie_rate(transfers, link.lanes.value_or(usual_lanes));
    rate.source = fmt::format("{}{}.", origin(link, transfers), rate.source);
    return rate;
  }

  /// Text on the source of a slot's kind.
  std::string origin(const PartLink& link, double taken) const {
    if (!link.transfers && !link.lanes) return "Assumed, as the slot is unknown: ";
    if (!link.transfers) return "Its lanes are known; the generation is assumed to be the GPU's. ";
    const auto nccl = nccl_pcie_rate(*link.transfers, link.lanes.value_or(usual_lanes));
    auto text =
        fmt::format("{:g} GT/s, {}: NCCL assumes {}. ", *link.transfers,
                    link.lanes ? fmt::format("x{}", *link.lanes) : "x16 assumed", platform_rate(nccl));
    if (taken < *link.transfers) text += fmt::format("The GPU itself supports {:g} GT/s. ", taken);
    return text;
  }

  NominalRate nic_slot(std::size_t nic) const {
    auto rate = slot(nic);
    const auto wire = known(nic).wire;
    if (!wire) {
      rate.source += " The line rate is unknown.";
      return rate;
    }
    const bool is_slower = *wire < std::min(rate.to_gpu, rate.from_gpu);
    if (is_slower) return {*wire, *wire, fmt::format("Its line rate, {}.", platform_rate(*wire))};
    rate.source += fmt::format(" The line rate is {}.", platform_rate(*wire));
    return rate;
  }

  /// Rate of the link between a part and its parent.
  NominalRate rate_of(std::size_t part) const {
    const auto kind = layout_.parts[part].kind;
    return kind == DeviceKind::nic            ? nic_slot(part)
           : kind == DeviceKind::root_complex ? all_ports(part)
                                              : slot(part);
  }

  /// A host bridge is not a link: it carries all of its ports.
  NominalRate all_ports(std::size_t root) const {
    NominalRate rate;
    for (std::size_t part = 0; part < layout_.parts.size(); ++part) {
      if (layout_.parts[part].parent != root) continue;
      const auto below = rate_of(part);
      rate.to_gpu += below.to_gpu;
      rate.from_gpu += below.from_gpu;
    }
    rate.source = "Inferred: a host bridge carries the sum of its ports.";
    return rate;
  }

  void add_link(std::size_t part) {
    auto rate = rate_of(part);
    const auto& child = layout_.parts[part];
    add(std::move(rate.source),
        {layout_.name(*child.parent), child.name, child.is_across ? LinkKind::inter_socket : LinkKind::pcie,
         rate.to_gpu, rate.from_gpu});
  }

  /// Consecutive links with one source are one group.
  void add(std::string source, NodeLink link) {
    if (result_.groups.empty() || result_.groups.back().source != source)
      result_.groups.push_back({std::move(source), {}});
    result_.groups.back().links.push_back(std::move(link));
  }

  void rate_memories() {
    const auto sockets = layout_.of_kind(DeviceKind::socket);
    const auto memory = cpu_memory(usual_, facts_.gpu);
    const auto share =
        std::min(1.0, static_cast<double>(cpus_of_a_server) / static_cast<double>(sockets.size()));
    const auto shared =
        share < 1 ? fmt::format(", shared by {} NUMA nodes of {} CPUs", sockets.size(), cpus_of_a_server)
                  : std::string{};
    for (const auto socket : sockets) {
      const auto numa = layout_.parts[socket].numa_node;
      result_.sockets.push_back(
          {layout_.name(socket), memory.bandwidth * share,
           fmt::format("{}Assumed: {}{}.", numa ? fmt::format("NUMA node {}. ", *numa) : std::string{},
                       memory.source, shared)});
    }
  }

  void rate_sockets() {
    constexpr int sapphire_rapids = 0x8F;
    const bool is_known = !facts_.cpu_vendor.empty();
    const auto figure = is_known       ? socket_figure(facts_.cpu_vendor, facts_.cpu_model)
                        : usual_ >= 32 ? socket_figure("GenuineIntel", sapphire_rapids)
                                       : socket_figure("GenuineIntel", std::nullopt);
    const auto source =
        fmt::format("{}: NCCL's figure for the link between sockets ({}, src/graph/topo.h, 2.28.9).",
                    is_known ? "Inferred" : "Assumed, as the CPU is unknown", figure.name);
    const auto sockets = layout_.of_kind(DeviceKind::socket);
    for (std::size_t a = 0; a < sockets.size(); ++a) {
      for (auto b = a + 1; b < sockets.size(); ++b) {
        add(source, {layout_.name(sockets[a]), layout_.name(sockets[b]), LinkKind::inter_socket, figure.rate,
                     figure.rate});
      }
    }
  }

  void rate_nvlinks() {
    const auto nominal = nvlink_rate(facts_.compute_capability, facts_.gpu);
    const bool is_amd = facts_.gpu.starts_with("mi");
    const auto kind = is_amd ? LinkKind::xgmi : LinkKind::nvlink;
    const auto source = fmt::format("{}, {:.4g} GB/s each in each direction: {}.",
                                    is_amd ? "XGMI" : "NVLinks", nominal.each.value() / 1e9, nominal.source);
    for (const auto& uplink : layout_.switched) {
      const auto rate = uplink.links * nominal.each;
      add(source, {layout_.name(uplink.gpu), uplink.nvswitch, kind, rate, rate, uplink.links});
    }
    for (const auto& pair : layout_.pairs) {
      const auto rate = pair.count * nominal.each;
      add(source, {layout_.name(pair.one), layout_.name(pair.other), kind, rate, rate, pair.count});
    }
  }

  const NodeLayout& layout_;
  const UnmeasuredNode& facts_;
  double usual_;  ///< GT/s of the GPU.
  NodeLinks result_;
};

}  // namespace

NodeLinks nominal_links(const NodeLayout& layout, const UnmeasuredNode& facts) {
  return NominalRating{layout, facts}.make();
}

}  // namespace gradway

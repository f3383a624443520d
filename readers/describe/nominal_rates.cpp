// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/nominal_rates.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "readers/describe/platform_draft.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"

namespace gradway {

namespace tables {
extern const std::string_view nominal_rates;
}

namespace {

constexpr int full_width = 16;

const std::vector<TextRow>& rate_rows() {
  static const auto rows = rows_in(tables::nominal_rates);
  return rows;
}

double gb_per_s(const TextRow& row, std::string_view name) {
  return row.real(name, 0) * 1e9;
}

double transfers_of(const TextRow& pcie) {
  return std::stod(std::string{pcie.word(0)});
}

/// The generation of PCIe that has so many GT/s.
const TextRow& generation(double transfers) {
  const TextRow* slowest_fit = nullptr;
  for (const auto& row : rate_rows()) {
    if (row.kind != "pcie") break;
    slowest_fit = &row;
    if (transfers_of(row) >= transfers * 0.99) break;
  }
  return *slowest_fit;
}

}  // namespace

NominalRate pcie_rate(double transfers, int lanes) {
  const auto& pcie = generation(transfers);
  const BytesPerSecond to_gpu{gb_per_s(pcie, "to_gpu")};
  const BytesPerSecond from_gpu{gb_per_s(pcie, "from_gpu")};
  const auto share = static_cast<double>(lanes) / full_width;
  const auto text = [](BytesPerSecond rate) { return fmt::format("{:.4g}", rate.value() / 1e9); };
  const auto proportion = lanes == full_width ? "" : fmt::format(", of x16; x{} in proportion", lanes);
  return {to_gpu * share, from_gpu * share,
          fmt::format("PCIe Gen{} x{}: pinned copies run at {} GB/s to a device and {} back{} ({})",
                      pcie.word(1), lanes, text(to_gpu), text(from_gpu), proportion, pcie.value("source"))};
}

BytesPerSecond nccl_pcie_rate(double transfers, int lanes) {
  constexpr auto unit = 12.5e6;  // Bytes per second in 100 Mb/s.
  return BytesPerSecond{generation(transfers).real("nccl", 0) * unit * lanes};
}

NominalRate c2c_rate() {
  return {359.05_GBps, 377.15_GBps,
          "NVLink-C2C: copies run at 359.05 GB/s to the GPU and 377.15 back "
          "(github.com/stas00/ml-engineering at 744d01e1, network, one GB300)"};
}

/// @source NVIDIA's datasheets: Gen3 up to Turing, Gen4 for Ampere and Ada, Gen5 for Hopper; Blackwell
/// supports Gen6, but no server attaches it with Gen6 (ml-engineering at 744d01e1, as of 2026-07-31)
double pcie_transfers(int compute_capability, std::string_view gpu) {
  if (compute_capability >= 90 || gpu.starts_with("mi3")) return 32;
  return compute_capability >= 80 ? 16 : 8;
}

NominalNvlink nvlink_rate(int compute_capability, std::string_view gpu) {
  const auto& link = *std::ranges::find_if(rate_rows(), [&](const TextRow& row) {
    return row.kind == "links" && compute_capability >= *leading_number(row.word(0)) &&
           (row.words.size() == 1 || gpu.starts_with(row.word(1)));
  });
  const auto source = link.value("source");
  return {BytesPerSecond{gb_per_s(link, "each")}, link.number("of_gpu", 0),
          source.empty() ? "NCCL's figure for a link (src/graph/topo.h, 2.28.9); no measurement was found"
                         : std::string{source}};
}

/// @source channels and modules of the CPUs that such servers have: Xeon 8275CL, EPYC 7R13, Xeon 8480C
/// (datasheets, not checked by us)
NominalMemory cpu_memory(double transfers, std::string_view gpu) {
  if (is_on_grace(gpu)) return {512_GBps, "LPDDR5X of a Grace CPU, up to 512 GB/s"};
  const auto memory = [&](BytesPerSecond bandwidth, std::string_view channels) {
    return NominalMemory{bandwidth,
                         fmt::format("{} per CPU, usual where PCIe has {:g} GT/s", channels, transfers)};
  };
  if (transfers >= 32) return memory(307.2_GBps, "8 channels of DDR5-4800");
  if (transfers >= 16) return memory(204.8_GBps, "8 channels of DDR4-3200");
  return memory(140.8_GBps, "6 channels of DDR4-2933");
}

bool is_on_grace(std::string_view gpu) {
  return gpu.starts_with("gh200") || gpu.starts_with("gb200") || gpu.starts_with("gb300");
}

SocketFigure socket_figure(std::string_view vendor, std::optional<int> model) {
  if (vendor.find("AMD") != std::string_view::npos) return {"AMD_BW", 16_GBps};
  if (vendor.find("Intel") == std::string_view::npos) return {"ARM_BW", 6_GBps};
  const auto number = model.value_or(0x55);
  if (number >= 0xCF) return {"ERP_QPI_BW", 40_GBps};
  if (number >= 0x8F) return {"SRP_QPI_BW", 22_GBps};
  if (number >= 0x55) return {"SKL_QPI_BW", 10_GBps};
  return {"BDW_QPI_BW", 6_GBps};
}

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

// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/nominal_rates.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "readers/describe/platform_draft.hpp"

namespace gradway {
namespace {

constexpr int full_width = 16;

/// PCIe by generation.
struct Generation {
  double transfers;  ///< In GT/s.
  int number;
  double nccl_lane;       ///< In 100 Mb/s per lane, as in NCCL.
  BytesPerSecond to_gpu;  ///< For x16.
  BytesPerSecond from_gpu;
  std::string_view source;
};
// Generations without a measurement are in proportion to their neighbour, by NCCL's rates per lane.
constexpr std::string_view superbench =
    "microsoft/superbenchmark at 700d6501, logs of cuda_memory_bw on a V100";
constexpr std::array generations{
    Generation{2.5, 1, 15, 3.1_GBps, 3.3_GBps, "a quarter of what Gen3 reaches in the same source's logs"},
    Generation{5, 2, 30, 6.2_GBps, 6.6_GBps, "half of what Gen3 reaches in the same source's logs"},
    Generation{8, 3, 60, 12.4_GBps, 13.2_GBps, superbench},
    Generation{16, 4, 120, 26.2_GBps, 26.0_GBps,
               "microsoft/superbenchmark at 700d6501, log of gpu_copy_bw on an A100"},
    Generation{32, 5, 240, 55.4_GBps, 55.1_GBps,
               "github.com/stas00/ml-engineering at 744d01e1, network/benchmarks, on an H200"},
    Generation{64, 6, 480, 110.8_GBps, 110.2_GBps, "inferred: twice what Gen5 reaches"}};

const Generation& generation(double transfers) {
  const auto* const match = std::ranges::find_if(
      generations, [&](const Generation& row) { return row.transfers >= transfers * 0.99; });
  return match == generations.end() ? generations.back() : *match;
}

/// NVLinks by compute capability; the first matching row applies.
struct Nvlink {
  int from_capability;
  std::string_view gpu;  ///< Start of the name of the GPU's file.
  BytesPerSecond each;
  int of_gpu;
  std::string_view source;
};
constexpr std::string_view ml_engineering = "github.com/stas00/ml-engineering at 744d01e1, network";
constexpr std::string_view amd_blog =
    "rocm.blogs.amd.com, Understanding RCCL Bandwidth and xGMI Performance on AMD Instinct MI300X";
constexpr std::string_view nccl_figure =
    "NCCL's figure for a link (src/graph/topo.h, 2.28.9); no measurement was found";
constexpr std::array nvlinks{
    Nvlink{120, "", 40.1_GBps, 0, ""},
    Nvlink{100, "", 41.48_GBps, 18, "746.7 GB/s over 18 links between two GB200 measured"},
    Nvlink{90, "h200", 22.02_GBps, 18, "396.4 GB/s over 18 links between two H200 measured"},
    Nvlink{90, "", 20.89_GBps, 18, "376 GB/s over 18 links between two H100 measured"},
    Nvlink{81, "", 12_GBps, 0, ""},
    Nvlink{80, "", 22.83_GBps, 12, "274 GB/s over 12 links between two A100 measured"},
    Nvlink{70, "", 20_GBps, 6, ""},
    Nvlink{0, "mi35", 54.6_GBps, 7, "the share that an MI300X's XGMI links reach, of 76.8 GB/s a link"},
    Nvlink{0, "mi3", 45.5_GBps, 7, "45.1 to 45.6 GB/s of each of 7 XGMI links of an MI300X measured"},
    Nvlink{0, "", 18_GBps, 4, ""}};

}  // namespace

NominalRate pcie_rate(double transfers, int lanes) {
  const auto& pcie = generation(transfers);
  const auto share = static_cast<double>(lanes) / full_width;
  const auto text = [](BytesPerSecond rate) { return fmt::format("{:.4g}", rate.value() / 1e9); };
  const auto proportion = lanes == full_width ? "" : fmt::format(", of x16; x{} in proportion", lanes);
  return {pcie.to_gpu * share, pcie.from_gpu * share,
          fmt::format("PCIe Gen{} x{}: pinned copies run at {} GB/s to a device and {} back{} ({})",
                      pcie.number, lanes, text(pcie.to_gpu), text(pcie.from_gpu), proportion, pcie.source)};
}

BytesPerSecond nccl_pcie_rate(double transfers, int lanes) {
  constexpr auto unit = 12.5e6;  // Bytes per second in 100 Mb/s.
  return BytesPerSecond{generation(transfers).nccl_lane * unit * lanes};
}

NominalRate c2c_rate() {
  return {359.05_GBps, 377.15_GBps,
          fmt::format("NVLink-C2C: copies run at 359.05 GB/s to the GPU and 377.15 back ({}, one GB300)",
                      ml_engineering)};
}

/// @source NVIDIA's datasheets: Gen3 up to Turing, Gen4 for Ampere and Ada, Gen5 for Hopper; Blackwell
/// supports Gen6, but no server attaches it with Gen6 (ml-engineering at 744d01e1, as of 2026-07-31)
double pcie_transfers(int compute_capability, std::string_view gpu) {
  if (compute_capability >= 90 || gpu.starts_with("mi3")) return 32;
  return compute_capability >= 80 ? 16 : 8;
}

NominalNvlink nvlink_rate(int compute_capability, std::string_view gpu) {
  const auto& link = *std::ranges::find_if(nvlinks, [&](const Nvlink& row) {
    return compute_capability >= row.from_capability && gpu.starts_with(row.gpu);
  });
  return {link.each, link.of_gpu,
          link.source.empty()      ? std::string{nccl_figure}
          : gpu.starts_with("mi3") ? fmt::format("{} ({})", link.source, amd_blog)
                                   : fmt::format("{} ({})", link.source, ml_engineering)};
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

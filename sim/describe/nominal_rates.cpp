// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/nominal_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

}  // namespace gradway

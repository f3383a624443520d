// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/matrix_platform.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/describe/nominal_links.hpp"
#include "sim/describe/nominal_rates.hpp"
#include "sim/import/topology/node_layout.hpp"

namespace gradway {

void add_nics(PlatformDraft& draft) {
  const auto& layout = draft.layout;
  for (auto nic = layout.gpus; nic < layout.gpus + layout.nics; ++nic) draft.nics.push_back(layout.name(nic));
  if (draft.nics.empty()) return;
  draft.closing = {
      "One node. To describe a cluster, give the network between nodes and the line rate of a NIC:",
      "nodes: as_needed", "fabric: { kind: star, network: infiniband, bandwidth: ..., latency: 1 us }"};
}

namespace {

/// Whether the driver refuses P2P over PCIe between such GPUs: GeForce, but for NVLink.
bool lacks_p2p(std::string_view gpu) {
  constexpr std::string_view start = "rtx-";
  int number = 0;
  const auto* const first = gpu.data() + std::min(start.size(), gpu.size());
  const auto [end, error] = std::from_chars(first, gpu.data() + gpu.size(), number);
  return gpu.starts_with(start) && error == std::errc{} && end - first == 4 && number % 100 >= 50;
}

/// The matrix with a root complex of its own for each GPU, from where NCCL takes host memory.
TopologyMatrix without_p2p(TopologyMatrix matrix, std::vector<std::string>& remarks) {
  bool is_changed = false;
  for (std::size_t i = 0; i < matrix.gpus; ++i) {
    for (std::size_t j = 0; j < matrix.gpus; ++j) {
      auto& type = matrix.cells[i][j].type;
      if (type != PathType::pix && type != PathType::pxb) continue;
      type = PathType::phb;
      is_changed = true;
    }
  }
  if (is_changed)
    remarks.emplace_back(
        "the driver refuses P2P between these GPUs: they are described without the PCIe switch that they "
        "share, so that NCCL goes through host memory");
  return matrix;
}

}  // namespace

WrittenPlatform matrix_platform(const TopologyMatrix& matrix, const DescribedGpu& gpu) {
  const auto nvlinks = nvlink_rate(gpu.compute_capability, gpu.name).of_gpu;
  PlatformDraft draft;
  std::vector<std::string> remarks;
  const bool has_grace = is_on_grace(gpu.name);
  draft.layout = node_layout(lacks_p2p(gpu.name) ? without_p2p(matrix, remarks) : matrix,
                             {nvlinks > 0 ? std::optional{nvlinks} : std::nullopt, false});
  draft.layout.remarks.insert(draft.layout.remarks.begin(), remarks.begin(), remarks.end());
  draft.source = fmt::format(
      "`nvidia-smi topo -m` of a node with {} x {}, by gradway import topo. The connections are those of the "
      "matrix; no rate was measured on the node",
      matrix.gpus, gpu.name);
  draft.gpu = gpu.name;
  if (!gpu.remark.empty()) draft.gpu_remarks.push_back(gpu.remark);
  draft.no_vendor = "the matrix does not contain it";
  draft.remarks = draft.layout.remarks;
  if (!draft.layout.switched.empty()) draft.remarks.emplace_back(inferred_nvswitch);
  std::vector<PartLink> links;
  if (has_grace) {
    draft.cpu_vendor = "ARM";
    links.resize(draft.layout.parts.size());
    for (std::size_t i = 0; i < matrix.gpus; ++i) links[i].is_c2c = true;
  }
  draft.links =
      nominal_links(draft.layout, {gpu.name, gpu.compute_capability, draft.cpu_vendor, {}, std::move(links)});
  add_nics(draft);
  return {platform_text(draft), draft.layout.remarks};
}

}  // namespace gradway

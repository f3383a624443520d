// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/drafted_platform.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "readers/describe/nominal_rates.hpp"
#include "readers/topology/gpu_name.hpp"
#include "readers/topology/node_layout.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

template <class Action>
void for_gpus(const std::vector<NcclPci>& devices, const Action& action) {
  for (const auto& device : devices) {
    if (device.kind == NcclPci::Kind::gpu) action(device);
    for_gpus(device.children, action);
  }
}

template <class Action>
void for_gpus(const NcclTopology& topology, const Action& action) {
  for (const auto& cpu : topology.cpus) for_gpus(cpu.devices, action);
}

void check_capability(const NcclTopology& topology, const DescribedGpu& gpu) {
  for_gpus(topology, [&](const NcclPci& device) {
    if (!device.gpu.sm || *device.gpu.sm == gpu.compute_capability) return;
    refuse_at(device.where,
              fmt::format("the GPU has 'sm' {}, but {} has compute capability {}.{}", *device.gpu.sm,
                          gpu.name, gpu.compute_capability / 10, gpu.compute_capability % 10),
              "name the right GPU with --gpu");
  });
}

/// Whether the GPUs are on boards that join them by an NVSwitch or in a full mesh.
bool is_on_a_board(const std::string& gpu) {
  return gpu.find("pcie") == std::string::npos && gpu.find("nvl") == std::string::npos;
}

/// Adds the usual NVLinks: topology files of clouds leave them to the driver.
void add_usual_nvlinks(const DescribedGpu& gpu, NcclNodeLayout& node, std::vector<std::string>& remarks) {
  auto& layout = node.layout;
  constexpr int first_with_switch = 80;  // Boards of A100 and later GPUs.
  const auto links = nvlink_rate(gpu.compute_capability, gpu.name).of_gpu;
  const bool has_some = !layout.switched.empty() || !layout.pairs.empty();
  if (has_some || node.lists_nvlinks || links == 0 || layout.gpus < 2 || !is_on_a_board(gpu.name)) return;
  if (gpu.compute_capability < first_with_switch) {
    node.uncertainties.push_back(
        fmt::format("the file does not list NVLinks, which boards of {} have between some pairs of GPUs: add "
                    "them to links",
                    gpu.name));
    return;
  }
  for (std::size_t number = 0; number < layout.gpus; ++number)
    layout.switched.push_back({number, links, "nvswitch"});
  node.uncertainties.push_back(fmt::format(
      "the file does not list NVLinks: {1} from each GPU to an NVSwitch are assumed, as usual for {0}",
      gpu.name, links));
  remarks.emplace_back("To describe a node without NVLinks, remove nvswitches and its links.");
}

}  // namespace

std::string gpu_of(const NcclTopology& topology) {
  const NcclPci* first = nullptr;
  for_gpus(topology, [&](const NcclPci& device) {
    if (first == nullptr) first = &device;
    if (device.device == first->device) return;
    throw ConfigError{Problem{device.where,
                              "the node has two kinds of GPU",
                              {{first->where, "the other GPU is here"}},
                              "a platform has one kind of GPU: describe the nodes of each kind separately"}};
  });
  return std::string{first == nullptr || !first->device ? std::string_view{} : gpu_of_device(*first->device)};
}

std::optional<int> capability_of(const NcclTopology& topology) {
  std::optional<int> capability;
  for_gpus(topology, [&](const NcclPci& device) {
    if (!capability) capability = device.gpu.sm;
  });
  return capability;
}

WrittenPlatform nccl_platform(const NcclTopology& topology, NcclNodeLayout node, const DescribedGpu& gpu) {
  check_capability(topology, gpu);
  PlatformDraft draft;
  add_usual_nvlinks(gpu, node, draft.remarks);
  draft.remarks.insert(draft.remarks.begin(), node.uncertainties.begin(), node.uncertainties.end());
  draft.remarks.emplace_back(
      "Inferred: one root complex for each device or switch on a CPU. NCCL's topology does not contain root "
      "complexes.");
  draft.layout = std::move(node.layout);
  draft.source = fmt::format(
      "NCCL's topology of a node with {} x {}, by gradway import nccl-topo. The connections are those of the "
      "file; no rate was measured on the node",
      draft.layout.gpus, gpu.name);
  draft.gpu = gpu.name;
  if (!gpu.remark.empty()) draft.gpu_remarks.push_back(gpu.remark);
  const auto& cpu = topology.cpus.front();
  draft.cpu_vendor = cpu.vendor;
  draft.no_vendor = "the file does not contain it";
  draft.links = nominal_links(
      draft.layout, {gpu.name, gpu.compute_capability, cpu.vendor, cpu.model, std::move(node.links)});
  add_nics(draft);
  return {platform_text(draft), node.uncertainties};
}

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

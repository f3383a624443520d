// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/matrix_platform.hpp"

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

WrittenPlatform matrix_platform(const TopologyMatrix& matrix, const DescribedGpu& gpu) {
  const auto nvlinks = nvlink_rate(gpu.compute_capability, gpu.name).of_gpu;
  PlatformDraft draft;
  draft.layout = node_layout(matrix, {nvlinks > 0 ? std::optional{nvlinks} : std::nullopt, false});
  draft.source = fmt::format(
      "`nvidia-smi topo -m` of a node with {} x {}, by gradway import topo. The connections are those of the "
      "matrix; no rate was measured on the node",
      matrix.gpus, gpu.name);
  draft.gpu = gpu.name;
  if (!gpu.remark.empty()) draft.gpu_remarks.push_back(gpu.remark);
  draft.no_vendor = "the matrix does not contain it";
  draft.remarks = draft.layout.remarks;
  if (draft.layout.switched > 0)
    draft.remarks.emplace_back(
        "Inferred: an NVSwitch, since all pairs of GPUs have the same number of NVLinks.");
  draft.links = nominal_links(draft.layout, {gpu.name, gpu.compute_capability, "", {}, {}});
  add_nics(draft);
  return {platform_text(draft), draft.layout.remarks};
}

}  // namespace gradway

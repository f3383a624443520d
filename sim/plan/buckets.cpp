// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/buckets.hpp"

#include <utility>

namespace gradway {

std::vector<Bucket> ddp_buckets(const Model& model, std::optional<Bytes> cap) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (auto layer = model.layers.size(); layer-- > 0;) {
    const auto& parameters = model.layers[layer].parameters;
    for (auto parameter = parameters.size(); parameter-- > 0;) {
      const Bytes size{4 * static_cast<double>(parameters[parameter].elements())};
      open.gradients.push_back(
          {static_cast<std::int32_t>(layer), static_cast<std::int32_t>(parameter), size});
      open.size += size;
      const auto limit = cap.value_or(buckets.empty() ? 1_MiB : 25_MiB);
      if (open.size >= limit) buckets.push_back(std::exchange(open, {}));
    }
  }
  if (!open.gradients.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/ddp/buckets.hpp"

#include <utility>

#include "sim/plan/model_tasks.hpp"

namespace gradway {

std::vector<Unit> ddp_buckets(const Model& model, std::optional<Bytes> cap, double width) {
  std::vector<Unit> buckets;
  Unit open;
  for (auto gradient : gradients_in_order(model)) {
    gradient.size = gradient.size * (width / fp32_bytes);
    open.gradients.push_back(gradient);
    open.size += gradient.size;
    const auto limit = cap.value_or(buckets.empty() ? 1_MiB : 25_MiB);
    if (open.size >= limit) buckets.push_back(std::exchange(open, {}));
  }
  if (!open.gradients.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace gradway

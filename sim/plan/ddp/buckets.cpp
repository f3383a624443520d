// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/ddp/buckets.hpp"

#include <algorithm>
#include <utility>

#include "sim/plan/model_tasks.hpp"

namespace gradway {

namespace {

std::vector<Unit> filled(const std::vector<Unit::Gradient>& gradients, std::optional<Bytes> cap,
                         double width) {
  std::vector<Unit> buckets;
  Unit open;
  for (auto gradient : gradients) {
    gradient.size = gradient.size * (width / fp32_bytes);
    open.gradients.push_back(gradient);
    open.size += gradient.size;
    const auto limit = cap.value_or(buckets.empty() ? 1_MiB : 25_MiB);
    if (open.size >= limit) buckets.push_back(std::exchange(open, {}));
  }
  if (!open.gradients.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace

std::vector<Unit> ddp_buckets(const Model& model, std::optional<Bytes> cap, double width) {
  return filled(gradients_in_order(model), cap, width);
}

std::vector<Unit> first_ddp_buckets(const Model& model, std::optional<Bytes> cap, double width) {
  auto gradients = gradients_in_order(model);
  std::ranges::reverse(gradients);
  auto buckets = filled(gradients, cap, width);
  std::ranges::reverse(buckets);
  for (auto& bucket : buckets) std::ranges::reverse(bucket.gradients);
  return buckets;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/launch_times.hpp"

namespace gradway {
namespace {

/// Whether groups of a convolution have several channels each; cuDNN prepares those slowly.
bool has_channel_groups(const Operation& convolution) {
  const auto channels = convolution.size[1];
  const auto groups = convolution.size[7];
  return groups > 1 && groups != channels;
}

/// Whether aten::convolution_backward makes the operation together with that of the other gradient.
bool is_half_a_call(const Operation& operation) {
  return operation.family == KernelFamily::convolution_input ||
         operation.family == KernelFamily::convolution_weight;
}

/// CPU time of the calls of an operation after the first.
double of_further_calls(const Operation& operation) {
  const bool multiplies = launch_class(operation) == LaunchClass::product;
  return (operation.calls - 1) * (multiplies ? host_share_of_expert_product : host_share_of_expert_cast);
}

bool scatters(const Operation& operation) {
  return operation.what.starts_with("nll_loss") || operation.what.starts_with("sort") ||
         operation.what.starts_with("index") || operation.what == "topk" || operation.what == "scatter_add";
}

}  // namespace

LaunchClass launch_class(const Operation& operation) {
  using enum KernelFamily;
  switch (operation.family) {
    case product:
    case batched_product:
    case grouped_product:
      return LaunchClass::product;
    case attention_forward:
    case attention_backward:
      return LaunchClass::attention;
    case convolution:
    case convolution_input:
    case convolution_weight:
      return has_channel_groups(operation) ? LaunchClass::grouped_convolution : LaunchClass::convolution;
    case batch_norm:
    case batch_norm_backward:
      return LaunchClass::batch_norm;
    case embedding_backward:
      return LaunchClass::scatter;
    case rows:
      if (scatters(operation)) return LaunchClass::scatter;
      return operation.what.find("_norm") != std::string_view::npos ? LaunchClass::norm : LaunchClass::light;
    case elementwise:
      return operation.what.starts_with("cast_to") ? LaunchClass::cast : LaunchClass::light;
    case max_pool:
    case max_pool_backward:
    case embedding:
    case optimizer:
      break;
  }
  return LaunchClass::light;
}

void set_host_shares(LayerOperations& layer, std::size_t parameters) {
  for (auto* pass : {&layer.forward, &layer.once, &layer.recomputed})
    for (auto& operation : *pass)
      operation.host *= host_share(launch_class(operation), false) + of_further_calls(operation);
  for (auto& operation : layer.backward)
    operation.host *= host_share(launch_class(operation), true) / (is_half_a_call(operation) ? 2 : 1) +
                      of_further_calls(operation);
  if (!layer.backward.empty())
    layer.backward.back().host += host_share_of_gradient * static_cast<double>(parameters);
}

}  // namespace gradway

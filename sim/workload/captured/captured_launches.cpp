// SPDX-License-Identifier: Apache-2.0
// CPU time of the operations of captured programs.
#include <algorithm>
#include <array>
#include <string_view>

#include "sim/base/text.hpp"
#include "sim/workload/captured/captured_names.hpp"
#include "sim/workload/captured/captured_step.hpp"
#include "sim/workload/launch_times.hpp"

namespace gradway {
namespace {

/// Besides the names that start with nll_loss or scatter.
constexpr std::array<std::string_view, 12> scattering{
    "index", "index_put", "index_put_", "_index_put_impl_", "index_add", "index_add_",
    "sort",  "argsort",   "topk",       "nonzero",          "histc",     "embedding_dense_backward"};

/// Whether groups of a convolution have several channels each; cuDNN prepares those slowly.
bool has_channel_groups(const CapturedOperation& captured) {
  const auto& input = captured.inputs[captured.name == "convolution" ? 0 : 1];
  return captured.groups > 1 && captured.groups != input.shape[1];
}

LaunchClass class_of(const CapturedOperation& captured) {
  const std::string_view name = captured.name;
  if (name == "_to_copy") return LaunchClass::cast;
  if (name == "mm" || name == "addmm" || name == "bmm" || name == "baddbmm" || name == "_grouped_mm")
    return LaunchClass::product;
  if (name.starts_with("scaled_dot_product_attention")) return LaunchClass::attention;
  if (name == "convolution" || name == "convolution_backward")
    return has_channel_groups(captured) ? LaunchClass::grouped_convolution : LaunchClass::convolution;
  if (contains(name, "batch_norm")) return LaunchClass::batch_norm;
  if (contains(name, "_norm") && !is_reduction(name)) return LaunchClass::norm;
  if (std::ranges::find(scattering, name) != scattering.end() || name.starts_with("nll_loss") ||
      name.starts_with("scatter"))
    return LaunchClass::scatter;
  return LaunchClass::light;
}

}  // namespace

double host_share(const CapturedOperation& captured, bool is_backward) {
  return host_share(class_of(captured), is_backward);
}

}  // namespace gradway

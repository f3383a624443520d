// SPDX-License-Identifier: Apache-2.0
// CPU time of the operations of captured programs.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/workload/captured/captured_names.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway {
namespace {

enum class LaunchClass : std::uint8_t {
  light,  ///< elementwise operations and sums
  cast,
  product,
  attention,
  norm,
  batch_norm,
  convolution,
  grouped_convolution,
  scatter  ///< operations of several kernels and with temporary memory: index, sort, gradients of embeddings
};

/// CPU time in microseconds, with the views, autograd nodes and Python code around an operation.
///
/// @source own measurement, 2026-11-26, an H200 and 16 cores, PyTorch 2.11, transformers 5.17, torchvision
/// 0.26: shortest CPU times of forward and backward passes of 23 programs at batches so small that the GPU
/// waits (332 to 4,454 operations). Least squares of relative errors around the times of single operations in
/// loops without synchronisation (on the same host; standard deviation 30 %). Residuals: mean 5 and 7 %,
/// worst 16 and 14 %; fitted to half of the programs, the others are 9 % off on average. One time for all
/// operations leaves 14 and 18 %, worst 36 and 48 %.
struct LaunchTime {
  double forward;
  double backward;
};
constexpr std::array<LaunchTime, 9> launch_times{
    {{16, 13}, {11, 14}, {36, 28}, {120, 72}, {30, 32}, {33, 39}, {36, 40}, {210, 138}, {77, 132}}};
/// Autograd's AccumulateGrad per parameter.
constexpr double gradient_time = 4;

/// CPU time of the mean eager operation on that host (`eager_operation` of measure_kernels.py: 30.3, 31.8 and
/// 32.1 us), over 1.1: the median CPU time of a pass over its shortest, which the figures above are.
constexpr double mean_operation = 29;

/// Besides the names that start with nll_loss or scatter.
constexpr std::array<std::string_view, 12> scattering{
    "index", "index_put", "index_put_", "_index_put_impl_", "index_add", "index_add_",
    "sort",  "argsort",   "topk",       "nonzero",          "histc",     "embedding_dense_backward"};

bool contains(std::string_view name, std::string_view substring) {
  return name.find(substring) != std::string_view::npos;
}

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
  const auto& time = launch_times[static_cast<std::size_t>(class_of(captured))];
  return (is_backward ? time.backward : time.forward) / mean_operation;
}

double host_share_of_gradient() {
  return gradient_time / mean_operation;
}

}  // namespace gradway

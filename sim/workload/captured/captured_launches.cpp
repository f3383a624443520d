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
  if (is_product(name)) return LaunchClass::product;
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

/// CPU time in microseconds of a call of torch.utils.checkpoint, and what each operation takes longer in it:
/// without re-entering autograd, hooks run for each saved tensor, and once more when it is recomputed.
///
/// @source own measurement, 2026-12-01, an H200, PyTorch 2.11: blocks of 1, 4 and 16 layers (product, tanh,
/// sum) of 64 elements, without and with autocast, 8 of them in a row, medians of 25 steps, twice: with
/// checkpoint less without, and less the forward pass in the backward pass. A call 136 to 270 us forward and
/// 181 to 249 backward, an operation 3 to 19 and 6 to 32; re-entering 93 to 151 and 203 to 450, 0 and -8 to
/// 13
struct CheckpointTime {
  double call;
  double operation;
};
constexpr std::array<CheckpointTime, 2> recorded_again{{{207, 10.7}, {205, 21}}};
constexpr std::array<CheckpointTime, 2> reentrant{{{120, 0}, {260, 7}}};

/// CPU time in microseconds of a call of a graph that torch.compile compiled (guards, arguments, autograd).
/// @source the same measurement: 8 graphs of a layer, or of 4, less one graph of all: 82 and 98 us forward,
/// 154 and 41 us backward
constexpr std::array<double, 2> graph_call{90, 98};

}  // namespace

double host_share(const CapturedOperation& captured, bool is_backward) {
  const std::size_t pass = is_backward ? 1 : 0;
  if (captured.name == "checkpoint") {
    const auto& time = (captured.is_reentrant ? reentrant : recorded_again)[pass];
    return (time.call + time.operation * captured.inner) / mean_operation;
  }
  return host_share(class_of(captured), is_backward) +
         (captured.starts_graph ? graph_call[pass] / mean_operation : 0);
}

}  // namespace gradway

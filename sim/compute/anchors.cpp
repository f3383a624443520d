// SPDX-License-Identifier: Apache-2.0
#include "sim/compute/anchors.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/problem.hpp"

namespace gradway {

const Anchor* matching_anchor(const Model& model, const Job& job, const Gpu& gpu) {
  const auto rank = [&](const Anchor& anchor) {
    const auto [smaller, larger] = std::minmax(anchor.batch, job.batch_per_gpu);
    return std::tuple{static_cast<double>(larger) / smaller, anchor.optimizer != job.optimizer, -anchor.batch,
                      anchor.optimizer};
  };
  const Anchor* best = nullptr;
  for (const auto& anchor : model.anchors) {
    if (anchor.gpu != gpu.name || anchor.precision != job.precision) continue;
    if (!best || rank(anchor) < rank(*best)) best = &anchor;
  }
  return best;
}

void refuse_beyond_peak(const Model& model, const Gpu& gpu, const Anchor& anchor, Flops work, Seconds busy) {
  const auto& peak = gpu.peak[static_cast<std::size_t>(anchor.precision)];
  if (!peak || work / *peak <= busy) return;
  refuse(fmt::format(
             "model '{}': the anchor of {:.4g} ms per step at batch {} on {} needs {:.4g} TFLOP/s, which "
             "exceeds the peak of {:.4g}",
             model.name, anchor.step_time.value() * 1e3, anchor.batch, gpu.name, (work / busy).value() / 1e12,
             peak->value() / 1e12),
         "check its 'step_time' or 'rate', 'batch', 'precision' and 'gpu'");
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/launch_work.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace gradway {
namespace {

/// "AdamW" from "Optimizer.step#AdamW.step".
std::string class_name(std::string_view annotation) {
  annotation.remove_prefix(std::min(annotation.find('#') + 1, annotation.size()));
  return std::string{annotation.substr(0, annotation.find('.'))};
}

/// Whether the optimizer's step launches an operation whose name begins with `name`.
bool launches(const Trace& trace, const TracedStep& step, std::string_view name) {
  return std::ranges::any_of(step.launches, [&](const TracedLaunch& launch) {
    return launch.phase == ProfiledPhase::optimizer && launch.operation != nullptr &&
           trace.signatures[launch.operation->signature].name.starts_with(name);
  });
}

/// Momentum is decayed in place; SGD multiplies nothing else in place.
bool has_momentum(const Trace& trace, const TracedStep& step) {
  return launches(trace, step, "aten::_foreach_mul_") || launches(trace, step, "aten::mul_");
}

}  // namespace

Optimizer find_optimizer(const Trace& trace, const TracedStep& step, std::vector<std::string>& warnings) {
  auto name = class_name(trace.optimizer_steps.front().name);
  for (const auto& step_of : trace.optimizer_steps)  // The wrapper's step contains that of its optimizer.
    if (name == "ZeroRedundancyOptimizer") name = class_name(step_of.name);
  if (name == "SGD") return has_momentum(trace, step) ? Optimizer::sgd_momentum : Optimizer::sgd;
  const bool is_fused = name == "FusedAdam" || launches(trace, step, "aten::_fused_adam");
  const auto result = is_fused ? Optimizer::adamw_fused : Optimizer::adamw;
  if (name != "AdamW" && name != "Adam" && name != "FusedAdam")
    warnings.push_back(fmt::format("unknown optimizer '{}': the profile keeps its launches and names it {}",
                                   name, result == Optimizer::adamw ? "adamw" : "adamw_fused"));
  return result;
}

}  // namespace gradway

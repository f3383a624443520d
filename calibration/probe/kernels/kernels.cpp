// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/kernels/kernels.hpp"

#include <array>
#include <string>

#include "calibration/probe/attempt.hpp"
#include "calibration/probe/kernels/families.hpp"

namespace gradway::probe {
namespace {

struct Family {
  const char* name;
  void (*probe)(Context&);
  double share;  ///< Approximate share of the total time.
};

constexpr std::array families{
    Family{"launches", probe_launches, 0.03},     Family{"memory", probe_memory, 0.20},
    Family{"optimizers", probe_optimizers, 0.07}, Family{"attention", probe_attention, 0.10},
    Family{"products", probe_products, 0.60},
};

}  // namespace

void probe_kernels(Context& context) {
  double before = 0;
  for (const auto& family : families) {
    Context part = context;
    part.done = [&](double fraction) { context.done(before + fraction * family.share); };
    attempt(context, std::string{"kernels: "} + family.name, [&] { family.probe(part); });
    before += family.share;
    context.done(before);
  }
}

}  // namespace gradway::probe

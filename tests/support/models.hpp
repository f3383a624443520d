// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "sim/workload/architectures.hpp"

namespace gradway::test {

inline Model model_of(ForwardPass run) {
  Model model;
  set_forward_pass(model, std::move(run));
  return model;
}

}  // namespace gradway::test

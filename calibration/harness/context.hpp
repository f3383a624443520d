// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "calibration/harness/row.hpp"
#include "calibration/harness/stopping.hpp"

namespace gradway::probe {

class Group;

/// What a probe is given.
struct Context {
  StoppingRule rule;
  bool quick = false;  ///< fewer sizes and shapes
  bool adapt = false;  ///< only what differs between machines of a kind; quick besides
  int gpu = 0;         ///< of this process, among those of its node
  int gpus = 1;        ///< of this node
  int nodes = 1;
  Group* group = nullptr;                ///< the ranks of the job; one of them is this process
  std::function<void(const Row&)> emit;  ///< takes a row for the file (of rank 0; others are dropped)
  std::function<void(const std::string&)> remark;  ///< takes what the reader must know: throttling, noise
  std::function<void(double)> done;                ///< takes the part of the job that is done, 0 to 1
};

}  // namespace gradway::probe

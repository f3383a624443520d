// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "calibration/harness/row.hpp"
#include "calibration/harness/stopping.hpp"

namespace gradway::probe {

class Group;

/// Arguments of a probe.
struct Context {
  StoppingRule rule;
  bool quick = false;  ///< Fewer sizes and shapes.
  bool adapt = false;  ///< Only what differs between machines of a kind; implies `quick`.
  int gpu = 0;         ///< GPU of this process, among those of its node.
  int gpus = 1;        ///< GPUs of this node.
  int nodes = 1;
  Group* group = nullptr;  ///< The ranks of the job, including this process.
  /// Adds a row to the file (rank 0 only; rows of other ranks are dropped).
  std::function<void(const Row&)> emit;
  std::function<void(const std::string&)> remark;  ///< Adds a remark for the user: throttling, noise.
  std::function<void(double)> done;                ///< Reports the completed share of the job, 0 to 1.
};

}  // namespace gradway::probe

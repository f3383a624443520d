// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A key that the search of layouts leaves as the scenario has it, at a value that may be faster.
struct UnsearchedKey {
  std::vector<std::pair<std::string, std::string>> set;  ///< as `--set` takes them
  void (*change)(Job& job);
};

/// Those that make another program of the job: formats of parameters, torch.compile, kernels of the
/// optimizer, exchanges beside products. @param best the fastest layout
std::vector<UnsearchedKey> unsearched_keys(const Scenario& written, const Job& best);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway::bench {

inline DataPath data() {
  return {{GRADWAY_SOURCE_DIR}};
}

/// A scenario by its name in a data folder, for example "scale/ddp-24". @param gpus 0: as its file says
inline Scenario load(const std::string& name, std::int64_t gpus = 0) {
  std::vector<Override> set;
  if (gpus > 0) set.push_back({"job.gpus", std::to_string(gpus)});
  return load_scenario(name, set, data());
}

}  // namespace gradway::bench

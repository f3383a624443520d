// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"

namespace gradway {

ChosenEngine choose_engine(std::string_view name) {
  if (name == "auto") name = "fluid";
  const auto entry = std::find_if(engines().begin(), engines().end(),
                                  [&](const EngineEntry& candidate) { return candidate.name == name; });
  expects(entry != engines().end(), "the engine's name is 'auto' or in the table of engines");
  return {entry->name, entry->make()};
}

}  // namespace gradway

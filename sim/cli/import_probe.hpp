// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/cli/surroundings.hpp"

namespace gradway::cli {

/// What `gradway import probe` was asked for.
struct ProbeImport {
  std::string samples;      ///< a file of samples, plain or packed
  std::string out;          ///< the platform file to write; empty: it is printed
  std::string calibration;  ///< that the platform shall name; empty: none
  bool force = false;       ///< the platform file may be there
};

/// Writes the platform of a node from what gradway-probe measured there, with a file for a GPU that no data
/// folder has.
/// @throws ConfigError if that cannot be done; then nothing is left behind
void import_probe(const ProbeImport& asked, const Surroundings& around);

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Measures collectives by operation, size and number of ranks, with free algorithm and protocol.
/// @param transport the tag of the rows: p2p, shm or net; the job's environment forces it
void probe_collectives(Context& context, const std::string& transport);

/// Measures all-reduces over all ranks with each algorithm and protocol forced.
void probe_forced(Context& context, const std::string& transport);

}  // namespace gradway::probe

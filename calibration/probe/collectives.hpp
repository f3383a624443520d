// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Collectives by operation, size and number of ranks, with algorithm and protocol free.
/// @param transport the tag of the rows: p2p, shm or net; the job's environment forces it
void probe_collectives(Context& context, const std::string& transport);

/// All-reduces over all ranks with each algorithm and protocol forced.
void probe_forced(Context& context, const std::string& transport);

}  // namespace gradway::probe

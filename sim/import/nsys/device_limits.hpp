// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/import/kineto/read/raw_event.hpp"

namespace gradway {

/// What fits on a multiprocessor of a GPU of this compute capability; zeros of one that is not known.
/// @source CUDA C++ Programming Guide 12.8, table "Technical Specifications per Compute Capability"
RawDevice limits_of_capability(std::int64_t major, std::int64_t minor);

}  // namespace gradway

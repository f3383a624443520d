// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"

namespace gradway {

/// Memory that the process can have: that of the machine, or a limit of the shell's (ulimit -v).
Bytes memory_limit();

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/units.hpp"

namespace gradway {

/// A size as calibrations write it: whole binary units if they say it exactly, "64 KiB", else bytes.
std::string size_text(Bytes size);

}  // namespace gradway

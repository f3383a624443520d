// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/units.hpp"

namespace gradway {

/// A size in the form of calibration files: in binary units if that is exact ("64 KiB"), else in bytes.
std::string size_text(Bytes size);

}  // namespace gradway

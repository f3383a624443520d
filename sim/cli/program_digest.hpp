// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway::cli {

/// A digest of the sources this program was built from, of the compiler and its flags: 16 hexadecimal digits.
/// The same for two builds of the same sources, wherever they stand; written by the build, see
/// program_digest.cmake.
std::string_view program_digest();

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway::cli {

/// A digest of the sources this program was built from, of the compiler and its flags: 16 hexadecimal digits.
/// The same for two builds of the same sources, wherever they stand; written by the build, see
/// program_digest.cmake.
std::string_view program_digest();

/// "commit 541190c1a2b3", " and changes" behind it if files had changed since; or "commit unknown". Written
/// at each build, see packaging/commit.cmake. No result depends on it.
std::string_view built_from();

}  // namespace gradway::cli

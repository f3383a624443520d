// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gradway {
struct DataPath;
}

namespace gradway::cli {

/// A digest of the sources, the compiler and its flags: 16 hexadecimal digits, independent of the folder of
/// the sources. Written by the build, see program_digest.cmake.
std::string_view program_digest();

/// "commit 541190c1a2b3", with " and changes" if files differed from it, or "commit unknown". Written by each
/// build, see packaging/commit.cmake. No result depends on it.
std::string_view built_from();

/// A digest of the names and contents of all YAML files of the installed data.
std::string data_digest(const DataPath& data);

}  // namespace gradway::cli

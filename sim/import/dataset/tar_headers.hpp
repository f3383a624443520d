// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace gradway {

/// Tells the files in a tar file in their order: ustar, GNU's long names and sizes, pax. Their contents are
/// passed over. @throws ConfigError if it is no tar file, or ends too early
void read_tar_headers(const std::filesystem::path& file,
                      const std::function<void(const std::string& name, std::uint64_t size)>& tell);

}  // namespace gradway

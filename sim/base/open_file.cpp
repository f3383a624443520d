// SPDX-License-Identifier: Apache-2.0
#include "sim/base/open_file.hpp"

#include <fcntl.h>

namespace gradway {

int open_without_waiting(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/base/process.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gradway {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& source) noexcept {
  if (this == &source) return *this;
  close();
  descriptor_ = std::exchange(source.descriptor_, -1);
  return *this;
}

void FileDescriptor::close() {
  if (const int open = std::exchange(descriptor_, -1); open >= 0) ::close(open);
}

bool FileDescriptor::read_some(std::string& text) const {
  char buffer[65536];
  ssize_t count = -1;
  do {
    count = ::read(descriptor_, buffer, sizeof buffer);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  text.append(buffer, static_cast<std::size_t>(count));
  return true;
}

bool FileDescriptor::write_all(const char* bytes, std::size_t size) const {
  while (size > 0) {
    const ssize_t count = ::write(descriptor_, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

std::string fate_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return "unknown";
  }
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace gradway

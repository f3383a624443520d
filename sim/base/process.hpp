// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>

namespace gradway {

/// An open file, which is closed with it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_{descriptor} {}
  FileDescriptor(FileDescriptor&& source) noexcept : descriptor_{std::exchange(source.descriptor_, -1)} {}
  FileDescriptor& operator=(FileDescriptor&& source) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  void close();

  /// Appends what can be read now, or waits for it. @return false at the end
  bool read_some(std::string& text) const;
  /// @return false if the bytes cannot be written
  bool write_all(const char* bytes, std::size_t size) const;

 private:
  int descriptor_ = -1;
};

/// Waits for the end of a child process. @return "exit status 1" or "signal 9 (Killed)"
std::string fate_of(pid_t child);

}  // namespace gradway

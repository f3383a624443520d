// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "calibration/probe/cuda_check.hpp"

namespace gradway::probe {

/// A library is missing or lacks a function; the message says what to do. It is not a failure of the run if
/// the run can do without the library.
class Refusal : public Failure {
 public:
  using Failure::Failure;
};

/// A library loaded at run time, so that the program starts without it. It stays loaded until the program
/// ends: some libraries must not be unloaded while CUDA runs.
class Library {
 public:
  struct Description {
    std::string what;                ///< Name for people.
    std::vector<std::string> names;  ///< File names, the preferred one first.
    std::string package;             ///< Package of Debian and Red Hat that contains it.
  };

  /// @throws Refusal if it is not found, with what to install or to name
  explicit Library(const Description& description);

  /// @throws Refusal if the library lacks the function
  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) throw Refusal{file_ + " has no " + name + ": it may be too old"};
  }
  /// File of the library.
  const std::string& file() const { return file_; }

  /// Folders in which all libraries are searched first.
  static void look_below(std::vector<std::filesystem::path> folders);

 private:
  void* handle_ = nullptr;
  std::string file_;
};

/// CUDA version of the driver, as 1000 major + 10 minor: 13000 is 13.0; 0 without a driver. It does not
/// initialise CUDA, which forked processes could then not use.
int cuda_of_driver();

/// Version of a library in NVIDIA's numbering: 22809 is 2.28.9.
std::string library_version_text(std::size_t version);

/// 13000 is 13.0.
std::string cuda_version_text(int version);

}  // namespace gradway::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "calibration/probe/cuda_check.hpp"

namespace gradway::probe {

/// A library is not here, or does not have what was asked for; the text says what to do. No failure of the
/// run where it can do without.
class Refusal : public Failure {
 public:
  using Failure::Failure;
};

/// A library that is loaded when the program runs, so that the program starts without it. It stays loaded
/// until the program ends: some do not like to be unloaded while CUDA runs.
class Library {
 public:
  struct Description {
    std::string what;                ///< as people call it
    std::vector<std::string> names;  ///< of its file, the preferred one first
    std::string package;             ///< of Debian and Red Hat that has it
  };

  /// @throws Refusal if it is nowhere, with what to install or to name
  explicit Library(const Description& description);

  /// @throws Refusal if the library lacks it
  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) throw Refusal{file_ + " has no " + name + ": is it too old?"};
  }
  /// Which one it is.
  const std::string& file() const { return file_; }

  /// Where all libraries are looked for first.
  static void look_below(std::vector<std::filesystem::path> folders);

 private:
  void* handle_ = nullptr;
  std::string file_;
};

/// The CUDA version that the driver has, times 1000 and 10: 13000 is 13.0; 0 without a driver. It starts
/// nothing of CUDA, which processes that are forked from this one could then not use.
int cuda_of_driver();

/// The version of a library as NVIDIA counts them: 22809 -> 2.28.9
std::string library_version_text(std::size_t version);

/// 13000 -> 13.0
std::string cuda_version_text(int version);

}  // namespace gradway::probe

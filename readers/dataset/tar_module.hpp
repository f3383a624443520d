// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/base/module.hpp"

namespace gradway {

/// Is called for each file in a tar file, in order.
using VisitTarHeader = std::function<void(const std::string& name, std::uint64_t size)>;

/// What is wrong with a tar file; without a reason nothing is.
struct TarProblem {
  std::string reason;
  std::string hint;
};

/// The function of the module, which contains libarchive. It comes with 9 libraries, which an empty program
/// needs 1.5 ms to load.
using ReadTarHeaders = void(const char* file, const VisitTarHeader& visit, TarProblem& problem);

inline constexpr LoadableModule tar_module{.file = "libgradway_tar.so",
                                           .function = "gradway_read_tar_headers",
                                           .purpose = "the reader of tar files",
                                           .library = "libarchive13"};

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/libraries.hpp"

#include <fmt/format.h>

#include "calibration/probe/kernels/cublas_library.hpp"
#include "calibration/probe/nccl_library.hpp"

namespace gradway::probe {
namespace {

struct Cudnn9 {
  Library library{cudnn_description()};
  std::string version() const {
    std::size_t (*get_version)() = nullptr;
    library.find("cudnnGetVersion", get_version);
    return library_version_text(get_version());
  }
};

/// @param part of the measurements that needs it
template <class Load>
std::string line(const char* what, const char* part, const Load& load) {
  try {
    const auto& found = load();
    return fmt::format("{} {}: {}", what, found.version(), found.library.file());
  } catch (const Refusal& refusal) {
    return fmt::format("{} left out: {}", part, refusal.what());
  }
}

}  // namespace

std::vector<std::string> find_libraries(const std::vector<std::filesystem::path>& named) {
  Library::look_below(named);
  return {line("NCCL", "collectives are", nccl), line("cuBLAS", "matrix products are", cublas),
          line("cuDNN", "attention is", [] { return Cudnn9{}; })};
}

Library::Description cudnn_description() {
  return {"cuDNN", {"libcudnn.so.9"}, "cuDNN 9"};
}

std::string nccl_version() {
  return nccl().version();
}

std::string cudnn_version() {
  return Cudnn9{}.version();
}

}  // namespace gradway::probe

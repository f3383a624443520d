// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/kernels/cublas_library.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway::probe {
namespace {

/// The newest version that the driver supports, and older ones.
Library::Description description() {
  constexpr int oldest = 12;
  constexpr int newest = CUBLAS_VER_MAJOR;
  const int driver = cuda_of_driver();
  const int first = driver == 0 ? newest : std::clamp(driver / 1000, oldest, newest);
  Library::Description cublas{"cuBLAS", {}, fmt::format("libcublas of CUDA {}", first)};
  for (int major = first; major >= oldest; --major)
    cublas.names.push_back(fmt::format("libcublasLt.so.{}", major));
  return cublas;
}

}  // namespace

CublasLibrary::CublasLibrary() : library{description()} {
  library.find("cublasLtGetVersion", get_version);
  library.find("cublasLtGetStatusString", get_status);
  library.find("cublasLtCreate", create);
  library.find("cublasLtDestroy", destroy);
  library.find("cublasLtMatrixLayoutCreate", create_layout);
  library.find("cublasLtMatrixLayoutDestroy", destroy_layout);
  library.find("cublasLtMatmulDescCreate", create_product);
  library.find("cublasLtMatmulDescDestroy", destroy_product);
  library.find("cublasLtMatmulDescSetAttribute", set_product);
  library.find("cublasLtMatmulPreferenceCreate", create_preference);
  library.find("cublasLtMatmulPreferenceDestroy", destroy_preference);
  library.find("cublasLtMatmulPreferenceSetAttribute", set_preference);
  library.find("cublasLtMatmulAlgoGetHeuristic", choose_algorithm);
  library.find("cublasLtMatmul", multiply);
}

std::string CublasLibrary::version() const {
  return library_version_text(get_version());
}

const CublasLibrary& cublas() {
  static const CublasLibrary library;
  return library;
}

}  // namespace gradway::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cublasLt.h>

#include "calibration/probe/library.hpp"

namespace gradway::probe {

/// The functions of cublasLt that are used, from the installed library; those of CUDA 12 and 13 are the same.
struct CublasLibrary {
  /// @throws Refusal if there is none that the driver supports
  CublasLibrary();
  /// Such as 13.0.2.
  std::string version() const;

  Library library;
  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtGetStatusString) get_status = nullptr;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_product = nullptr;
  decltype(&cublasLtMatmulDescDestroy) destroy_product = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_product = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) choose_algorithm = nullptr;
  decltype(&cublasLtMatmul) multiply = nullptr;
};

/// cublasLt, loaded at the first call. @throws Refusal
const CublasLibrary& cublas();

}  // namespace gradway::probe

// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/kernels/product.hpp"

#include <string>

namespace gradway::probe {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Failure{std::string{what} + ": cublasLt: " + cublas().get_status(status)};
}

cudaDataType_t cuda_type(Element element) {
  switch (element) {
    case Element::fp16:
      return CUDA_R_16F;
    case Element::bf16:
      return CUDA_R_16BF;
    case Element::fp8:
      return CUDA_R_8F_E4M3;
    case Element::fp32:
      break;
  }
  return CUDA_R_32F;
}

template <class Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  check(cublas().set_product(operation, attribute, &value, sizeof value), "describing a product");
}

void destroy_preference(cublasLtMatmulPreference_t preference) {
  cublas().destroy_preference(preference);
}

/// For cublasLt a row-major matrix is its column-major transpose: one row is one column.
Layout row_major(Element element, std::int64_t rows, std::int64_t columns) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublas().create_layout(&layout, cuda_type(element), static_cast<std::uint64_t>(columns),
                               static_cast<std::uint64_t>(rows), columns),
        "describing a matrix");
  return Layout{layout};
}

}  // namespace

Multiplier::Multiplier() : workspace_{workspace_bytes}, one_{sizeof(float)} {
  cublasLtHandle_t handle = nullptr;
  check(cublas().create(&handle), "starting cublasLt");
  handle_ = Owned<cublasLtHandle_t, destroy_handle>{handle};
  const float one = 1;
  probe::check(cudaMemcpy(one_.get(), &one, sizeof one, cudaMemcpyHostToDevice), "copying a scale");
}

/// For cublasLt, y^T (n by m) = W^T X with W (k by n) and X (k by m) in columns: layout "TN", the only one
/// that supports fp8.
Product::Product(const Multiplier& multiplier, const Arithmetic& arithmetic, const ProductShape& shape)
    : multiplier_{&multiplier},
      w_{row_major(arithmetic.in, shape.n, shape.k)},
      x_{row_major(arithmetic.in, shape.m, shape.k)},
      y_{row_major(arithmetic.out, shape.m, shape.n)} {
  cublasLtMatmulDesc_t operation = nullptr;
  check(cublas().create_product(&operation, arithmetic.compute, CUDA_R_32F), "describing a product");
  operation_ = Owned<cublasLtMatmulDesc_t, destroy_product>{operation};
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  if (arithmetic.in == Element::fp8) {
    // Without fast accumulation: only forward products may use it, but two thirds of a step must not.
    const void* one = multiplier.one();
    set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, one);
    set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, one);
  }

  cublasLtMatmulPreference_t made = nullptr;
  check(cublas().create_preference(&made), "describing a preference");
  const Owned<cublasLtMatmulPreference_t, destroy_preference> preference{made};
  const std::uint64_t limit = Multiplier::workspace_bytes;
  check(cublas().set_preference(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit),
        "describing a preference");
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const auto status = cublas().choose_algorithm(multiplier.handle(), operation, w_.get(), x_.get(), y_.get(),
                                                y_.get(), preference.get(), 1, &found, &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH) return;
  check(status, "choosing an algorithm for a product");
  is_supported_ = count > 0 && found.state == CUBLAS_STATUS_SUCCESS;
  algorithm_ = found.algo;
  workspace_bytes_ = found.workspaceSize;
}

void Product::issue(const void* x, const void* w, void* y, const Stream& stream) const {
  const float one = 1;
  const float zero = 0;
  check(cublas().multiply(multiplier_->handle(), operation_.get(), &one, w, w_.get(), x, x_.get(), &zero, y,
                          y_.get(), y, y_.get(), &algorithm_, multiplier_->workspace(), workspace_bytes_,
                          stream.get()),
        "a product");
}

}  // namespace gradway::probe

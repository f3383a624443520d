// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "calibration/probe/device.hpp"
#include "calibration/probe/kernels/cublas_library.hpp"
#include "calibration/probe/kernels/elements.hpp"

namespace gradway::probe {

/// Arithmetic of a matrix product.
struct Arithmetic {
  const char* name;             ///< As in rows.
  Element in;                   ///< Of both factors.
  Element out;                  ///< Of the product.
  cublasComputeType_t compute;  ///< Sums are always fp32.
  int capability;               ///< First compute capability that supports it, times 10.
  double tolerance;             ///< Error of an entry divided by the square root of k, with normal factors.
};

/// The arithmetic with a name in rows. @pre it is fp32, tf32, bf16, fp16 or fp8
const Arithmetic& arithmetic_named(std::string_view name);

/// Whether the current GPU supports it.
bool is_supported(const Arithmetic& arithmetic);

/// y = x w^T, all three row-major, as in a linear layer with its input and weight.
struct ProductShape {
  std::int64_t m = 0;  ///< rows of x and y
  std::int64_t n = 0;  ///< rows of w, columns of y
  std::int64_t k = 0;  ///< columns of x and w
};

inline void destroy_handle(cublasLtHandle_t handle) {
  cublas().destroy(handle);
}
inline void destroy_product(cublasLtMatmulDesc_t product) {
  cublas().destroy_product(product);
}
inline void destroy_layout(cublasLtMatrixLayout_t layout) {
  cublas().destroy_layout(layout);
}
using Layout = Owned<cublasLtMatrixLayout_t, destroy_layout>;

/// cublasLt with the state shared by its calls.
class Multiplier {
 public:
  /// @throws Failure if cublasLt does not start or there is no memory
  Multiplier();
  cublasLtHandle_t handle() const { return handle_.get(); }
  void* workspace() const { return workspace_.get(); }
  /// A 1 on the GPU: the scale of fp8 factors.
  const float* one() const { return static_cast<const float*>(one_.get()); }

  /// PyTorch gives cuBLAS 32 MiB on Hopper, as recommended by NVIDIA, and less elsewhere.
  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

 private:
  Owned<cublasLtHandle_t, destroy_handle> handle_;
  DeviceBuffer workspace_;
  DeviceBuffer one_;
};

/// One planned product: the algorithm is the first of cublasLt's heuristic, as in PyTorch.
class Product {
 public:
  /// @throws Failure if a call fails; see `is_supported` for unsupported products
  Product(const Multiplier& multiplier, const Arithmetic& arithmetic, const ProductShape& shape);
  /// Whether cublasLt has an algorithm for it.
  bool is_supported() const { return is_supported_; }
  /// @pre is_supported()
  /// @throws Failure if the call fails
  void issue(const void* x, const void* w, void* y, const Stream& stream) const;

 private:
  const Multiplier* multiplier_;
  Owned<cublasLtMatmulDesc_t, destroy_product> operation_;
  Layout w_;
  Layout x_;
  Layout y_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_bytes_ = 0;
  bool is_supported_ = false;
};

}  // namespace gradway::probe

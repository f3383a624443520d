// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operations of the multi-tensor kernels of an optimizer, for files that nvcc compiles. Each works on one
/// number of each of its lists; `at(i)` is that of list i.
namespace gradway::probe::update {

// Defaults of PyTorch, at the first step.
constexpr float sgd_rate = 1e-3f;
constexpr float rate = 1e-3f;
constexpr float decay = 1e-2f;
constexpr float beta1 = 0.9f;
constexpr float beta2 = 0.999f;
constexpr float epsilon = 1e-8f;
constexpr float correction1 = 1 - beta1;
constexpr float correction2 = 0.0316227766f;  // sqrt(1 - beta2)

/// x += factor y
struct AddScaled {
  static constexpr int lists = 2;
  static constexpr unsigned reads = 0b11;
  static constexpr unsigned writes = 0b01;
  float factor;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(0) += factor * at(1);
  }
};

/// x *= factor
struct Scale {
  static constexpr int lists = 1;
  static constexpr unsigned reads = 0b1;
  static constexpr unsigned writes = 0b1;
  float factor;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(0) *= factor;
  }
};

/// x += weight (y - x)
struct Lerp {
  static constexpr int lists = 2;
  static constexpr unsigned reads = 0b11;
  static constexpr unsigned writes = 0b01;
  float weight;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(0) += weight * (at(1) - at(0));
  }
};

/// x += factor y z
struct AddProduct {
  static constexpr int lists = 3;
  static constexpr unsigned reads = 0b111;
  static constexpr unsigned writes = 0b001;
  float factor;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(0) += factor * at(1) * at(2);
  }
};

/// y = sqrt(x)
struct SquareRoot {
  static constexpr int lists = 2;
  static constexpr unsigned reads = 0b01;
  static constexpr unsigned writes = 0b10;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(1) = sqrtf(at(0));
  }
};

/// x /= divisor
struct Divide {
  static constexpr int lists = 1;
  static constexpr unsigned reads = 0b1;
  static constexpr unsigned writes = 0b1;
  float divisor;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(0) /= divisor;
  }
};

/// x += number
struct Add {
  static constexpr int lists = 1;
  static constexpr unsigned reads = 0b1;
  static constexpr unsigned writes = 0b1;
  float number;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(0) += number;
  }
};

/// x += factor y / z
struct AddQuotient {
  static constexpr int lists = 3;
  static constexpr unsigned reads = 0b111;
  static constexpr unsigned writes = 0b001;
  float factor;
  template <class At>
  __device__ void operator()(const At& at) const {
    at(0) += factor * (at(1) / at(2));
  }
};

/// AdamW on parameter, gradient, first and second moment.
struct FusedAdamW {
  static constexpr int lists = 4;
  static constexpr unsigned reads = 0b1111;
  static constexpr unsigned writes = 0b1101;
  template <class At>
  __device__ void operator()(const At& at) const {
    const float gradient = at(1);
    at(0) -= rate * decay * at(0);
    at(2) += (1 - beta1) * (gradient - at(2));
    at(3) = beta2 * at(3) + (1 - beta2) * gradient * gradient;
    at(0) -= rate / correction1 * at(2) / (sqrtf(at(3)) / correction2 + epsilon);
  }
};

}  // namespace gradway::probe::update

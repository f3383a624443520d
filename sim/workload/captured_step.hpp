// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

class Eager;

/// Element type of a captured tensor.
enum class CapturedType : std::uint8_t { fp32, bf16, fp16, fp64, int64, int32, int16, int8, bool8, fp8 };
double bytes_of(CapturedType type);

/// How a captured tensor lies in memory.
enum class CapturedLayout : std::uint8_t {
  contiguous,
  transposed,     ///< the last two dimensions are swapped
  channels_last,  ///< NHWC
  strided,        ///< anything else: a slice, a permutation, an expanded tensor
};

/// A tensor that a captured operation reads or writes. Lists (of optimizers) are one with their total size.
struct CapturedTensor {
  CapturedType type = CapturedType::fp32;
  CapturedLayout layout = CapturedLayout::contiguous;
  std::vector<std::int64_t> shape;
  int tensors = 1;

  double elements() const;
  Bytes size() const { return Bytes{elements() * bytes_of(type)}; }
};

/// An operation of PyTorch as it was recorded.
struct CapturedOperation {
  std::string name;  ///< without "aten::" and without the overload
  std::vector<CapturedTensor> inputs;
  std::vector<CapturedTensor> outputs;
  bool fixed = false;          ///< reads and writes parameters only, whatever the batch
  bool of_parameters = false;  ///< makes a parameter's gradient
  bool host_waits = false;     ///< the CPU reads its result
  bool causal = false;         ///< of attention
  bool transposed = false;     ///< a transposed convolution
  double dropout = 0;          ///< of attention
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  int groups = 1;
};

/// A layer of a captured model: what one module issues.
struct CapturedLayer {
  std::string name;  ///< the module's path
  std::vector<CapturedOperation> forward;
  std::vector<CapturedOperation> backward;
};

/// What a captured step holds at a moment beside parameters, optimizer and input, in the capture's batch.
struct CapturedMoment {
  bool backward = false;
  Bytes grows{};      ///< with the batch
  Bytes fixed{};      ///< whatever the batch
  Bytes gradients{};  ///< of parameters
};

/// A training step of the user's program, recorded operation by operation without a GPU.
struct CapturedStep {
  std::string framework;  ///< "PyTorch 2.11.0"
  Precision precision = Precision::fp32;
  bool half_parameters = false;
  Precision parameters = Precision::fp32;  ///< element type of most parameters
  int batch = 1;
  Optimizer optimizer = Optimizer::sgd;
  std::vector<CapturedLayer> layers;
  std::vector<CapturedMoment> memory;
  std::vector<std::string> unknown;  ///< operations that are costed by their bytes
};

/// The kernels that CUDA's PyTorch launches for an operation; none for one without work.
/// @param batch of the job over that of the capture
/// @param is_known set to false for an operation that is costed by its bytes
std::vector<Operation> kernels_of(const CapturedOperation& captured, double batch, int compute_capability,
                                  bool& is_known);

/// Hands the step to `run`, at its batch and for its GPU.
void issue_capture(Eager& run, const CapturedStep& captured, const std::vector<Layer>& layers);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// Element types of captured tensors.
enum class CapturedType : std::uint8_t { fp32, bf16, fp16, fp64, int64, int32, int16, int8, boolean, fp8 };
double bytes_of(CapturedType type);

/// Memory layout of a captured tensor.
enum class CapturedLayout : std::uint8_t {
  contiguous,
  transposed,     ///< the last two dimensions are swapped
  channels_last,  ///< NHWC
  strided,        ///< any other: a slice, a permutation, an expanded tensor
};

/// A tensor that a captured operation reads or writes.
struct CapturedTensor {
  CapturedType type = CapturedType::fp32;
  CapturedLayout layout = CapturedLayout::contiguous;
  std::vector<std::int64_t> shape;

  double elements() const;
  double bytes() const { return elements() * bytes_of(type); }
};

/// A recorded operation of PyTorch.
struct CapturedOperation {
  std::string name;  ///< without "aten::" and without the overload
  std::vector<CapturedTensor> inputs;
  std::vector<CapturedTensor> outputs;
  bool is_fixed = false;       ///< its tensors do not grow with the batch
  bool of_parameters = false;  ///< computes the gradient of a parameter
  bool host_waits = false;     ///< the CPU waits for its result
  bool is_causal = false;      ///< of attention
  bool is_flash = false;       ///< of attention: FlashAttention 2, whatever kernel PyTorch would choose
  bool is_transposed = false;  ///< a transposed convolution
  bool is_tf32 = false;        ///< a product or convolution of fp32 in TF32
  bool is_eager = false;       ///< outside of what torch.compile compiles
  bool starts_graph = false;   ///< the first operation of a graph that torch.compile compiles
  bool is_reentrant = false;   ///< of a checkpoint
  int inner = 0;               ///< operations in a checkpoint, which is no operation on the GPU itself
  Seconds given{};             ///< time that the user gives; 0: it follows from the kernels
  double dropout = 0;          ///< of attention
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  std::int64_t groups = 1;
  std::int64_t order = 0;  ///< position in the program
};

/// Operations of one module.
struct CapturedLayer {
  std::string name;  ///< the module's path
  std::vector<Parameter> parameters;
  std::vector<CapturedOperation> forward;
  std::vector<CapturedOperation> backward;
};

/// Memory of a captured step at one moment, at the capture's batch, without parameters, optimizer states and
/// input.
struct CapturedMoment {
  bool is_backward = false;
  Bytes grows{};      ///< activations that grow with the batch
  Bytes fixed{};      ///< activations that do not
  Bytes gradients{};  ///< of parameters
};

/// A training step of the user's program, recorded operation by operation without a GPU.
struct CapturedStep {
  std::string framework;  ///< "PyTorch 2.11.0"
  Precision precision = Precision::fp32;
  Precision state_dtype = Precision::fp32;  ///< of parameters
  int batch = 1;
  int sequence = 0;
  int accumulate = 1;
  int ranks = 1;           ///< with which the program was started
  std::string strategy{};  ///< that the program sets, as a map of YAML; empty: none
  Optimizer optimizer = Optimizer::sgd;
  bool clips_gradients = false;
  bool is_compiled = false;  ///< recorded as eager PyTorch; see fused_step
  std::vector<CapturedLayer> layers;
  std::vector<CapturedMoment> memory;
  std::vector<std::string> unknown{};  ///< operations whose times follow from their bytes alone
  /// The same step at another sequence length; null if it was captured at one only.
  std::shared_ptr<const CapturedStep> second{};
};

/// Where two captures of a program differ in more than the sizes of tensors, as words; empty if nowhere.
std::string difference(const CapturedStep& first, const CapturedStep& second);

/// The step at a sequence length: each side of a tensor is linear in it, and memory quadratic.
/// @pre the step has a second one, which differs in sizes only
CapturedStep at_sequence(const CapturedStep& captured, int sequence);

/// The kernels that PyTorch launches for an operation on CUDA. Empty if it launches none.
struct CapturedKernels {
  std::vector<Operation> kernels;
  bool is_known = true;  ///< false: the time follows from the bytes alone
};
/// @param batch_ratio the job's batch over that of the capture
CapturedKernels kernels_of(const CapturedOperation& captured, double batch_ratio, int compute_capability);

/// CPU time of an operation in that of the mean operation of eager PyTorch, with the views, autograd nodes
/// and Python code around it.
double host_share(const CapturedOperation& captured, bool is_backward);

/// The step as torch.compile's Inductor fuses it: consecutive operations other than products, attention,
/// convolutions, sorts and scattered additions are one kernel, which reads each tensor once and writes the
/// last results.
CapturedStep fused_step(const CapturedStep& captured);

/// Why the kernels of an operation cannot be derived, as words that follow its name; empty if they can.
std::string why_invalid(const CapturedOperation& captured);

/// Distinct names of the operations of a step whose times follow from their bytes alone.
std::vector<std::string> unknown_operations(const CapturedStep& captured);

/// Forward pass that replays the recorded operations at the batch of the settings.
ForwardPass replay_of(std::shared_ptr<const CapturedStep> captured);

}  // namespace gradway

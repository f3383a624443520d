// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/files/compressed_file.hpp"

namespace gradway {

// What is kept of a profiler trace: compact records, because a trace has millions of events. Times are in
// whole nanoseconds on the trace's clock: doubles of microseconds would lose them.

/// Texts that stand in many records, each kept once.
class TextPool {
 public:
  TextPool() = default;
  TextPool(TextPool&&) = default;
  TextPool& operator=(TextPool&&) = default;

  std::uint32_t id(std::string_view text);
  const std::string& text(std::uint32_t id) const { return *texts_[id]; }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> texts_;
};

/// A stretch of time on the CPU or on the GPU.
struct Span {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t end() const { return start + duration; }
};

/// A call of CUDA that puts work on a stream or waits for it.
struct ApiCall : Span {
  std::int64_t correlation = 0;  ///< the same number is on what it put on the stream
  std::int64_t thread = 0;
  std::uint32_t name = 0;
};

/// A kernel, copy or memset on the GPU.
struct TracedActivity : Span {
  enum class Kind : std::uint8_t { kernel, copy, memset };
  std::int64_t correlation = 0;
  std::int64_t external = 0;  ///< the operation it belongs to; 0: none
  std::int64_t stream = 0;
  std::int64_t bytes = 0;   ///< copies and memsets
  std::int64_t blocks = 0;  ///< kernels
  std::uint32_t name = 0;
  std::int32_t threads = 0;  ///< of a block
  std::int32_t registers = 0;
  std::int32_t shared = 0;  ///< bytes of shared memory of a block
  Position at;              ///< in the file
  Kind kind = Kind::kernel;
};

/// An operand of an operation: a tensor, a list of tensors, or anything else without tensors.
struct Operand {
  using Shape = std::vector<std::int64_t>;
  std::string type;           ///< as PyTorch prints it: "float", "c10::BFloat16", "TensorList", "Scalar"
  std::vector<Shape> shapes;  ///< one of a tensor; several of a list, none of a long one; none of a scalar
};

/// An operation and the shapes it was called with. Steps repeat them, so each is kept once.
struct Signature {
  std::string name;
  std::vector<Operand> operands;
  std::vector<std::string> values;  ///< of the arguments as text; only where they matter, and perhaps absent
};

/// An operation of the framework on the CPU.
struct TracedOperation : Span {
  std::int64_t external = 0;
  std::int64_t thread = 0;
  std::uint32_t signature = 0;
  std::int64_t sequence = 0;  ///< number of a node of autograd's graph (`AutogradNodes`); 0: none
};

/// A tensor's memory on the GPU that was taken, or given back.
struct TracedAllocation {
  std::int64_t time = 0;
  std::int64_t thread = 0;
  std::int64_t address = 0;
  std::int64_t bytes = 0;  ///< given back if negative
};

/// A named stretch of the program: a step, the optimizer.
struct Annotation : Span {
  std::int64_t thread = 0;
  std::string name;
};

/// The limits of a GPU as the trace states them.
struct DeviceLimits {
  std::int64_t id = 0;
  std::string name;
  int capability = 0;  ///< 90 for 9.0
  int threads = 0;     ///< of a multiprocessor, and so on
  int registers = 0;
  int shared = 0;
};

/// A whole trace.
struct Trace {
  TextPool names;  ///< of calls and activities
  std::vector<Signature> signatures;
  std::vector<ApiCall> calls;
  std::vector<TracedActivity> activities;
  std::vector<TracedOperation> operations;
  std::vector<TracedAllocation> allocations;  ///< only of traces with profile_memory=True
  std::vector<Annotation> optimizer_steps;
  std::vector<Annotation> profiler_steps;
  std::vector<Span> zero_grads;  ///< calls of Optimizer.zero_grad()
  std::vector<Span> overheads;   ///< the profiler's own work on the CPU
  std::vector<DeviceLimits> limits;
  std::vector<std::int64_t> devices;    ///< GPUs that something ran on
  std::vector<std::int64_t> processes;  ///< that called CUDA
  bool has_shapes = false;
  std::string distributed;  ///< the first thing seen that only distributed training has
};

}  // namespace gradway

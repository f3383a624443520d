// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway {

// Contents of a profiler trace in memory: compact records, because a trace has millions of events. Times are
// in whole nanoseconds on the trace's clock: doubles of microseconds would lose them.

/// A line and a column, counted from 1.
struct Position {
  int line = 1;
  int column = 1;
};

/// Stores each of many repeated texts once.
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

/// A time interval on the CPU or on the GPU.
struct Span {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t end() const { return start + duration; }
};

/// A call of CUDA that puts work on a stream or waits for it.
struct ApiCall : Span {
  std::int64_t correlation = 0;  ///< Shared with the activity that the call put on the stream.
  std::int64_t thread = 0;
  std::uint32_t name = 0;
};

/// A kernel, copy or memset on the GPU.
struct TracedActivity : Span {
  enum class Kind : std::uint8_t { kernel, copy, memset };
  std::int64_t correlation = 0;
  std::int64_t external = 0;  ///< Id of the operation it belongs to; 0: none.
  std::int64_t stream = 0;
  std::int64_t bytes = 0;   ///< Size of a copy or memset.
  std::int64_t blocks = 0;  ///< Thread blocks of a kernel.
  std::uint32_t name = 0;
  std::int32_t threads = 0;  ///< Per block.
  std::int32_t registers = 0;
  std::int32_t shared = 0;  ///< Bytes of shared memory per block.
  Position at;              ///< Position in the file.
  Kind kind = Kind::kernel;
};

/// An operand of an operation: a tensor, a list of tensors, or something without tensors.
struct Operand {
  using Shape = std::vector<std::int64_t>;
  std::string type;  ///< As PyTorch prints it: "float", "c10::BFloat16", "TensorList", "Scalar".
  /// One shape for a tensor, several for a list, none for a long list or a scalar.
  std::vector<Shape> shapes;
};

/// An operation and the shapes of its operands. Steps repeat them, so each is kept once.
struct Signature {
  std::string name;
  std::vector<Operand> operands;
  /// Values of arguments as text; only where they matter, and possibly absent.
  std::vector<std::string> values;
};

/// An operation of the framework on the CPU.
struct TracedOperation : Span {
  std::int64_t external = 0;
  std::int64_t thread = 0;
  std::uint32_t signature = 0;
  std::int64_t sequence = 0;  ///< Number of a node of autograd's graph (`AutogradNodes`); 0: none.
};

/// An allocation or a release of GPU memory.
struct TracedAllocation {
  std::int64_t time = 0;
  std::int64_t thread = 0;
  std::int64_t address = 0;
  std::int64_t bytes = 0;  ///< Negative when memory is freed.
};

/// A named part of the program: a step, the optimizer.
struct Annotation : Span {
  std::int64_t thread = 0;
  std::string name;
};

/// A collective of NCCL as the trace describes its kernel. Names are in `Trace::names`.
struct TracedCollective {
  std::int64_t correlation = 0;    ///< of the kernel
  std::uint32_t name = 0;          ///< "allreduce"
  std::uint32_t element_type = 0;  ///< "Float"
  std::uint32_t group = 0;
  std::uint32_t members = 0;
  std::int64_t elements = 0;  ///< the larger of input and output, per rank
  std::int64_t ranks = 0;
};

/// The limits of a GPU as the trace states them.
struct DeviceLimits {
  std::int64_t id = 0;
  std::string name;
  int capability = 0;  ///< Compute capability: 90 for 9.0.
  int threads = 0;     ///< Per multiprocessor, as are the next two.
  int registers = 0;
  int shared = 0;
};

/// What recorded a trace.
enum class Profiler : std::uint8_t { pytorch, nsys };

/// A whole trace.
struct Trace {
  Profiler profiler = Profiler::pytorch;
  TextPool names;  ///< Names of calls and activities.
  std::vector<Signature> signatures;
  std::vector<ApiCall> calls;
  std::vector<TracedActivity> activities;
  std::vector<TracedOperation> operations;
  std::vector<TracedAllocation> allocations;  ///< Only in traces with profile_memory=True.
  std::vector<Annotation> optimizer_steps;
  std::vector<Annotation> profiler_steps;
  /// Parts of the program that only a diagnosis needs: batches taken from a loader, compilations.
  std::vector<Annotation> parts;
  std::vector<Annotation> hooks;  ///< of FSDP, which gather parameters and reduce gradients
  std::vector<Span> zero_grads;   ///< calls of Optimizer.zero_grad()
  std::vector<Span> overheads;    ///< The profiler's own work on the CPU.
  std::vector<DeviceLimits> limits;
  std::vector<std::int64_t> devices;    ///< GPUs with activities.
  std::vector<std::int64_t> processes;  ///< Processes that called CUDA.
  bool has_shapes = false;
  std::vector<TracedCollective> collectives;
  /// Calls that neither launch nor synchronise but order streams, allocate memory or load code.
  std::vector<ApiCall> other_calls;
  std::optional<std::int64_t> rank;   ///< Of the process; only in traces of distributed training.
  std::optional<std::int64_t> ranks;  ///< Of the job.
  std::optional<Where> cut;           ///< Where the file ends in the middle of an event.
  std::string distributed;            ///< The first event that only distributed training has.
};

}  // namespace gradway

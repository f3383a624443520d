// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "readers/kineto/kineto.hpp"

namespace gradway::testing {

constexpr int main_thread = 100;
constexpr int autograd_thread = 200;
constexpr int process = 100;

/// An operation of the framework, as in its event. Lists are JSON: "[[4,8],[8,16]]".
struct Op {
  std::string name = "aten::relu";
  std::string shapes = "[[4,8]]";
  std::string types = R"(["float"])";
  std::string values = "[]";
  int sequence = 0;  ///< number of a node of autograd's graph; 0 for none
};

struct Kernel {
  std::string name = "void at::native::vectorized_elementwise_kernel<4>(int)";
  std::string category = "kernel";  ///< or gpu_memcpy, gpu_memset
  int stream = 7;
  int device = 0;
  std::int64_t bytes = 0;
  std::string grid = "[64,1,1]";
  std::string block = "[256,1,1]";
  int registers = 32;
  int shared = 0;
};

/// Writes a trace event by event; times in microseconds.
class TraceBuilder {
 public:
  bool has_limits = true;  ///< deviceProperties of an H200
  std::string device_name = "NVIDIA H200";
  bool has_shapes = true;

  /// @return its external id
  std::int64_t op(const Op& op, double start, double duration, int thread = main_thread);
  void launch(const Kernel& kernel, double start, double duration, double gpu_start, double gpu_duration,
              std::int64_t external, int thread = main_thread, const std::string& call = "cudaLaunchKernel");
  /// One more kernel of the last call: a graph of kernels.
  void kernel_of_last_call(const Kernel& kernel, double gpu_start, double gpu_duration,
                           std::int64_t external);
  void call(const std::string& name, double start, double duration, int thread = main_thread);
  void annotation(const std::string& name, double start, double duration);
  void overhead(double start, double duration);
  /// An allocation of a tensor's memory, or a deallocation if `bytes` is negative. @param device_type 1 for a
  /// GPU
  void allocation(double start, std::int64_t bytes, std::int64_t address, int thread = main_thread,
                  int device_type = 1);
  void raw(const std::string& event) { events_.push_back(event); }

  std::string json() const;

 private:
  void kernel_event(const Kernel& kernel, double start, double duration, std::int64_t external);

  std::vector<std::string> events_;
  std::int64_t ids_ = 0;
  std::int64_t correlation_ = 1000;
};

/// A launch of a synthetic training step.
struct Made {
  ProfiledPhase phase = ProfiledPhase::forward;
  Op op{};
  Kernel kernel{};
  double cpu = 20;  ///< microseconds
  double gpu = 30;
  double call = 4;           ///< of `cpu`, inside the launch call
  double early = 0;          ///< overlap with the previous launch on the GPU
  std::vector<Op> around{};  ///< operations that contain the first one, the outermost first
  std::string gradient{};    ///< shape of a parameter whose gradient is ready then: "[8,16]"
  std::string call_name = "cudaLaunchKernel";
};

/// A training step of a small model on a batch of 4: a copy of the input, a product, its two gradients, SGD.
std::vector<Made> small_step();

/// Properties of a loop of steps in its trace.
struct Loop {
  int steps = 3;
  double gap = 1.5;          ///< between activities of the GPU, at least
  bool marks_steps = false;  ///< "ProfilerStep#"
  bool annotates = true;     ///< the optimizer
  bool threads = true;       ///< autograd has a thread of its own
  bool has_shapes = true;    ///< of operands
  std::string optimizer = "SGD";
  /// Changes a step before it is written.
  std::function<void(int step, std::vector<Made>&)> edit = [](int, std::vector<Made>&) {};
  /// Adds events to a step's launch.
  std::function<void(TraceBuilder&, int step, std::size_t launch, double time)> beside =
      [](TraceBuilder&, int, std::size_t, double) {};
};

/// Steps one after the other: the CPU issues without a pause, the GPU works as soon as it can.
TraceBuilder trace_of(const std::vector<Made>& step, const Loop& loop = {});

/// Imports the text of a trace. GPUs h200 and l40s are known.
ImportedProfile import_text(const std::string& json, ImportOptions options = {});
ImportedProfile import_loop(const std::vector<Made>& step, const Loop& loop = {},
                            const ImportOptions& options = {});

/// The message of the ConfigError that importing the text throws; "" if none. The file is "trace.json".
std::string refusal(const std::string& json, const ImportOptions& options = {});

/// A temporary file that its owner deletes; messages show the last part of its path.
class TraceFile {
 public:
  explicit TraceFile(const std::string& content, const std::string& name = "trace.json");
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

}  // namespace gradway::testing

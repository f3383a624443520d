// SPDX-License-Identifier: Apache-2.0
#include "tests/readers/trace_builder.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/problem.hpp"

namespace gradway::testing {
namespace {

constexpr double zero = 4377009848817.125;  // microseconds: as large as in real traces

std::string time(double microseconds) {
  return fmt::format("{:.3f}", zero + microseconds);
}

}  // namespace

std::int64_t TraceBuilder::op(const Op& op, double start, double duration, int thread) {
  ++ids_;
  const auto shapes = has_shapes ? fmt::format(R"(,"Input Dims":{},"Input type":{},"Concrete Inputs":{})",
                                               op.shapes, op.types, op.values)
                                 : "";
  const auto sequence = op.sequence > 0 ? fmt::format(R"(,"Sequence number":{})", op.sequence) : "";
  events_.push_back(fmt::format(
      R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":{},"tid":{},"ts":{},"dur":{:.3f},"args":{{"External id":{}{}{}}}}})",
      op.name, process, thread, time(start), duration, ids_, sequence, shapes));
  return ids_;
}

void TraceBuilder::launch(const Kernel& kernel, double start, double duration, double gpu_start,
                          double gpu_duration, std::int64_t external, int thread, const std::string& call) {
  ++correlation_;
  events_.push_back(fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":{},"tid":{},"ts":{},"dur":{:.3f},"args":{{"correlation":{}}}}})",
      call, process, thread, time(start), duration, correlation_));
  kernel_event(kernel, gpu_start, gpu_duration, external);
}

void TraceBuilder::kernel_of_last_call(const Kernel& kernel, double gpu_start, double gpu_duration,
                                       std::int64_t external) {
  kernel_event(kernel, gpu_start, gpu_duration, external);
}

void TraceBuilder::kernel_event(const Kernel& kernel, double start, double duration, std::int64_t external) {
  const auto more = kernel.category == "kernel"
                        ? fmt::format(R"("grid":{},"block":{},"registers per thread":{},"shared memory":{})",
                                      kernel.grid, kernel.block, kernel.registers, kernel.shared)
                        : fmt::format(R"("bytes":{})", kernel.bytes);
  events_.push_back(fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{:.3f},"args":{{"External id":{},"device":{},"stream":{},"correlation":{},{}}}}})",
      kernel.category, kernel.name, kernel.device, kernel.stream, time(start), duration, external,
      kernel.device, kernel.stream, correlation_, more));
}

void TraceBuilder::call(const std::string& name, double start, double duration, int thread) {
  events_.push_back(fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":{},"tid":{},"ts":{},"dur":{:.3f},"args":{{"correlation":0}}}})",
      name, process, thread, time(start), duration));
}

void TraceBuilder::annotation(const std::string& name, double start, double duration) {
  events_.push_back(fmt::format(
      R"({{"ph":"X","cat":"user_annotation","name":"{}","pid":{},"tid":{},"ts":{},"dur":{:.3f},"args":{{}}}})",
      name, process, main_thread, time(start), duration));
}

void TraceBuilder::overhead(double start, double duration) {
  events_.push_back(fmt::format(
      R"({{"ph":"X","cat":"overhead","name":"Command Buffer Full","pid":-1,"tid":0,"ts":{},"dur":{:.3f}}})",
      time(start), duration));
}

void TraceBuilder::allocation(double start, std::int64_t bytes, std::int64_t address, int thread,
                              int device_type) {
  events_.push_back(fmt::format(
      R"({{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":{},"tid":{},"ts":{},"args":{{"Total Allocated":5,"Bytes":{},"Device Id":0,"Device Type":{},"Addr":{}}}}})",
      process, thread, time(start), bytes, device_type, address));
}

std::string TraceBuilder::json() const {
  const auto limits = fmt::format(
      R"("deviceProperties":[{{"id":0,"name":"{}","computeMajor":9,"computeMinor":0,"maxThreadsPerMultiprocessor":2048,"regsPerMultiprocessor":65536,"sharedMemPerMultiprocessor":233472}}],)",
      device_name);
  return fmt::format("{{\"schemaVersion\":1,{}\n\"traceEvents\":[\n{}\n]}}\n", has_limits ? limits : "",
                     fmt::join(events_, ",\n"));
}

std::vector<Made> small_step() {
  using enum ProfiledPhase;
  const std::string two = R"(["float","float"])";
  const Kernel gemm{.name = "sm90_xmma_gemm_f32f32_f32f32_f32_tn_n"};
  const Kernel input{.name = "Memcpy HtoD (Pinned -> Device)", .category = "gpu_memcpy", .bytes = 4 * 8 * 4};
  return {
      {.phase = forward,
       .op = {"aten::copy_", "[[4,8],[4,8]]", two},
       .kernel = input,
       .cpu = 50,
       .gpu = 6,
       .call_name = "cudaMemcpyAsync"},
      {.phase = forward, .op = {"aten::mm", "[[4,8],[8,16]]", two}, .kernel = gemm, .cpu = 25, .gpu = 280},
      {.phase = forward, .op = {"aten::relu", "[[4,16]]"}, .cpu = 15, .gpu = 10},
      {.phase = backward, .op = {"aten::threshold_backward", "[[4,16],[4,16]]", two}, .cpu = 30, .gpu = 12},
      {.phase = backward,
       .op = {"aten::mm", "[[8,4],[4,16]]", two},
       .kernel = gemm,
       .cpu = 22,
       .gpu = 70,
       .gradient = "[8,16]"},
      {.phase = optimizer, .op = {"aten::add_", "[[8,16],[8,16]]", two}, .cpu = 40, .gpu = 9},
  };
}

TraceBuilder trace_of(const std::vector<Made>& step, const Loop& loop) {
  TraceBuilder trace;
  trace.has_shapes = loop.has_shapes;
  double cpu = 0;
  double gpu = 0;
  for (int number = 0; number < loop.steps; ++number) {
    auto launches = step;
    loop.edit(number, launches);
    const double begin = cpu;
    std::optional<double> optimizer_begin;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const auto& made = launches[i];
      const bool is_backward = made.phase == ProfiledPhase::backward;
      const int thread = is_backward && loop.threads ? autograd_thread : main_thread;
      if (made.phase == ProfiledPhase::optimizer && !optimizer_begin) optimizer_begin = cpu + 1;
      const double call = cpu + made.cpu - made.call;
      if (is_backward)
        trace.op({.name = "autograd::engine::evaluate_function: MmBackward0",
                  .shapes = "[]",
                  .types = "[]",
                  .sequence = made.op.sequence},
                 cpu + 1, made.cpu - 0.5, thread);
      double margin = 0.9;
      for (const auto& outer : made.around) {
        margin -= 0.1;
        trace.op(outer, cpu + 2 - margin, made.cpu - 1 + 1.1 * margin, thread);
      }
      auto op = made.op;
      if (is_backward) op.sequence = 0;  // autograd records nothing during the backward pass
      const auto external = trace.op(op, cpu + 2, made.cpu - 1, thread);
      gpu = std::max(gpu + loop.gap, call + made.call + loop.gap);
      if (made.early > 0) gpu -= loop.gap + made.early;
      trace.launch(made.kernel, call, made.call, gpu, made.gpu, external, thread, made.call_name);
      gpu += made.gpu;
      cpu += made.cpu;
      if (!made.gradient.empty())
        trace.op({.name = "torch::autograd::AccumulateGrad", .shapes = "[" + made.gradient + "]"}, cpu + 0.5,
                 0.3, thread);
      loop.beside(trace, number, i, cpu);
    }
    if (optimizer_begin && loop.annotates)
      trace.annotation("Optimizer.step#" + loop.optimizer + ".step", *optimizer_begin,
                       cpu + 0.9 - *optimizer_begin);
    if (loop.marks_steps) trace.annotation(fmt::format("ProfilerStep#{}", number), begin, cpu + 0.95 - begin);
  }
  return trace;
}

ImportedProfile import_text(const std::string& json, ImportOptions options) {
  const TraceFile file{json};
  options.known_gpus = {"h200", "l40s"};
  return import_kineto(file.path(), file.path().filename().string(), options);
}

ImportedProfile import_loop(const std::vector<Made>& step, const Loop& loop, const ImportOptions& options) {
  return import_text(trace_of(step, loop).json(), options);
}

std::string refusal(const std::string& json, const ImportOptions& options) {
  try {
    static_cast<void>(import_text(json, options));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TraceFile::TraceFile(const std::string& content, const std::string& name) {
  auto folder = (std::filesystem::temp_directory_path() / "gradway-trace-XXXXXX").string();
  folder_ = ::mkdtemp(folder.data());
  path_ = folder_ / name;
  std::ofstream{path_, std::ios::binary} << content;
}

TraceFile::~TraceFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace gradway::testing

// SPDX-License-Identifier: Apache-2.0
// Each kind of trace that is refused, with its whole message and hint.
#include <zlib.h>

#include <catch2/catch.hpp>

#include "sim/base/problem.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

const std::string expected_format =
    "  hint: expected the output of torch.profiler's export_chrome_trace(), plain or compressed by gzip\n";
const std::string whole_steps =
    "  hint: record whole training steps: forward, backward and optimizer.step()\n";

std::string packed(const std::string& text) {
  const TraceFile file{"", "packed.gz"};
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  std::string content;
  if (auto* in = std::fopen(file.path().c_str(), "rb")) {
    for (int c = std::fgetc(in); c != EOF; c = std::fgetc(in)) content += static_cast<char>(c);
    std::fclose(in);
  }
  return content;
}

std::string small_trace() {
  return trace_of(small_step()).json();
}

}  // namespace

TEST_CASE("a trace may be compressed with gzip", "[import][errors]") {
  CHECK(import_text(packed(small_trace())).profile.launches.size() == 6);
}

TEST_CASE("files that are not a trace are refused", "[import][errors]") {
  const auto text = small_trace();
  auto damaged = packed(text);
  damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);

  CHECK(refusal("") == "trace.json: error: the file is empty\n" + expected_format);
  CHECK(refusal(packed("")) == "trace.json: error: the file is empty\n" + expected_format);
  CHECK(refusal("# a log\n") == "trace.json:1:1: error: this is not JSON\n" + expected_format);
  CHECK(refusal("{\n  \"traceEvents\": [\n    { \"ph\": \"X\", }\n] }") ==
        "trace.json:3:18: error: this is not JSON\n" + expected_format);
  CHECK(refusal("{\"traceEvents\": [\n{\"ph\"") ==
        "trace.json:2:6: error: the file is cut here, before the end of the first whole step\n"
        "  hint: copy it again, or record it again\n");
  CHECK(refusal("{\"schema\"") ==
        "trace.json:1:10: error: the JSON is truncated\n"
        "  hint: copy it again, or record it again\n");
  CHECK(refusal("{\"schema\": 1}\n") ==
        "trace.json: error: this JSON is not a trace: it has no list 'traceEvents'\n" + expected_format);
  CHECK(refusal("[{\"name\": \"aten::mm\", \"ph\": \"X\", \"pid\": \"CPU functions\"}]") ==
        "trace.json: error: this is a list of events without GPU kernels, as torch.autograd.profiler writes "
        "it\n"
        "  hint: record with torch.profiler of a PyTorch that was built with Kineto, as its wheels are\n");
  CHECK_THAT(
      refusal(packed(text).substr(0, packed(text).size() / 2)),
      Catch::Matchers::Contains(": error: the file is cut here, before the end of the first whole step\n"));
  CHECK(refusal(packed(text).substr(0, 20)) ==
        "trace.json: error: the gzip data is truncated\n"
        "  hint: copy it again, or record it again\n");
  CHECK_THAT(refusal(damaged), Catch::Matchers::StartsWith("trace.json: error: the gzip data is damaged ("));
}

TEST_CASE("files that cannot be read are refused", "[import][errors]") {
  const auto message = [](const std::string& path) -> std::string {
    try {
      static_cast<void>(import_kineto(path, path, {}));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };

  CHECK(message("/") == "/: error: this is a folder, not a file\n");
  CHECK(message("no-such-file.json") == "no-such-file.json: error: there is no such file\n");
}

TEST_CASE("traces without required records are refused", "[import][errors]") {
  const std::string nothing = "{\"traceEvents\": []}";
  TraceBuilder cpu_only;
  cpu_only.op({}, 1, 2);
  auto no_shapes = small_trace();
  for (auto at = no_shapes.find("Input Dims"); at != std::string::npos; at = no_shapes.find("Input Dims"))
    no_shapes.replace(at, 10, "Other Dims");
  auto no_optimizer = small_trace();
  for (auto at = no_optimizer.find("Optimizer.step"); at != std::string::npos;
       at = no_optimizer.find("Optimizer.step"))
    no_optimizer.replace(at, 14, "Optimised.step");
  auto step = small_step();
  step.erase(step.begin() + 3, step.begin() + 5);
  const std::string activities =
      "  hint: record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]\n";

  CHECK(refusal(nothing) == "trace.json: error: the trace has no CPU operations\n" + activities +
                                "trace.json: error: the trace has no GPU activity\n" + activities);
  CHECK(refusal(cpu_only.json()) == "trace.json: error: the trace has no GPU activity\n" + activities);
  CHECK(
      refusal(no_shapes) ==
      "trace.json: error: the trace has no shapes of operands, by which batch and parameters are found\n"
      "  hint: record with record_shapes=True, or give --batch N and --parameters N: kernels are then known "
      "by their names only\n");
  CHECK(refusal(no_optimizer) ==
        "trace.json: error: the trace has no step of an optimizer ('Optimizer.step#...')\n" + whole_steps);
  CHECK(refusal(trace_of(step).json()) ==
        "trace.json: error: the trace has no backward pass: autograd launched no kernel\n" + whole_steps);
}

TEST_CASE("a trace needs one complete step", "[import][errors]") {
  auto step = small_step();
  step.erase(step.begin(), step.begin() + 3);

  CHECK(refusal(trace_of(step).json()) ==
        "trace.json: error: the trace has no complete training step\n"
        "  hint: record at least two whole steps: forward, backward and optimizer.step()\n");
}

TEST_CASE("a step whose parameters get no gradient is refused", "[import][errors]") {
  auto step = small_step();
  step[4].gradient.clear();

  CHECK(refusal(trace_of(step).json()) ==
        "trace.json: error: the trace has no gradient of a parameter\n"
        "  hint: record it again, and whole: its file lacks operations of the backward pass\n");
}

TEST_CASE("backward passes of different forward passes before one optimizer step are refused",
          "[import][errors]") {
  auto twice = small_step();
  auto other = small_step();
  const auto forward = other.front();
  other.insert(other.begin(), 3, forward);
  twice.insert(twice.begin() + 5, other.begin(), other.begin() + 8);

  CHECK(refusal(trace_of(twice).json()) ==
        "trace.json: error: 2 backward passes of different forward passes come before one step of the "
        "optimizer\n"
        "  hint: capture the program instead, which needs no trace: docs/my-program.md\n");
}

TEST_CASE("distributed training is refused", "[import][errors]") {
  const std::string hint =
      "  hint: record the same model on one GPU, or under DDP or FSDP alone, which gradway takes out; for "
      "tensor "
      "and pipeline parallelism describe the model by its shape (gradway import hf) and set 'parallel'\n";
  const auto with_kernel = [](const std::string& name, int device) {
    auto step = small_step();
    step[3].kernel.name = name;
    step[3].kernel.device = device;
    return trace_of(step).json();
  };
  auto with_operation = trace_of(small_step());
  with_operation.op({"c10d::allreduce_"}, 1, 2);
  auto gathers = small_step();
  gathers[3].kernel.name = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  auto gathers_beside_ddp = trace_of(gathers);
  gathers_beside_ddp.annotation("DistributedDataParallel.forward", 1, 2);
  auto two_processes = trace_of(small_step());
  two_processes.raw(
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":4377009848000.5,"dur":1,"args":{}})");

  CHECK(
      refusal(with_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 0)) ==
      "trace.json: error: the trace is of distributed training: it has the kernel "
      "'ncclDevKernel_AllReduce_Sum_f32_RING_LL'\n" +
          hint);
  CHECK(refusal(with_operation.json()) ==
        "trace.json: error: the trace is of distributed training: it has 'c10d::allreduce_'\n" + hint);
  CHECK_THAT(refusal(gathers_beside_ddp.json()),
             Catch::StartsWith("trace.json: error: the trace is of distributed training: it has ") &&
                 Catch::EndsWith(hint));
  CHECK(refusal(with_kernel("relu", 1)) ==
        "trace.json: error: the trace has 2 GPUs\n"
        "  hint: record a step on one GPU, without DDP\n");
  CHECK(refusal(two_processes.json()) ==
        "trace.json: error: the trace has 2 processes that use the GPU\n"
        "  hint: record one process that trains on one GPU, without DDP\n");
}

TEST_CASE("the GPU must have a file of its model", "[import][errors]") {
  auto unknown = trace_of(small_step());
  unknown.device_name = "NVIDIA GeForce RTX 9090";
  auto without = trace_of(small_step());
  without.has_limits = false;
  ImportOptions options;
  options.gpu = "l40s";
  ImportOptions wrong;
  wrong.gpu = "h20";

  CHECK(refusal(unknown.json()) ==
        "trace.json: error: no file in platforms/gpus describes the GPU of the trace, 'NVIDIA GeForce RTX "
        "9090'\n"
        "  hint: write platforms/gpus/rtx-9090.yaml, or name one with --gpu: h200, l40s\n");
  CHECK(refusal(without.json()) ==
        "trace.json: error: the trace does not name its GPU\n"
        "  hint: name one with --gpu: h200, l40s\n");
  CHECK(refusal(without.json(), wrong) ==
        "error: unknown GPU in '--gpu h20'\n"
        "  hint: did you mean 'h200'?\n");
  const auto chosen = import_text(without.json(), options);
  CHECK(chosen.profile.gpu == "l40s");
  CHECK(chosen.profile.launches[1].blocks == 64);
  CHECK(chosen.profile.launches[1].blocks_per_sm == 0);
}

TEST_CASE("an impossible step time is refused", "[import][errors]") {
  const std::string hint = "  hint: measure the same model, batch and precision without the profiler\n";
  ImportOptions options;
  options.step_time = 0.3_ms;
  CHECK(refusal(small_trace(), options) ==
        "trace.json: error: --step-time 0.3 ms is too short: the GPU works for 0.387 ms of the step\n" +
            hint);
  options.step_time = 0.6_ms;
  CHECK(
      refusal(small_trace(), options) ==
      "trace.json: error: --step-time 0.6 ms is too long: under the profiler, which slows it, the step takes "
      "0.396 ms\n" +
          hint);
  options.step_time = 0.39_ms;
  CHECK(import_text(small_trace(), options).profile.step_time == 0.39_ms);
}

TEST_CASE("a CPU-bound step needs its time without the profiler", "[import][errors]") {
  auto step = small_step();
  for (auto& launch : step) launch.gpu = 5;

  CHECK(import_loop(step).warnings ==
        std::vector<std::string>{
            "the CPU takes 0.182 ms to issue a step that the GPU runs in 0.03 ms: the profiler slows the CPU "
            "down, so "
            "the step may be too long; measure it without the profiler and give --step-time"});
  ImportOptions options;
  options.step_time = 0.1_ms;
  CHECK(import_loop(step, {}, options).warnings.empty());
}

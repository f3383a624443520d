// SPDX-License-Identifier: Apache-2.0
#include "observe/measured/measured_step.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "observe/watch/watch.hpp"
#include "readers/step_log/step_log.hpp"
#include "sim/base/number.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/set_keys.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/explain/explain.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway {
namespace {

/// How much less likely a cause is: a factor of the step time as its logarithm.
constexpr double usual = 0;
constexpr double seldom = 0.15;
constexpr double rare = 0.3;

/// Rate of a NIC that runs NCCL's sockets. @source github.com/NVIDIA/nccl issue 450: 4 to 6 GB/s of bus
/// bandwidth on four nodes with 100 Gbit/s, whose four channels have one connection each
constexpr BytesPerSecond socket_rate{5e9};
/// An interface for logins and storage, over which NCCL runs if it finds no other.
constexpr BytesPerSecond slow_interface{1.25e9};

class Causes {
 public:
  explicit Causes(const Run& run) : run_{run}, job_{run.scenario.job} {}

  std::vector<StepCause> slower() {
    add_links();
    add_network();
    add_program();
    add_gpus();
    add_loader();
    return std::move(list_);
  }

  std::vector<StepCause> faster() {
    if (job_.precision == Precision::fp32)
      add("bf16", "16-bit precision (autocast)", {{"job.precision", "bf16"}},
          "the precision that the program sets", usual);
    if (job_.precision == Precision::fp32)
      add("tf32", "TF32 in matrix products", {{"job.precision", "tf32"}},
          "torch.backends.cuda.matmul.allow_tf32, float32_matmul_precision", usual);
    add("compile", "torch.compile", {{"job.compile", "true"}}, "whether the program compiles the model",
        usual);
    add("fused_loss", "a fused loss", {{"job.fused_loss", "true"}}, "the loss that the program calls", usual);
    add("flash", "FlashAttention", {{"job.attention", "flash"}}, "the kernels in a trace: gradway diagnose",
        usual);
    add("no_recompute", "no activation checkpointing", {{"job.recompute", "none"}},
        "the settings of the program", usual);
    if (!is_collective_only())
      add("fast_cpu", "a CPU twice as fast", {{"faster.cpu", "2"}}, "the CPU's model; launches in a trace",
          usual);
    return std::move(list_);
  }

 private:
  bool is_collective_only() const { return !trains(job_.strategy); }

  void add(std::string name, std::string words, Settings set, std::string decide, double penalty) {
    auto changed = job_;
    auto of_job = set;
    std::erase_if(of_job, [](const auto& key) { return key.first.starts_with("faster."); });
    try {
      set_keys(changed, of_job);
    } catch (const ConfigError&) {
      return;  // The job cannot have it.
    }
    list_.push_back({{std::move(name), std::move(words), std::move(set)}, std::move(decide), penalty, {}});
  }

  /// A part at several fractions of its speed.
  void add_slower(const std::string& part, const std::string& words, const std::vector<double>& factors,
                  const std::string& decide, double penalty) {
    for (const auto factor : factors)
      add(fmt::format("slow_{}_{:g}", part, factor),
          fmt::format("{} at {:.0f} % of the speed", words, 100 * factor),
          {{fmt::format("faster.{}", part), fmt::format("{}", factor)}}, decide, penalty);
  }

  void add_links() {
    if (job_.gpus < 2) return;
    const std::string log = "run with NCCL_DEBUG=INFO, and 'gradway import nccl-log LOG --platform " +
                            run_.scenario.platform.name + "'";
    add("no_p2p", "no NVLink or P2P between GPUs: data goes through host memory (SHM)",
        {{"nccl.NCCL_P2P_DISABLE", "1"}}, log, usual);
    add("net_in_node", "no P2P and no shared memory: data goes through the network stack inside a node",
        {{"nccl.NCCL_P2P_DISABLE", "1"}, {"nccl.NCCL_SHM_DISABLE", "1"}}, log, rare);
    const std::string speed = "nvidia-smi topo -m, lspci (LnkSta: speed and width), nccl-tests on one node";
    add_slower("pcie", "PCIe links", {0.5, 0.25}, speed, seldom);
    // Rates of host memory are often nominal, and boards differ most in them.
    add_slower("host_memory", "copies through host memory (SHM)", {0.5, 0.25}, speed, usual);
    add_slower("nvlink", "NVLinks", {0.5, 0.25}, "nvidia-smi nvlink -s, nccl-tests on one node", rare);
  }

  void add_network() {
    const auto& platform = run_.scenario.platform;
    if (!platform.network || node_count(platform, job_.gpus) < 2) return;
    const auto nic = platform.network->nic_rate;
    const std::string log = "NCCL_DEBUG=INFO: the line 'Using network', and which interfaces it lists";
    if (nic > BytesPerSecond{} && platform.network->kind != NetworkKind::tcp) {
      const auto share = std::min(1.0, socket_rate.value() / nic.value());
      add("tcp", "NCCL uses TCP sockets, not RDMA, between nodes",
          {{"faster.network", fmt::format("{:.4g}", share)}}, log, usual);
    }
    if (nic > slow_interface) {
      const auto nics = std::ranges::count_if(platform.devices, [](const Device& device) {
        return device.kind == DeviceKind::nic && device.node == 0;
      });
      const auto share =
          slow_interface.value() / nic.value() / static_cast<double>(std::max<std::ptrdiff_t>(1, nics));
      add("slow_interface", "NCCL uses an interface of 10 Gbit/s between nodes",
          {{"faster.network", fmt::format("{:.4g}", share)}}, log, seldom);
    }
    add_slower("network", "the network between nodes", {0.5, 0.25},
               "nccl-tests on two nodes: the bus bandwidth against 'gradway run' of the same collective",
               seldom);
  }

  void add_program() {
    add("slow_cpu", "a CPU that launches kernels half as fast", {{"faster.cpu", "0.5"}},
        "the CPU's clock and other processes (top); launches in a trace: 'gradway diagnose TRACE'", usual);
    add("blocking", "CUDA_LAUNCH_BLOCKING=1", {{"job.launch_blocking", "true"}}, "the environment of the job",
        rare);
    if (job_.precision != Precision::fp32)
      add("fp32", "fp32 instead of 16 bits", {{"job.precision", "fp32"}},
          "names of kernels in a trace (s16816, sgemm): 'gradway diagnose TRACE'", usual);
    if (job_.precision != Precision::fp32 && job_.precision != Precision::tf32)
      add("tf32", "TF32 instead of 16 bits", {{"job.precision", "tf32"}}, "names of kernels in a trace",
          seldom);
    add("composed_attention", "attention composed of products and a softmax, without FlashAttention",
        {{"job.attention", "composed"}}, "the kernels of attention in a trace; attn_implementation", usual);
    add("eager", "no torch.compile", {{"job.compile", "false"}},
        "TORCH_LOGS=recompiles; whether it is called", usual);
    add("no_graphs", "no CUDA graphs", {{"job.cuda_graphs", "none"}}, "cudaGraphLaunch in a trace", usual);
    add("recompute", "activation checkpointing of all blocks", {{"job.recompute", "full"}},
        "the settings of the program; memory: 'nvidia-smi'", usual);
    add("huggingface", "the modules of transformers, which write out their operations",
        {{"job.implementation", "huggingface"}}, "the classes of the model", seldom);
    add("host_reads", "100 values read back in a step (.item(), metrics)", {{"job.host_reads", "100"}},
        "aten::item and cudaStreamSynchronize in a trace", seldom);
  }

  void add_gpus() {
    add_slower("gpu", "GPUs (power limit, heat, another process on them)", {0.8, 0.5},
               "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER under load, on all nodes", seldom);
    if (job_.gpus < 2) return;
    for (const auto* const factor : {"1.25", "2"})
      add(fmt::format("straggler_{}", factor), fmt::format("one GPU that takes {} times as long", factor),
          {{"job.slow_gpu", factor}},
          "step times or clocks of each rank: 'gradway diagnose' of traces of all ranks", seldom);
  }

  void add_loader() {
    add("few_workers", "one loader worker for each rank", {{"input.loader_workers", "1"}},
        "the time in the DataLoader in a trace, and the CPU's load", usual);
    add("main_process_loader", "samples loaded by the training process (no workers)",
        {{"input.loader_workers", "0"}}, "num_workers of the DataLoader", seldom);
  }

  const Run& run_;
  const Job& job_;
  std::vector<StepCause> list_;
};

}  // namespace

double StepCause::distance(Seconds measured) const {
  return std::abs(std::log(step_time / measured)) + penalty;
}

StepVerdict verdict_of(const MeasuredStep& measured, const Run& run) {
  if (std::abs(measured.time / run.measured.metrics.step_time - 1) < as_predicted)
    return StepVerdict::expected;
  if (measured.time < run.range.low) return StepVerdict::fast;
  if (measured.time <= run.range.high) return StepVerdict::inside;
  // Of 38 public reports on GPUs whose kernels were not timed, nine are above their interval, among them one
  // that the program's author calls normal (nanoGPT issue 110); of eight on others, none.
  return provenance_class_of(run.step_basis) < ProvenanceClass::moved ? StepVerdict::slow
                                                                      : StepVerdict::undecided;
}

MeasuredStep read_measured_step(const std::string& text, const Run& run) {
  const auto& job = run.scenario.job;
  StepLogOptions options;
  StepAmounts amounts;
  amounts.samples = job.samples();
  amounts.tokens = amounts.samples * run.measured.metrics.tokens_per_sample.value_or(0);
  amounts.gpus = job.gpus;
  options.amounts = amounts;
  std::error_code error;
  std::vector<LoggedStep> steps;
  if (std::filesystem::is_regular_file(text, error)) {
    CompressedFile file{text, text};
    std::istream lines{&file};
    steps = read_step_log(lines, text, options);
    file.check();
    std::vector<Seconds> times;
    for (const auto& step : steps) times.push_back(step.time);
    const auto watched = watch_steps(times, std::nullopt);
    return {watched.median, watched.steps - watched.warm_up, {}};
  }
  double number = 0;
  const auto read = read_number(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size())
    refuse(fmt::format("'--measured {}' has no unit", printable(text)),
           fmt::format("write '{0} s', '{0} samples/s' or '{0} tokens/s/gpu'", printable(text)));
  options.fewest = 1;
  std::istringstream line{text + "\n"};
  try {
    steps = read_step_log(line, "--measured", options);
  } catch (const ConfigError&) {
    refuse(fmt::format("'--measured {}' is no step time", printable(shortened(text, 80))),
           "write a time or a rate with its unit, such as '2.31 s' or '152 samples/s', a line of a log, or a "
           "log");
  }
  return {steps.back().time, 1, {}};
}

void find_causes(MeasuredStep& measured, const Run& run, std::string_view engine, int threads) {
  const auto step = run.measured.metrics.step_time;
  if (std::abs(measured.time / step - 1) < as_predicted) return;
  Causes rows{run};
  const bool is_slower = measured.time > step;
  auto causes = is_slower ? rows.slower() : rows.faster();
  std::vector<WhatIf> changes;
  for (const auto& cause : causes) changes.push_back(cause.change);
  const auto answers = counterfactuals(changes, run.scenario, {.engine = engine}, threads, false);
  for (std::size_t i = 0; i < causes.size(); ++i) causes[i].step_time = answers[i].step_time;
  // What changes the step by less than 2 % the right way explains nothing.
  constexpr double least = 0.02;
  std::erase_if(causes, [&](const StepCause& cause) {
    const auto change = cause.step_time / step - 1;
    return cause.step_time == Seconds{} || (is_slower ? change < least : change > -least);
  });
  std::ranges::stable_sort(causes, {}, [&](const StepCause& cause) { return cause.distance(measured.time); });
  // Of several speeds of a part the closest counts.
  std::set<std::string> parts;
  std::erase_if(causes, [&](const StepCause& cause) {
    const auto& name = cause.change.name;
    const auto end = name.find_first_of("0123456789");
    return end != std::string::npos && name[end - 1] == '_' && !parts.insert(name.substr(0, end)).second;
  });
  measured.causes = std::move(causes);
}

}  // namespace gradway

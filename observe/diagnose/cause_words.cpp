// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/cause_words.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

std::string way_text(const RunCause& cause) {
  if (!cause.way) return "slower";
  switch (*cause.way) {
    case SlowWay::shm:
      return "through host memory (SHM)";
    case SlowWay::net:
      return "through the network stack (NET)";
    case SlowWay::low_latency:
      return "with the protocol LL";
    case SlowWay::tree:
      return "along trees";
    case SlowWay::few_channels:
      return "over few channels";
  }
  return "";
}

std::string collective_text(const RunCause& cause, const std::string& platform) {
  auto text = fmt::format("The fastest {} of {} takes {}; {} are expected on {}.", cause.example,
                          bytes_text(Bytes{cause.bytes.value_or(0)}), time_text(cause.measured),
                          time_text(cause.expected), platform);
  if (cause.expected_channels > 0)
    text += fmt::format(" It has {}, {} are expected.",
                        counted_text(static_cast<std::int64_t>(cause.found_channels), "channel"),
                        cause.expected_channels);
  return text;
}

std::string place_text(const RunCause& cause) {
  if (cause.example.empty()) return cause.next.empty() ? "" : fmt::format(" before {}", cause.next);
  if (cause.next.empty()) return fmt::format(" after {}", cause.example);
  return fmt::format(" between {} and {}", cause.example, cause.next);
}

/// "88.4 ms per step", "on average" if not in each.
std::string per_step(const RunCause& cause) {
  return fmt::format("{} per step{}", time_text(cause.measured),
                     cause.is_sporadic ? " on average, but not in each step" : "");
}

std::string kernel_evidence(const RunCause& cause) {
  if (cause.example.empty()) return "";
  constexpr std::size_t width = 60;
  return fmt::format(" Example: {} takes {} instead of {} (stream {}).", shorten(cause.example, width),
                     time_text(cause.measured), time_text(cause.expected), cause.stream);
}

std::string gpu_text(const RunCause& cause) {
  switch (cause.kind) {
    case CauseKind::shared_gpu:
      return fmt::format(
          "All kinds of kernels take longer than they should: {:.2f} times as long for matrix products, "
          "{:.2f} times for memory-bound kernels.{}",
          cause.arithmetic_ratio, cause.memory_ratio, kernel_evidence(cause));
    case CauseKind::low_clocks:
      return fmt::format(
          "Matrix products take {:.2f} times as long as they should, memory-bound kernels {:.2f} times: "
          "the processor's clocks are low, its memory's are not.{}",
          cause.arithmetic_ratio, cause.memory_ratio, kernel_evidence(cause));
    case CauseKind::unequal_work:
      return fmt::format(
          "It computes {:.2f} times as much as the other ranks, by the shapes of its operations.",
          cause.arithmetic_ratio);
    case CauseKind::wide_precision:
      return fmt::format(
          "{} of the time of matrix products is spent in {}.{}", percent_text(cause.arithmetic_ratio),
          cause.precision == Precision::fp32 ? "fp32, without tensor cores" : "TF32", kernel_evidence(cause));
    case CauseKind::pageable_copies:
      return fmt::format(
          "{} per step are copied from or to pageable memory in {}; from pinned memory {} are expected. "
          "The CPU waits for such copies.",
          bytes_text(Bytes{cause.bytes.value_or(0)}), time_text(cause.measured), time_text(cause.expected));
    default:
      return "";
  }
}

std::string cpu_text(const RunCause& cause) {
  switch (cause.kind) {
    case CauseKind::late_batches:
      return fmt::format("Before it copies its batch to the GPU, the program does nothing for {}.",
                         per_step(cause));
    case CauseKind::pauses:
      if (cause.confidence == Confidence::low)
        return fmt::format("The program does not call CUDA for {}.", per_step(cause));
      return fmt::format("The program calls neither PyTorch nor CUDA for {},{}.", per_step(cause),
                         place_text(cause));
    case CauseKind::checkpoint:
      return fmt::format("Single steps copy {} to the host, and the CPU then writes for {}.",
                         bytes_text(Bytes{cause.bytes.value_or(0)}), per_step(cause));
    case CauseKind::host_reads:
      return fmt::format(
          "The CPU waits {} times per step for the GPU{}. The GPU then waits for the CPU's next launches.",
          digits_text(cause.events, 3),
          cause.example.empty() ? std::string{" (synchronisation)"}
                                : fmt::format(" to read a value ({})", cause.example));
    case CauseKind::compilation:
      return fmt::format("Code is compiled or loaded during steps for {},{}.", per_step(cause),
                         place_text(cause));
    case CauseKind::slow_operations:
      return fmt::format("Single operations occupy the CPU for {} before they launch a kernel,{}.",
                         per_step(cause), place_text(cause));
    case CauseKind::blocking_launches:
      return "Calls that launch kernels return only when the kernel has ended, so the CPU never runs ahead.";
    case CauseKind::allocations:
      return fmt::format("{} calls per step allocate or free GPU memory (cudaMalloc, cudaFree), for {}.",
                         digits_text(cause.events, 3), per_step(cause));
    case CauseKind::slow_cpu:
      return fmt::format(
          "The CPU works {} for each launch under the profiler; {} are usual, with a factor of two "
          "between hosts.",
          time_text(cause.measured), time_text(cause.expected));
    default:
      return "";
  }
}

}  // namespace

std::string_view key_of(CauseKind kind) {
  constexpr std::array<std::string_view, cause_kinds> keys{
      "slow_transport",    "few_channels",     "forced_choice", "slow_collectives",
      "absent_ranks",      "late_batches",     "pauses",        "checkpoint",
      "host_reads",        "pageable_copies",  "shared_gpu",    "low_clocks",
      "unequal_work",      "wide_precision",   "compilation",   "slow_operations",
      "blocking_launches", "allocations",      "slow_cpu",      "small_buckets",
      "large_buckets",     "random_stragglers"};
  return keys[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Confidence confidence) {
  constexpr std::array<std::string_view, 3> names{"low", "medium", "high"};
  return names[static_cast<std::size_t>(confidence)];
}

std::string_view name_of(WorkClass work) {
  constexpr std::array<std::string_view, work_classes> names{
      "matrix products", "attention",   "normalization", "elementwise, other",
      "optimizer",       "collectives", "copies to GPU", "copies to host"};
  return names[static_cast<std::size_t>(work)];
}

std::string ranks_text(const RunCause& cause, int ranks) {
  if (ranks < 2) return "";
  if (cause.ranks.empty()) return "on all ranks";
  return fmt::format("on rank{} {}", cause.ranks.size() == 1 ? "" : "s", fmt::join(cause.ranks, ", "));
}

std::string cause_text(const RunCause& cause, const JobRun& run, const std::string& platform) {
  switch (cause.kind) {
    case CauseKind::slow_transport:
      return fmt::format(
          "Collectives run {} instead of {}. {}", way_text(cause),
          cause.expected_transport == Transport::p2p ? "directly between GPUs (P2P)" : "as expected",
          collective_text(cause, platform));
    case CauseKind::few_channels:
      return "Collectives use too few channels. " + collective_text(cause, platform);
    case CauseKind::forced_choice:
      return fmt::format("Collectives seem to run {}, which NCCL would not choose. {}", way_text(cause),
                         collective_text(cause, platform));
    case CauseKind::slow_collectives:
      return "Collectives are slow. " + collective_text(cause, platform);
    case CauseKind::absent_ranks:
      return fmt::format(
          "Collectives take longer than their transfer: ranks wait for ranks whose traces are not given. "
          "{}",
          collective_text(cause, platform));
    case CauseKind::small_buckets:
      return fmt::format("Gradients are reduced in {} collectives of {} per step.",
                         digits_text(cause.events, 3), bytes_text(Bytes{cause.bytes.value_or(0)}));
    case CauseKind::large_buckets:
      return fmt::format(
          "Gradients are reduced in {} per step, of {}: little of it runs during the backward pass.",
          counted_text(std::lround(cause.events), "collective"), bytes_text(Bytes{cause.bytes.value_or(0)}));
    case CauseKind::random_stragglers:
      return fmt::format(
          "Ranks wait now for one rank, now for another, and none is slow on average. Without waiting, a "
          "rank "
          "needs {} per step on average, and the slowest rank of each step {}.",
          time_text(cause.expected), time_text(cause.measured));
    case CauseKind::shared_gpu:
    case CauseKind::low_clocks:
    case CauseKind::unequal_work:
    case CauseKind::wide_precision:
    case CauseKind::pageable_copies:
      return gpu_text(cause);
    default:
      static_cast<void>(run);
      return cpu_text(cause);
  }
}

std::string_view remedy_text(const RunCause& cause) {
  switch (cause.kind) {
    case CauseKind::slow_transport:
      return "leave NCCL_P2P_DISABLE and NCCL_SHM_DISABLE out; check 'nvidia-smi topo -p2p r', PCIe ACS and "
             "the "
             "container's shared memory; 'gradway import nccl-log' reads what NCCL chose";
    case CauseKind::few_channels:
      return "leave NCCL_MAX_NCHANNELS and NCCL_MAX_CTAS out";
    case CauseKind::forced_choice:
      return "leave NCCL_ALGO and NCCL_PROTO out";
    case CauseKind::slow_collectives:
      return "run with NCCL_DEBUG=INFO and read the log with 'gradway import nccl-log'; check links with "
             "'nvidia-smi nvlink -s'; look for other jobs on the network";
    case CauseKind::absent_ranks:
      return "give the traces of all ranks";
    case CauseKind::late_batches:
      return "compare the loader with 'gradway explain' or docs/data-path.md: more workers, faster storage "
             "or "
             "decoding; or move other work between steps elsewhere";
    case CauseKind::pauses:
      return "look for garbage collection (gc.freeze(), gc.disable()), logging, or locks in the Python "
             "program; record "
             "with with_stack=True; check whether other processes take the CPU";
    case CauseKind::checkpoint:
      return "write checkpoints asynchronously (torch.distributed.checkpoint.async_save), or less often";
    case CauseKind::host_reads:
      return "read losses and metrics every N steps, collect them on the GPU and read them at once "
             "(docs/read-back.md)";
    case CauseKind::pageable_copies:
      return "DataLoader(pin_memory=True) or tensor.pin_memory(), with to(device, non_blocking=True)";
    case CauseKind::shared_gpu:
      return "look for other processes with 'nvidia-smi' on that node; swap the GPU with another rank";
    case CauseKind::low_clocks:
      return "compare 'nvidia-smi -q -d CLOCK,PERFORMANCE' with the other GPUs: power limit, heat, locked "
             "clocks";
    case CauseKind::unequal_work:
      return "give all ranks batches of the same size and length";
    case CauseKind::wide_precision:
      return "torch.autocast('cuda', torch.bfloat16), if fp32 is not meant";
    case CauseKind::compilation:
      return "mark changing sizes as dynamic or pad them; TORCH_LOGS=recompiles names the reasons";
    case CauseKind::slow_operations:
      return "pad inputs to few sizes so that cuDNN and autotuning plan once; check whether other processes "
             "or "
             "threads take the CPU";
    case CauseKind::blocking_launches:
      return "leave CUDA_LAUNCH_BLOCKING out";
    case CauseKind::allocations:
      return "leave torch.cuda.empty_cache() out; use less memory, or "
             "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
    case CauseKind::slow_cpu:
      return "check CPU affinity and other processes on the host; use torch.compile or CUDA graphs";
    case CauseKind::small_buckets:
      return "set bucket_cap_mb to 25, PyTorch's default, or more";
    case CauseKind::large_buckets:
      return "set bucket_cap_mb to 25, PyTorch's default";
    case CauseKind::random_stragglers:
      return "give all ranks batches of similar length; collect garbage on all ranks in the same step; look "
             "for "
             "other processes on the nodes, and keep the program's threads on cores of their own";
  }
  return "";
}

}  // namespace gradway::report

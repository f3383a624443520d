// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "observe/diagnose/expectations.hpp"
#include "observe/diagnose/job_run.hpp"
#include "sim/base/units.hpp"

namespace gradway {

// PyTorch's default of DDP's bucket_cap_mb, in bytes.
inline constexpr double default_bucket = 25.0 * 1024 * 1024;

/// Mechanisms that make a step longer.
enum class CauseKind : std::uint8_t {
  slow_transport,     ///< collectives through host memory or the network stack
  few_channels,       ///< collectives over the expected transport with few channels
  forced_choice,      ///< an algorithm or protocol that NCCL would not choose
  slow_collectives,   ///< slower than expected for a reason that the traces do not show
  absent_ranks,       ///< waits for ranks whose traces are not given
  late_batches,       ///< the program waits for its next batch
  pauses,             ///< the program does nothing for PyTorch or the GPU
  checkpoint,         ///< the model is copied to the host and written
  host_reads,         ///< the CPU waits for values from the GPU
  pageable_copies,    ///< copies from memory that is not pinned
  shared_gpu,         ///< all kinds of kernels are slower
  low_clocks,         ///< arithmetic is slower, memory is not
  unequal_work,       ///< a rank computes more than the others
  wide_precision,     ///< products in fp32 or TF32
  compilation,        ///< torch.compile or loading of code inside of steps
  slow_operations,    ///< single operations work long on the CPU: plans for new shapes, tuning
  blocking_launches,  ///< the CPU waits for each kernel
  allocations,        ///< cudaMalloc and cudaFree inside of steps
  slow_cpu,           ///< launches take longer than on any host that was measured
  small_buckets,      ///< many short collectives
  large_buckets,      ///< few collectives that nothing overlaps
  random_stragglers,  ///< ranks wait now for one rank, now for another
};
inline constexpr std::size_t cause_kinds = 22;

enum class Confidence : std::uint8_t { low, medium, high };

/// A cause with its evidence. Which facts are set depends on the kind.
struct RunCause {
  CauseKind kind{};
  std::vector<int> ranks{};  ///< where it happens; empty: on all ranks
  Confidence confidence = Confidence::medium;
  Seconds lost{};  ///< per step, that the step would be shorter without it and without the causes before it
  double events = 0;   ///< per step and rank
  Seconds measured{};  ///< per step and rank, or of `example` for collectives
  Seconds expected{};
  std::string example{};  ///< kernel, operation or collective; where a pause is: the operation before it
  std::string next{};     ///< of pauses: the operation after it
  std::optional<double> bytes{};  ///< of the example, or of copies per step
  int stream = -1;                ///< of the example
  int found_channels = 0;
  int expected_channels = 0;
  std::optional<SlowWay> way{};
  Transport expected_transport = Transport::none;
  double arithmetic_ratio = 1;  ///< duration of matrix products over the expected one
  double memory_ratio = 1;      ///< the same of memory-bound kernels
  std::optional<Precision> precision{};
  bool is_sporadic = false;  ///< not in every step
};

/// A cause that may be one, and the times that the run would have without it.
struct Candidate {
  RunCause cause;
  std::function<void(RunTimes&)> remove;
};

// Each finds the candidates of some mechanisms. Whether one matters follows from a replay without it.
void find_collective_causes(const JobRun& run, CollectiveExpectations& expectations,
                            std::vector<Candidate>& candidates);
void find_bucket_causes(const JobRun& run, CollectiveExpectations& expectations,
                        std::vector<Candidate>& candidates);
void find_cpu_causes(const JobRun& run, std::vector<Candidate>& candidates);
void find_gpu_causes(const JobRun& run, const DiagnosisBasis& basis, std::vector<Candidate>& candidates);

void find_stragglers(const JobRun& run, std::vector<Candidate>& candidates);

/// Whether a step copies a large part of a model to the host while most do not.
bool copies_checkpoint(const JobRun& run, std::size_t rank, std::size_t step);
/// The name of a kernel without its grid and block.
std::string kernel_text(const JobRun& run, const RunActivity& activity);

}  // namespace gradway

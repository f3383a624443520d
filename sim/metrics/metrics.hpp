// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/graph/workload.hpp"
#include "sim/metrics/bottleneck.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/workload/memory_use.hpp"

namespace gradway {

/// Parts of a step for an actor of one program; means if several steps alternate. All but `communication` add
/// up to the step time.
struct StepParts {
  Seconds compute{};                ///< kernels of the forward and backward pass and of DDP run
  Seconds communication{};          ///< a collective runs
  Seconds exposed_communication{};  ///< a collective runs, and no kernel
  std::array<Seconds, purpose_words.size()> exposed{};  ///< the same by `Purpose`
  Seconds input_wait{};                                 ///< only the input copy runs, or a wait for a batch
  Seconds optimizer{};                                  ///< the optimizer's kernels run
  Seconds launch_bound{};                               ///< the GPU waits for launches by the CPU
  Seconds idle{};  ///< none of these: it waits for other ranks or latencies
};

/// Loading of samples, if loaders are simulated.
struct Loading {
  Seconds first_batch{};   ///< from the start of an epoch until every rank has its first batch
  double epoch_steps = 0;  ///< steps in which every sample is read once
  Seconds epoch_start{};   ///< time of an epoch beyond its steps: to start workers and to fill queues
  Seconds batch{};         ///< mean time from a worker's start of a batch until it can be taken
  Seconds for_others{};    ///< per step: from the batch of the reported rank to that of the last rank
  Seconds wait{};          ///< per step: from the ranks' requests until all have their batches
  // Mean per step and worker (without workers: of the training process). A step is at least as long as their
  // sum.
  Seconds reading{};  ///< from storage and caches
  Seconds making{};   ///< on a core
  Seconds on_gpu{};   ///< of the loader's own kernels, on the GPU
  bool has_workers = false;
  Bytes read{};                          ///< from storage, per step, by all ranks; not from caches
  std::optional<double> storage_busy{};  ///< share of its rate that the busiest storage delivers
  std::optional<StorageUsd> usd_per_million_samples{};
  std::optional<double> cores_busy{};  ///< share of the cores without those of training
  double network_cores = 0;            ///< that TCP takes from loaders
};

/// Time, throughput, memory and cost of a step in the steady state, with the parts of the program that ends
/// it. Rates of a step that takes no time are infinite, its shares zero.
struct Metrics : StepParts {
  Seconds step_time{};
  Seconds issue{};  ///< CPU time to launch a step's tasks on a rank, even if the GPU does not wait for it
  double steps_per_s = 0;
  double samples_per_s = 0;
  double samples = 0;                    ///< per step, of all ranks
  std::optional<int> tokens_per_sample;  ///< of a model of text
  std::optional<double> tokens_per_s;    ///< the same
  double gpu_busy_fraction = 0;
  bool is_of_parts = false;       ///< ranks hold parts of the model
  std::optional<Seconds> bubble;  ///< of a pipeline: mean time in which its ranks wait for each other
  double tflops_per_gpu = 0;      ///< mean of the model's operations; see `model_flops_per_sample`
  std::optional<double> mfu;      ///< these over the peak; see `utilisation`
  std::int64_t collectives = 0;   ///< a step
  Bytes bytes_sent_per_gpu{};     ///< by collectives, a step
  Bytes peak_memory{};            ///< estimate of PyTorch's peak allocation on one GPU
  std::optional<BytesPerSecond> bus_bandwidth;  ///< of a collective alone, as nccl-tests counts it
  std::optional<Loading> loading{};             ///< of a job whose loaders are simulated
  std::optional<UsdPerHour> cost_per_hour;      ///< of all nodes with ranks, each as a whole
  std::optional<double> cost_usd_per_million_samples;
  int idle_gpus = 0;  ///< of the nodes that are paid for: without a rank
};

/// Use of a link or memory in a step.
struct ResourceUse {
  std::string name;
  double busy_fraction = 0;     ///< bytes carried over those it could carry in the step
  Bytes bytes{};                ///< a step
  double wanted_by_others = 0;  ///< share that a neighbour's traffic demands
  std::size_t alike = 0;        ///< others with the same use, which are not listed
  double spread = 1;            ///< of joint uplinks: share of their rate that hashed flows reach
};

/// Longer lists are shortened: a report must not grow with the machine.
constexpr std::size_t most_links_listed = 1000;

/// Time and memory of the ranks that run one program.
struct MeasuredProgram {
  std::string name;  ///< "stage 3"
  int ranks = 0;
  StepParts parts;
  MemoryUse memory;
};

/// All measurements of a run.
struct Measured {
  Metrics metrics;
  std::vector<MeasuredProgram> by_program;
  ProgramId program{0};  ///< that ends the step; its parts are in `metrics`
  MemoryUse memory;      ///< of the program with the largest need
  Bottleneck bottleneck;
  /// Links and memories in use, busiest first. If there are more than `most_links_listed`, one of those with
  /// equal use, and the busiest of these.
  std::vector<ResourceUse> links;
  std::size_t links_left_out = 0;  ///< neither listed nor alike to a listed one
  /// Bytes per step of each representative resource, in order; see Folding.
  std::vector<std::pair<ResourceId, Bytes>> carried;
};

}  // namespace gradway

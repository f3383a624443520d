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
#include "sim/workload/memory_use.hpp"

namespace gradway {

/// Where the time of a step goes, seen by an actor of one program; the mean where several steps alternate.
/// All but `communication` add up to the step's time.
struct StepParts {
  Seconds compute{};                ///< forward, backward and DDP's own kernels run (any of them)
  Seconds communication{};          ///< a collective is under way
  Seconds exposed_communication{};  ///< ... and no kernel runs beside it
  std::array<Seconds, purpose_words.size()> exposed{};  ///< the same by `Purpose`
  Seconds input_wait{};    ///< the input copy, or a wait for a batch, and nothing else
  Seconds optimizer{};     ///< the optimizer's kernels run
  Seconds launch_bound{};  ///< the GPU has nothing to do because the CPU has not issued it yet
  Seconds idle{};          ///< none of these: waiting for other ranks or for latencies
};

/// How samples came to the ranks of a job whose loaders were simulated.
struct Loading {
  Seconds first_batch{};   ///< from the start of an epoch until every rank has its first batch
  double epoch_steps = 0;  ///< in which every sample comes once
  Seconds epoch_start{};  ///< what an epoch takes longer than so many steps: to start workers, to fill queues
  Seconds batch{};        ///< from a worker's begin of a batch until it can be taken, on average
  Seconds
      for_others{};  ///< a step: until the last of the ranks has its batch, behind the one that is reported
  Seconds wait{};    ///< a step: until all ranks have their batches, after they asked for them
  // Of a worker (without any: of the training process), a step, on average: together how long a step must be
  // for its loader's sake.
  Seconds reading{};  ///< from storage and caches
  Seconds making{};   ///< on a core
  bool has_workers = false;
  Bytes read{};                          ///< from storage, a step, by all ranks; not from caches
  std::optional<double> storage_busy{};  ///< of what storage could have read in the step; of the busiest
  std::optional<double> usd_per_million_samples{};  ///< that storage takes, of the job's
  std::optional<double> cores_busy{};               ///< of the cores that training leaves, the same
};

/// What a step in the steady state costs, and where the time goes of the program that ends it. Rates of a
/// step that takes no time are infinite, its shares zero.
struct Metrics : StepParts {
  Seconds step_time{};
  Seconds issue{};  ///< CPU time to issue a step's tasks on a rank, whether or not the GPU waits for it
  double steps_per_s = 0;
  double samples_per_s = 0;
  double samples = 0;                    ///< a step, of all ranks
  std::optional<int> tokens_per_sample;  ///< of a model of text
  std::optional<double> tokens_per_s;    ///< the same
  double gpu_busy_fraction = 0;
  bool is_of_parts = false;       ///< ranks hold parts of the model
  std::optional<Seconds> bubble;  ///< of a pipeline: its ranks wait for each other, on average
  double tflops_per_gpu = 0;      ///< of the model's operations, on average; see `model_flops_per_sample`
  std::optional<double> mfu;      ///< these over the peak; see `utilisation`
  std::int64_t collectives = 0;   ///< a step
  Bytes bytes_sent_per_gpu{};     ///< by collectives, a step
  Bytes peak_memory{};            ///< what PyTorch has allocated on one GPU at the peak; estimate
  std::optional<BytesPerSecond> bus_bandwidth;  ///< of a collective alone, as nccl-tests counts it
  std::optional<Loading> loading{};             ///< of a job whose loaders are simulated
  std::optional<UsdPerHour> cost_per_hour;      ///< of the nodes that the ranks lie on, each as a whole
  std::optional<double> cost_usd_per_million_samples;
};

/// How much of the step a link or memory was in use, and what it carried.
struct ResourceUse {
  std::string name;
  double busy_fraction = 0;     ///< bytes carried over what it could have carried in the step
  Bytes bytes{};                ///< a step
  double wanted_by_others = 0;  ///< share that a neighbour's traffic would like
  std::size_t alike = 0;        ///< others that carry as much at the same time and are not listed
};

/// More links than this are not listed one by one: a report must not grow with the machine.
constexpr std::size_t most_links_listed = 1000;

/// Where the time and the memory of the ranks that run one program go.
struct MeasuredProgram {
  std::string name;  ///< "stage 3"
  int ranks = 0;
  StepParts parts;
  MemoryUse memory;
};

/// All that a run says of itself.
struct Measured {
  Metrics metrics;
  std::vector<MeasuredProgram> by_program;
  ProgramId program{0};  ///< that ends the step: of `metrics`
  MemoryUse memory;      ///< of the program that needs most
  Bottleneck bottleneck;
  /// Links and memories that carried anything, busiest first. Of more than `most_links_listed` one of those
  /// that are alike, and of these the busiest.
  std::vector<ResourceUse> links;
  std::size_t links_left_out = 0;  ///< less busy ones, neither listed nor like one that is
  /// What each resource that stands for itself carried in the step, in order; see Folding.
  std::vector<std::pair<ResourceId, Bytes>> carried;
};

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/nccl/collective_provenance.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Sources of the parts of a prediction; report/format/provenance_words.cpp words them.
namespace provenance {

/// Compute times that the model's file states.
struct GivenTimes {
  bool operator==(const GivenTimes&) const = default;
};

/// A recorded step, replayed launch by launch.
struct ProfiledLaunches {
  std::size_t launches = 0;
  std::string gpu;
  int steps = 0;          ///< averaged
  Seconds traced_step{};  ///< under the profiler
  Seconds pause{};        ///< between kernels
  double cpu_scale = 1;   ///< CPU times over those under the profiler

  bool operator==(const ProfiledLaunches&) const = default;
};

/// The replayed step meets a step that was measured without the profiler.
struct UnprofiledStep {
  Seconds step{};
  bool launch_bound = false;

  bool operator==(const UnprofiledStep&) const = default;
};

/// The profile was moved to another GPU model and scaled to an anchor there.
struct AnchoredProfile {
  std::string from;
  std::string to;

  bool operator==(const AnchoredProfile&) const = default;
};

/// The profile was moved to another GPU model, kernel by kernel, by the roofline.
struct MovedProfile {
  std::string from;
  std::string to;
  double factor = 1;  ///< kernel time there over kernel time here

  bool operator==(const MovedProfile&) const = default;
};

/// The model's operations, scaled to a measured step.
struct AnchoredOperations {
  std::string gpu;
  double scale = 1;
  Seconds step{};
  int batch = 0;
  std::string source;

  bool operator==(const AnchoredOperations&) const = default;
};

/// The model's operations, each by timed kernels.
struct TimedKernels {
  std::string gpu;
  std::string timed_on;  ///< the same GPU, or one from which times were moved by the two datasheets
  std::string source;
  std::string of_other_maker{};  ///< source of the rates of the GPU if the timed one is another maker's

  bool operator==(const TimedKernels&) const = default;
};

/// The model's operations by the GPU's datasheet.
struct Roofline {
  std::string gpu;
  std::string source;

  bool operator==(const Roofline&) const = default;
};

/// A power limit lowers the GPU's clocks.
struct LoweredClocks {
  Watts limit{};
  double slowdown = 1;  ///< of matrix products, attention and convolutions

  bool operator==(const LoweredClocks&) const = default;
};

/// CPU time to launch an operation.
struct LaunchCost {
  enum class From { anchor, platform, calibration, assumed };
  Seconds operation{};
  From from = From::assumed;
  std::string name{};  ///< of the platform or calibration

  bool operator==(const LaunchCost&) const = default;
};

/// CUDA graphs replace single launches.
struct GraphLaunches {
  enum class Scope { layers, step, step_without_optimizer };
  Scope scope = Scope::layers;
  Seconds launch{};  ///< CPU time of one graph

  bool operator==(const GraphLaunches&) const = default;
};

/// CPU time of the strategy's hooks.
struct StrategyHooks {
  bool operator==(const StrategyHooks&) const = default;
};

/// Time of an optimizer step on the CPU.
struct HostOptimizer {
  Seconds time{};
  bool is_deepspeed = false;  ///< else Megatron's

  bool operator==(const HostOptimizer&) const = default;
};

/// Measured contention between kernels and collectives.
struct Contention {
  double kernel_slowdown = 1;
  double collective_slowdown = 1;
  int multiprocessors = 0;  ///< that NCCL takes, whose loss is not in `kernel_slowdown`; 0: it is
  std::string source;

  bool operator==(const Contention&) const = default;
};

/// The calibration was adapted to another machine by a few of its measurements.
struct CalibrationTransfer {
  struct HardwarePart {
    std::string what;
    double before = 0;              ///< median relative error
    std::optional<double> after{};  ///< the same; empty: too few rows
    bool operator==(const HardwarePart&) const = default;
  };
  std::string calibration;
  std::string from;
  std::vector<HardwarePart> parts;

  bool operator==(const CalibrationTransfer&) const = default;
};

/// Errors of the calibration for samples that its fit did not use.
struct HeldBackErrors {
  struct Group {
    std::string what;
    FitError error;
    bool operator==(const Group&) const = default;
  };
  std::string calibration;
  std::vector<Group> groups;

  bool operator==(const HeldBackErrors&) const = default;
};

/// Source of a dataset.
struct Samples {
  std::string dataset;  ///< empty: of the scenario
  std::string source;

  bool operator==(const Samples&) const = default;
};

/// Source of the storage that holds the dataset.
struct SampleStorage {
  std::string storage;  ///< empty: of the scenario
  std::string source;

  bool operator==(const SampleStorage&) const = default;
};

/// Rate of a storage whose burst credit is used up.
struct SustainedRate {
  std::string storage;  ///< empty: of the scenario
  BytesPerSecond rate{};

  bool operator==(const SustainedRate&) const = default;
};

/// Default time to start a loader worker.
struct WorkerStart {
  Seconds time{};

  bool operator==(const WorkerStart&) const = default;
};

/// Source of the profile's activations; MemorySource::none if they are unknown.
struct Activations {
  MemorySource source = MemorySource::none;

  bool operator==(const Activations&) const = default;
};

/// Source of the platform's description.
struct PlatformSource {
  std::string platform;
  std::string source;

  bool operator==(const PlatformSource&) const = default;
};

/// Failures of a campaign.
struct Failures {
  std::string source;  ///< empty: the scenario's own rates

  bool operator==(const Failures&) const = default;
};

/// Storage of a campaign's checkpoints.
struct CheckpointStorage {
  std::string storage;
  std::string source;
  double data_share = 0;    ///< of its rate, that the job's samples take
  std::string prices_of{};  ///< date; empty: it has no price

  bool operator==(const CheckpointStorage&) const = default;
};

/// Interruptions of spot nodes.
struct SpotNodes {
  std::string source;  ///< empty: the scenario's own rates

  bool operator==(const SpotNodes&) const = default;
};

/// The effect of local SGD on the loss is not predicted.
struct LocalSgdLoss {
  bool operator==(const LocalSgdLoss&) const = default;
};

}  // namespace provenance

using ProvenanceFact =
    std::variant<provenance::GivenTimes, provenance::ProfiledLaunches, provenance::UnprofiledStep,
                 provenance::AnchoredProfile, provenance::MovedProfile, provenance::AnchoredOperations,
                 provenance::TimedKernels, provenance::Roofline, provenance::LoweredClocks,
                 provenance::LaunchCost, provenance::GraphLaunches, provenance::StrategyHooks,
                 provenance::HostOptimizer, provenance::Collectives, provenance::Contention,
                 provenance::CalibrationTransfer, provenance::HeldBackErrors, provenance::Samples,
                 provenance::SampleStorage, provenance::SustainedRate, provenance::WorkerStart,
                 provenance::Activations, provenance::PlatformSource, provenance::Failures,
                 provenance::CheckpointStorage, provenance::SpotNodes, provenance::LocalSgdLoss>;

}  // namespace gradway

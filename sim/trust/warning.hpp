// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/nccl/collective_provenance.hpp"
#include "sim/platform/speeds.hpp"
#include "sim/scenario/scenario_warnings.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// Facts that users should know before they rely on a prediction. Each has a stable code, under which
/// `gradway help CODE` explains it; report/format/warning_words.cpp words it.
namespace warning {

/// Parts of the hardware are set to be faster than they are.
struct WhatIfSpeeds {
  static constexpr std::string_view code = "what-if-speeds";
  SpeedFactors speeds{};
  std::string platform;

  bool operator==(const WhatIfSpeeds&) const = default;
};

/// The CPU's launches bound the profiled step, which was not measured without the profiler.
struct LaunchBoundProfile {
  static constexpr std::string_view code = "launch-bound-profile";
  Seconds assumed_step{};  ///< without the profiler

  bool operator==(const LaunchBoundProfile&) const = default;
};

/// The anchor was measured at another batch than the job's.
struct AnchorOtherBatch {
  static constexpr std::string_view code = "anchor-other-batch";
  int anchor = 0;
  int job = 0;

  bool operator==(const AnchorOtherBatch&) const = default;
};

/// The anchor differs from the unscaled prediction by more than all but one anchor of 1,000.
struct ImplausibleAnchor {
  static constexpr std::string_view code = "implausible-anchor";
  double scale = 1;  ///< anchor over unscaled prediction
  double low = 1;    ///< 999 of 1,000 anchors are above it
  double high = 1;   ///< and below it

  bool operator==(const ImplausibleAnchor&) const = default;
};

/// Kernel times were moved from one GPU model to another by the roofline.
struct ProfileMovedByRoofline {
  static constexpr std::string_view code = "profile-moved-by-roofline";
  std::string from;
  std::string to;

  bool operator==(const ProfileMovedByRoofline&) const = default;
};

/// The profile's launch times are those of the machine on which it was recorded.
struct LaunchesOfOtherHost {
  static constexpr std::string_view code = "launches-of-other-host";
  std::string gpu;  ///< of that machine

  bool operator==(const LaunchesOfOtherHost&) const = default;
};

/// The profile was recorded at another batch than the job's.
struct ProfileOtherBatch {
  static constexpr std::string_view code = "profile-other-batch";
  int profile = 0;
  int job = 0;

  bool operator==(const ProfileOtherBatch&) const = default;
};

/// The profile was recorded with another optimizer than the job's.
struct ProfileOtherOptimizer {
  static constexpr std::string_view code = "profile-other-optimizer";
  Optimizer profile = Optimizer::sgd;
  Optimizer job = Optimizer::sgd;

  bool operator==(const ProfileOtherOptimizer&) const = default;
};

/// The profile was recorded with TF32 and the job runs without it, or the other way round.
struct ProfileOtherPrecision {
  static constexpr std::string_view code = "profile-other-precision";
  std::string profile;
  Precision recorded = Precision::fp32;  ///< fp32 or tf32
  Precision job = Precision::fp32;       ///< fp32 or tf32
  double tf32_share = 0;                 ///< of the time of 32-bit matrix products, by the names of kernels

  bool operator==(const ProfileOtherPrecision&) const = default;
};

/// No kernel times apply to the GPU: compute times come from its datasheet.
struct RooflineOnly {
  static constexpr std::string_view code = "roofline-only";
  std::string gpu;

  bool operator==(const RooflineOnly&) const = default;
};

/// Kernels were timed on a GPU of another maker: its libraries are other programs.
struct KernelsOfOtherMaker {
  static constexpr std::string_view code = "kernels-of-other-maker";
  std::string timed_on;
  std::string gpu;

  bool operator==(const KernelsOfOtherMaker&) const = default;
};

/// FlashAttention 1 was not timed; published ratios to version 2 are used.
struct FlashAttention1 {
  static constexpr std::string_view code = "flash-attention-1";
  bool operator==(const FlashAttention1&) const = default;
};

/// No measured fp8 step of our own was compared with a prediction.
struct Fp8NotValidated {
  static constexpr std::string_view code = "fp8-not-validated";
  bool operator==(const Fp8NotValidated&) const = default;
};

/// Few steps of models with experts were compared with a prediction.
struct ExpertsUncertain {
  static constexpr std::string_view code = "experts-uncertain";
  double imbalance = 1;  ///< tokens of the busiest rank over the average

  bool operator==(const ExpertsUncertain&) const = default;
};

/// No step with embedding tables on several GPUs was compared with a prediction.
struct TablesUncertain {
  static constexpr std::string_view code = "tables-uncertain";
  double imbalance = 1;  ///< lookups of the busiest rank over the average

  bool operator==(const TablesUncertain&) const = default;
};

/// No measured step of LoRA or QLoRA was compared with a prediction.
struct FineTuningNotValidated {
  static constexpr std::string_view code = "fine-tuning-not-validated";
  bool quantised = false;  ///< QLoRA

  bool operator==(const FineTuningNotValidated&) const = default;
};

/// No step of the optimizer was timed.
struct OptimizerNotTimed {
  static constexpr std::string_view code = "optimizer-not-timed";
  Optimizer optimizer = Optimizer::sgd;

  bool operator==(const OptimizerNotTimed&) const = default;
};

/// Convolutions on tensor cores would be faster with images in NHWC.
struct ChannelsLastFaster {
  static constexpr std::string_view code = "channels-last-faster";
  double saving = 0;  ///< share of the kernel time of both passes

  bool operator==(const ChannelsLastFaster&) const = default;
};

/// Precision fp32 excludes TF32, which PyTorch uses for convolutions by default.
struct Fp32WithoutTf32 {
  static constexpr std::string_view code = "fp32-without-tf32";
  bool operator==(const Fp32WithoutTf32&) const = default;
};

/// Processes that share a host's cores slow each other's optimizer steps.
struct SharedHostOptimizer {
  static constexpr std::string_view code = "shared-host-optimizer";
  bool operator==(const SharedHostOptimizer&) const = default;
};

/// No contention was measured for the job's transport and precision.
struct ContentionNotMeasured {
  static constexpr std::string_view code = "contention-not-measured";
  Transport transport = Transport::p2p;
  Precision precision = Precision::fp32;

  bool operator==(const ContentionNotMeasured&) const = default;
};

/// Contention was measured on another node or with other ranks or channels.
struct ExtrapolatedContention {
  static constexpr std::string_view code = "extrapolated-contention";
  std::string measured_on;  ///< another node; empty: on this one
  int ranks = 0;            ///< measured; 0: as the job
  int job_ranks = 0;
  int channels = 0;  ///< measured; 0: as the job
  int job_channels = 0;

  bool operator==(const ExtrapolatedContention&) const = default;
};

/// The platform describes no host memory, so input copies take no time.
struct NoHostMemory {
  static constexpr std::string_view code = "no-host-memory";
  std::string platform;

  bool operator==(const NoHostMemory&) const = default;
};

/// The platform has no rate for copies from pageable memory.
struct AssumedPageableRate {
  static constexpr std::string_view code = "assumed-pageable-rate";
  std::string platform;

  bool operator==(const AssumedPageableRate&) const = default;
};

/// The platform has no rate at which a core copies, so pinning takes no time.
struct UnknownPinningCost {
  static constexpr std::string_view code = "unknown-pinning-cost";
  std::string platform;

  bool operator==(const UnknownPinningCost&) const = default;
};

/// The platform has no number of cores, so each loader worker has its own.
struct UnknownCores {
  static constexpr std::string_view code = "unknown-cores";
  std::string platform;

  bool operator==(const UnknownCores&) const = default;
};

/// The dataset has no GPU time to decode a sample.
struct UnknownDecodeCost {
  static constexpr std::string_view code = "unknown-decode-cost";
  std::string dataset;  ///< empty: of the scenario

  bool operator==(const UnknownDecodeCost&) const = default;
};

/// The dataset has no CPU time for a sample, so workers only read.
struct UnknownSampleCost {
  static constexpr std::string_view code = "unknown-sample-cost";
  std::string dataset;  ///< empty: of the scenario

  bool operator==(const UnknownSampleCost&) const = default;
};

/// Samples differ in size, but all are simulated at the mean size.
struct MeanSampleSize {
  static constexpr std::string_view code = "mean-sample-size";
  std::string dataset;  ///< empty: of the scenario
  double spread = 0;    ///< standard deviation over mean

  bool operator==(const MeanSampleSize&) const = default;
};

/// The memory has no activations: the profile does not record them.
struct UnknownActivations {
  static constexpr std::string_view code = "unknown-activations";
  bool recomputed = false;  ///< what recomputed blocks keep is unknown, whatever the profile records

  bool operator==(const UnknownActivations&) const = default;
};

/// The activations of some operations of the profile are unknown.
struct IncompleteActivations {
  static constexpr std::string_view code = "incomplete-activations";
  std::vector<std::string> operations;

  bool operator==(const IncompleteActivations&) const = default;
};

/// The job is expected to fit, but may exceed the GPU's memory.
struct MemoryTight {
  static constexpr std::string_view code = "memory-tight";
  MemoryRange range{};

  bool operator==(const MemoryTight&) const = default;
};

/// The job is expected to exceed the GPU's memory.
struct MemoryExceeded {
  static constexpr std::string_view code = "memory-exceeded";
  MemoryRange range{};  ///< its verdict is may_not_fit or does_not_fit

  bool operator==(const MemoryExceeded&) const = default;
};

/// The effect of DDP's static graph is not predicted.
struct StaticGraphNotPredicted {
  static constexpr std::string_view code = "static-graph-not-predicted";
  bool operator==(const StaticGraphNotPredicted&) const = default;
};

/// A variable of NCCL is accepted, but not modelled.
struct UnmodelledNcclVariable {
  static constexpr std::string_view code = "unmodelled-nccl-variable";
  std::string name;
  std::string value;

  bool operator==(const UnmodelledNcclVariable&) const = default;
};

/// The step is the same without a variable of NCCL: it states what holds, or concerns what the job lacks.
struct NcclVariableWithoutEffect {
  static constexpr std::string_view code = "nccl-variable-without-effect";
  std::string name;
  std::string value;

  bool operator==(const NcclVariableWithoutEffect&) const = default;
};

/// The reported step is the mean of steps of different length.
struct AlternatingSteps {
  static constexpr std::string_view code = "alternating-steps";
  Seconds shortest{};
  Seconds longest{};
  int steps = 0;

  bool operator==(const AlternatingSteps&) const = default;
};

/// The campaign has no failures.
struct NoFailureModel {
  static constexpr std::string_view code = "no-failure-model";
  bool operator==(const NoFailureModel&) const = default;
};

/// The checkpoints' storage has no write rate; its read rate is used.
struct UnknownWriteRate {
  static constexpr std::string_view code = "unknown-write-rate";
  std::string storage;

  bool operator==(const UnknownWriteRate&) const = default;
};

/// Checkpoints are on storage inside the nodes, whose loss is not simulated.
struct CheckpointsLostWithNode {
  static constexpr std::string_view code = "checkpoints-lost-with-node";
  std::string storage;

  bool operator==(const CheckpointsLostWithNode&) const = default;
};

/// A checkpoint takes longer than the mean time to a failure.
struct CheckpointExceedsMttf {
  static constexpr std::string_view code = "checkpoint-exceeds-mttf";
  Seconds checkpoint{};
  Seconds mttf{};

  bool operator==(const CheckpointExceedsMttf&) const = default;
};

/// Checkpoints start more often than storage can finish them.
struct IntervalTooShort {
  static constexpr std::string_view code = "interval-too-short";
  Seconds interval{};
  Seconds write{};

  bool operator==(const IntervalTooShort&) const = default;
};

/// Some runs of a campaign were cancelled, so the figures are too optimistic.
struct UnfinishedRuns {
  static constexpr std::string_view code = "unfinished-runs";
  int unfinished = 0;
  int runs = 0;

  bool operator==(const UnfinishedRuns&) const = default;
};

/// No setting meets the training's deadline or budget.
struct NoSettingWithinLimits {
  static constexpr std::string_view code = "no-setting-within-limits";
  bool operator==(const NoSettingWithinLimits&) const = default;
};

/// Steps to the same quality with lossy compression are unknown, and taken to be as many as without it.
struct UnknownLossySteps {
  static constexpr std::string_view code = "unknown-lossy-steps";
  std::string hook;
  std::string holds_for;  ///< models for which as many steps are published
  std::string source;

  bool operator==(const UnknownLossySteps&) const = default;
};

/// A recommended setting changes what a step learns, not only its speed.
struct LearningChanged {
  static constexpr std::string_view code = "learning-changed";
  std::string key;
  std::string value;

  bool operator==(const LearningChanged&) const = default;
};

}  // namespace warning

using Warning =
    std::variant<warning::ReplacedFile, warning::UnusedKernelTimes, warning::UnusedAnchor,
                 warning::UntimedOperations, warning::CompiledCapture, warning::WhatIfSpeeds,
                 warning::LaunchBoundProfile, warning::AnchorOtherBatch, warning::ImplausibleAnchor,
                 warning::ProfileMovedByRoofline, warning::LaunchesOfOtherHost, warning::ProfileOtherBatch,
                 warning::ProfileOtherOptimizer, warning::ProfileOtherPrecision, warning::RooflineOnly,
                 warning::KernelsOfOtherMaker, warning::FlashAttention1, warning::Fp8NotValidated,
                 warning::ExpertsUncertain, warning::TablesUncertain, warning::FineTuningNotValidated,
                 warning::OptimizerNotTimed, warning::ChannelsLastFaster, warning::Fp32WithoutTf32,
                 warning::SharedHostOptimizer, warning::ExtrapolatedCollectives,
                 warning::ContentionNotMeasured, warning::ExtrapolatedContention, warning::NoHostMemory,
                 warning::AssumedPageableRate, warning::UnknownPinningCost, warning::UnknownCores,
                 warning::UnknownDecodeCost, warning::UnknownSampleCost, warning::MeanSampleSize,
                 warning::UnknownActivations, warning::IncompleteActivations, warning::MemoryTight,
                 warning::MemoryExceeded, warning::StaticGraphNotPredicted, warning::UnmodelledNcclVariable,
                 warning::NcclVariableWithoutEffect, warning::AlternatingSteps, warning::NoFailureModel,
                 warning::UnknownWriteRate, warning::CheckpointsLostWithNode, warning::CheckpointExceedsMttf,
                 warning::IntervalTooShort, warning::UnfinishedRuns, warning::NoSettingWithinLimits,
                 warning::UnknownLossySteps, warning::LearningChanged>;

/// "memory-tight"
inline std::string_view code_of(const Warning& warning) {
  return std::visit([](const auto& alternative) { return std::remove_cvref_t<decltype(alternative)>::code; },
                    warning);
}

/// Whether it says that times of communication are extrapolated from other measurements.
inline bool is_extrapolation(const Warning& warning) {
  return std::holds_alternative<warning::ExtrapolatedCollectives>(warning) ||
         std::holds_alternative<warning::ContentionNotMeasured>(warning) ||
         std::holds_alternative<warning::ExtrapolatedContention>(warning);
}

/// Adds a warning unless the list has one of the same code and facts.
void add(std::vector<Warning>& warnings, Warning warning);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "sim/base/units.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// What an error of a prediction comes from, for people; report/format/errors_json.cpp words it. Two errors
/// with different causes may have equal sources.
namespace error_source {

/// Contention of a transport's collectives with kernels.
struct LinkContention {
  Transport transport = Transport::none;
  std::string gpu;

  bool operator==(const LinkContention&) const = default;
};

/// Waits and other costs of several ranks that the model of the step leaves out.
struct Exchange {
  std::string model;
  Transport transport = Transport::none;
  std::string gpu;

  bool operator==(const Exchange&) const = default;
};

struct InputCopies {
  std::string platform;

  bool operator==(const InputCopies&) const = default;
};

/// CPU time of samples.
struct SampleCosts {
  std::string dataset;  ///< empty: of the scenario
  std::string platform;

  bool operator==(const SampleCosts&) const = default;
};

struct StorageRate {
  std::string storage;  ///< empty: of the scenario

  bool operator==(const StorageRate&) const = default;
};

/// Samples in host memory.
struct CachedSamples {
  std::string platform;

  bool operator==(const CachedSamples&) const = default;
};

/// CPU work of a program's launches, on any CPU.
struct ProgramLaunches {
  std::string model;

  bool operator==(const ProgramLaunches&) const = default;
};

/// Speed of the CPU that launches.
struct HostLaunches {
  std::string model;
  std::string platform;

  bool operator==(const HostLaunches&) const = default;
};

/// Kernels of this job's settings.
struct JobKernels {
  bool operator==(const JobKernels&) const = default;
};

/// Kernels during the collectives of this job's settings.
struct JobContention {
  bool operator==(const JobContention&) const = default;
};

/// Collectives of this job's settings.
struct JobCollectives {
  bool operator==(const JobCollectives&) const = default;
};

/// Operations of this job's settings, of which no step was measured.
struct JobOperations {
  bool operator==(const JobOperations&) const = default;
};

/// A profile as the source of compute times.
struct ProfileReference {
  std::string gpu;
  bool moved_to_anchor = false;

  bool operator==(const ProfileReference&) const = default;
};

/// An anchor as the source of compute times.
struct AnchorReference {
  Seconds step{};
  int batch = 0;

  bool operator==(const AnchorReference&) const = default;
};

/// The roofline as the source of compute times.
struct RooflineReference {
  bool operator==(const RooflineReference&) const = default;
};

using ComputeReference = std::variant<ProfileReference, AnchorReference, RooflineReference>;

/// A model's compute on a GPU.
struct Compute {
  std::string model;
  std::string gpu;
  Precision precision = Precision::fp32;
  std::optional<ComputeReference> reference{};  ///< empty: kernel times, or no measured step

  bool operator==(const Compute&) const = default;
};

/// The optimizer's part of compute, where another optimizer was measured.
struct OtherOptimizer {
  Optimizer optimizer = Optimizer::sgd;
  Compute compute{};

  bool operator==(const OtherOptimizer&) const = default;
};

/// Compute at the job's batch, where another one was measured.
struct OtherBatch {
  enum class Batch { given, larger, smaller };
  Batch batch = Batch::given;  ///< given: `size`; else larger or smaller than the measured batch
  int size = 0;
  Compute compute{};

  bool operator==(const OtherBatch&) const = default;
};

/// Sequence length of a model of which no step was measured.
struct ModelSequence {
  std::string model;

  bool operator==(const ModelSequence&) const = default;
};

/// Batch of a model of which no step was measured.
struct ModelBatch {
  int batch = 0;
  std::string model;

  bool operator==(const ModelBatch&) const = default;
};

/// Program of a model, on every GPU.
struct ModelProgram {
  std::string model;

  bool operator==(const ModelProgram&) const = default;
};

/// Collectives by a calibration.
struct CalibratedCollectives {
  Transport transport = Transport::none;
  std::string calibration;
  int ranks = 0;  ///< 0: whatever the number of ranks

  bool operator==(const CalibratedCollectives&) const = default;
};

/// Collectives by NCCL's own rates.
struct NominalCollectives {
  Transport transport = Transport::none;
  std::string platform;
  int ranks = 0;  ///< 0: whatever the number of ranks

  bool operator==(const NominalCollectives&) const = default;
};

}  // namespace error_source

/// std::monostate: read from a report, whose words are not read.
using ErrorSource =
    std::variant<std::monostate, error_source::LinkContention, error_source::Exchange,
                 error_source::InputCopies, error_source::SampleCosts, error_source::StorageRate,
                 error_source::CachedSamples, error_source::ProgramLaunches, error_source::HostLaunches,
                 error_source::JobKernels, error_source::JobContention, error_source::JobCollectives,
                 error_source::JobOperations, error_source::Compute, error_source::OtherOptimizer,
                 error_source::OtherBatch, error_source::ModelSequence, error_source::ModelBatch,
                 error_source::ModelProgram, error_source::CalibratedCollectives,
                 error_source::NominalCollectives>;

}  // namespace gradway

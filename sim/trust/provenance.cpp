// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/provenance.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sim/compute/memory_range.hpp"
#include "sim/plan/input/loader.hpp"
#include "sim/plan/offload.hpp"
#include "sim/platform/data_paths.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway {
namespace {

/// The uncertainty is that of an unknown CPU.
void add_offload(const Scenario& scenario, Provenance& provenance) {
  const auto time = host_optimizer_time(scenario);
  if (!time) return;
  provenance.step_basis.launches = Basis::nominal;
  provenance.basis.emplace_back(
      provenance::HostOptimizer{*time, std::holds_alternative<Zero>(scenario.job.strategy)});
  add(provenance.warnings, warning::SharedHostOptimizer{});
}

/// @param communicator whose collectives run at the same time as kernels
void add_contention(const Scenario& scenario, const Communicator& communicator, Provenance& provenance) {
  if (scenario.platform.collectives == CollectiveRules::ideal || communicator.facts().ranks == 1) return;
  const auto precision = scenario.job.precision;
  const auto* entry = communicator.contention({KernelClass::matrix, precision, 0, 0});
  provenance.step_basis.contention = Basis::nominal;
  if (!entry) {
    add(provenance.warnings, warning::ContentionNotMeasured{provenance.step_basis.transport, precision});
    return;
  }
  const auto channels = communicator.channels();
  const auto gpus = scenario.job.gpus;
  provenance.step_basis.contention = entry->measured_on.empty() ? Basis::measured : Basis::elsewhere;
  const bool other_ranks = entry->ranks > 0 && entry->ranks != gpus;
  const bool other_channels = entry->channels > 0 && entry->channels != channels;
  if (other_ranks || other_channels)
    provenance.step_basis.contention = std::max(provenance.step_basis.contention, Basis::stretched);
  if (other_ranks || other_channels || !entry->measured_on.empty()) {
    warning::ExtrapolatedContention extrapolated{.measured_on = entry->measured_on};
    if (other_ranks) {
      extrapolated.ranks = entry->ranks;
      extrapolated.job_ranks = gpus;
    }
    if (other_channels) {
      extrapolated.channels = entry->channels;
      extrapolated.job_channels = channels;
    }
    add(provenance.warnings, std::move(extrapolated));
  }
  provenance.basis.emplace_back(provenance::Contention{.kernel_slowdown = entry->kernel_slowdown,
                                                       .collective_slowdown = entry->collective_slowdown,
                                                       .multiprocessors = entry->channels > 0 ? channels : 0,
                                                       .source = entry->source});
}

/// Groups of samples that predictions use; rates of copies and kernels are for people to read.
bool is_used(const HoldoutError& group) {
  return group.what.starts_with("collectives") || group.what.starts_with("side by side");
}

void add_calibration_transfer(const Calibration& calibration, Provenance& provenance) {
  if (!calibration.adapted) return;
  provenance::CalibrationTransfer transfer{calibration.name, calibration.adapted->from, {}};
  for (const auto& hardware_part : calibration.adapted->parts) {
    if (hardware_part.rows == 0 || !hardware_part.before) continue;
    transfer.parts.push_back(
        {hardware_part.what, hardware_part.before->median,
         hardware_part.after ? std::optional{hardware_part.after->median} : std::nullopt});
  }
  provenance.basis.emplace_back(std::move(transfer));
}

void add_held_back_errors(const Scenario& scenario, Provenance& provenance) {
  if (scenario.platform.collectives == CollectiveRules::ideal || scenario.job.gpus == 1) return;
  provenance::HeldBackErrors errors{scenario.calibration.name, {}};
  for (const auto& group : scenario.calibration.holdout_errors)
    if (is_used(group)) errors.groups.push_back({group.what, group.error});
  if (!errors.groups.empty()) provenance.basis.emplace_back(std::move(errors));
}

void add_input(const Scenario& scenario, Provenance& provenance) {
  const auto& platform = scenario.platform;
  if (scenario.model.input_per_sample == 0_B && scenario.job.input.background_copy == 0_B) return;
  if (!path_from_host(Routes{platform}, platform, 0)) {
    add(provenance.warnings, warning::NoHostMemory{platform.name});
  } else if (!scenario.job.input.pin_memory && !platform.pageable_copy_rate) {
    add(provenance.warnings, warning::AssumedPageableRate{platform.name});
  }
}

/// Where samples come from, and which of their costs are unknown.
void add_loading(const Scenario& scenario, Provenance& provenance) {
  const auto& input = scenario.job.input;
  if (!input.dataset) return;
  const auto& dataset = *input.dataset;
  const auto& platform = scenario.platform;
  provenance.step_basis.making = uncertainty_of_making(dataset);
  provenance.step_basis.reading = uncertainty_of_reading(input);
  provenance.basis.emplace_back(provenance::Samples{dataset.name, dataset.source});
  if (const auto& storage = tier_of_reads(input)) {
    provenance.basis.emplace_back(provenance::SampleStorage{storage->name, storage->source});
    if (storage->burst)
      provenance.basis.emplace_back(provenance::SustainedRate{storage->name, storage->burst->sustained});
  }
  if (start_of_workers(input) > Seconds{} && input.worker_start == InputSettings{}.worker_start)
    provenance.basis.emplace_back(provenance::WorkerStart{input.worker_start});
  if (platform.cores_per_node == 0) add(provenance.warnings, warning::UnknownCores{platform.name});
  if (input.decode_on_gpu && !delivers_to_gpu(input) && dataset.gpu_decode == Seconds{})
    add(provenance.warnings, warning::UnknownDecodeCost{dataset.name});
  if (dataset.cpu.sum() == Seconds{}) add(provenance.warnings, warning::UnknownSampleCost{dataset.name});
  if (!platform.pageable_copy_rate && input.pin_memory && !delivers_to_gpu(input))
    add(provenance.warnings, warning::UnknownPinningCost{platform.name});
  if (dataset.spread > 0 && !input.draws_sizes)
    add(provenance.warnings, warning::MeanSampleSize{dataset.name, dataset.spread});
}

void add_activations(const Scenario& scenario, const Profile& profile, Provenance& provenance) {
  if (runs_blocks_again(scenario.job.recompute)) {
    add(provenance.warnings, warning::UnknownActivations{.recomputed = true});
  } else {
    provenance.basis.emplace_back(provenance::Activations{profile.memory_from});
    if (profile.memory_from == MemorySource::none) add(provenance.warnings, warning::UnknownActivations{});
  }
  if (!profile.memory_lacks.empty())
    add(provenance.warnings, warning::IncompleteActivations{profile.memory_lacks});
}

void add_memory(const Scenario& scenario, const MemoryUse& memory, Provenance& provenance) {
  if (const auto* profile = scenario.model.profile.get()) add_activations(scenario, *profile, provenance);
  auto range = memory_range(scenario, memory);
  if (range.verdict == MemoryVerdict::tight) {
    add(provenance.warnings, warning::MemoryTight{std::move(range)});
  } else if (range.verdict != MemoryVerdict::fits) {
    add(provenance.warnings, warning::MemoryExceeded{std::move(range)});
  }
}

/// A setting without effect must not look as if it had been tried. Those that a row of a table names are
/// errors (config/check/effects.cpp).
void add_keys_without_effect(const Scenario& scenario, Provenance& provenance) {
  if (const auto* ddp = std::get_if<Ddp>(&scenario.job.strategy);
      ddp && ddp->static_graph && !ddp->find_unused_parameters)
    add(provenance.warnings, warning::StaticGraphNotPredicted{});
  for (const auto& [name, value] : scenario.job.nccl)
    if (!is_modelled(name)) add(provenance.warnings, warning::UnmodelledNcclVariable{name, value});
}

/// The collective with the largest uncertainty counts for all.
void add_collectives(const Calibration& calibration, const std::vector<CollectiveProvenance>& collectives,
                     Provenance& provenance) {
  double most = -1;
  for (const auto& collective : collectives) {
    const ProvenanceFact fact = collectives_from(collective, calibration);
    if (std::ranges::find(provenance.basis, fact) == provenance.basis.end()) provenance.basis.push_back(fact);
    for (auto& extrapolation : extrapolations_of(collective))
      add(provenance.warnings, std::move(extrapolation));
    const auto uncertainty =
        uncertainty_of_collectives(collective.basis, collective.uncertainty_transport, collective.adapted);
    if (uncertainty <= most) continue;
    most = uncertainty;
    provenance.step_basis.communication = collective.basis;
    provenance.step_basis.transport = collective.uncertainty_transport;
    provenance.step_basis.adapted = collective.adapted;
  }
}

}  // namespace

Provenance provenance_of(const Scenario& scenario, const ComputeCosts& costs,
                         const Communicators& communicators,
                         const std::vector<CollectiveProvenance>& collectives, const MemoryUse& memory) {
  const auto& platform = scenario.platform;
  Provenance provenance;
  // First, so that users do not mistake it for a prediction of the platform as it is.
  if (!platform.speeds.as_built())
    add(provenance.warnings, warning::WhatIfSpeeds{platform.speeds, platform.name});
  for (const auto& of_files : scenario.warnings)
    std::visit([&](const auto& file_warning) { add(provenance.warnings, file_warning); }, of_files);
  add_compute_provenance(scenario, costs, provenance);
  add_offload(scenario, provenance);
  add_collectives(scenario.calibration, collectives, provenance);
  if (const auto* first = communicators.first()) add_contention(scenario, *first, provenance);
  if (scenario.job.gpus > 1) add_calibration_transfer(scenario.calibration, provenance);
  add_held_back_errors(scenario, provenance);
  add_input(scenario, provenance);
  add_loading(scenario, provenance);
  add_memory(scenario, memory, provenance);
  provenance.basis.emplace_back(provenance::PlatformSource{platform.name, platform.source});
  add_keys_without_effect(scenario, provenance);
  return provenance;
}

}  // namespace gradway

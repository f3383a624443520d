// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/provenance.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/make_warning.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/plan/input/loader.hpp"
#include "sim/plan/offload.hpp"
#include "sim/platform/data_paths.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway {
namespace {

/// The uncertainty is that of an unknown CPU.
void add_offload(const Scenario& scenario, Provenance& provenance) {
  const auto time = host_optimizer_time(scenario);
  if (!time) return;
  provenance.step_basis.launches = Basis::nominal;
  provenance.basis.push_back(
      {"offload",
       fmt::format("{:.4g} ms of CPU time for the optimizer's step, at the rate of a single process",
                   time->value() * 1e3),
       fmt::format(" ({}), or at its share of the memory bandwidth",
                   facts_of(scenario.job.strategy).framework == Framework::deepspeed
                       ? "11.6 billion elements in 8.2 s; DeepSpeed, pull request 735"
                       : "537 million elements in 1.8 s; Megatron-LM, issue 188")});
  add(provenance.warnings, make_warning<"shared-host-optimizer">());
}

/// @param communicator whose collectives run at the same time as kernels
void add_contention(const Scenario& scenario, const Communicator& communicator, Provenance& provenance) {
  if (scenario.platform.collectives == CollectiveRules::ideal || communicator.facts().ranks == 1) return;
  const auto precision = scenario.job.precision;
  const auto* entry = communicator.contention({KernelClass::matrix, precision, 0, 0});
  provenance.step_basis.contention = Basis::nominal;
  if (!entry) {
    add(provenance.warnings, make_warning<"contention-not-measured", "precision", "transport">(
                                 name_of(precision), name_of(provenance.step_basis.transport)));
    return;
  }
  const auto channels = communicator.channels();
  const auto gpus = scenario.job.gpus;
  provenance.step_basis.contention = entry->measured_on.empty() ? Basis::measured : Basis::elsewhere;
  const bool other_ranks = entry->ranks > 0 && entry->ranks != gpus;
  const bool other_channels = entry->channels > 0 && entry->channels != channels;
  if (other_ranks || other_channels)
    provenance.step_basis.contention = std::max(provenance.step_basis.contention, Basis::stretched);
  std::vector<std::string> conditions;
  if (!entry->measured_on.empty()) conditions.push_back(fmt::format("on {} (not here)", entry->measured_on));
  if (other_ranks) conditions.push_back(fmt::format("with {} GPUs (here {})", entry->ranks, gpus));
  if (other_channels)
    conditions.push_back(fmt::format("with {} NCCL channels (here {})", entry->channels, channels));
  if (!conditions.empty())
    add(provenance.warnings,
        make_warning<"extrapolated-contention", "conditions">(fmt::join(conditions, ", ")));
  const auto beyond = entry->channels > 0 && channels > 0
                          ? fmt::format(" beyond the loss of the {} multiprocessors that NCCL uses", channels)
                          : "";
  provenance.basis.push_back({"contention",
                              fmt::format("kernels take {:.3g} times as long{}, collectives {:.3g} times",
                                          entry->kernel_slowdown, beyond, entry->collective_slowdown),
                              fmt::format(" ({})", entry->source)});
}

/// Groups of samples that predictions use; rates of copies and kernels are for people to read.
bool is_used(std::string_view group) {
  return group.starts_with("collectives") || group.starts_with("side by side");
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

std::string or_of_scenario(const std::string& name) {
  return name.empty() ? "of the scenario" : name;
}

/// The source of a dataset or its storage.
ProvenanceFact source_of(std::string_view kind, const std::string& name, const std::string& source) {
  auto subject = fmt::format("{} {}", kind, or_of_scenario(name));
  return source.empty() ? ProvenanceFact{"", std::move(subject)} : ProvenanceFact{std::move(subject), source};
}

ProvenanceFact activations_by(MemorySource source) {
  switch (source) {
    case MemorySource::none:
      return {"memory", "without activations, which the profile does not contain"};
    case MemorySource::shapes:
      return {"activations", "tensors that autograd keeps, by the shapes in the profile's trace"};
    case MemorySource::compiled:
      return {"activations", "tensors that compiled graphs keep, by the operands of their kernels",
              " (eight programs: memory 8 % too low to 6 % too high); profile_memory=True records them"};
    case MemorySource::recorded:
      return {"activations", "the allocations that the profiler recorded"};
  }
  return {};
}

void add_calibration_transfer(const Calibration& calibration, Provenance& provenance) {
  if (!calibration.adapted) return;
  std::vector<std::string> changes;  // of median errors
  for (const auto& hardware_part : calibration.adapted->parts) {
    if (hardware_part.rows == 0 || !hardware_part.before) continue;
    const auto& after = hardware_part.after;  // empty: too few rows
    changes.push_back(fmt::format("{} from {}{}", hardware_part.what, percent(hardware_part.before->median),
                                  after ? fmt::format(" to {}", percent(after->median)) : ""));
  }
  provenance.basis.push_back(
      {fmt::format("calibration {} is {}, adapted by measurements of another machine, median error",
                   calibration.name, calibration.adapted->from),
       fmt::format("{}", fmt::join(changes, ", "))});
}

void add_held_back_errors(const Scenario& scenario, Provenance& provenance) {
  if (scenario.platform.collectives == CollectiveRules::ideal || scenario.job.gpus == 1) return;
  std::vector<std::string> groups;
  for (const auto& [group, rows, error] : scenario.calibration.holdout_errors)
    if (is_used(group))
      groups.push_back(fmt::format("{} {} (worst {})", group, percent(error.median), percent(error.worst)));
  if (groups.empty()) return;
  provenance.basis.push_back({fmt::format("calibration {}, median error for samples that its fit did not use",
                                          scenario.calibration.name),
                              fmt::format("{}", fmt::join(groups, ", "))});
}

void add_input(const Scenario& scenario, Provenance& provenance) {
  const auto& platform = scenario.platform;
  if (scenario.model.input_per_sample == 0_B && scenario.job.input.background_copy == 0_B) return;
  if (!path_from_host(Routes{platform}, platform, 0)) {
    add(provenance.warnings, make_warning<"no-host-memory", "platform">(platform.name));
  } else if (!scenario.job.input.pin_memory && !platform.pageable_copy_rate) {
    add(provenance.warnings, make_warning<"assumed-pageable-rate", "platform">(platform.name));
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
  provenance.basis.push_back(source_of("dataset", dataset.name, dataset.source));
  if (const auto& storage = tier_of_reads(input)) {
    provenance.basis.push_back(source_of("storage", storage->name, storage->source));
    if (storage->burst)
      provenance.basis.push_back(
          {"", fmt::format("storage {} delivers {:.4g} MB/s once its burst credit is used up",
                           or_of_scenario(storage->name), storage->burst->sustained.value() / 1e6)});
  }
  if (start_of_workers(input) > Seconds{} && input.worker_start == InputSettings{}.worker_start)
    provenance.basis.push_back(
        {"loader workers",
         fmt::format("{:.4g} ms to start one, measured for own forks of a process with a list of 3,000 files",
                     input.worker_start.value() * 1e3),
         "; 20 s where 1.2 million paths are pickled to each (facebookresearch/spdl at ff33a9f4)"});
  const auto in_words =
      dataset.name.empty() ? "the scenario's dataset" : fmt::format("the dataset {}", dataset.name);
  if (platform.cores_per_node == 0)
    add(provenance.warnings, make_warning<"unknown-cores", "platform">(platform.name));
  if (input.decode_on_gpu && !delivers_to_gpu(input) && dataset.gpu_decode == Seconds{})
    add(provenance.warnings, make_warning<"unknown-decode-cost", "dataset">(in_words));
  if (dataset.cpu.sum() == Seconds{})
    add(provenance.warnings, make_warning<"unknown-sample-cost", "dataset">(in_words));
  if (!platform.pageable_copy_rate && input.pin_memory && !delivers_to_gpu(input))
    add(provenance.warnings, make_warning<"unknown-pinning-cost", "platform">(platform.name));
  if (dataset.spread > 0 && !input.draws_sizes)
    add(provenance.warnings,
        make_warning<"mean-sample-size", "dataset", "percent">(in_words, 100 * dataset.spread));
}

void add_activations(const Scenario& scenario, const Profile& profile, Provenance& provenance) {
  if (runs_blocks_again(scenario.job.recompute)) {
    add(provenance.warnings, make_warning<"unknown-activations/recomputed">());
  } else {
    provenance.basis.push_back(activations_by(profile.memory_from));
    if (profile.memory_from == MemorySource::none)
      add(provenance.warnings, make_warning<"unknown-activations/profile">());
  }
  if (!profile.memory_lacks.empty())
    add(provenance.warnings,
        make_warning<"incomplete-activations", "operations">(fmt::join(profile.memory_lacks, ", ")));
}

void add_memory(const Scenario& scenario, const MemoryUse& memory, Provenance& provenance) {
  if (const auto* profile = scenario.model.profile.get()) add_activations(scenario, *profile, provenance);
  const auto range = memory_range(scenario, memory);
  const auto in_words = verdict_in_words(range);
  if (range.verdict == MemoryVerdict::tight) {
    add(provenance.warnings, make_warning<"memory-tight", "range">(in_words));
  } else if (range.verdict == MemoryVerdict::does_not_fit) {
    add(provenance.warnings, make_warning<"memory-exceeded/surely", "range">(in_words));
  } else if (range.verdict == MemoryVerdict::may_not_fit) {
    add(provenance.warnings, make_warning<"memory-exceeded/perhaps", "range">(in_words));
  }
}

/// A setting without effect must not look as if it had been tried. Those that a row of a table names are
/// errors (config/check/effects.cpp).
void add_keys_without_effect(const Scenario& scenario, Provenance& provenance) {
  const auto ddp = settings_or_defaults<Ddp>(scenario.job.strategy);
  if (ddp.static_graph && !ddp.find_unused_parameters)
    add(provenance.warnings, make_warning<"static-graph-not-predicted">());
  for (const auto& [name, value] : scenario.job.nccl)
    if (!is_modelled(name))
      add(provenance.warnings, make_warning<"unmodelled-nccl-variable", "name", "value">(name, value));
}

void add_network(const Platform& platform, Provenance& provenance) {
  if (platform.nodes == 1 || !platform.network || !platform.network->assumes_stream_rate) return;
  add(provenance.warnings, make_warning<"tcp-rate-assumed", "platform", "rate">(
                               platform.name, platform.network->stream_rate->value() / 1e9));
}

/// The collective with the largest uncertainty counts for all.
void add_collectives(const Calibration& calibration, const std::vector<CollectiveProvenance>& collectives,
                     Provenance& provenance) {
  double most = -1;
  for (const auto& collective : collectives) {
    const auto fact = collectives_from(collective, calibration);
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
  if (!platform.speeds.as_built()) {
    const auto speeds = in_words(platform.speeds);
    add(provenance.warnings, make_warning<"what-if-speeds", "speeds", "platform">(
                                 speeds.ends_with("fast") ? speeds : speeds + ", all else", platform.name));
  }
  for (const auto& of_files : scenario.warnings) add(provenance.warnings, of_files);
  add_compute_provenance(scenario, costs, provenance);
  add_offload(scenario, provenance);
  add_collectives(scenario.calibration, collectives, provenance);
  add_network(scenario.platform, provenance);
  if (const auto* first = communicators.first()) add_contention(scenario, *first, provenance);
  if (scenario.job.gpus > 1) add_calibration_transfer(scenario.calibration, provenance);
  add_held_back_errors(scenario, provenance);
  add_input(scenario, provenance);
  add_loading(scenario, provenance);
  add_memory(scenario, memory, provenance);
  provenance.basis.push_back({"", "", fmt::format("platform {}: {}", platform.name, platform.source)});
  add_keys_without_effect(scenario, provenance);
  return provenance;
}

}  // namespace gradway

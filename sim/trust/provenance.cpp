// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/provenance.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/memory_range.hpp"
#include "sim/plan/input/loader.hpp"
#include "sim/plan/offload.hpp"
#include "sim/platform/host_copy.hpp"
#include "sim/trust/step_range.hpp"
#include "sim/trust/trust_in_compute.hpp"

namespace gradway {
namespace {

/// The uncertainty is that of a CPU of which nothing is known.
void about_offload(const Scenario& scenario, Provenance& provenance) {
  const auto time = host_optimizer_time(scenario);
  if (!time) return;
  provenance.step_basis.launches = Basis::nominal;
  const bool is_deepspeed = std::holds_alternative<Zero>(scenario.job.strategy);
  provenance.basis.push_back(fmt::format(
      "offload: {:.4g} ms of the CPU for the optimizer's step, by what one process alone reached ({}), or by "
      "its share of the memory",
      time->value() * 1e3,
      is_deepspeed ? "11.6 billion elements in 8.2 s; DeepSpeed, pull request 735"
                   : "537 million elements in 1.8 s; Megatron-LM, issue 188"));
  provenance.warnings.emplace_back(
      "eight processes that share a host's cores took ten times as long for the optimizer's step as one "
      "alone: measure it");
}

/// "on h200-4x (not here), with 4 GPUs (here 64), with 24 NCCL channels (here 16)"; empty if it was measured
/// as the job runs it. No platform is named, so that the same text means the same of every platform.
std::string where_contention_was_measured(const ContentionFactors& entry, int gpus, int channels) {
  std::vector<std::string> parts;
  if (!entry.measured_on.empty()) parts.push_back(fmt::format("on {} (not here)", entry.measured_on));
  if (entry.ranks > 0 && entry.ranks != gpus)
    parts.push_back(fmt::format("with {} GPUs (here {})", entry.ranks, gpus));
  if (entry.channels > 0 && entry.channels != channels)
    parts.push_back(fmt::format("with {} NCCL channels (here {})", entry.channels, channels));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// @param communicator whose collectives run beside the kernels
/// @param extrapolated what of the communication was not measured as the job runs it
void about_contention(const Scenario& scenario, const Communicator& communicator, Provenance& provenance,
                      std::vector<std::string>& extrapolated) {
  if (scenario.platform.collectives == CollectiveRules::ideal || communicator.facts().ranks == 1) return;
  const auto* entry = communicator.contention({KernelClass::matrix, scenario.job.precision, 0, 0});
  provenance.step_basis.contention = Basis::nominal;
  if (!entry) {
    extrapolated.emplace_back(
        "contention between kernels and collectives was not measured for this transport and precision: no "
        "slow-down is assumed");
    return;
  }
  const auto channels = communicator.channels();
  provenance.step_basis.contention = entry->measured_on.empty() ? Basis::measured : Basis::elsewhere;
  if ((entry->ranks > 0 && entry->ranks != scenario.job.gpus) ||
      (entry->channels > 0 && entry->channels != channels))
    provenance.step_basis.contention = std::max(provenance.step_basis.contention, Basis::stretched);
  if (const auto where = where_contention_was_measured(*entry, scenario.job.gpus, channels); !where.empty())
    extrapolated.push_back("contention between kernels and collectives was measured " + where);
  const auto beyond =
      entry->channels > 0 ? fmt::format(" beyond the {} multiprocessors that NCCL takes", channels) : "";
  provenance.basis.push_back(
      fmt::format("contention: kernels take {:.3g} times as long{}, collectives {:.3g} times ({})",
                  entry->kernel_slowdown, beyond, entry->collective_slowdown, entry->source));
}

/// Groups of samples that predictions rest on; rates of copies and kernels are for people to read.
bool is_used(const HeldBack& group) {
  return group.what.starts_with("collectives") || group.what.starts_with("side by side");
}

/// What the calibration was before it was adapted to a machine, and how well that went.
void about_adaptation(const Calibration& calibration, Provenance& provenance) {
  if (!calibration.adapted) return;
  std::vector<std::string> parts;
  for (const auto& part : calibration.adapted->parts) {
    if (part.rows == 0 || !part.before) continue;
    parts.push_back(fmt::format("{} from {:.1f} %{}", part.what, part.before->median * 100,
                                part.after ? fmt::format(" to {:.1f} %", part.after->median * 100) : ""));
  }
  provenance.basis.push_back(
      fmt::format("calibration {} is {}, adapted by rows of another machine, median error: {}",
                  calibration.name, calibration.adapted->from, fmt::join(parts, ", ")));
}

void about_held_back(const Scenario& scenario, Provenance& provenance) {
  if (scenario.platform.collectives == CollectiveRules::ideal || scenario.job.gpus == 1) return;
  std::vector<std::string> groups;
  for (const auto& group : scenario.calibration.held_back) {
    if (!is_used(group)) continue;
    groups.push_back(fmt::format("{} {:.1f} % (worst {:.1f} %)", group.what, group.error.median * 100,
                                 group.error.worst * 100));
  }
  if (groups.empty()) return;
  provenance.basis.push_back(fmt::format("calibration {}, median error of samples held back from a fit: {}",
                                         scenario.calibration.name, fmt::join(groups, ", ")));
}

void about_input(const Scenario& scenario, Provenance& provenance) {
  if (scenario.model.input_per_sample == 0_B && scenario.job.input.background_copy == 0_B) return;
  if (!host_copy_way(Routes{scenario.platform}, scenario.platform, 0)) {
    provenance.warnings.push_back("the platform has no host memory: input copies cost nothing");
  } else if (!scenario.job.input.pin_memory && !scenario.platform.pageable_copy_rate) {
    provenance.warnings.push_back(
        "the platform does not say how fast a copy from pageable memory is: the rate of pinned memory is "
        "used");
  }
}

/// Where samples come from, and what of that is not known.
void about_loading(const Scenario& scenario, Provenance& provenance) {
  const auto& input = scenario.job.input;
  if (!input.dataset) return;
  const auto called = [](const std::string& name) { return name.empty() ? "of the scenario" : name; };
  const auto cite = [&](const std::string& what, const std::string& name, const std::string& source) {
    provenance.basis.push_back(
        fmt::format("{} {}{}{}", what, called(name), source.empty() ? "" : ": ", source));
  };
  provenance.step_basis.making = uncertainty_of_making(*input.dataset);
  provenance.step_basis.reading = uncertainty_of_reading(input);
  cite("dataset", input.dataset->name, input.dataset->source);
  if (input.storage) cite("storage", input.storage->name, input.storage->source);
  if (input.storage && input.storage->burst)
    provenance.basis.push_back(fmt::format("storage {} gives {:.4g} MB/s, when its credit is used up",
                                           called(input.storage->name),
                                           input.storage->burst->sustained.value() / 1e6));
  if (start_of_workers(input) > Seconds{} && input.worker_start == InputSettings{}.worker_start)
    provenance.basis.push_back(fmt::format(
        "loader workers: {:.4g} ms to start one, as own forks of a process with a list of 3,000 files took; "
        "1.2 million paths that are pickled to each took 20 s (facebookresearch/spdl at ff33a9f4)",
        input.worker_start.value() * 1e3));
  if (scenario.platform.cores_per_node == 0)
    provenance.warnings.push_back(fmt::format(
        "the platform {} does not tell its cores: loader workers are taken to have one each; give 'cores' in "
        "its file",
        scenario.platform.name));
  const auto& dataset = *input.dataset;
  if (input.decode_on_gpu && dataset.gpu_decode == Seconds{})
    provenance.warnings.push_back(
        fmt::format("the dataset {} does not tell what a GPU needs to decode a sample: it costs nothing",
                    called(dataset.name)));
  if (dataset.cpu.sum() == Seconds{})
    provenance.warnings.push_back(
        fmt::format("the dataset {} does not tell what its samples cost a core: workers only read",
                    called(dataset.name)));
  if (!scenario.platform.pageable_copy_rate && input.pin_memory)
    provenance.warnings.emplace_back(
        "the platform does not tell how fast a core copies: pinning a batch costs nothing");
  if (dataset.spread > 0 && !input.draws_sizes)
    provenance.warnings.push_back(fmt::format(
        "samples of {} differ in size (standard deviation {:.0f} % of the mean): all are taken as the "
        "mean, batches of few samples wait for each other longer; input.sample_sizes: drawn simulates it",
        called(dataset.name), 100 * dataset.spread));
}

void about_memory(const Scenario& scenario, const MemoryUse& memory, Provenance& provenance) {
  if (const auto* profile = scenario.model.profile.get()) {
    if (runs_blocks_again(scenario.job.recompute)) {
      provenance.warnings.emplace_back(
          "the memory is without activations: a profile does not tell what blocks keep that are computed "
          "again");
    } else if (profile->memory_from == MemorySource::none) {
      provenance.basis.emplace_back("memory: without activations, which the profile does not tell");
      provenance.warnings.emplace_back(
          "the memory is without activations, which the profile does not tell: nothing proves that the job "
          "fits; import the trace again");
    } else {
      constexpr std::array<std::string_view, 3> from{
          "activations: what autograd keeps, by the shapes of the profile's trace",
          "activations: what compiled graphs keep, by the operands of their kernels (eight programs: memory "
          "8 % "
          "too little to 6 % too much); profile_memory=True records it",
          "activations: the allocations that the profiler recorded"};
      provenance.basis.emplace_back(from[static_cast<std::size_t>(profile->memory_from) - 1]);
    }
    if (!profile->memory_lacks.empty())
      provenance.warnings.push_back(
          fmt::format("the memory is without what autograd keeps of {}, which is not known: nothing proves "
                      "that the job fits; record the trace with profile_memory=True",
                      fmt::join(profile->memory_lacks, ", ")));
  }
  const auto verdict = memory_range(scenario, memory).verdict;
  if (verdict == MemoryVerdict::fits) return;
  constexpr std::array<std::string_view, memory_verdict_words.size()> outcomes{
      "", "it leaves little room", "it may run out of memory", "it would run out of memory"};
  provenance.warnings.push_back(fmt::format("memory {}; {}", verdict_in_words(scenario, memory),
                                            outcomes[static_cast<std::size_t>(verdict)]));
}

/// What was set and changes nothing must not look as if it had been tried.
void about_keys_without_effect(const Scenario& scenario, Provenance& provenance) {
  if (const auto* ddp = std::get_if<Ddp>(&scenario.job.strategy); ddp && ddp->static_graph) {
    provenance.warnings.emplace_back(
        "strategy.static_graph: what it saves is not predicted, and measured as negligible");
  }
  if (const auto& input = scenario.job.input;
      !input.dataset && input.loader_workers != InputSettings{}.loader_workers) {
    provenance.warnings.emplace_back(
        "input.loader_workers changes nothing: samples are taken to lie in host memory when a step needs "
        "them; name an input.dataset");
  }
  const auto& input = scenario.job.input;
  const auto needs = [&](bool is_set, std::string_view key, std::string_view thing) {
    if (is_set)
      provenance.warnings.push_back(
          fmt::format("input.{} changes nothing: there is no input.{}", key, thing));
  };
  needs(!input.dataset && input.prefetch_factor != InputSettings{}.prefetch_factor, "prefetch_factor",
        "dataset");
  needs(!input.dataset && input.decode_on_gpu, "decode", "dataset");
  needs(input.background_copy == 0_B && input.background_start != CopyStart::ahead, "background_start",
        "background_copy");
  if (input.shares_network && input.storage && input.storage->is_local())
    provenance.warnings.emplace_back("input.storage_network changes nothing: the storage lies in each node");
  needs(!input.storage && input.shares_network, "storage_network", "storage");
  if (!input.shares_network && input.storage_weight != InputSettings{}.storage_weight)
    provenance.warnings.emplace_back(
        "input.storage_weight changes nothing: storage has a network of its own");
  needs(!input.dataset && input.persistent_workers, "persistent_workers", "dataset");
  needs(!input.dataset && input.worker_start != InputSettings{}.worker_start, "worker_start", "dataset");
  needs(!input.cache && !input.persistent_workers && input.first_epoch, "epoch", "cache");
  for (const auto& [name, value] : scenario.job.nccl) {
    if (!is_modelled(name))
      provenance.warnings.push_back(fmt::format("{}={} is accepted, but not modelled", name, value));
  }
}

/// So that nobody takes a what-if for a prediction of what is there.
void about_speeds(const Scenario& scenario, Provenance& provenance) {
  const auto& platform = scenario.platform;
  if (platform.speeds.as_built()) return;
  provenance.warnings.insert(
      provenance.warnings.begin(),
      fmt::format("what if, not what is: {} as on {}", in_words(platform.speeds), platform.name));
}

void add(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

/// The collective that can be off by most counts for all.
void about_collectives(const Calibration& calibration, const std::vector<CollectiveProvenance>& all,
                       Provenance& provenance, std::vector<std::string>& extrapolated) {
  double most = -1;
  for (const auto& evidence : all) {
    add(provenance.basis, basis_text(evidence, calibration));
    for (auto& warning : warnings_of(evidence)) add(extrapolated, std::move(warning));
    const auto uncertainty =
        uncertainty_of_collectives(evidence.basis, evidence.doubted_as, evidence.adapted);
    if (uncertainty <= most) continue;
    most = uncertainty;
    provenance.step_basis.communication = evidence.basis;
    provenance.step_basis.transport = evidence.doubted_as;
    provenance.step_basis.adapted = evidence.adapted;
  }
}

}  // namespace

Provenance provenance_of(const Scenario& scenario, const ComputeCosts& costs,
                         const Communicators& communicators,
                         const std::vector<CollectiveProvenance>& collectives, const MemoryUse& memory) {
  Provenance provenance;
  provenance.warnings = scenario.warnings;
  about_compute(scenario, costs, provenance);
  about_offload(scenario, provenance);
  std::vector<std::string> extrapolated;
  about_collectives(scenario.calibration, collectives, provenance, extrapolated);
  if (const auto* first = communicators.first()) about_contention(scenario, *first, provenance, extrapolated);
  if (extrapolated.size() == 1)
    provenance.extrapolation = extrapolated.front();
  else if (!extrapolated.empty())
    provenance.extrapolation =
        fmt::format("communication is extrapolated: {}", fmt::join(extrapolated, "; "));
  if (!extrapolated.empty()) provenance.warnings.push_back(provenance.extrapolation);
  if (scenario.job.gpus > 1) about_adaptation(scenario.calibration, provenance);
  about_held_back(scenario, provenance);
  about_input(scenario, provenance);
  about_loading(scenario, provenance);
  about_memory(scenario, memory, provenance);
  about_speeds(scenario, provenance);
  provenance.basis.push_back(
      fmt::format("platform {}: {}", scenario.platform.name, scenario.platform.source));
  about_keys_without_effect(scenario, provenance);
  return provenance;
}

}  // namespace gradway

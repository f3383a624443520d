// SPDX-License-Identifier: Apache-2.0
#include "sim/compute/memory_range.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/scenario/strategy_facts.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {
namespace {

/// Factors on a predicted part of the memory that bound its 90 % prediction interval.
struct Interval {
  double low = 1;
  double high = 1;
};

/// For activations, gathered parameters and casts of hooks, by the source of the prediction.
/// @source architectures: quantiles 5 and 95 % of (measured peak - other memory) / predicted over 130 own
/// steps
///         on two H200 and on one and two H100 (2026-11-21 to 24), of which at least a third is such memory.
///         Traces of both machines: errors of +1 to +27 % from shapes, within 3 % from recorded allocations.
///         Compiled graphs (eight programs on an H100, 2026-11-25): -10 to +8 %; widened, since other graphs
///         are fused differently
Interval interval_of_activations(const Scenario& scenario) {
  const auto& profile = scenario.model.profile;
  if (profile && profile->memory_from == MemorySource::recorded) return {0.97, 1.03};
  if (profile && profile->memory_from == MemorySource::compiled) return {0.85, 1.3};
  if (profile) return {0.9, 1.15};
  return {0.95, 1.15};
}

/// For all other memory: small tensors that are not counted.
constexpr Interval of_states{0.99, 1.01};

/// For memory that PyTorch's allocator reserves in addition. It releases cached memory before a request
/// fails, so that a job may run without it.
constexpr Interval of_slack{0, 2};

/// What PyTorch's allocator reserves beyond what its streams allocate (`MemoryUse::by_stream`), as a share of
/// it, where the GPU has room.
struct ReservedShare {
  double low = 0;
  double usual = 0;
  double high = 0;
};

/// Of FSDP1 all streams count together.
/// @source quantiles 5, 50 and 95 % of 156 runs without shards (H200 and H100, 2026-11-21 to 28,
/// PyTorch 2.11), of 33 under FSDP2 on two H200, and of 49 under FSDP2 and FSDP1 as a share of what is
/// allocated. With expandable segments, whose pages fit what is allocated, nothing was measured: from no
/// fragments to as many
ReservedShare reserved_share(const Job& job) {
  const auto share = std::holds_alternative<Fsdp>(job.strategy)    ? ReservedShare{0.019, 0.058, 0.244}
                     : std::holds_alternative<Fsdp1>(job.strategy) ? ReservedShare{0.08, 0.116, 0.308}
                                                                   : ReservedShare{0.028, 0.094, 0.239};
  constexpr double assumed = 0.05;  // as in the allocator's slack of MemoryUse
  return job.expandable_segments ? ReservedShare{0, assumed, share.high} : share;
}

Bytes sum_of_states(const MemoryUse& use) {
  return use.parameters + use.gradients + use.optimizer_state + use.buckets + use.input + use.workspace;
}

std::string_view largest_part(const MemoryUse& use) {
  const std::array<std::pair<std::string_view, Bytes>, 6> parts{
      {{"parameters", use.parameters},
       {"gradients", use.gradients},
       {"optimizer", use.optimizer_state},
       {"activations", use.activations},
       {"buffers", use.buckets + use.gathered + use.comm_hook + use.input + use.workspace},
       {"framework", use.slack + use.context + use.nccl}}};
  return std::ranges::max_element(parts, {}, [](const auto& part) { return part.second; })->first;
}

MemoryVerdict verdict_of(Bytes low, Bytes expected, Bytes high, Bytes capacity) {
  if (high <= capacity) return MemoryVerdict::fits;
  if (expected <= capacity) return MemoryVerdict::tight;
  return low <= capacity ? MemoryVerdict::may_not_fit : MemoryVerdict::does_not_fit;
}

}  // namespace

bool knows_memory(const Scenario& scenario) {
  const auto& profile = scenario.model.profile;
  if (!profile) return true;
  return profile->memory_from != MemorySource::none && profile->memory_lacks.empty() &&
         !runs_blocks_again(scenario.job.recompute);
}

MemoryRange memory_range(const Scenario& scenario, const MemoryUse& memory) {
  const auto of_activations = interval_of_activations(scenario);
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto states = sum_of_states(memory) + memory.context + memory.nccl;
  const auto activations = memory.allocated() + memory.beyond_step() - sum_of_states(memory);
  MemoryRange range{.expected = memory.needed(), .gpu = gpu.name, .capacity = gpu.memory};
  range.low = of_states.low * states + of_activations.low * activations + of_slack.low * memory.slack;
  range.high = of_states.high * states + of_activations.high * activations + of_slack.high * memory.slack +
               std::max(0_B, memory.in(RunPart::rebuilt_buckets)-memory.allocated());
  if (!gpu.ideal) range.verdict = verdict_of(range.low, memory.needed(), range.high, gpu.memory);
  range.largest_part = largest_part(memory);
  return range;
}

namespace {

/// What decides the peak of a part of a run.
std::string_view decided_by(RunPart part, const MemoryUse& memory) {
  switch (part) {
    case RunPart::loading:
      return "whole model";
    case RunPart::rebuilt_buckets:
      return "first buckets";
    case RunPart::evaluation:
      return "activations";
    case RunPart::checkpoint:
      return "gathered parameters";
    default:
      return largest_part(memory);
  }
}

}  // namespace

/// DDP makes its first buckets in the order of the parameters. In the second step, which has optimizer
/// states, or with static_graph in the third, it makes others in the order of the gradients, beside the
/// first.
/// @source torch/csrc/distributed/c10d/reducer.cpp (rebuild_buckets) of PyTorch 2.11; 47 own runs on H200 and
/// H100 have this peak within 2 % on average (tests/validation/memory_test.cpp)
PeakOfRun peak_of_run(const Scenario& scenario, const MemoryUse& memory) {
  const auto& gpu = scenario.platform.gpu_models.front();
  PeakOfRun peak{.allocated = memory.allocated(), .beside = memory.context + memory.nccl};
  for (std::size_t i = 0; i < memory.of_run.size(); ++i) {
    if (memory.of_run[i] <= peak.allocated) continue;
    peak.allocated = memory.of_run[i];
    peak.part = static_cast<RunPart>(i);
  }
  peak.decided_by = decided_by(peak.part, memory);
  if (peak.part == RunPart::first_step) peak.step = 1;
  if (peak.part == RunPart::rebuilt_buckets)
    peak.step = settings_or_defaults<Ddp>(scenario.job.strategy).static_graph ? 3 : 2;

  const auto share = reserved_share(scenario.job);
  const auto steady = std::max(memory.by_stream, memory.allocated() + memory.beyond_step());
  const auto room =
      gpu.ideal ? Bytes::infinite() : std::max(gpu.memory - peak.beside, memory.allocated() + memory.slack);
  const auto reserved = [&](double beyond) {
    return std::min(std::max(peak.allocated, (1 + beyond) * steady), room);
  };
  peak.reserved_low = reserved(share.low);
  peak.reserved = reserved(share.usual);
  peak.reserved_high = reserved(share.high);
  return peak;
}

bool fits(const Scenario& scenario, const MemoryUse& memory) {
  const auto& gpu = scenario.platform.gpu_models.front();
  return gpu.ideal || memory.needed() <= gpu.memory;
}

bool surely_fits(const Scenario& scenario, const MemoryUse& memory) {
  return memory_range(scenario, memory).verdict == MemoryVerdict::fits;
}

bool surely_does_not_fit(const Scenario& scenario, const MemoryUse& memory) {
  return memory_range(scenario, memory).verdict == MemoryVerdict::does_not_fit;
}

namespace {

/// "35.2 of 48 GB", "8.98 TB of 48 GB"
std::string two_amounts(Bytes first, std::string_view word, Bytes last) {
  const auto in_words = [](Bytes amount) {
    const bool is_large = amount >= Bytes{999.5e9};
    return std::pair{fmt::format("{:.3g}", amount.value() / (is_large ? 1e12 : 1e9)),
                     std::string_view{is_large ? " TB" : " GB"}};
  };
  const auto [digits, unit] = in_words(first);
  const auto [last_digits, last_unit] = in_words(last);
  return fmt::format("{}{} {} {}{}", digits, unit == last_unit ? "" : unit, word, last_digits, last_unit);
}

}  // namespace

std::string verdict_in_words(const MemoryRange& range) {
  return fmt::format("{}: {} on each {} ({}, most of it {})", name_of(range.verdict),
                     two_amounts(range.expected, "of", range.capacity), range.gpu,
                     two_amounts(range.low, "to", range.high), range.largest_part);
}

std::string verdict_in_words(const Scenario& scenario, const MemoryUse& memory) {
  return verdict_in_words(memory_range(scenario, memory));
}

}  // namespace gradway

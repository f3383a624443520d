// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/metrics/metrics.hpp"
#include "sim/trust/provenance.hpp"

namespace gradway {

/// Where the real time of a step is to be expected in nine of ten cases.
struct TimeRange {
  Seconds low{};
  Seconds high{};
};

/// How far off a time of a basis can be, as a fraction of it: nine of ten cases are nearer. By the kind of
/// time; each figure's source stands beside it. See sim/decisions/0012-derive-intervals-from-provenance.md.
/// @param batch_ratio as in StepBasis
double uncertainty_of_compute(Basis basis, double batch_ratio);
double uncertainty_of_launches(Basis basis);
/// @param adapted uncertainty of the tables, if they were adapted to the machine by rows that were measured
/// on it
double uncertainty_of_collectives(Basis basis, Transport transport, std::optional<double> adapted = {});
double uncertainty_of_contention(Basis basis);
/// What a step takes longer because ranks exchange something in it. @param basis of what kernels and
/// collectives cost each other
double uncertainty_of_exchange(Basis basis);
double uncertainty_of_making(const Dataset& dataset);
double uncertainty_of_reading(const InputSettings& input);

enum class PartOfStep {
  compute,  ///< and the optimizer
  launches,
  exposed_communication,
  hidden_communication,
  hidden_launches,  ///< the CPU was ahead, but would not be if it were slower
  contention,       ///< what kernels and collectives cost each other while both run
  exchange,         ///< what else several ranks cost: they wait for the slowest, and for what is not modelled
  input,            ///< copies that nothing hides
  making,           ///< samples, by loaders
  reading,          ///< them from storage
};
/// In the order of the enum, as reports have them.
inline constexpr std::array<std::string_view, 10> part_words{"compute",
                                                             "launches",
                                                             "exposed_communication",
                                                             "hidden_communication",
                                                             "hidden_launches",
                                                             "side_by_side",
                                                             "exchange",
                                                             "input",
                                                             "making_samples",
                                                             "reading_samples"};
static_assert(part_words.size() == static_cast<std::size_t>(PartOfStep::reading) + 1);

/// Whether the CPU that launches kernels makes the part long or short.
constexpr bool is_of_the_host(PartOfStep part) {
  return part == PartOfStep::launches || part == PartOfStep::hidden_launches;
}

/// A part of a step, and by which fraction of itself it may be off.
struct UncertainPart {
  PartOfStep part = PartOfStep::compute;
  Seconds time{};
  double uncertainty = 0;
  Seconds spare{};                      ///< as much longer it may take before the step does
  Seconds saves = Seconds::infinite();  ///< at most, if it is shorter
};
std::vector<UncertainPart> uncertain_parts(const Metrics& metrics, const StepBasis& step_basis);

/// What a step gains or loses when a part takes 1 + uncertainty times as long, or as short, as predicted.
/// Communication that kernels hide can lengthen the step, but not shorten it; so can ranks that wait; nor can
/// a loader save more than the step waits for it.
Seconds lengthens(const UncertainPart& part);
Seconds shortens(const UncertainPart& part);

/// Launches that the step waits for and those that it hides are issued by one CPU: they are off together.
/// Every other part is off by its own uncertainty, independently of the others: the root of the sum of
/// squares.
TimeRange step_range(const Metrics& metrics, const StepBasis& step_basis);

}  // namespace gradway

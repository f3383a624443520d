// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/metrics/metrics.hpp"
#include "sim/trust/provenance.hpp"

namespace gradway {

/// 90 % prediction interval of a step time.
struct TimeRange {
  Seconds low{};
  Seconds high{};
};

/// Half-width of the 90 % prediction interval of a time, as a fraction of it, by the kind of time and its
/// basis. The code has the source of each figure; see also
/// sim/decisions/0012-derive-intervals-from-provenance.md.
/// @param batch_ratio as in StepBasis
double uncertainty_of_compute(Basis basis, double batch_ratio);
double uncertainty_of_launches(Basis basis);
/// @param adapted uncertainty of the tables, if they were adapted to the machine by its own measurements
double uncertainty_of_collectives(Basis basis, Transport transport, std::optional<double> adapted = {});
double uncertainty_of_contention(Basis basis);
/// Costs of an exchange between ranks that the model of the step leaves out. @param basis of contention
double uncertainty_of_exchange(Basis basis);
double uncertainty_of_making(const Dataset& dataset);
double uncertainty_of_reading(const InputSettings& input);

enum class PartOfStep {
  compute,  ///< and the optimizer
  launches,
  exposed_communication,
  hidden_communication,
  hidden_launches,  ///< the CPU is ahead, but would not be if it were slower
  contention,       ///< between kernels and collectives
  exchange,  ///< other costs of several ranks: waits for the slowest, and effects that are not modelled
  input,     ///< exposed copies
  making,    ///< of samples by loaders
  reading,   ///< of samples from storage
};
/// Names in reports, in the order of the enum.
inline constexpr std::array<std::string_view, 10> part_words{
    "compute",  "launches", "exposed_communication", "hidden_communication", "hidden_launches", "contention",
    "exchange", "input",    "making_samples",        "reading_samples"};
static_assert(part_words.size() == static_cast<std::size_t>(PartOfStep::reading) + 1);

/// Whether the time of the part depends on the CPU that launches kernels.
constexpr bool is_of_the_host(PartOfStep step_part) {
  return step_part == PartOfStep::launches || step_part == PartOfStep::hidden_launches;
}

/// A part of a step with its relative uncertainty.
struct UncertainPart {
  PartOfStep part = PartOfStep::compute;
  Seconds time{};
  double uncertainty = 0;
  Seconds spare{};                      ///< slack: time that it may take longer without effect on the step
  Seconds saves = Seconds::infinite();  ///< largest saving of the step if it is shorter
};
std::vector<UncertainPart> uncertain_parts(const Metrics& metrics, const StepBasis& step_basis);

/// Change of the step if a part takes 1 + uncertainty times the predicted time, or that time divided by it.
/// Overlapped communication and waiting ranks can lengthen the step, but not shorten it, and a loader saves
/// at most the time that the step waits for it.
Seconds lengthens(const UncertainPart& step_part);
Seconds shortens(const UncertainPart& step_part);

/// Launches that the step waits for and those that it hides are issued by one CPU, so their errors add up.
/// The errors of all other parts are independent: they add as squares.
TimeRange step_range(const Metrics& metrics, const StepBasis& step_basis);

}  // namespace gradway

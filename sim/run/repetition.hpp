// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/engine/timeline.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/steps.hpp"

namespace gradway {

/// Finds two dates of a step, one period apart, at which the run is in the same state, one period of its
/// programs (`Program::repeated`) further on:
/// * no op of an earlier step, or from before the part that repeats, is under way; none from after that part,
///   or of a later step, has begun before the second date;
/// * an op has begun, or ended, at the first date just if the same op of the next period has at the second;
/// * all ops that begin or end between the two dates do so one period later again, and what is under way at
///   the first date ends before the second.
/// Then a step with more periods does the same from the second date on, period by period, and from then on
/// the same as this step from the first date on. Proof: what an engine does from a date on depends on the ops
/// that have ended, on those under way with what is left of them, and on the programs that follow. The ops
/// that have ended and those under way are the same, one period on. The flows under way move as much in the
/// period as those a period later, since all flows beside them begin and end at the same times, and they end
/// at the same time, so that the same is left of them. The programs that follow differ in length only, and
/// nothing after the part that repeats has begun. Induction over the periods left out completes the proof.
/// Launches wait for the task that holds the last place in the queue; if it is from before the part that
/// repeats, it has ended, and so has the task at its place in later periods, since as many are under way.
///
/// Dates count as equal within 1e-9 of the period, so that a step of any number of periods is exact to 1e-9.
/// @return empty if there are none, or if a step before the last has none
/// @param workload whose programs of ranks have what repeats
std::optional<RepeatedPeriod> find_repetition(const Workload& workload, const Lowered& lowered,
                                              const Timeline& timeline, int last_step);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/import/kineto/read/steps.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// What a trace tells of memory.
struct MemoryOfTrace {
  MemorySource from = MemorySource::none;
  std::vector<ProfiledMoment> moments;
  std::vector<std::string> lacks;  ///< operations of which nobody knows what autograd keeps
};

/// The memory of a step: as the profiler recorded it (`recorded_memory`), else by shapes (`kept_tensors`).
/// @param steps all of the trace. @param profile with its gradients and batch
MemoryOfTrace memory_of_step(const Trace& trace, const std::vector<TracedStep>& steps, std::size_t step,
                             const Profile& profile);

/// Allocations of the step that are neither its input nor kept from step to step: what was taken in a forward
/// pass, also in that of the step before and not given back yet, and what was taken in the backward pass;
/// of that, what is still there when the optimizer begins are gradients of parameters, also of the steps
/// before if the loop frees them late. Fixed is what operations took that only touch parameters. The moments
/// are those at which something was taken.
std::vector<ProfiledMoment> recorded_memory(const Trace& trace, const std::vector<TracedStep>& steps,
                                            std::size_t step, const Profile& profile);

/// Whether gradients stay through the next forward pass: not if zero_grad() is called behind the optimizer's
/// step or before the forward pass, and launches nothing (set_to_none, the default). Nothing if the trace has
/// no such call.
std::optional<bool> keeps_gradients(const Trace& trace, const std::vector<TracedStep>& steps);

/// What autograd keeps by the operations of a step's forward pass and their shapes: a trace names no tensors,
/// so each operand is taken for the last tensor made that has as many elements of its type. Operations that
/// are in no table go to `lacks`, unless no kernel of theirs grows with the batch.
MemoryOfTrace kept_tensors(const Trace& trace, const TracedStep& step, const Profile& profile);

/// When autograd ran in each step, on the CPU; empty at the step's end if it did not.
std::vector<Span> autograd_of(const Trace& trace, std::span<const TracedStep> steps);

/// The moments that are the peak for some batch, with and without the gradients of the step before and what
/// the model gave; in their order.
std::vector<ProfiledMoment> possible_peaks(const std::vector<ProfiledMoment>& moments);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "readers/kineto/read/steps.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// The memory of a step as far as the trace shows it.
struct TracedMemory {
  MemorySource from = MemorySource::none;
  std::vector<ProfiledMoment> moments;
  std::vector<std::string> unknown_operations;  ///< Operations for which it is unknown what autograd keeps.
};

/// The memory of a step: as recorded by the profiler (`recorded_memory`), else derived from shapes
/// (`kept_tensors`).
/// @param steps all steps of the trace. @param profile with its gradients and batch
TracedMemory memory_of_step(const Trace& trace, const std::vector<TracedStep>& steps, std::size_t step,
                            const Profile& profile);

/// Memory of a step from its recorded allocations, without its input and what is kept from step to step.
/// Counted are allocations of forward passes, including those of the previous step that are not freed yet,
/// and of the backward pass. What is still allocated when the optimizer begins is gradients of parameters,
/// including those of earlier steps if the loop frees them late. Allocations by operations that only touch
/// parameters are fixed. Each moment is one at which memory was allocated.
std::vector<ProfiledMoment> recorded_memory(const Trace& trace, const std::vector<TracedStep>& steps,
                                            std::size_t step, const Profile& profile);

/// Whether gradients stay allocated through the next forward pass. They do not if zero_grad() is called after
/// the optimizer's step or before the forward pass and launches nothing (set_to_none, the default). Empty if
/// the trace has no such call.
std::optional<bool> keeps_gradients(const Trace& trace, const std::vector<TracedStep>& steps);

/// Tensors that autograd keeps, derived from the operations of a step's forward pass and their shapes. A
/// trace does not identify tensors, so each operand is assumed to be the latest tensor with as many elements
/// of its type. Operations in no table are listed as unknown unless none of their kernels grows with the
/// batch.
TracedMemory kept_tensors(const Trace& trace, const TracedStep& step, const Profile& profile);

/// When autograd ran in each step, on the CPU; an empty span at the step's end if it did not run.
std::vector<Span> backward_spans(const Trace& trace, std::span<const TracedStep> steps);

/// The moments that are the peak for some batch size, with and without the gradients of the previous step and
/// the model's output; in their order.
std::vector<ProfiledMoment> possible_peaks(const std::vector<ProfiledMoment>& moments);

/// The gradients of a step in the order in which they become ready: autograd then ends a parameter's
/// "AccumulateGrad", and DDP's hook runs directly after it. Inputs that a reentrant torch.utils.checkpoint
/// detaches also have one, but are not parameters and are left out.
/// @param parameters of the model, in equal parts for a trace without shapes
std::vector<ProfiledGradient> find_gradients(const Trace& trace, const TracedStep& step,
                                             std::int64_t parameters);

/// The buffers of a step's batch normalisations in the order of the forward pass: running mean, running
/// variance and (in PyTorch's modules) a count of batches.
std::vector<ProfiledBuffer> find_buffers(const Trace& trace, const TracedStep& step);

}  // namespace gradway

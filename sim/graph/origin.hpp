// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gradway {

/// The kind of work of an op, for metrics and reports.
enum class Activity : std::uint8_t {
  marker,      ///< takes no time, such as a join or the end of a step
  launch,      ///< the CPU thread of a rank launches kernels or runs framework code
  kernel,      ///< the GPU computes or copies within its memory, which is a kernel too
  copy,        ///< the copy engine moves data between host and GPU
  collective,  ///< a collective runs on the communicator's stream
  load,        ///< samples are read, decoded or pinned
};

/// The part of the training step that an op belongs to.
enum class Phase : std::uint8_t { input, forward, backward, communication, optimizer };

/// The task, actor and step that an op comes from. Every op carries it, so that reports never parse names.
struct Origin {
  static constexpr std::int32_t none = -1;
  static constexpr std::int32_t no_step = -2;  ///< the op belongs to no step

  std::int32_t task = none;   ///< index of the task in its program
  std::int32_t actor = none;  ///< the actor that runs it (for a rank: its number); none for a collective
  std::int32_t step = 0;      ///< number of the simulated step, or no_step
  std::int32_t group = none;  ///< the group of a collective
  std::uint16_t program = 0;  ///< program of the actor; for a collective, of the member that issued it first
  Activity activity = Activity::marker;
  Phase phase = Phase::forward;

  bool operator==(const Origin&) const = default;
};

}  // namespace gradway

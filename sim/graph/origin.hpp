// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gradway {

/// What a piece of work is, for accounting and for reports.
enum class Activity : std::uint8_t {
  marker,      ///< takes no time of its own: a join, the end of a step
  launch,      ///< the CPU thread of a rank launches kernels or runs framework code
  kernel,      ///< the GPU computes (also copies inside the GPU's memory: they are kernels)
  copy,        ///< the copy engine moves data between host and GPU
  collective,  ///< the communicator's stream is in a collective
  load,        ///< samples are read, decoded, pinned
};

/// Which part of the training step a piece of work belongs to.
enum class Phase : std::uint8_t { input, forward, backward, communication, optimizer };

/// Where an op comes from. Travels with the op, so that reports never have to read labels.
struct Origin {
  static constexpr std::int32_t none = -1;
  static constexpr std::int32_t no_step = -2;  ///< beside all steps

  std::int32_t task = none;   ///< index of the task in its program
  std::int32_t actor = none;  ///< that runs it (of ranks: the rank); none for an op of a group
  std::int32_t step = 0;      ///< which simulated step, or no_step
  std::int32_t group = none;  ///< that meets in it
  std::uint16_t program = 0;  ///< of the actor; of a group's op: of the first member that came
  Activity activity = Activity::marker;
  Phase phase = Phase::forward;
};

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/group.hpp"
#include "calibration/harness/job.hpp"

namespace gradway::probe {

/// What a line of a worker is about; its first character.
enum class Tidings : char { row = 'r', remark = 'n', done = 'p', failure = 'f', lost_group = 'g' };

/// Runs the job as one of its ranks, in a process of its own; says all it has to say in lines on `out`.
/// Never returns: the process ends with 0, or 1 after a failure.
[[noreturn]] void work(const Job& job, Context context, const Meeting& meeting, int out);

}  // namespace gradway::probe

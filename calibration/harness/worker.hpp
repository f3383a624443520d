// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/group.hpp"
#include "calibration/harness/job.hpp"

namespace gradway::probe {

/// Kind of a worker's line: its first character.
enum class MessageKind : char { row = 'r', remark = 'n', done = 'p', failure = 'f', lost_group = 'g' };

/// Runs the job as one of its ranks, in a separate process; writes its output as lines to `out`. Never
/// returns: the process ends with status 0, or 1 after a failure.
[[noreturn]] void work(const Job& job, Context context, const Rendezvous& rendezvous, int out);

}  // namespace gradway::probe

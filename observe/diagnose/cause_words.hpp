// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "observe/diagnose/cause.hpp"

namespace gradway::report {

/// "late_batches": the key of a kind of causes in JSON.
std::string_view key_of(CauseKind kind);
std::string_view name_of(Confidence confidence);
std::string_view name_of(WorkClass work);

/// "on rank 1", "on all ranks"; "" with a single rank.
std::string ranks_text(const RunCause& cause, int ranks);
/// What happens, with its evidence: two or three sentences.
std::string cause_text(const RunCause& cause, const std::string& platform);
/// What to try.
std::string_view remedy_text(const RunCause& cause);

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "observe/watch/watch.hpp"
#include "readers/step_log/step_log.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Writes how a run went: its step times, what disturbed it and the likely causes.
/// @param steps of the log, as numbered there
void write_watched(std::ostream& out, const std::vector<LoggedStep>& steps, const WatchedRun& run,
                   const Style& style);

/// The same as one JSON document.
void write_json(std::ostream& out, const std::vector<LoggedStep>& steps, const WatchedRun& run);

/// A finding and what it usually comes from, as lines of text.
std::string finding_text(const std::vector<LoggedStep>& steps, const WatchFinding& finding);

/// Expected and measured steps in the text format of Prometheus.
void write_metrics(std::ostream& out, std::string_view log, const std::vector<LoggedStep>& steps,
                   const WatchedRun& run);

}  // namespace gradway::report

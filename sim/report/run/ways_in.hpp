// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/style.hpp"
#include "sim/scenario/job.hpp"
#include "sim/study/staging/ways_in.hpp"

namespace gradway::report {

/// "146.9 GB from s3-standard to local-nvme in 2.6 min at 960 MB/s, bound by ..."
std::string staging_in_words(const StageInCopy& copy, const InputSettings& input);

/// Writes the copy and what it costs, and when each way of the samples delivers the first batch and ends its
/// epochs.
void write_ways_in(std::ostream& out, Fields& fields, const WaysIn& ways, const InputSettings& input,
                   const Style& style);

nlohmann::ordered_json ways_in_json(const WaysIn& ways, const InputSettings& input);

/// What the store keeps, the network carries and caches need. @pre the input has a dataset
std::string data_tiers_in_words(const InputSettings& input);
nlohmann::ordered_json data_tiers_json(const InputSettings& input);

}  // namespace gradway::report

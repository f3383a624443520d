// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iosfwd>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/campaign/campaign.hpp"
#include "sim/study/campaign/campaign_estimate.hpp"

namespace gradway::report {

/// A part of a campaign's time: its key in JSON, its label and its definition.
struct BucketWords {
  std::string_view key;
  std::string_view label;
  std::string_view meaning;
};
/// In the order of `Bucket`.
const std::array<BucketWords, bucket_count>& bucket_words();

/// A figure for comparing trainings.
struct ShareWords {
  std::string_view key;
  std::string_view label;
  std::string_view meaning;  ///< with the publications that define it so
};
/// In the order of the fields of `TimeShares`.
const std::array<ShareWords, 3>& share_words();

/// A simulated campaign, for the writers.
struct Campaign {
  const Run& run;  ///< the run of one step
  CampaignQuestions questions;
  CampaignAnswers answers;
};

/// Writes for a person: duration, cost, where the time goes, what would help.
void write_text(std::ostream& out, const Campaign& campaign, const Style& style);

/// One document, with full precision and definitions.
JsonDocument json_document(const Campaign& campaign, std::string_view version);

/// Statistics over the runs of a campaign, in full precision.
nlohmann::ordered_json campaign_estimate_json(const CampaignEstimate& estimate);

}  // namespace gradway::report

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

/// A part of the time of a campaign: its key in JSON, its words, and what it is.
struct BucketWords {
  std::string_view key;
  std::string_view label;
  std::string_view meaning;
};
/// Beside `Bucket`.
const std::array<BucketWords, bucket_count>& bucket_words();

/// A figure that trainings are compared by.
struct ShareWords {
  std::string_view key;
  std::string_view label;
  std::string_view meaning;  ///< and who counts so
};
/// Of `Shares`, in the order of its fields.
const std::array<ShareWords, 3>& share_words();

/// A played campaign, for the writers.
struct Campaign {
  const Run& run;  ///< of one step
  CampaignQuestions questions;
  CampaignAnswers answers;
};

/// For a person: how long, how much, where the time goes, what would help.
void write_text(std::ostream& out, const Campaign& campaign, const Style& style);

/// One document, with full precision and definitions.
JsonDocument json_document(const Campaign& campaign, std::string_view version);
void write_json(std::ostream& out, const Campaign& campaign, std::string_view version);

/// Figures of many runs of a campaign, with full precision.
nlohmann::ordered_json campaign_estimate_json(const CampaignEstimate& estimate);

}  // namespace gradway::report

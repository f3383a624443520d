// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/import/training/scenario_draft.hpp"
#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

inline constexpr int most_ranks_of_drafts = 1 << 20;
inline constexpr int most_batch_of_drafts = 1'000'000;
inline constexpr int most_accumulation_of_drafts = 10'000;
inline constexpr int most_tokens_of_drafts = 1 << 24;

/// Takes the platform from the options, as no trainer's file says it; a problem if it is not there.
void take_platform(ScenarioDraft& draft, const DraftOptions& options, TrainerSettings& settings);

/// Tokens a sample, by the file or by --sequence; a problem if they say two things.
std::optional<int> sequence_of(TrainerSettings& settings, const DraftOptions& options,
                               TrainerSettings::Spellings key, std::optional<int> said);

/// A number of elements as a scenario writes it: 5e8 rather than 500000000.
std::string elements_text(double elements);

/// "AdamW" as a scenario's optimizer; empty if gradway has none of that kind.
std::string optimizer_word(std::string_view name, bool fused);

/// Problems of numbers of a batch: too large for a scenario.
void check_job_numbers(TrainerSettings& settings, long long batch, long long accumulate);

}  // namespace gradway

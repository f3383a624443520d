// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/draft_parts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/workload/optimizer.hpp"

namespace gradway {

void take_platform(ScenarioDraft& draft, const DraftOptions& options, TrainerSettings& settings) {
  draft.platform = options.platform;
  if (draft.platform.empty())
    settings.problem(settings.whole(), "the file does not say on which platform it trains",
                     "name one with --platform; 'gradway list platforms' has those there are");
}

std::optional<int> sequence_of(TrainerSettings& settings, const DraftOptions& options,
                               TrainerSettings::Spellings key, std::optional<int> said) {
  if (said && options.sequence && *said != *options.sequence)
    settings.problem(settings.where(key),
                     fmt::format("the file says {} tokens, --sequence {}", *said, *options.sequence),
                     "leave --sequence out, or change the file");
  return said ? said : options.sequence;
}

std::string elements_text(double elements) {
  auto text = fmt::format("{:.17g}", elements);
  for (int digits = 1; digits <= 16; ++digits) {
    const auto shorter = fmt::format("{:.{}e}", elements, digits - 1);
    if (std::stod(shorter) != elements) continue;
    const auto mark = shorter.find('e');
    const auto exponent = std::stoi(shorter.substr(mark + 1));
    if (digits - 1 > 4 || exponent < 4) break;
    return fmt::format("{}e{}", shorter.substr(0, mark), exponent);
  }
  if (elements == std::floor(elements)) text = fmt::format("{:.0f}", elements);
  return text;
}

std::string optimizer_word(std::string_view name, bool fused) {
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower == "sgd") return std::string{name_of(Optimizer::sgd)};
  if (lower == "adam" || lower == "adamw")
    return std::string{name_of(fused ? Optimizer::adamw_fused : Optimizer::adamw)};
  if (lower == "adam8bit" || lower == "adamw8bit") return std::string{name_of(Optimizer::adamw_8bit)};
  for (const auto same : {Optimizer::lion, Optimizer::lamb, Optimizer::muon})
    if (lower == name_of(same)) return std::string{name_of(same)};
  return {};
}

void check_job_numbers(TrainerSettings& settings, long long batch, long long accumulate) {
  if (batch > most_batch_of_drafts)
    settings.problem(settings.whole(), fmt::format("{} samples of a micro-step on a GPU are too many", batch),
                     fmt::format("{} at most", most_batch_of_drafts));
  if (accumulate > most_accumulation_of_drafts)
    settings.problem(settings.whole(), fmt::format("{} micro-steps to a step are too many", accumulate),
                     fmt::format("{} at most", most_accumulation_of_drafts));
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/trainer_settings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/workload/optimizer.hpp"

namespace gradway {

void read_platform(ScenarioDraft& draft, const DraftOptions& options, TrainerSettings& settings) {
  draft.platform = options.platform;
  if (draft.platform.empty())
    settings.problem(settings.whole(), "the file does not name a platform",
                     "name one with --platform; 'gradway list platforms' lists them");
}

std::optional<int> sequence_of(TrainerSettings& settings, const DraftOptions& options,
                               TrainerSettings::Spellings key, std::optional<int> given) {
  if (given && options.sequence && *given != *options.sequence)
    settings.problem(
        settings.where(key),
        fmt::format("the file has a sequence of {} tokens, but --sequence is {}", *given, *options.sequence),
        "remove --sequence, or change the file");
  return given ? given : options.sequence;
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
  if (batch > max_batch)
    settings.problem(settings.whole(), fmt::format("{} samples per micro-step and GPU are too many", batch),
                     fmt::format("the maximum is {}", max_batch));
  if (accumulate > max_accumulation)
    settings.problem(settings.whole(), fmt::format("{} micro-steps per step are too many", accumulate),
                     fmt::format("the maximum is {}", max_accumulation));
}

std::string fusions_word(TrainerSettings& settings) {
  const auto flag = [&](std::string_view key) { return settings.boolean({key}).value_or(false); };
  const bool without_gates = flag("no_bias_swiglu_fusion");
  const bool without_gelu = flag("no_bias_gelu_fusion");
  const bool has_activation = !(flag("swiglu") ? without_gates : without_gelu);
  const bool has_rope = !flag("no_rope_fusion");
  if (has_activation) return has_rope ? "" : "activation";
  return has_rope ? "rope" : "none";
}

bool reads_fp4(TrainerSettings& settings) {
  constexpr TrainerSettings::Spellings format_key = {"fp4_format", "fp4"};
  const auto format = settings.text(format_key).value_or("");
  const auto recipe = settings.text({"fp4_recipe"}).value_or("nvfp4");
  static_cast<void>(settings.boolean({"fp4_param"}));
  if (format.empty()) return false;
  if (format != "e2m1")
    settings.problem(settings.where(format_key), fmt::format("invalid fp4 format '{}'", format),
                     "expected e2m1");
  if (recipe != "nvfp4") settings.note({"fp4_recipe"}, "gradway does not know this recipe: nvfp4 is assumed");
  return true;
}

}  // namespace gradway

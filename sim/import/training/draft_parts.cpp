// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/trainer_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

void read_platform(ScenarioDraft& draft, const DraftOptions& options, TrainerSettings& settings) {
  draft.platform = options.platform;
  if (draft.platform.empty())
    settings.problem(settings.whole(), "the file does not name a platform",
                     "name one with --platform; 'gradway list platforms' lists them");
}

std::optional<int> sequence_of(TrainerSettings& settings, const DraftOptions& options,
                               TrainerSettings::Spellings key, std::optional<int> file_sequence) {
  if (file_sequence && options.sequence && *file_sequence != *options.sequence)
    settings.problem(settings.where(key),
                     fmt::format("the file has a sequence of {} tokens, but --sequence is {}", *file_sequence,
                                 *options.sequence),
                     "remove --sequence, or change the file");
  return file_sequence ? file_sequence : options.sequence;
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

std::string attention_word(TrainerSettings& settings) {
  const bool is_flash = settings.boolean({"use_flash_attn"}).value_or(false);
  constexpr std::string_view key = "attention_backend";
  constexpr std::string_view modules = "transformer_impl";
  const auto backend = settings.text({key}).value_or(is_flash ? "flash" : "auto");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> words{
      {{"auto", ""}, {"flash", "flash"}, {"fused", "cudnn"}, {"unfused", "math"}, {"local", "math"}}};
  const auto row = std::ranges::find(words, backend, &std::pair<std::string_view, std::string_view>::first);
  if (row == words.end()) {
    settings.problem(settings.where({key}), fmt::format("invalid implementation of attention '{}'", backend),
                     suggestion(backend, {"auto", "flash", "fused", "unfused", "local"}));
    return {};
  }
  if (settings.text({modules}).value_or("") != "local") return std::string{row->second};
  // Separate kernels compute attention, whatever the backend is. @source Megatron-Core,
  // transformer/dot_product_attention.py
  settings.note({modules}, "gradway has Transformer Engine's kernels for all layers but attention");
  return "math";
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

namespace {

/// The parts of a layer that graphs of layers capture.
struct CapturedParts {
  bool attention = false;
  bool mlp = false;  ///< with experts: all but what depends on the number of rows of each
  bool router = false;
  bool all_experts = false;
  bool iteration = false;
  bool is_whole = false;  ///< all of the layer, by default or by name
};

/// Reads the captured modules, under their name and that before 2026, `cuda_graph_scope`.
CapturedParts captured_parts(TrainerSettings& settings) {
  const TrainerSettings::Spellings keys{"cuda_graph_modules", "cuda_graph_scope"};
  const std::vector<std::string> known{"full", "full_iteration", "full_iteration_inference", "attn", "mlp",
                                       "moe",  "moe_router",     "moe_preprocess",           "mamba"};
  CapturedParts captured;
  const auto words = settings.words(keys);
  captured.is_whole = words.empty();
  for (const auto& word : words) {
    if (std::ranges::find(known, word.text) == known.end())
      settings.problem(settings.place(word), fmt::format("invalid module '{}' to capture", word.text),
                       suggestion(word.text, known));
    captured.is_whole = captured.is_whole || word.text == "full";
    captured.iteration = captured.iteration || word.text == "full_iteration";
    captured.attention = captured.attention || word.text == "attn";
    captured.mlp = captured.mlp || word.text == "mlp";
    captured.router = captured.router || word.text == "moe_router";
    captured.all_experts = captured.all_experts || word.text == "moe";
  }
  if (captured.is_whole) captured.attention = captured.mlp = captured.router = true;
  return captured;
}

}  // namespace

std::string cuda_graphs_word(TrainerSettings& settings) {
  const TrainerSettings::Spellings modules{"cuda_graph_modules", "cuda_graph_scope"};
  const bool is_local = settings.boolean({"enable_cuda_graph"}).value_or(false);
  const bool is_external = settings.boolean({"external_cuda_graph"}).value_or(false);
  const auto implementation = settings.text({"cuda_graph_impl"});
  if (is_local && is_external)
    settings.problem(settings.where({"external_cuda_graph"}),
                     "enable_cuda_graph and external_cuda_graph are both set",
                     "Megatron-Core accepts only one of them");
  if ((is_local || is_external) && implementation.value_or("none") != "none")
    settings.problem(settings.where({"cuda_graph_impl"}),
                     fmt::format("cuda_graph_impl is set and {}, too",
                                 is_local ? "enable_cuda_graph" : "external_cuda_graph"),
                     "Megatron-Core accepts only one of them");
  const auto how = implementation.value_or(is_local || is_external ? "local" : "none");
  if (how != "none" && how != "local" && how != "transformer_engine" && how != "full_iteration")
    settings.problem(settings.where({"cuda_graph_impl"}),
                     fmt::format("invalid implementation of CUDA graphs '{}'", how),
                     suggestion(how, {"none", "local", "transformer_engine", "full_iteration"}));
  const auto captured = captured_parts(settings);
  if (how == "full_iteration" && !captured.is_whole && !captured.iteration)
    settings.problem(settings.where(modules),
                     "modules are captured one by one or in the graph of the whole iteration",
                     "leave them out, as Megatron-Core requires with full_iteration");
  if (how == "none") return {};
  if (how == "full_iteration" || captured.iteration) return "step";
  const bool has_experts = settings.whole_number({"num_experts"}, 0, max_ranks).value_or(0) > 0;
  if (!captured.attention && !captured.mlp && !captured.all_experts) {
    settings.note(modules,
                  "gradway does not capture a part of a layer without attention or MLP: nothing is captured");
    return {};
  }
  const bool is_mlp_captured = has_experts ? captured.router || captured.all_experts : captured.mlp;
  if (!captured.attention || !is_mlp_captured)
    settings.note(modules,
                  "gradway captures whole layers, of experts all but what depends on their numbers of rows");
  return "layers";
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

// SPDX-License-Identifier: Apache-2.0
#include "readers/training/trainer_settings.hpp"
#include "sim/base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/workload/optimizer.hpp"
#include "sim/workload/recompute.hpp"

namespace gradway {

void DraftedKeys::put(std::string_view key, std::string_view value) {
  values_.insert_or_assign(std::string{key}, value);
}

void DraftedKeys::read(TrainerSettings& settings) {
  for (const auto& setting : settings.dialect().settings) {
    const bool has_effect = has_needed(setting, [&](std::string_view key) { return value(key); });
    if (setting.form == Form::own) continue;
    if (const auto value = settings.value(setting, has_effect); !value.empty()) put(setting.ours, value);
  }
}

std::string DraftedKeys::value(std::string_view key) const {
  const auto row = values_.find(key);
  return row == values_.end() ? std::string{} : row->second;
}

Draft DraftedKeys::finish(TrainerSettings& settings) const {
  settings.note_unused();
  settings.raise();
  Draft draft;
  draft.trainer = settings.dialect().trainer;
  draft.file = settings.whole().file;
  draft.notes = settings.notes();
  auto keys = settings.dialect().order;
  for (const auto& [key, value] : values_)
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  for (const auto* group : {"model", "platform", "job.", "strategy.", "parallel.", "optimizer"})
    for (const auto key : keys)
      if (key.starts_with(group) && has(key)) draft.keys.emplace_back(key, value(key));
  return draft;
}

void read_platform(DraftedKeys& keys, const DraftOptions& options, TrainerSettings& settings) {
  keys.put("platform", options.platform);
  if (options.platform.empty())
    settings.problem(settings.whole(), "the file does not name a platform",
                     "name one with --platform; 'gradway list platforms' lists them");
}

std::optional<int> sequence_of(TrainerSettings& settings, const DraftOptions& options, std::string_view key,
                               std::optional<int> file_sequence) {
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

std::string optimizer_word(const TrainerSettings& settings, std::string_view key, std::string_view name,
                           bool fused) {
  const auto& words = settings.dialect().find(key)->words;
  const auto row =
      std::ranges::find(words, lower_case(name), [](const auto& word) { return lower_case(word.theirs); });
  if (row == words.end()) return {};
  return std::string{!fused && row->ours == name_of(Optimizer::adamw_fused) ? name_of(Optimizer::adamw)
                                                                            : row->ours};
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
  const auto flag = [&](std::string_view key) { return settings.boolean(key).value_or(false); };
  const bool without_gates = flag("no_bias_swiglu_fusion");
  const bool without_gelu = flag("no_bias_gelu_fusion");
  const bool has_activation = !(flag("swiglu") ? without_gates : without_gelu);
  const bool has_rope = !flag("no_rope_fusion");
  if (has_activation) return has_rope ? "" : "activation";
  return has_rope ? "rope" : "none";
}

std::string cuda_graphs_word(TrainerSettings& settings) {
  constexpr std::string_view key = "cuda_graph_modules";
  const std::vector<std::string> known{"full", "full_iteration", "full_iteration_inference", "attn", "mlp",
                                       "moe",  "moe_router",     "moe_preprocess",           "mamba"};
  const bool is_local = settings.boolean("enable_cuda_graph").value_or(false);
  const bool is_external = settings.boolean("external_cuda_graph").value_or(false);
  if (is_local && is_external)
    settings.problem("external_cuda_graph", "enable_cuda_graph and external_cuda_graph are both set",
                     "Megatron-Core accepts only one of them");
  if ((is_local || is_external) && settings.text("cuda_graph_impl").value_or("none") != "none")
    settings.problem("cuda_graph_impl",
                     fmt::format("cuda_graph_impl is set and {}, too",
                                 is_local ? "enable_cuda_graph" : "external_cuda_graph"),
                     "Megatron-Core accepts only one of them");
  const auto graphs = settings.word("cuda_graph_impl", is_local || is_external ? "local" : "none");
  auto modules = settings.words(key);
  for (auto& module : modules)  // recipes quote the list of an argument: "[attn", "mlp]"
    std::erase_if(module.text, [](char c) { return c == '[' || c == ']'; });
  for (const auto& module : modules)
    if (std::ranges::find(known, module.text) == known.end())
      settings.problem(settings.place(module), fmt::format("invalid module '{}' to capture", module.text),
                       suggestion(module.text, known));
  const auto has = [&](std::string_view name) {
    return std::ranges::find(modules, name, &FileSetting::text) != modules.end();
  };
  const bool is_whole = modules.empty() || has("full");
  if (graphs == "step" && !is_whole && !has("full_iteration"))
    settings.problem(settings.where(key),
                     "modules are captured one by one or in the graph of the whole iteration",
                     "leave them out, as Megatron-Core requires with full_iteration");
  if (graphs.empty()) return {};
  if (graphs == "step" || has("full_iteration")) return "step";
  const bool has_experts = settings.whole_number("num_experts", 0, max_ranks).value_or(0) > 0;
  const bool has_attention = is_whole || has("attn");
  const bool has_mlp = is_whole || has("mlp");
  if (!has_attention && !has_mlp && !has("moe")) {
    settings.note(key,
                  "gradway does not capture a part of a layer without attention or MLP: nothing is captured");
    return {};
  }
  // With experts, graphs of layers capture all but what depends on the number of rows of each.
  const bool is_mlp_captured = has_experts ? is_whole || has("moe_router") || has("moe") : has_mlp;
  if (!has_attention || !is_mlp_captured)
    settings.note(key,
                  "gradway captures whole layers, of experts all but what depends on their numbers of rows");
  return "layers";
}

std::string fp8_recipe(TrainerSettings& settings, std::string_view precision) {
  constexpr std::string_view format_key = "fp8_format";
  const auto format = settings.text(format_key).value_or("");
  auto recipe = settings.text("fp8_recipe").value_or("delayed");
  if (format.empty()) return {};
  if (format != "e4m3" && format != "hybrid")
    settings.problem(settings.where(format_key), fmt::format("invalid fp8 format '{}'", format),
                     "expected e4m3 or hybrid");
  if (precision != "bf16")
    settings.note(format_key, fmt::format("gradway combines fp8 with bf16, not with {}", precision));
  constexpr std::array<std::string_view, 4> known{"delayed", "tensorwise", "blockwise", "mxfp8"};
  if (std::ranges::find(known, recipe) != known.end()) return recipe;
  settings.note("fp8_recipe", "gradway does not know this recipe: tensorwise is assumed");
  return "tensorwise";
}

bool reads_fp4(TrainerSettings& settings) {
  constexpr std::string_view format_key = "fp4_format";
  const auto format = settings.text(format_key).value_or("");
  const auto recipe = settings.text("fp4_recipe").value_or("nvfp4");
  static_cast<void>(settings.boolean("fp4_param"));
  if (format.empty()) return false;
  if (format != "e2m1")
    settings.problem(settings.where(format_key), fmt::format("invalid fp4 format '{}'", format),
                     "expected e2m1");
  if (recipe != "nvfp4") settings.note("fp4_recipe", "gradway does not know this recipe: nvfp4 is assumed");
  return true;
}

std::string recomputed_modules(TrainerSettings& settings) {
  std::string given;
  for (const auto& module : settings.words("recompute_modules")) given += module.text + ' ';
  if (given.empty()) return "";
  const auto [modules, unknown] = read_recomputed_modules(given);
  if (!unknown.empty())
    settings.problem(settings.where("recompute_modules"),
                     fmt::format("gradway does not recompute '{}'", unknown), "leave it out");
  const auto words = in_words(modules);
  return words == "core_attn" ? "" : fmt::format("'{}'", words);
}

void read_megatron_fsdp(TrainerSettings& settings, DraftedKeys& keys, std::string_view precision) {
  const auto sharding = settings.text("data_parallel_sharding_strategy").value_or("optim_grads_params");
  const auto gradients = settings.text("megatron_fsdp_main_grads_dtype").value_or("auto");
  if (sharding == "no_shard") keys.put("strategy.shard_optimizer", "false");
  if (!sharding.starts_with("optim_grads")) return;
  if (keys.has("strategy.fp8_param_gather"))
    settings.note("fp8_param_gather", "gradway's Megatron-FSDP gathers parameters in 16 bits");
  const auto instances =
      settings.whole_number("num_distributed_optimizer_instances", 1, max_ranks).value_or(1);
  if (instances > 1) keys.put("parallel.replicate", instances);
  keys.remove_group("strategy.");
  keys.put("strategy.kind", "fsdp");
  keys.put("strategy.megatron_fsdp", "true");
  if (sharding == "optim_grads") keys.put("strategy.reshard_after_forward", "false");
  if (precision != "fp32") keys.put("strategy.param_dtype", precision);
  if (gradients != "auto") keys.put("strategy.reduce_dtype", gradients);
}

std::string offloaded_modules(TrainerSettings& settings) {
  const bool offloads = settings.boolean("fine_grained_activation_offloading").value_or(false);
  std::string known;
  for (const auto& module : settings.words("offload_modules")) {
    const auto [modules, unknown] = read_offloaded_modules(module.text);
    if (!unknown.empty())
      settings.note("offload_modules", fmt::format("gradway does not offload '{}'", unknown));
    known += in_words(modules) + ' ';
  }
  const auto words = in_words(read_offloaded_modules(known).modules);
  return offloads && !words.empty() ? fmt::format("'{}'", words) : "";
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/first_scenario.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/compute/memory_range.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/study/search/largest_batch.hpp"
#include "sim/workload/architectures.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway {
namespace {

constexpr int most_texts = 8;
constexpr int least_images = 32;
constexpr int most_images = 256;

std::string precision_for(const Model& model, const Gpu& gpu) {
  const auto has = [&](Precision precision) {
    return gpu.peak[static_cast<std::size_t>(precision)].has_value();
  };
  if (gpu.ideal) return "fp32";
  if (!model.tables.empty()) return has(Precision::tf32) ? "tf32" : "fp32";
  return has(Precision::bf16) ? "bf16" : has(Precision::fp16) ? "fp16" : "fp32";
}

/// A setup to try: the strategy, and the keys that it needs in addition to the common ones.
struct TrainingSetup {
  std::string strategy;
  ScenarioSettings job{};
  ScenarioSettings strategy_settings{};
  ScenarioSettings layout{};
};

/// The settings that all setups of a model on a GPU share.
struct CommonSettings {
  std::string precision;  ///< empty: a profile has its own
  ScenarioSettings job{};
  std::string optimizer;  ///< empty: a profile has its own
  std::string recipe{};
};

ScenarioSettings settings_of(const FirstScenarioRequest& request, const CommonSettings& common,
                             const TrainingSetup& setup, int batch) {
  ScenarioSettings settings{{"schema", "1"},
                            {"model", request.model},
                            {"platform", request.platform},
                            {"job.gpus", fmt::to_string(request.gpus)},
                            {"job.batch_per_gpu", fmt::to_string(batch)}};
  const auto add = [&](const ScenarioSettings& added) {
    settings.insert(settings.end(), added.begin(), added.end());
  };
  if (!common.precision.empty()) settings.emplace_back("job.precision", common.precision);
  add(common.job);
  add(setup.job);
  if (!setup.strategy.empty()) settings.emplace_back("strategy.kind", setup.strategy);
  add(setup.strategy_settings);
  add(setup.layout);
  if (!common.optimizer.empty()) settings.emplace_back("optimizer", common.optimizer);
  return settings;
}

/// `most` if it fits, else the largest power of two below it that fits. None if not even one sample fits.
std::optional<int> batch_for(const Scenario& scenario, int most) {
  if (scenario.platform.gpu_models.front().ideal || !knows_memory(scenario)) return most;
  try {
    const auto largest = largest_batch(scenario).batch;
    return largest >= most ? most : static_cast<int>(std::bit_floor(static_cast<unsigned>(largest)));
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

/// Of a profile or capture; 1 for other models.
int recorded_batch(const Model& model) {
  return model.profile ? model.profile->batch : model.captured ? model.captured->batch : 1;
}

Model model_of(const FirstScenarioRequest& request, const DataPath& data) {
  return load_model(request.model_file.empty() ? request.model : request.model_file, data);
}

std::string framework_of(const FirstScenarioRequest& request) {
  if (!request.framework.empty()) return request.framework;
  if (request.strategy == name_of(Zero{})) return "deepspeed";
  return request.strategy == name_of(DistributedOptimizer{}) ? "megatron" : "pytorch";
}

constexpr std::string_view least_recomputation = "activations are recomputed only as far as memory requires";

/// @source github.com/karpathy/nanoGPT, train.py and model.py: dtype, compile, grad_clip, fused AdamW, and
/// the loss in the model's forward pass
constexpr std::string_view nanogpt =
    "nanoGPT's train.py (github.com/karpathy/nanoGPT): autocast, torch.compile of the model with its loss, "
    "fused AdamW, clipped gradients";
/// @source github.com/pytorch/torchtitan, torchtitan/config/job_config.py (mixed_precision_param bfloat16,
/// mixed_precision_reduce float32, max_norm 1, implementation fused) and its published runs with
/// torch.compile
constexpr std::string_view torchtitan =
    "torchtitan's Llama 3 (github.com/pytorch/torchtitan, models/llama3/train_configs and "
    "benchmarks/llama3_h100_202412_torchtitan.md): FSDP2 with parameters in 16 bits and sums in fp32, "
    "torch.compile, fused AdamW, clipped gradients";
/// @source torchtitan/models/deepseek_v3/train_configs/deepseek_v3_16b.toml: only the loss is compiled
constexpr std::string_view torchtitan_experts =
    "torchtitan's DeepSeek-V3 (github.com/pytorch/torchtitan, models/deepseek_v3/train_configs): FSDP2 with "
    "parameters in 16 bits and sums in fp32, experts shared inside a node and not compiled, fused AdamW, "
    "clipped gradients";
/// @source github.com/mlcommons/training, recommendation_v2/torchrec_dlrm: the global batch, --allow_tf32;
/// github.com/facebookresearch/dlrm, bench/dlrm_s_criteo_terabyte.sh: SGD
constexpr std::string_view recommender =
    "MLPerf's DLRM (github.com/mlcommons/training, recommendation_v2/torchrec_dlrm): 65,536 samples per "
    "step, matrix products in tf32; SGD as in github.com/facebookresearch/dlrm";
/// @source github.com/NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets: --amp, --memory-format
/// nhwc, SGD with momentum
constexpr std::string_view convnets =
    "NVIDIA's ConvNets (github.com/NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets): mixed "
    "precision, images in NHWC, SGD with momentum";
/// @source github.com/pytorch/vision, references/classification: --amp, --opt adamw, --clip-grad-norm 1
constexpr std::string_view torchvision =
    "torchvision's vision transformers (github.com/pytorch/vision, references/classification): mixed "
    "precision, AdamW, clipped gradients";
/// @source github.com/NVIDIA/Megatron-LM, examples/llama/train_llama3_8b_h100_fp8.sh: the distributed
/// optimizer, overlapped; github.com/NVIDIA/NeMo, collections/llm/recipes/precision/mixed_precision.py:
/// bf16_mixed reduces in fp32
constexpr std::string_view megatron =
    "Megatron-LM's Llama 3 (github.com/NVIDIA/Megatron-LM, examples/llama; NeMo's recipes have the same): "
    "weights in 16 bits with fp32 masters, the distributed optimizer overlapped with both passes, fused "
    "Adam, clipped gradients";
/// @source huggingface/transformers, docs/source/en/deepspeed.md: overlap_comm true, AdamW, gradient_clipping
constexpr std::string_view deepspeed =
    "Hugging Face's examples for DeepSpeed (github.com/huggingface/transformers, "
    "docs/source/en/deepspeed.md): the model in 16 bits, ZeRO of the lowest stage that fits, overlapped, "
    "AdamW, clipped gradients";

/// Properties of a model that decide which recipe fits.
struct Traits {
  bool is_known = false;  ///< its kernels are derived from its layers
  bool is_text = false;
  bool has_experts = false;
  bool has_attention = false;
  bool has_blocks = false;  ///< that can be recomputed
  bool has_tables = false;  ///< of a recommendation model
};

Traits traits_of(const Model& model) {
  const bool is_known = model.run && !model.captured;
  return {.is_known = is_known,
          .is_text = model.tokens_per_sample > 0,
          .has_experts = model.experts.number > 0,
          .has_attention = is_known && !attention_heads_of(model.run).empty(),
          .has_blocks = !is_recorded(model) && model.tokens_per_sample > 0,
          .has_tables = !model.tables.empty()};
}

/// Of all nodes: the request may have more GPUs than a platform of fixed size.
int gpus_per_node(const Platform& platform) {
  const auto gpus = static_cast<int>(platform.gpus.size());
  return gpus / node_count(platform, gpus);
}

/// Settings by framework and model.
class Recipes {
 public:
  Recipes(const FirstScenarioRequest& request, const Model& model, const Platform& platform)
      : request_{request},
        model_{model},
        traits_{traits_of(model)},
        gpu_{platform.gpu_models.front()},
        framework_{framework_of(request)},
        precision_{is_recorded(model) ? "" : precision_for(model, gpu_)},
        gpus_of_node_{gpus_per_node(platform)} {}

  CommonSettings common(const TrainingSetup& setup) const {
    CommonSettings settings{.precision = precision_, .optimizer = is_recorded(model_) ? "" : "adamw"};
    if (!traits_.is_known || gpu_.ideal) return settings;
    if (framework_ != "pytorch") {
      settings.job = {{"job.framework", framework_}, clipped()};
      settings.optimizer = "adamw_fused";
      settings.recipe = framework_ == "megatron" ? megatron : deepspeed;
    } else if (traits_.is_text) {
      const bool shards = setup.strategy.starts_with("fsdp");
      if (!traits_.has_experts) settings.job = {{"job.compile", "true"}, {"job.fused_loss", "true"}};
      settings.job.push_back(clipped());
      settings.optimizer = "adamw_fused";
      settings.recipe = !shards ? nanogpt : traits_.has_experts ? torchtitan_experts : torchtitan;
    } else if (traits_.has_tables) {
      settings.optimizer = "sgd";
      settings.recipe = recommender;
    } else if (traits_.has_attention) {
      settings.job = {clipped()};
      settings.recipe = torchvision;
    } else {
      settings.job = {{"job.memory_format", "channels_last"}};
      settings.optimizer = "sgd_momentum";
      settings.recipe = convnets;
    }
    if (traits_.has_blocks) settings.recipe += fmt::format("; {}", least_recomputation);
    return settings;
  }

  /// The setups to try, the simplest first.
  std::vector<TrainingSetup> setups() const {
    if (framework_ == "megatron") return megatron_setups();
    if (framework_ == "deepspeed") return deepspeed_setups();
    return pytorch_setups();
  }

 private:
  static std::pair<std::string, std::string> clipped() { return {"job.clip_grad_norm", "true"}; }
  static std::pair<std::string, std::string> recomputed(const char* mode) { return {"job.recompute", mode}; }

  std::vector<TrainingSetup> pytorch_setups() const {
    const bool alone = request_.gpus == 1;
    std::vector<TrainingSetup> setups{with_formats({request_.strategy})};
    if (request_.strategy.empty() && model_.captured && !model_.captured->strategy.empty()) return {{}};
    if (request_.strategy.empty()) setups = {{alone ? "none" : "ddp"}};
    if (request_.strategy.empty() && !alone) setups.push_back(with_formats({"fsdp"}));
    if (!traits_.has_blocks) return setups;
    const auto last = setups.back();
    for (const auto* mode : {"selective_op", "full"}) {
      if (!traits_.is_known && std::string_view{mode} != "full") continue;
      setups.push_back(last);
      setups.back().job.push_back(recomputed(mode));
    }
    return setups;
  }

  /// FSDP's mixed precision instead of autocast with fp32 parameters.
  TrainingSetup with_formats(TrainingSetup setup) const {
    const bool halves = precision_ == "bf16" || precision_ == "fp16";
    if (setup.strategy.starts_with("fsdp") && halves && traits_.is_known && !gpu_.ideal)
      setup.strategy_settings = {{"strategy.param_dtype", precision_}, {"strategy.reduce_dtype", "fp32"}};
    if (setup.strategy == "fsdp") setup.layout = shared_experts();
    return setup;
  }

  /// Experts distributed over the GPUs of a node, then tensor parallelism within the node.
  std::vector<TrainingSetup> megatron_setups() const {
    TrainingSetup first{request_.strategy.empty() ? "distributed_optimizer" : request_.strategy};
    const bool overlaps = first.strategy == "distributed_optimizer" && request_.gpus > 1;
    if (overlaps)
      first.strategy_settings = {{"strategy.overlap_grad_reduce", "true"},
                                 {"strategy.overlap_param_gather", "true"}};
    first.layout = shared_experts();
    std::vector<TrainingSetup> setups{first};
    for (int tensor = 2; can_share(tensor); tensor *= 2) {
      setups.push_back(first);
      auto& layout = setups.back().layout;
      layout.insert(layout.begin(),
                    {{"parallel.tensor", fmt::to_string(tensor)}, {"parallel.sequence", "true"}});
    }
    if (traits_.has_blocks) {
      setups.push_back(setups.back());
      setups.back().job.push_back(recomputed("full"));
    }
    return setups;
  }

  /// Expert parallelism over the largest power of two of a node's GPUs that divides the experts.
  ScenarioSettings shared_experts() const {
    int ranks = 1;
    while (traits_.has_experts && 2 * ranks <= gpus_of_node_ && request_.gpus % (2 * ranks) == 0 &&
           model_.experts.number % (2 * ranks) == 0)
      ranks *= 2;
    if (ranks == 1) return {};
    return {{"parallel.expert", fmt::to_string(ranks)}};
  }

  bool can_share(int tensor) const {
    const auto& shape = model_.tensor;
    return shape && tensor <= gpus_of_node_ && request_.gpus % tensor == 0 && shape->heads % tensor == 0 &&
           shape->mlp % tensor == 0 && shape->kv_heads % tensor == 0;
  }

  std::vector<TrainingSetup> deepspeed_setups() const {
    if (!request_.strategy.empty() && request_.strategy != name_of(Zero{})) return {{request_.strategy}};
    std::vector<TrainingSetup> setups;
    for (const auto* stage : {"1", "2", "3"})
      setups.push_back({"zero", {}, {{"strategy.stage", stage}, {"strategy.overlap_comm", "true"}}});
    if (traits_.has_blocks) {
      setups.push_back(setups.back());
      setups.back().job.push_back(recomputed("full"));
    }
    setups.push_back(setups.back());
    setups.back().strategy_settings.emplace_back("strategy.offload_optimizer", "true");
    return setups;
  }

  const FirstScenarioRequest& request_;
  const Model& model_;
  Traits traits_;
  const Gpu& gpu_;
  std::string framework_;
  std::string precision_;
  int gpus_of_node_;
};

}  // namespace

bool is_recorded(const Model& model) {
  return model.profile || model.captured;
}

std::string scenario_text(const ScenarioSettings& settings) {
  std::string text;
  std::string group;
  for (const auto& [key, value] : settings) {
    const auto dot = key.find('.');
    const auto its_group = dot == std::string::npos ? "" : key.substr(0, dot);
    if (!its_group.empty() && its_group != group) text += its_group + ":\n";
    group = its_group;
    text += group.empty() ? fmt::format("{}: {}\n", key, value)
                          : fmt::format("  {}: {}\n", key.substr(dot + 1), value);
  }
  return text;
}

ScenarioSettings recipe_settings(const FirstScenarioRequest& request, const DataPath& data) {
  const auto model = model_of(request, data);
  const auto platform = load_platform(request.platform, request.gpus, data);
  const Recipes recipes{request, model, platform};
  const auto setup = recipes.setups().front();
  return settings_of(request, recipes.common(setup), setup, recorded_batch(model));
}

/// Samples per GPU of a first scenario, if they fit.
int first_batch(const Model& model, int gpus) {
  if (model.tokens_per_sample > 0) return most_texts;
  if (!model.tables.empty()) return std::max(1, samples_of_recommender_step / gpus);
  return std::clamp(images_of_step / gpus, least_images, most_images);
}

FirstScenario first_scenario(const FirstScenarioRequest& request, const std::string& file,
                             const DataPath& data) {
  const auto model = model_of(request, data);
  const auto platform = load_platform(request.platform, request.gpus, data);
  const Recipes recipes{request, model, platform};
  FirstScenario result;
  result.is_text = model.tokens_per_sample > 0;
  const auto most = first_batch(model, request.gpus);
  for (const auto& setup : recipes.setups()) {
    const auto common = recipes.common(setup);
    result.settings = settings_of(request, common, setup, recorded_batch(model));
    result.recipe = common.recipe;
    const auto scenario = load_scenario_text(scenario_text(result.settings), file, data);
    const auto batch = batch_for(scenario, is_recorded(model) ? recorded_batch(model) : most);
    result.fits = batch.has_value();
    if (result.fits) {
      result.settings = settings_of(request, common, setup, *batch);
      break;
    }
  }
  return result;
}

}  // namespace gradway

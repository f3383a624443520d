// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/scenario_draft.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/import/training/trainer_settings.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {
namespace {

constexpr std::string_view keeps_all = "gradway keeps parameters, gradients and optimizer states on the GPU";
constexpr std::string_view keeps_parameters = "gradway keeps a rank's parameters on its GPU";
constexpr std::string_view all_states = "gradway offloads all optimizer states";
constexpr std::string_view no_quantized = "gradway's collectives use 16 or 32 bits per element";
constexpr std::string_view no_zero_option = "gradway simulates ZeRO without it";
constexpr std::string_view same_work = "all steps of gradway do the same work";
constexpr std::string_view one_allgather =
    "gradway gathers parameters after the step in one collective, as recent releases of DeepSpeed do";

/// Keys that do not affect a step.
constexpr std::string_view ignored_deepspeed_keys =
    "steps_per_print wall_clock_breakdown memory_breakdown dump_state tensorboard wandb comet csv_monitor "
    "monitor_config scheduler flops_profiler comms_logger timers autotuning checkpoint nebula aio "
    "load_universal_checkpoint use_node_local_storage dataloader_drop_last zero_allow_untested_optimizer "
    "zero_force_ds_cpu_optimizer optimizer.params optimizer.legacy_fusion fp16 bf16 bfloat16 "
    "seq_parallel_communication_data_type amp torch_autocast elasticity pipeline tensor_parallel compile "
    "zero_optimization.sub_group_size zero_optimization.load_from_fp32_weights "
    "zero_optimization.elastic_checkpoint zero_optimization.ignore_unused_parameters "
    "zero_optimization.override_module_apply zero_optimization.pipeline_loading_checkpoint "
    "zero_optimization.log_trace_cache_warnings "
    "zero_optimization.stage3_gather_16bit_weights_on_model_save "
    "zero_optimization.gather_16bit_weights_on_model_save "
    "zero_optimization.stage3_gather_fp16_weights_on_model_save zero_optimization.offload_optimizer "
    "zero_optimization.offload_param zero_optimization.cpu_offload_use_pin_memory";

/// Keys that gradway does not use, or only in part, and what it does instead.
constexpr auto unused_deepspeed_keys = std::to_array<UnusedKey>({
    {"prescale_gradients", "false", "gradway divides gradients as DeepSpeed does by default"},
    {"gradient_predivide_factor", "1", "gradway divides gradients as DeepSpeed does by default"},
    {"sparse_gradients", "false", "gradway's gradients are dense"},
    {"sparse_attention", {}, "gradway's attention is dense"},
    {"amp.enabled", "false",
     "gradway does not support Apex: set --precision, or 'precision' in the scenario"},
    {"torch_autocast.enabled", "false", "gradway's ZeRO computes with parameters of 16 bits, or all in fp32"},
    {"activation_checkpointing",
     {},
     "the model's own code decides whether blocks are recomputed: if so, set job.recompute to full"},
    {"curriculum_learning", {}, same_work},
    {"data_efficiency", {}, same_work},
    {"progressive_layer_drop", {}, same_work},
    {"eigenvalue", {}, same_work},
    {"quantize_training", {}, same_work},
    {"compression_training", {}, same_work},
    {"weight_quantization", {}, same_work},
    {"elasticity.enabled", "false", "gradway uses the batch given by the other keys"},
    {"hybrid_engine", {}, "gradway only simulates training"},
    {"pipeline.partition", {}, "gradway divides the blocks as evenly as possible"},
    {"pipeline.partition_method", {}, "gradway divides the blocks as evenly as possible"},
    {"pipeline.activation_checkpoint_interval", "0", "set job.recompute to full if it is 1"},
    {"compile.deepcompile", "false", "gradway only supports torch.compile"},
    {"zero_optimization.contiguous_gradients", "true", no_zero_option},
    {"zero_optimization.reduce_scatter", "true", no_zero_option},
    {"zero_optimization.allgather_partitions", "true", no_zero_option},
    {"zero_optimization.use_multi_rank_bucket_allreduce", "true", no_zero_option},
    {"zero_optimization.round_robin_gradients", "false", no_zero_option},
    {"zero_optimization.legacy_stage1", "false", no_zero_option},
    {"zero_optimization.memory_efficient_linear", "true", no_zero_option},
    {"zero_optimization.allgather_bucket_size", "5e8", one_allgather},
    {"zero_optimization.enable_sanity_checks", "false", no_zero_option},
    {"zero_optimization.stage3_model_persistence_threshold", {}, no_zero_option},
    {"zero_optimization.stage3_module_granularity_threshold", "0", no_zero_option},
    {"zero_optimization.stage3_use_all_reduce_for_fetch_params", "false", no_zero_option},
    {"zero_optimization.stage3_allgather_sequential", "false", no_zero_option},
    {"zero_optimization.leaf_module", {}, no_zero_option},
    {"zero_optimization.zenflow", {}, keeps_all},
    {"zero_optimization.offload_optimizer.ratio", "1", all_states},
    {"zero_optimization.offload_param.device", "none", keeps_parameters},
    {"zero_optimization.cpu_offload_param", "false", keeps_parameters},
    {"zero_optimization.cpu_offload_params", "false", keeps_parameters},
    {"zero_optimization.zero_hpz_partition_size", "1",
     "gradway gathers from all ranks in the backward pass too"},
    {"zero_optimization.zero_quantized_weights", "false", no_quantized},
    {"zero_optimization.zero_quantized_nontrainable_weights", "false", no_quantized},
    {"zero_optimization.zero_quantized_gradients", "false", no_quantized},
    {"zero_optimization.zeropp_loco_param", {}, no_quantized},
    {"zero_optimization.mics_shard_size", "-1", "gradway shards over all ranks"},
    {"zero_optimization.mics_hierarchical_params_gather", "false", "gradway shards over all ranks"},
});

/// A key of ZeRO whose value is a number of elements.
struct ElementsKey {
  std::string_view key;    ///< Key with its table, zero_optimization.
  std::string_view alias;  ///< Key without stage3_; may be equal to `key`.
  std::string_view ours;
  int stage;  ///< Lowest stage in which it has an effect.
};
constexpr std::array element_keys{
    ElementsKey{"zero_optimization.reduce_bucket_size", "zero_optimization.reduce_bucket_size",
                "reduce_bucket_size", 1},
    ElementsKey{"zero_optimization.stage3_prefetch_bucket_size", "zero_optimization.prefetch_bucket_size",
                "prefetch_bucket_size", 3},
    ElementsKey{"zero_optimization.stage3_max_live_parameters", "zero_optimization.max_live_parameters",
                "max_live_parameters", 3},
    ElementsKey{"zero_optimization.stage3_max_reuse_distance", "zero_optimization.max_reuse_distance",
                "max_reuse_distance", 3},
    ElementsKey{"zero_optimization.stage3_param_persistence_threshold",
                "zero_optimization.param_persistence_threshold", "param_persistence_threshold", 3}};

/// An optimizer that compresses its communication, with the states of another.
/// @source DeepSpeed 0.18, runtime/fp16/onebit
struct CompressedOptimizer {
  std::string_view name;
  Optimizer states;
};
constexpr std::array compressed_optimizers{CompressedOptimizer{"OneBitAdam", Optimizer::adamw_fused},
                                           CompressedOptimizer{"ZeroOneAdam", Optimizer::adamw_fused},
                                           CompressedOptimizer{"OneBitLamb", Optimizer::lamb}};

/// Keys that gradway uses, to suggest one for a misspelled key.
constexpr std::string_view used_deepspeed_keys =
    "train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps bf16.enabled "
    "bfloat16.enabled bf16.bf16_master_weights_and_grads bf16.bf16_optimizer_states fp16.enabled "
    "communication_data_type data_types.grad_accum_dtype gradient_clipping optimizer.type "
    "optimizer.params.torch_adam optimizer.params.momentum compile.enabled zero_optimization.stage "
    "zero_optimization.overlap_comm zero_optimization.offload_optimizer.device "
    "zero_optimization.cpu_offload zero_optimization.reduce_bucket_size "
    "zero_optimization.stage3_prefetch_bucket_size zero_optimization.stage3_max_live_parameters "
    "zero_optimization.stage3_max_reuse_distance zero_optimization.stage3_param_persistence_threshold "
    "tensor_parallel.autotp_size sequence_parallel_size pipeline.stages";

class Deepspeed {
 public:
  Deepspeed(const SettingsFile& file, const DraftOptions& options) : settings_{file}, options_{options} {
    draft_.trainer = "DeepSpeed";
    draft_.file = file.text.name;
  }

  ScenarioDraft draft() {
    read_model();
    read_platform(draft_, options_, settings_);
    const auto split = read_splits();
    const auto batch = deepspeed_batch(settings_, options_, split);
    const auto precision = read_precision();
    read_job(batch, precision);
    read_strategy(batch, precision);
    read_optimizer();
    settings_.note_unused({ignored_deepspeed_keys, unused_deepspeed_keys, used_deepspeed_keys});
    settings_.raise();
    draft_.notes = settings_.notes();
    return std::move(draft_);
  }

 private:
  void read_model() {
    draft_.model = options_.model;
    if (draft_.model.empty())
      settings_.problem(settings_.whole(), "the file does not name a model",
                        "name one with --model; 'gradway list models' lists them");
  }

  /// Number of GPUs that work on the same samples.
  int read_splits() {
    int split = 1;
    for (const auto& [key, ours] :
         {std::pair{"tensor_parallel.autotp_size", "tensor"}, std::pair{"pipeline.stages", "pipeline"},
          std::pair{"sequence_parallel_size", ""}}) {
      const auto ranks = settings_.whole_number({key}, 0, 1024).value_or(1);
      if (ranks <= 1) continue;
      split *= ranks;
      if (*ours != '\0') {
        draft_.parallel.emplace_back(ours, fmt::format("{}", ranks));
        continue;
      }
      settings_.note({key}, fmt::format("gradway does not split sequences over GPUs: each GPU trains on its "
                                        "own samples, {} times as many per step as in the file",
                                        ranks));
    }
    return split;
  }

  /// Returns fp32, bf16 or fp16; empty after a problem.
  std::string read_precision() {
    const TrainerSettings::Spellings bf16 = {"bf16.enabled", "bfloat16.enabled"};
    const TrainerSettings::Spellings fp16 = {"fp16.enabled"};
    const bool is_bf16 = settings_.boolean(bf16).value_or(false);
    const bool is_fp16 = settings_.boolean(fp16).value_or(false);
    const auto& option = options_.precision;
    if (is_bf16 && is_fp16) {
      settings_.problem(settings_.where(fp16), "fp16 and bf16 are both enabled",
                        "DeepSpeed accepts only one of them", {{settings_.where(bf16), "bf16 is here"}});
      return {};
    }
    if (is_bf16 || is_fp16) {
      std::string enabled = is_bf16 ? "bf16" : "fp16";
      if (option.empty() || option == enabled) return enabled;
      settings_.problem(settings_.where(is_bf16 ? bf16 : fp16),
                        fmt::format("the file has precision {}, but --precision is {}", enabled, option),
                        "remove --precision, or change the file");
      return {};
    }
    if (!option.empty()) return option;
    if (const bool of_bf16 = settings_.is_automatic(bf16); of_bf16 || settings_.is_automatic(fp16)) {
      settings_.problem(of_bf16 ? settings_.where(bf16) : settings_.where(fp16),
                        "'enabled' is \"auto\": the file does not give the precision",
                        "give it with --precision: bf16, fp16 or fp32");
      return {};
    }
    return "fp32";
  }

  void read_job(const DeepSpeedBatch& batch, const std::string& precision) {
    auto& job = draft_.job;
    job.emplace_back("gpus", fmt::format("{}", batch.gpus));
    job.emplace_back("batch_per_gpu", fmt::format("{}", batch.micro));
    job.emplace_back("precision", precision);
    read_states(precision);
    if (batch.accumulate > 1) job.emplace_back("accumulate", fmt::format("{}", batch.accumulate));
    if (options_.sequence) job.emplace_back("sequence", fmt::format("{}", *options_.sequence));
    if (settings_.boolean({"compile.enabled"}).value_or(false)) job.emplace_back("compile", "true");
    job.emplace_back("framework", "deepspeed");
    if (settings_.number({"gradient_clipping"}, 0).value_or(0) > 0)
      job.emplace_back("clip_grad_norm", "true");
  }

  /// Master weights, gradients and optimizer states in bf16 instead of fp32.
  /// @source DeepSpeed 0.18, runtime/precision_config.py and docs/_pages/config-json.md
  void read_states(const std::string& precision) {
    const TrainerSettings::Spellings masters = {"bf16.bf16_master_weights_and_grads"};
    const TrainerSettings::Spellings states = {"bf16.bf16_optimizer_states"};
    const bool has_masters = settings_.boolean(masters).value_or(false);
    const bool has_states = settings_.boolean(states).value_or(false);
    if (precision != "bf16" || has_masters == has_states) {
      if (precision == "bf16" && has_masters) draft_.job.emplace_back("state_dtype", "bf16");
      return;
    }
    settings_.note(has_masters ? masters : states,
                   "gradway keeps master weights, gradients and optimizer states in one format: fp32 is "
                   "assumed, which needs more memory");
  }

  /// Returns the stage. In older files the table is a boolean.
  int read_stage() {
    constexpr auto key = "zero_optimization";
    if (const auto* zero = settings_.find({key}); zero != nullptr && zero->kind != FileSetting::Kind::table) {
      settings_.problem(settings_.place(*zero), "'zero_optimization' is not a map",
                        "write it as in {\"stage\": 2}");
      return 0;
    }
    return settings_.whole_number({"zero_optimization.stage"}, 0, 3).value_or(0);
  }

  void read_strategy(const DeepSpeedBatch& batch, const std::string& precision) {
    const auto stage = read_stage();
    const auto sent = read_communication();
    const auto overlap = settings_.boolean({"zero_optimization.overlap_comm"});
    const bool offloads = read_offload();
    if (stage == 0) return read_ddp(batch, sent.empty() ? precision : sent);
    auto& strategy = draft_.strategy;
    strategy.emplace_back("kind", "zero");
    strategy.emplace_back("stage", fmt::format("{}", stage));
    for (const auto& row : element_keys) {
      const auto value = settings_.number({row.key, row.alias}, 0);
      if (value && stage >= row.stage) strategy.emplace_back(row.ours, elements(row, *value));
    }
    if (overlap) strategy.emplace_back("overlap_comm", *overlap ? "true" : "false");
    if (offloads) strategy.emplace_back("offload_optimizer", "true");
    if (stage == 3)
      if (const auto scatters = settings_.boolean({"zero_optimization.reduce_scatter"});
          scatters && !*scatters)
        strategy.emplace_back("reduce_scatter", "false");
    if (!sent.empty()) strategy.emplace_back("communication_dtype", sent);
    read_sums(stage, precision);
  }

  /// Offloading of states, master weights and gradients to host memory. In older files the key is a boolean.
  bool read_offload() {
    const TrainerSettings::Spellings key = {"zero_optimization.offload_optimizer.device"};
    const bool is_old = settings_.boolean({"zero_optimization.cpu_offload"}).value_or(false);
    const auto device = settings_.text(key).value_or(is_old ? "cpu" : "none");
    if (device == "nvme")
      settings_.note(key, "gradway offloads to host memory instead, which takes less time");
    if (device != "none" && device != "cpu" && device != "nvme")
      settings_.problem(settings_.where(key), fmt::format("invalid offload device '{}'", device),
                        suggestion(device, {"none", "cpu", "nvme"}));
    return device != "none";
  }

  /// Only ZeRO stage 1 with a bf16 model accumulates gradients in another type (BF16_Optimizer).
  void read_sums(int stage, const std::string& precision) {
    const TrainerSettings::Spellings key = {"data_types.grad_accum_dtype"};
    const auto sum_type = settings_.text(key);
    if (!sum_type) return;
    if (*sum_type == "fp32" && stage == 1 && precision == "bf16")
      draft_.strategy.emplace_back("grad_accum_dtype", *sum_type);
  }

  /// Number of elements within the range of a scenario.
  std::string elements(const ElementsKey& row, double value) {
    constexpr double least = 1;
    constexpr double most = 1e15;
    const auto clamped = std::clamp(value, least, most);
    if (clamped != value)
      settings_.note({row.key, row.alias},
                     fmt::format("a scenario allows 1 to 1e15, so {} is used", elements_text(clamped)));
    return elements_text(clamped);
  }

  std::string read_communication() {
    const TrainerSettings::Spellings key = {"communication_data_type"};
    auto gradient_type = settings_.text(key);
    if (!gradient_type) return {};
    if (*gradient_type == "bfp16") gradient_type = "bf16";  // Spelling of older releases.
    if (std::ranges::find(number_words, *gradient_type) != number_words.end()) return *gradient_type;
    std::vector<std::string> words{number_words.begin(), number_words.end()};
    settings_.problem(settings_.where(key), fmt::format("invalid type of gradients '{}'", *gradient_type),
                      suggestion(*gradient_type, words));
    return {};
  }

  /// Without ZeRO DeepSpeed reduces all gradients after the backward pass, 500 million elements at a time.
  void read_ddp(const DeepSpeedBatch& batch, const std::string& sent) {
    for (const auto& row : element_keys) settings_.number({row.key, row.alias}, 0);
    auto& strategy = draft_.strategy;
    if (batch.gpus == 1) {
      strategy.emplace_back("kind", "none");
      return;
    }
    strategy.emplace_back("kind", "ddp");
    strategy.emplace_back("bucket_cap", "2 GB");
    if (sent == "bf16" || sent == "fp16") strategy.emplace_back("comm_hook", sent);
    settings_.note_missing(
        "ZeRO is off: DeepSpeed then reduces gradients after the backward pass, 500 million at a time, in "
        "the type of the model; this scenario uses DDP with buckets of that size, which can begin earlier");
  }

  void read_optimizer() {
    const auto type = settings_.text({"optimizer.type"});
    const bool is_torch = settings_.boolean({"optimizer.params.torch_adam"}).value_or(false);
    draft_.optimizer = name_of(Optimizer::adamw);
    if (!type)
      return settings_.note_missing(
          "optimizer: the file does not name one, so adamw is assumed, which trainers set by default; "
          "'optimizer' "
          "in the scenario changes it");
    if (const auto* const row = std::ranges::find(compressed_optimizers, *type, &CompressedOptimizer::name);
        row != compressed_optimizers.end()) {
      draft_.optimizer = name_of(row->states);
      return settings_.note(
          {"optimizer.type"},
          fmt::format("gradway does not compress what it sends: it is predicted as {}", draft_.optimizer));
    }
    draft_.optimizer = optimizer_word(*type, !is_torch);
    const bool has_momentum = settings_.number({"optimizer.params.momentum"}, 0).value_or(0) > 0;
    if (draft_.optimizer == name_of(Optimizer::sgd) && has_momentum)
      draft_.optimizer = name_of(Optimizer::sgd_momentum);
    if (!draft_.optimizer.empty()) return;
    draft_.optimizer = name_of(Optimizer::adamw);
    settings_.note(
        {"optimizer.type"},
        "gradway does not support this optimizer, so adamw is assumed; 'optimizer' in the scenario "
        "changes it");
  }

  TrainerSettings settings_;
  const DraftOptions& options_;
  ScenarioDraft draft_{};
};

}  // namespace

ScenarioDraft draft_of_deepspeed(const SettingsFile& file, const DraftOptions& options) {
  return Deepspeed{file, options}.draft();
}

}  // namespace gradway

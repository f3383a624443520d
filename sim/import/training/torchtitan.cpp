// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/scenario_draft.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/import/training/torchtitan_keys.hpp"
#include "sim/import/training/trainer_settings.hpp"

namespace gradway {
namespace {

using Spellings = TrainerSettings::Spellings;

// The second spellings are those of 2024.
constexpr Spellings replicate_key = {"parallelism.data_parallel_replicate_degree",
                                     "training.data_parallel_replicate_degree"};
constexpr Spellings shard_key = {"parallelism.data_parallel_shard_degree",
                                 "training.data_parallel_shard_degree"};
constexpr Spellings tensor_key = {"parallelism.tensor_parallel_degree", "training.tensor_parallel_degree"};
constexpr Spellings pipeline_key = {"parallelism.pipeline_parallel_degree",
                                    "experimental.pipeline_parallel_degree"};
constexpr Spellings context_key = {"parallelism.context_parallel_degree",
                                   "experimental.context_parallel_degree"};
constexpr Spellings schedule_key = {"parallelism.pipeline_parallel_schedule",
                                    "experimental.pipeline_parallel_schedule"};
constexpr Spellings split_points_key = {"parallelism.pipeline_parallel_split_points",
                                        "experimental.pipeline_parallel_split_points"};
// The embedding and the head count as a layer each, unless the other two keys change that. @source
// torchtitan/distributed/pipeline_parallel.py, 0.2
constexpr Spellings layers_of_stage_key = {"parallelism.pipeline_parallel_layers_per_stage"};
constexpr Spellings first_less_key = {"parallelism.pipeline_parallel_first_stage_less_layers"};
constexpr Spellings last_less_key = {"parallelism.pipeline_parallel_last_stage_less_layers"};
constexpr int most_blocks = 100'000;
constexpr Spellings pipeline_micro_key = {"parallelism.pipeline_parallel_microbatch_size"};
constexpr Spellings async_key = {"parallelism.enable_async_tensor_parallel",
                                 "experimental.enable_async_tensor_parallel"};
constexpr Spellings reshard_key = {"parallelism.fsdp_reshard_after_forward",
                                   "training.fsdp_reshard_after_forward"};
constexpr Spellings local_key = {"training.local_batch_size", "training.batch_size"};
constexpr Spellings global_key = {"training.global_batch_size"};
constexpr Spellings offload_key = {"training.enable_cpu_offload"};
constexpr Spellings compile_key = {"compile.enable", "training.compile"};

/// Schedules by their names in torchtitan; case is ignored. @source
/// torch/distributed/pipelining/schedules.py, get_schedule_class
struct ScheduleName {
  std::string_view name;
  std::string_view ours;
  int chunks;  ///< Chunks per rank without split points: torchtitan/distributed/pipeline_parallel.py.
};
constexpr auto schedule_names = std::to_array<ScheduleName>({{"1F1B", "1f1b", 1},
                                                             {"GPipe", "gpipe", 1},
                                                             {"Interleaved1F1B", "interleaved", 2},
                                                             {"LoopedBFS", "looped_bfs", 2},
                                                             {"ZBVZeroBubble", "zb_v", 2},
                                                             {"DualPipeV", "dual_pipe_v", 2}});

/// The layout of the GPUs.
struct Degrees {
  long long gpus = 0;  ///< 0 after a problem.
  long long replicate = 1;
  long long shard = 1;
  long long tensor = 1;
  long long pipeline = 1;
  long long context = 1;

  /// Number of GPUs that work on the same samples.
  long long split() const { return tensor * pipeline * context; }
  long long ranks() const { return replicate * shard; }
  bool has_fsdp() const { return shard * context > 1; }
};

std::string lower_snake(std::string text) {
  for (auto& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == '.' || c == ' ') c = '_';
  }
  return text;
}

class Torchtitan {
 public:
  Torchtitan(const SettingsFile& file, const DraftOptions& options) : settings_{file}, options_{options} {
    draft_.trainer = "torchtitan";
    draft_.file = file.text.name;
  }

  ScenarioDraft draft() {
    read_model();
    read_platform(draft_, options_, settings_);
    const auto degrees = read_degrees();
    const auto param = read_param_type(degrees);
    const auto reduce = read_type({"training.mixed_precision_reduce"}, "fp32");
    const auto accumulate = read_job(degrees, param);
    read_strategy(degrees, param, reduce, accumulate);
    read_optimizer();
    settings_.note_unused({ignored_torchtitan_keys, unused_torchtitan_keys, used_torchtitan_keys});
    settings_.raise();
    draft_.notes = settings_.notes();
    return std::move(draft_);
  }

 private:
  void read_model() {
    const auto name = settings_.text({"model.name"}).value_or("llama3");
    const auto flavor = settings_.text({"model.flavor"}).value_or("debugmodel");
    draft_.model = lower_snake(name + "_" + flavor);
    const auto& known = options_.known_models;
    const bool is_known = std::ranges::find(known, draft_.model) != known.end();
    if (!options_.model.empty()) {
      if (is_known && draft_.model != options_.model)
        settings_.note({"model.flavor", "model.name"},
                       fmt::format("--model {} replaces '{}'", options_.model, draft_.model));
      draft_.model = options_.model;
      return;
    }
    if (is_known) return;
    std::vector<std::string> likely;
    std::ranges::copy_if(known, std::back_inserter(likely),
                         [&](const auto& entry) { return entry.starts_with(lower_snake(name) + "_"); });
    settings_.problem(
        settings_.where({"model.flavor", "model.name"}),
        fmt::format("unknown model '{}' for '{}' of flavor '{}'", draft_.model, name, flavor),
        fmt::format("{}name one with --model, or write models/{}.yaml",
                    likely.empty() ? "" : fmt::format("similar models: {}; ", fmt::join(likely, ", ")),
                    draft_.model));
  }

  long long degree(Spellings key) { return settings_.whole_number(key, 1, max_ranks).value_or(1); }

  Degrees read_degrees() {
    Degrees degrees;
    degrees.replicate = degree(replicate_key);
    degrees.tensor = degree(tensor_key);
    degrees.pipeline = degree(pipeline_key);
    degrees.context = degree(context_key);
    const auto shard = settings_.whole_number(shard_key, -1, max_ranks).value_or(-1);
    if (shard == 0)
      settings_.problem(settings_.where(shard_key), "invalid degree 0",
                        "expected 1 or more, or -1 for the remaining ranks");
    if (shard == 0) return degrees;
    const auto other_degrees = degrees.replicate * degrees.split();
    const auto gpus = shard > 0 ? other_degrees * shard : options_.gpus.value_or(0);
    if (shard > 0 && options_.gpus && *options_.gpus != gpus) {
      settings_.problem(
          settings_.where(shard_key),
          fmt::format("the product of the degrees is {} GPUs, but --gpus is {}", gpus, *options_.gpus),
          "remove --gpus, or set data_parallel_shard_degree to -1");
    } else if (gpus == 0) {
      settings_.problem(settings_.where(shard_key), "the file does not give the number of GPUs",
                        "give it with --gpus");
    } else if (gpus % other_degrees != 0) {
      settings_.problem(settings_.where(replicate_key),
                        fmt::format("{} GPUs are not divisible by {}, the product of the other degrees", gpus,
                                    other_degrees),
                        "torchtitan sets data_parallel_shard_degree to the quotient");
    } else if (gpus > max_ranks) {
      settings_.problem(settings_.where(shard_key), fmt::format("{} GPUs are too many", gpus),
                        fmt::format("the maximum is {}", max_ranks));
    } else {
      degrees.gpus = gpus;
      degrees.shard = gpus / other_degrees;
    }
    return degrees;
  }

  /// A type of torch as written in scenarios.
  std::string read_type(Spellings key, std::string default_type) {
    const auto type_name = settings_.text(key);
    if (!type_name) return default_type;
    if (*type_name == "bfloat16") return "bf16";
    if (*type_name == "float16") return "fp16";
    if (*type_name != "float32")
      settings_.problem(settings_.where(key), fmt::format("invalid type '{}'", *type_name),
                        suggestion(*type_name, {"bfloat16", "float32", "float16"}));
    return "fp32";
  }

  /// Without FSDP, torchtitan has mixed precision by autocast, and only without any other parallelism.
  /// @source torchtitan/distributed/utils.py, maybe_enable_amp
  std::string read_param_type(const Degrees& degrees) {
    const Spellings key = {"training.mixed_precision_param"};
    auto type = read_type(key, "bf16");
    if (degrees.has_fsdp() || degrees.split() == 1 || type == "fp32") return type;
    const auto text = "torchtitan computes in fp32 where layers or stages are split and FSDP is off";
    settings_.has(key) ? settings_.note(key, text)
                       : settings_.note_missing(fmt::format("precision: {}", text));
    return "fp32";
  }

  /// The format in which the model is created: that of parameters, gradients and optimizer states.
  /// @source torchtitan/train.py, utils.set_default_dtype(TORCH_DTYPE_MAP[job_config.training.dtype])
  void read_states(const std::string& param) {
    const Spellings key = {"training.dtype"};
    const auto type = read_type(key, "fp32");
    if (type == "fp32") return;
    if (type == param) {
      draft_.job.emplace_back("state_dtype", type);
    } else {
      settings_.note(key, "gradway computes in the format of the parameters: fp32 is assumed");
    }
  }

  /// @return micro-steps per step
  long long read_job(const Degrees& degrees, const std::string& param) {
    const auto local = settings_.whole_number(local_key, 1, max_batch).value_or(8);
    auto accumulate = accumulation(degrees, local);
    const auto micro = micro_batch(degrees, local);
    if (accumulate > 1 && degrees.pipeline > 1)
      settings_.note(global_key, fmt::format("torchtitan drains the pipeline {} times per step, gradway once",
                                             accumulate));
    accumulate *= local / micro;
    check_job_numbers(settings_, micro, accumulate);
    auto& job = draft_.job;
    job.emplace_back("gpus", fmt::format("{}", degrees.gpus));
    job.emplace_back("batch_per_gpu", fmt::format("{}", micro));
    const auto recipe = read_float8();
    job.emplace_back("precision", recipe.empty() ? param : "fp8");
    if (!recipe.empty()) job.emplace_back("fp8_recipe", recipe);
    read_states(param);
    if (accumulate > 1) job.emplace_back("accumulate", fmt::format("{}", accumulate));
    job.emplace_back("sequence", fmt::format("{}", read_sequence()));
    read_compile(degrees);
    read_checkpoints();
    if (settings_.number({"training.max_norm"}, 0).value_or(1) > 0)
      job.emplace_back("clip_grad_norm", "true");
    return accumulate;
  }

  int read_sequence() {
    const Spellings key = {"training.seq_len"};
    const auto file_sequence = settings_.whole_number(key, 1, max_tokens);
    return sequence_of(settings_, options_, key, file_sequence).value_or(2048);
  }

  /// Whether the converters include float8, or the flag of 2024 is set.
  bool has_float8() {
    const Spellings key = {"model.converters"};
    const auto* converters = settings_.find(key);
    bool uses_float8 = settings_.boolean({"float8.enable_float8_linear"}).value_or(false);
    if (converters == nullptr) return uses_float8;
    for (const auto& converter : converters->entries) {
      const bool is_float8 = converter.text == "float8" || converter.text == "quantize.linear.float8";
      uses_float8 = uses_float8 || is_float8;
      if (!is_float8) settings_.note(key, fmt::format("unknown converter '{}' is ignored", converter.text));
    }
    return uses_float8;
  }

  /// Returns the float8 recipe; empty if the job has another precision.
  std::string read_float8() {
    const Spellings gather_key = {"float8.enable_fsdp_float8_all_gather",
                                  "quantize.linear.float8.enable_fsdp_float8_all_gather"};
    const Spellings recipe_key = {"float8.recipe_name", "quantize.linear.float8.recipe_name"};
    const bool gathers = settings_.boolean(gather_key).value_or(false);
    auto recipe = settings_.text(recipe_key).value_or("tensorwise");
    if (!has_float8()) return {};
    gathers_float8_ = gathers;
    if (recipe == "tensorwise" || recipe == "rowwise") return recipe;
    if (recipe != "rowwise_with_gw_hp")
      settings_.problem(settings_.where(recipe_key), fmt::format("invalid recipe '{}'", recipe),
                        suggestion(recipe, {"tensorwise", "rowwise", "rowwise_with_gw_hp"}));
    settings_.note(recipe_key, "gradway also has gradients of weights in fp8: rowwise is assumed");
    return "rowwise";
  }

  /// Samples of a micro-batch of the pipeline.
  long long micro_batch(const Degrees& degrees, long long local) {
    const auto micro = settings_.whole_number(pipeline_micro_key, 1, max_batch).value_or(1);
    if (degrees.pipeline == 1) return local;
    if (local % micro == 0) return micro;
    settings_.problem(settings_.where(pipeline_micro_key),
                      fmt::format("the {} samples of a pipeline are not divisible by {}", local, micro),
                      "torchtitan requires local_batch_size = pipeline_parallel_microbatch_size x "
                      "micro-batches");
    return local;
  }

  void read_checkpoints() {
    const Spellings key = {"activation_checkpoint.mode"};
    const auto mode = settings_.text(key).value_or("selective");
    const Spellings option_key = {"activation_checkpoint.selective_ac_option"};
    const auto option = settings_.text(option_key).value_or("2");
    if (mode == "selective") return read_selection(option, option_key);
    if (mode == "full") draft_.job.emplace_back("recompute", "full");
    if (mode != "full" && mode != "none")
      settings_.problem(settings_.where(key), fmt::format("invalid mode '{}'", mode),
                        suggestion(mode, {"none", "selective", "full"}));
  }

  /// Selective recomputation: every second product, or every n-th block.
  void read_selection(const std::string& option, const Spellings& key) {
    int every = 0;
    const auto read = std::from_chars(option.data(), option.data() + option.size(), every);
    const bool counts = !option.empty() && *read.ptr == '\0' && every >= 0;
    if (option != "op" && !counts)
      settings_.problem(settings_.where(key), fmt::format("invalid option '{}' of selective mode", option),
                        "expected op, or a number N to recompute every N-th block");
    draft_.job.emplace_back("recompute", counts ? "full" : "selective_op");
    if (every > 1) draft_.job.emplace_back("recompute_every", fmt::format("{}", every));
  }

  long long accumulation(const Degrees& degrees, long long local) {
    const auto global = settings_.whole_number(global_key, -1, 1'000'000'000).value_or(-1);
    if (global < 0 || degrees.gpus == 0) return 1;
    const auto of_micro_step = local * degrees.ranks();
    if (global == 0 || global % of_micro_step != 0) {
      settings_.problem(settings_.where(global_key),
                        fmt::format("{} samples per step are not divisible by {} on each of {} ranks", global,
                                    local, degrees.ranks()),
                        "torchtitan requires global_batch_size = local_batch_size x data parallel degrees x "
                        "micro-steps");
      return 1;
    }
    return global / of_micro_step;
  }

  /// CUDA graphs of torch.compile: those of its modes, or the pass of torchtitan's compiler toolkit, which
  /// captures the forward and the backward pass, too. @source torch.compile's documentation of `mode`;
  /// torchtitan/experiments/compiler_toolkit, at 9f211ec1
  std::string graphs_of_compiler() {
    const Spellings key = {"compile.mode"};
    const auto mode = settings_.text(key).value_or("default");
    const std::vector<std::string> known{"default", "reduce-overhead", "max-autotune",
                                         "max-autotune-no-cudagraphs"};
    if (std::ranges::find(known, mode) == known.end())
      settings_.problem(settings_.where(key), fmt::format("invalid mode of torch.compile '{}'", mode),
                        suggestion(mode, known));
    const auto passes = settings_.words({"compile.passes"});
    const bool has_pass = std::ranges::find(passes, "cudagraph", &FileSetting::text) != passes.end();
    return has_pass || mode == "reduce-overhead" || mode == "max-autotune" ? "reduce_overhead" : "";
  }

  /// By default the model is compiled and, in files of 2025, the loss; gradway does not support a compiled
  /// loss of split logits.
  void read_compile(const Degrees& degrees) {
    const auto* components = settings_.find({"compile.components"});
    const auto graphs = graphs_of_compiler();
    if (!settings_.boolean(compile_key).value_or(false)) return;
    const bool are_listed = components != nullptr && components->kind == FileSetting::Kind::list;
    const auto has = [&](const char* name) {
      return !are_listed ||
             std::ranges::find(components->entries, name, &FileSetting::text) != components->entries.end();
    };
    if (!has("model"))
      return settings_.note({"compile.components"},
                            "gradway does not compile the loss alone: nothing is compiled");
    draft_.job.emplace_back("compile", "true");
    if (!graphs.empty()) draft_.job.emplace_back("cuda_graphs", graphs);
    const bool is_of_2025 = are_listed || settings_.find({"compile.enable"}) != nullptr;
    if (is_of_2025 && has("loss") && degrees.tensor == 1) draft_.job.emplace_back("fused_loss", "true");
  }

  void read_strategy(const Degrees& degrees, const std::string& param, const std::string& reduce,
                     long long accumulate) {
    auto& strategy = draft_.strategy;
    const auto reshard = read_reshard();
    read_layout(degrees);
    if (degrees.has_fsdp()) return read_fsdp(degrees, param, reduce, reshard);
    settings_.find(offload_key);
    if (degrees.ranks() == 1) {
      strategy.emplace_back("kind", "none");
      return;
    }
    strategy.emplace_back("kind", "ddp");
    strategy.emplace_back("bucket_cap", "100 MiB");  // torchtitan's bucket size.
    if (accumulate > 1 && degrees.replicate > 1)
      settings_.note(global_key, "torchtitan's DDP reduces in each micro-step, gradway's only in the last");
  }

  void read_fsdp(const Degrees& degrees, const std::string& param, const std::string& reduce,
                 const std::string& reshard) {
    auto& strategy = draft_.strategy;
    strategy.emplace_back("kind", "fsdp");
    if (!reshard.empty()) strategy.emplace_back("reshard_after_forward", reshard);
    strategy.emplace_back("param_dtype", param);
    strategy.emplace_back("reduce_dtype", reduce);
    // @source torchtitan at 05a6cb38, models/llama4/infra/parallelize.py: the CPU waits for row counts
    if (degree({"parallelism.expert_parallel_degree"}) > 1) strategy.emplace_back("forward_prefetch", "1");
    if (gathers_float8_) strategy.emplace_back("fp8_all_gather", "true");
    if (settings_.boolean(offload_key).value_or(false)) strategy.emplace_back("cpu_offload", "true");
    if (degrees.replicate > 1)
      draft_.parallel.emplace_back("replicate", fmt::format("{}", degrees.replicate));
  }

  /// Keys and values are exchanged by all-gathers, or from rank to rank by all-to-alls.
  /// @source torch/distributed/tensor/experimental/_attention.py, set_rotate_method
  void read_context(const Degrees& degrees) {
    const Spellings key = {"parallelism.context_parallel_rotate_method"};
    const auto method = settings_.text(key).value_or("allgather");
    if (degrees.context == 1) return;
    draft_.parallel.emplace_back("context", fmt::format("{}", degrees.context));
    if (method != "allgather" && method != "alltoall") {
      settings_.problem(settings_.where(key), fmt::format("invalid rotate method '{}'", method),
                        suggestion(method, {"allgather", "alltoall"}));
    }
    draft_.parallel.emplace_back("context_method", method == "alltoall" ? "ring" : "all_gather");
  }

  /// torchtitan supports it only with a compiled model.
  void read_async() {
    if (settings_.boolean(compile_key).value_or(false)) {
      draft_.parallel.emplace_back("overlap", "async_tp");
    } else {
      settings_.problem(settings_.where(async_key),
                        "asynchronous tensor parallelism requires a compiled model",
                        "set compile.enable to true");
    }
  }

  void read_layout(const Degrees& degrees) {
    auto& parallel = draft_.parallel;
    const bool is_async = settings_.boolean(async_key).value_or(false);
    if (degrees.tensor > 1) {
      parallel.emplace_back("tensor", fmt::format("{}", degrees.tensor));
      parallel.emplace_back("sequence", "true");  // As in torchtitan's plans of dense models.
      if (is_async) read_async();
    }
    read_context(degrees);
    for (const auto& [key, ours] : {std::pair{"parallelism.expert_parallel_degree", "expert"},
                                    {"parallelism.expert_tensor_parallel_degree", "expert_tensor"}}) {
      const auto ranks = degree({key});
      if (ranks > 1) parallel.emplace_back(ours, fmt::format("{}", ranks));
    }
    const auto schedule = settings_.text(schedule_key).value_or("1F1B");
    const auto* points = settings_.find(split_points_key);
    const auto of_stage = settings_.whole_number(layers_of_stage_key, 1, most_blocks).value_or(0);
    const auto less = settings_.whole_number(first_less_key, 0, most_blocks).value_or(1) +
                      settings_.whole_number(last_less_key, 0, most_blocks).value_or(1);
    if (degrees.pipeline == 1) return;
    parallel.emplace_back("pipeline", fmt::format("{}", degrees.pipeline));
    const auto known_schedule = std::ranges::find(schedule_names, lower_snake(schedule), [](const auto& row) {
      return lower_snake(std::string{row.name});
    });
    if (known_schedule == schedule_names.end()) {
      std::vector<std::string> names;
      for (const auto& row : schedule_names) names.emplace_back(row.name);
      settings_.problem(settings_.where(schedule_key), fmt::format("unknown schedule '{}'", schedule),
                        suggestion(schedule, names));
      return;
    }
    auto stages = points == nullptr ? 0 : static_cast<long long>(points->entries.size()) + 1;
    const auto blocks = of_stage > 0 && options_.blocks_of ? options_.blocks_of(draft_.model) : 0;
    if (points == nullptr && blocks > 0) stages = (blocks + less + of_stage - 1) / of_stage;
    if (stages % degrees.pipeline != 0)
      settings_.problem(points != nullptr ? settings_.place(*points) : settings_.where(layers_of_stage_key),
                        fmt::format("{} stages are not divisible by {} ranks", stages, degrees.pipeline),
                        points != nullptr ? "give one split point fewer than there are stages"
                                          : "torchtitan requires this too");
    const auto chunks = stages > 1 ? stages / degrees.pipeline : known_schedule->chunks;
    if (chunks > 1) parallel.emplace_back("virtual", fmt::format("{}", chunks));
    parallel.emplace_back("schedule", known_schedule->ours);
  }

  /// Empty for FSDP2's default.
  std::string read_reshard() {
    const auto policy = settings_.text(reshard_key).value_or("default");
    if (policy == "always") return "true";
    if (policy == "never") return "false";
    if (policy != "default")
      settings_.problem(settings_.where(reshard_key), fmt::format("invalid policy '{}'", policy),
                        suggestion(policy, {"default", "always", "never"}));
    return {};
  }

  void read_optimizer() {
    const auto name = settings_.text({"optimizer.name"}).value_or("AdamW");
    const Spellings form_key = {"optimizer.implementation"};
    const auto form = settings_.text(form_key).value_or("fused");
    if (form != "fused" && form != "foreach" && form != "for-loop")
      settings_.problem(settings_.where(form_key), fmt::format("invalid implementation '{}'", form),
                        suggestion(form, {"fused", "foreach", "for-loop"}));
    draft_.optimizer = optimizer_word(name, form == "fused");
    if (draft_.optimizer.empty())
      settings_.note({"optimizer.name"},
                     "gradway does not support this optimizer, so sgd is assumed; set 'optimizer: adamw' or "
                     "'adamw_fused' in the scenario");
    if (form == "for-loop")
      settings_.note(form_key, "gradway uses the foreach form, which launches fewer kernels");
  }

  TrainerSettings settings_;
  const DraftOptions& options_;
  ScenarioDraft draft_{};
  bool gathers_float8_ = false;
};

}  // namespace

ScenarioDraft draft_of_torchtitan(const SettingsFile& file, const DraftOptions& options) {
  return Torchtitan{file, options}.draft();
}

}  // namespace gradway

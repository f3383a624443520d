// SPDX-License-Identifier: Apache-2.0
#include "readers/training/scenario_draft.hpp"
#include "sim/base/text.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/training/trainer_settings.hpp"
#include "sim/base/nearest.hpp"
#include "sim/dialects/model_names.hpp"

namespace gradway {
namespace {

constexpr std::string_view replicate_key = "parallelism.data_parallel_replicate_degree";
constexpr std::string_view shard_key = "parallelism.data_parallel_shard_degree";
constexpr std::string_view schedule_key = "parallelism.pipeline_parallel_schedule";
constexpr std::string_view layers_of_stage_key = "parallelism.pipeline_parallel_layers_per_stage";
constexpr std::string_view pipeline_micro_key = "parallelism.pipeline_parallel_microbatch_size";
constexpr std::string_view async_key = "parallelism.enable_async_tensor_parallel";
constexpr std::string_view global_key = "training.global_batch_size";
constexpr int most_blocks = 100'000;

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

std::string lower_snake(std::string_view text) {
  auto name = lower_case(text);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.' || c == ' '; }, '_');
  return name;
}

class Torchtitan {
 public:
  Torchtitan(const SettingsFile& file, const DraftOptions& options)
      : settings_{file, dialects::torchtitan()}, options_{options} {}

  Draft draft() {
    read_model();
    read_platform(keys_, options_, settings_);
    if (has_float8()) keys_.put("job.precision", "fp8");
    keys_.read(settings_);
    if (uses_mx_) keys_.put("job.fp8_recipe", "mxfp8");
    const auto degrees = read_degrees();
    const auto param = read_param_type(degrees);
    const auto reduce = settings_.word("training.mixed_precision_reduce");
    const auto accumulate = read_job(degrees, param);
    read_layout(degrees);
    read_strategy(degrees, param, reduce, accumulate);
    read_optimizer();
    return keys_.finish(settings_);
  }

 private:
  void read_model() {
    const auto name = settings_.text("model.name").value_or("llama3");
    const auto flavor = settings_.text("model.flavor").value_or("debugmodel");
    const auto model = model_named(name, flavor);
    const auto& known = options_.known_models;
    const bool is_known = std::ranges::find(known, model) != known.end();
    keys_.put("model", options_.model.empty() ? model : options_.model);
    if (!options_.model.empty() && is_known && model != options_.model)
      settings_.note("model.flavor model.name",
                     fmt::format("--model {} replaces '{}'", options_.model, model));
    if (!options_.model.empty() || is_known) return;
    std::vector<std::string> likely;
    std::ranges::copy_if(known, std::back_inserter(likely),
                         [&](const auto& entry) { return entry.starts_with(lower_snake(name) + "_"); });
    settings_.problem(
        settings_.where("model.flavor model.name"),
        fmt::format("unknown model '{}' for '{}' of flavor '{}'", model, name, flavor),
        fmt::format("{}name one with --model, or write models/{}.yaml",
                    likely.empty() ? "" : fmt::format("similar models: {}; ", fmt::join(likely, ", ")),
                    model));
  }

  /// The shipped model of a flavor: "qwen3_1b7" of "1.7B".
  std::string model_named(const std::string& name, const std::string& flavor) const {
    for (const auto& row : settings_.dialect().others)
      if (row.kind == "flavor" && row.word(0) == name && row.word(1) == lower_case(flavor))
        return std::string{row.word(2)};
    const auto alike = models_alike(name + "_" + flavor, options_.known_models);
    return alike.size() == 1 ? alike.front() : lower_snake(name + "_" + flavor);
  }

  Degrees read_degrees() {
    Degrees degrees;
    degrees.replicate = settings_.whole_number(replicate_key, 1, max_ranks).value_or(1);
    degrees.tensor = keys_.ranks("parallel.tensor");
    degrees.pipeline = keys_.ranks("parallel.pipeline");
    degrees.context = keys_.ranks("parallel.context");
    const auto shard = settings_.whole_number(shard_key, -1, max_ranks).value_or(-1);
    if (shard == 0)
      settings_.problem(shard_key, "invalid degree 0", "expected 1 or more, or -1 for the remaining ranks");
    if (shard == 0) return degrees;
    const auto other_degrees = degrees.replicate * degrees.split();
    const auto gpus = shard > 0 ? other_degrees * shard : options_.gpus.value_or(0);
    if (shard > 0 && options_.gpus && *options_.gpus != gpus) {
      settings_.problem(
          shard_key,
          fmt::format("the product of the degrees is {} GPUs, but --gpus is {}", gpus, *options_.gpus),
          "remove --gpus, or set data_parallel_shard_degree to -1");
    } else if (gpus == 0) {
      settings_.problem(shard_key, "the file does not give the number of GPUs", "give it with --gpus");
    } else if (gpus % other_degrees != 0) {
      settings_.problem(replicate_key,
                        fmt::format("{} GPUs are not divisible by {}, the product of the other degrees", gpus,
                                    other_degrees),
                        "torchtitan sets data_parallel_shard_degree to the quotient");
    } else if (gpus > max_ranks) {
      settings_.problem(shard_key, fmt::format("{} GPUs are too many", gpus),
                        fmt::format("the maximum is {}", max_ranks));
    } else {
      degrees.gpus = gpus;
      degrees.shard = gpus / other_degrees;
    }
    return degrees;
  }

  /// Without FSDP, torchtitan has mixed precision by autocast, and only without any other parallelism.
  /// @source torchtitan/distributed/utils.py, maybe_enable_amp
  std::string read_param_type(const Degrees& degrees) {
    const auto* key = "training.mixed_precision_param";
    auto type = settings_.word(key);
    if (degrees.has_fsdp() || degrees.split() == 1 || type == "fp32") return type;
    const auto text = "torchtitan computes in fp32 where layers or stages are split and FSDP is off";
    settings_.has(key) ? settings_.note(key, text)
                       : settings_.note_missing(fmt::format("precision: {}", text));
    return "fp32";
  }

  /// The format in which the model is created: that of parameters, gradients and optimizer states.
  /// @source torchtitan/train.py, utils.set_default_dtype(TORCH_DTYPE_MAP[job_config.training.dtype])
  void read_states(const std::string& param) {
    const auto type = settings_.word("training.dtype");
    if (type == "fp32") return;
    if (type == param) return keys_.put("job.state_dtype", type);
    settings_.note("training.dtype", "gradway computes in the format of the parameters: fp32 is assumed");
  }

  /// @return micro-steps per step
  long long read_job(const Degrees& degrees, const std::string& param) {
    const auto local = settings_.whole_number("training.local_batch_size", 1, max_batch).value_or(8);
    auto accumulate = accumulation(degrees, local);
    const auto micro = micro_batch(degrees, local);
    if (accumulate > 1 && degrees.pipeline > 1)
      settings_.note(
          {global_key},
          fmt::format("torchtitan drains the pipeline {} times per step, gradway once", accumulate));
    accumulate *= local / micro;
    check_job_numbers(settings_, micro, accumulate);
    keys_.put("job.gpus", degrees.gpus);
    keys_.put("job.batch_per_gpu", micro);
    if (!keys_.has("job.precision")) keys_.put("job.precision", param);
    read_states(param);
    if (accumulate > 1) keys_.put("job.accumulate", accumulate);
    keys_.put("job.sequence", read_sequence());
    read_compile(degrees);
    read_checkpoints();
    read_validation(degrees);
    return accumulate;
  }

  /// @source torchtitan/components/validate.py and config/job_config.py (Validation), 0.2
  void read_validation(const Degrees& degrees) {
    const auto local = settings_.whole_number("validation.local_batch_size", 1, max_batch).value_or(8);
    const auto sequence = settings_.whole_number("validation.seq_len", 1, max_tokens).value_or(2048);
    if (!settings_.boolean("validation.enable").value_or(false)) return;
    keys_.put("job.eval_batch", micro_batch(degrees, local));
    keys_.put("job.eval_sequence", sequence);
  }

  int read_sequence() {
    constexpr std::string_view key = "training.seq_len";
    const auto file_sequence = settings_.whole_number(key, 1, max_tokens);
    return sequence_of(settings_, options_, key, file_sequence).value_or(2048);
  }

  /// Whether the converters include float8, or the flag of 2024 is set.
  bool has_float8() {
    constexpr std::string_view key = "model.converters";
    const auto* converters = settings_.find(key);
    bool uses_float8 = settings_.boolean("float8.enable_float8_linear").value_or(false);
    // Of April to July 2024: "dynamic", "delayed" or "".
    if (const auto* old = settings_.find("training.fp8_linear training.enable_fp8_linear"))
      uses_float8 = uses_float8 || (!old->text.empty() && old->text != "false");
    if (converters == nullptr) return uses_float8;
    for (const auto& converter : converters->entries) {
      const bool is_mx = converter.text == "mx" || converter.text == "quantize.linear.mx";
      const bool is_float8 = converter.text == "float8" || converter.text == "quantize.linear.float8";
      uses_float8 = uses_float8 || is_float8 || is_mx;
      uses_mx_ = uses_mx_ || is_mx;
      if (!is_float8 && !is_mx)
        settings_.note(key, fmt::format("unknown converter '{}' is ignored", converter.text));
    }
    return uses_float8;
  }

  /// Samples of a micro-batch of the pipeline.
  long long micro_batch(const Degrees& degrees, long long local) {
    const auto micro = settings_.whole_number(pipeline_micro_key, 1, max_batch).value_or(1);
    if (degrees.pipeline == 1) return local;
    if (local % micro == 0) return micro;
    settings_.problem(pipeline_micro_key,
                      fmt::format("the {} samples of a pipeline are not divisible by {}", local, micro),
                      "torchtitan requires local_batch_size = pipeline_parallel_microbatch_size x "
                      "micro-batches");
    return local;
  }

  void read_checkpoints() {
    const auto mode = settings_.word("activation_checkpoint.mode");
    const auto option = settings_.text("activation_checkpoint.selective_ac_option").value_or("2");
    if (mode == "selective") return read_selection(option);
    keys_.put("job.recompute", mode);
  }

  /// Selective recomputation: every second product, or every n-th block.
  void read_selection(const std::string& option) {
    int every = 0;
    const auto read = std::from_chars(option.data(), option.data() + option.size(), every);
    const bool counts = !option.empty() && *read.ptr == '\0' && every >= 0;
    if (option != "op" && !counts)
      settings_.problem(settings_.where("activation_checkpoint.selective_ac_option"),
                        fmt::format("invalid option '{}' of selective mode", option),
                        "expected op, or a number N to recompute every N-th block");
    keys_.put("job.recompute", counts ? "full" : "selective_op");
    if (every > 1) keys_.put("job.recompute_every", every);
  }

  long long accumulation(const Degrees& degrees, long long local) {
    const auto global = settings_.whole_number(global_key, -1, 1'000'000'000).value_or(-1);
    if (global < 0 || degrees.gpus == 0) return 1;
    const auto of_micro_step = local * degrees.ranks();
    if (global == 0 || global % of_micro_step != 0) {
      settings_.problem(global_key,
                        fmt::format("{} samples per step are not divisible by {} on each of {} ranks", global,
                                    local, degrees.ranks()),
                        "torchtitan requires global_batch_size = local_batch_size x data parallel degrees x "
                        "micro-steps");
      return 1;
    }
    return global / of_micro_step;
  }

  /// CUDA graphs of torch.compile: those of its modes, or the pass of torchtitan's compiler toolkit, which
  /// captures the forward and the backward pass, too. @source torchtitan/experiments/compiler_toolkit, at
  /// 9f211ec1
  std::string graphs_of_compiler() {
    auto graphs = settings_.word("compile.mode");
    const auto passes = settings_.words("compile.passes");
    const bool has_pass = std::ranges::find(passes, "cudagraph", &FileSetting::text) != passes.end();
    return has_pass ? "reduce_overhead" : graphs;
  }

  /// By default the model is compiled and, in files of 2025, the loss; gradway does not support a compiled
  /// loss of split logits.
  void read_compile(const Degrees& degrees) {
    const auto* components = settings_.find("compile.components");
    const auto graphs = graphs_of_compiler();
    if (!keys_.has("job.compile")) return;
    const bool are_listed = components != nullptr && components->kind == FileSetting::Kind::list;
    const auto has = [&](const char* name) {
      return !are_listed ||
             std::ranges::find(components->entries, name, &FileSetting::text) != components->entries.end();
    };
    if (!has("model")) {
      keys_.put("job.compile", "");
      return settings_.note("compile.components",
                            "gradway does not compile the loss alone: nothing is compiled");
    }
    keys_.put("job.cuda_graphs", graphs);
    const bool is_of_2025 = are_listed || settings_.has_today("compile.enable");
    if (is_of_2025 && has("loss") && degrees.tensor == 1) keys_.put("job.fused_loss", "true");
  }

  void read_strategy(const Degrees& degrees, const std::string& param, const std::string& reduce,
                     long long accumulate) {
    if (degrees.has_fsdp()) {
      keys_.put("strategy.kind", "fsdp");
      keys_.put("strategy.param_dtype", param);
      keys_.put("strategy.reduce_dtype", reduce);
      // @source torchtitan at 05a6cb38, models/llama4/infra/parallelize.py: the CPU waits for row counts
      if (keys_.has("parallel.expert")) keys_.put("strategy.forward_prefetch", "1");
      if (degrees.replicate > 1) keys_.put("parallel.replicate", degrees.replicate);
      return;
    }
    keys_.remove_group("strategy.");
    keys_.put("strategy.kind", degrees.ranks() == 1 ? "none" : "ddp");
    if (degrees.ranks() == 1) return;
    keys_.put("strategy.bucket_cap", "100 MiB");  // torchtitan's bucket size.
    if (accumulate > 1 && degrees.replicate > 1)
      settings_.note(global_key, "torchtitan's DDP reduces in each micro-step, gradway's only in the last");
  }

  void read_layout(const Degrees& degrees) {
    if (degrees.tensor > 1)
      keys_.put("parallel.sequence", "true");  // As in torchtitan's plans of dense models.
    if (keys_.has("parallel.overlap") && !settings_.boolean("compile.enable").value_or(false))
      settings_.problem(async_key, "asynchronous tensor parallelism requires a compiled model",
                        "set compile.enable to true");
    const auto name = settings_.text(schedule_key).value_or("1F1B");
    const auto* points = settings_.find("parallelism.pipeline_parallel_split_points");
    const auto stages = read_stages(points);
    if (degrees.pipeline == 1) return;
    const auto& schedules = dialects::torchtitan().find(schedule_key)->words;
    const auto schedule = std::ranges::find(
        schedules, lower_snake(name), [](const ForeignValue& word) { return lower_snake(word.theirs); });
    if (schedule == schedules.end()) {
      std::vector<std::string> names;
      for (const auto& row : schedules) names.emplace_back(row.theirs);
      settings_.problem(schedule_key, fmt::format("unknown schedule '{}'", name), suggestion(name, names));
      return;
    }
    if (stages % degrees.pipeline != 0)
      settings_.problem(points != nullptr ? settings_.place(*points) : settings_.where(layers_of_stage_key),
                        fmt::format("{} stages are not divisible by {} ranks", stages, degrees.pipeline),
                        points != nullptr ? "give one split point fewer than there are stages"
                                          : "torchtitan requires this too");
    // Without split points: torchtitan/distributed/pipeline_parallel.py.
    const auto standard_chunks = schedule->ours == "1f1b" || schedule->ours == "gpipe" ? 1 : 2;
    const auto chunks = stages > 1 ? stages / degrees.pipeline : standard_chunks;
    if (chunks > 1) keys_.put("parallel.virtual", chunks);
    keys_.put("parallel.schedule", schedule->ours);
  }

  /// Number of stages by the split points or the layers of a stage; 0 if the file has neither.
  long long read_stages(const FileSetting* points) {
    const auto number = [&](std::string_view key, int least, int standard) {
      return settings_.whole_number(key, least, most_blocks).value_or(standard);
    };
    const auto of_stage = number(layers_of_stage_key, 1, 0);
    const auto less = number("parallelism.pipeline_parallel_first_stage_less_layers", 0, 1) +
                      number("parallelism.pipeline_parallel_last_stage_less_layers", 0, 1);
    if (points != nullptr) return static_cast<long long>(points->entries.size()) + 1;
    const auto blocks = of_stage > 0 && options_.blocks_of ? options_.blocks_of(keys_.value("model")) : 0;
    return blocks > 0 ? (blocks + less + of_stage - 1) / of_stage : 0;
  }

  void read_optimizer() {
    const auto name = settings_.text("optimizer.name").value_or("AdamW");
    const auto implementation = settings_.word("optimizer.implementation");
    const auto optimizer = optimizer_word(settings_, "optimizer.name", name, implementation == "fused");
    keys_.put("optimizer", optimizer == "adamw" && implementation == "loop" ? "adamw_loop" : optimizer);
    if (optimizer.empty())
      settings_.note("optimizer.name",
                     "gradway does not support this optimizer, so sgd is assumed; set 'optimizer: adamw' or "
                     "'adamw_fused' in the scenario");
  }

  TrainerSettings settings_;
  const DraftOptions& options_;
  DraftedKeys keys_{};
  bool uses_mx_ = false;  ///< linear layers are torchao's for mxfp8
};

}  // namespace

Draft draft_of_torchtitan(const SettingsFile& file, const DraftOptions& options) {
  return Torchtitan{file, options}.draft();
}

}  // namespace gradway

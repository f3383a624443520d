// SPDX-License-Identifier: Apache-2.0
// YAML and scripts of the Trainer of transformers and of the programs on top of it.
#include <algorithm>
#include <cctype>
#include <deque>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/training/finetuning_file.hpp"
#include "readers/training/scenario_draft.hpp"
#include "readers/training/trainer_settings.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/text.hpp"
#include "sim/dialects/model_names.hpp"

namespace gradway {
namespace {

using Kind = FileSetting::Kind;
using Key = std::string_view;

/// "llama3.1_8b" of "llama3_1_8b", as torchtune names models.
std::string with_minor_release(std::string name) {
  const auto is_digit = [&](std::size_t position) {
    return position < name.size() && std::isdigit(static_cast<unsigned char>(name[position])) != 0;
  };
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] != '_' || !is_digit(i - 1) || !is_digit(i + 1)) continue;
    name[i] = '.';
    break;
  }
  return name;
}

class Finetuning {
 public:
  Finetuning(const std::vector<SettingsFile>& files, const DraftOptions& options, const ReadJson& read_json)
      : options_{options}, read_json_{read_json} {
    for (const auto& file : files) {
      const auto& program = program_of(file);
      if (program_ == nullptr || program_->word(0) == "accelerate") program_ = &program;
      files_.push_back(with_dialect_names(file));
      settings_.emplace_back(files_.back(), dialects::finetuning());
    }
  }

  Draft draft() {
    read_model();
    read_platform(keys_, options_, first());
    read_job();
    read_adapters();
    read_strategy();
    read_optimizer();
    for (auto& settings : settings_) {
      for (const auto& row : settings.dialect().settings) settings.find(row.theirs);  // all of them are known
      keys_.read(settings);
      if (&settings != &first()) settings.note_unused();
    }
    if (keys_.value("job.finetune").empty()) keys_.remove_group("job.lora_");
    for (auto& settings : settings_) settings.raise();
    auto draft = keys_.finish(first());
    draft.trainer = program_->word(0);
    for (auto& settings : settings_)
      if (&settings != &first()) std::ranges::copy(settings.notes(), std::back_inserter(draft.notes));
    std::ranges::move(notes_, std::back_inserter(draft.notes));
    return draft;
  }

 private:
  TrainerSettings& first() { return settings_.front(); }
  /// The settings of the first file that has one of the keys, else of the first file.
  TrainerSettings& with(Key keys) {
    const auto having = std::ranges::find_if(settings_, [&](auto& settings) { return settings.has(keys); });
    return having == settings_.end() ? first() : *having;
  }
  bool has(Key keys) { return with(keys).has(keys); }
  bool flag(Key keys) {
    const auto* setting = with(keys).find(keys);
    return setting != nullptr && setting->text == "true";
  }
  int number(Key keys, int otherwise, int most = max_batch) {
    return with(keys).whole_number(keys, 0, most).value_or(otherwise);
  }
  /// A value as it is written, whether a text, a number or a switch, in lower case.
  std::string written(Key keys) {
    const auto* setting = with(keys).find(keys);
    if (setting == nullptr) return {};
    if (setting->kind == Kind::list && !setting->entries.empty())
      return lower_case(setting->entries.front().text);
    return lower_case(setting->text);
  }
  std::string_view of_program(std::string_view trait) const { return program_->value(trait); }
  void problem(Key keys, std::string message, std::string hint) {
    with(keys).problem(keys, std::move(message), std::move(hint));
  }

  void read_model() {
    constexpr Key key = "model_name_or_path";
    const auto* setting = with(key).find(key);
    keys_.put("model", options_.model);
    if (!options_.model.empty()) return;
    if (setting == nullptr || setting->text.empty())
      return problem(key, "the file does not name a model",
                     "name one with --model; 'gradway list models' lists them");
    auto name = setting->text;
    for (const auto* prefix : {"lora_", "qlora_"}) {
      if (!name.starts_with(prefix)) continue;  // torchtune's builders
      adapters_of_model_ = prefix;
      name.erase(0, adapters_of_model_.size());
    }
    auto alike = models_alike(name, options_.known_models);
    if (alike.empty()) alike = models_alike(with_minor_release(name), options_.known_models);
    if (alike.size() == 1) return keys_.put("model", alike.front());
    problem(key, fmt::format("gradway ships no model '{}'", setting->text),
            alike.empty() ? "make one from its config.json with 'gradway import hf', and name it with --model"
                          : fmt::format("name one with --model: {}", fmt::join(alike, ", ")));
  }

  void read_job() {
    gpus_ = options_.gpus.value_or(gpus_of_files());
    if (gpus_ == 0)
      problem("num_processes", "the file does not give the number of GPUs", "give it with --gpus");
    keys_.put("job.gpus", gpus_);
    constexpr Key batch_key = "per_device_train_batch_size";
    batch_ = number(batch_key, program_->number("batch", 0));
    if (options_.batch && has(batch_key) && batch_ != *options_.batch)
      problem(batch_key,
              fmt::format("the file has a batch of {} samples, but --batch is {}", batch_, *options_.batch),
              "remove --batch, or change the file");
    batch_ = options_.batch.value_or(batch_);
    if (batch_ == 0)
      problem(batch_key, "the file does not give the samples of a micro-step per GPU",
              "give them with --batch");
    if (batch_ > 0 && !has(batch_key) && !options_.batch)
      note(fmt::format("per_device_train_batch_size: {}, the default of {}", batch_, program_->word(0)));
    keys_.put("job.batch_per_gpu", batch_);
    accumulate_ = std::max(1, number("gradient_accumulation_steps", 1, max_accumulation));
    const auto samples = number("global_batch_size", 0);
    if (samples > 0 && !has("gradient_accumulation_steps")) {
      keys_.put("job.global_batch", samples);
    } else if (accumulate_ > 1) {
      keys_.put("job.accumulate", accumulate_);
    }
    read_sequence();
    read_precision();
    const bool recomputes =
        has("gradient_checkpointing") ? flag("gradient_checkpointing") : of_program("recompute") == "true";
    if ((recomputes && !flag("disable_gradient_checkpointing")) || flag("fsdp_activation_checkpointing"))
      keys_.put("job.recompute", "full");
    if (flag("activation_offloading")) keys_.put("job.offload_activations", "all");
    const auto backend = written("dynamo_backend");
    if (backend == "inductor") keys_.put("job.compile", "true");
    read_loss();
    read_tiles();
    if (of_program("transformers") != "false") keys_.put("job.implementation", "huggingface");
  }

  /// TRL computes the logits of 256 tokens at a time, twice. torchtune computes the loss chunk by chunk,
  /// compiled with the model, so that logits stay in the model's format. Liger's kernel needs the logits of
  /// as large a part of the tokens as the hidden size is of the vocabulary, 1/32 in Llama 3 8B, and of them
  /// once.
  /// @source trl, trainer/sft_trainer.py; torchtune, modules/loss/cross_entropy_loss.py; Liger-Kernel,
  /// ops/fused_linear_cross_entropy.py
  void read_loss() {
    constexpr int of_trl = 256;
    constexpr int of_liger = 32;
    const auto loss = written("loss");
    const bool is_chunked = loss.find("chunk") != std::string::npos || loss.starts_with("linearcross");
    if (is_chunked && flag("torch_compile")) keys_.put("job.fused_loss", "true");
    if (written("loss_type") == "chunked_nll") keys_.put("job.loss_chunk", of_trl);
    const auto tokens = static_cast<std::int64_t>(batch_) * sequence_;
    if (flag("use_liger_kernel") && tokens >= of_liger) keys_.put("job.loss_chunk", tokens / of_liger);
  }

  /// axolotl divides the sequence by the hidden size, which is 4,096 in Llama 3 8B.
  /// @source axolotl, monkeypatch/tiled_mlp; ms-swift, plugin/tiled_mlp (read in 2026)
  void read_tiles() {
    constexpr int hidden = 4096;
    if (!flag("tiled_mlp")) return;
    const auto of_file = number("tiled_mlp_num_shards", 0, max_tokens);
    const auto of_program = program_->number("tiles", 0);
    const auto standard = of_program > 0 ? of_program : (sequence_ + hidden - 1) / hidden;
    if (const auto tiles = of_file > 0 ? of_file : standard; tiles > 1) keys_.put("job.mlp_tiles", tiles);
    if (of_file > 0) return;
    note(fmt::format("tiled_mlp_num_shards: {}, {}", standard,
                     of_program > 0 ? fmt::format("the default of {}", program_->word(0))
                                    : "as for a hidden size of 4,096"));
  }

  int gpus_of_files() {
    if (const auto processes = number("num_processes", 0, max_ranks); processes > 0) return processes;
    constexpr Key key = "nproc_per_node";
    const auto* devices = with(key).find(key);
    int of_node = 0;
    if (devices != nullptr && devices->kind == Kind::list) {
      of_node = static_cast<int>(devices->entries.size());
    } else if (devices != nullptr && devices->kind == Kind::number) {
      of_node = number(key, 0, max_ranks);
    }
    return of_node * std::max(1, number("num_machines", 1, max_ranks));
  }

  void read_sequence() {
    constexpr Key key = "max_length";
    const auto of_file = number(key, 0, max_tokens);
    const auto standard = program_->number("sequence", 0);
    const auto sequence =
        sequence_of(with(key), options_, key, of_file > 0 ? std::optional{of_file} : std::nullopt);
    sequence_ = sequence.value_or(standard);
    if (sequence_ > 0) keys_.put("job.sequence", sequence_);
    if (sequence || standard == 0) return;
    note(fmt::format("max_length: {} tokens, the default of {}", standard, program_->word(0)));
  }

  /// The format of a word such as "bf16-mixed", "bfloat16" or "32-true"; empty: unknown.
  static std::string format_in(std::string_view word) {
    if (word.starts_with("bf16") || word.find("bfloat16") != std::string_view::npos) return "bf16";
    if (word.starts_with("fp16") || word.starts_with("16") || word.ends_with("float16") || word == "half")
      return "fp16";
    if (word.starts_with("fp8")) return "fp8";
    if (word.starts_with("32") || word == "no" || word == "fp32" || word.ends_with("float32")) return "fp32";
    return {};
  }

  void read_precision() {
    const auto mixed = written("mixed_precision");
    const auto weights = format_in(written("torch_dtype"));
    precision_ = format_in(mixed);
    const auto is_on = [&](Key key) { return flag(key) || with(key).is_automatic(key); };
    if (is_on("bf16") || flag("pure_bf16"))
      precision_ = "bf16";
    else if (is_on("fp16"))
      precision_ = "fp16";
    const bool of_weights = precision_.empty() || precision_ == "fp32";
    if (of_weights && (weights == "bf16" || weights == "fp16")) precision_ = weights;
    if (precision_.empty() && !of_program("precision").empty() && !has("bf16")) {
      precision_ = of_program("precision");
      note(fmt::format("bf16: true, the default of {}", program_->word(0)));
    }
    if (precision_.empty()) precision_ = "fp32";
    if (precision_ == "fp32" && flag("tf32")) precision_ = "tf32";
    if (!options_.precision.empty()) precision_ = options_.precision;
    keys_.put("job.precision", precision_);
    const bool is_half = precision_ == "bf16" || precision_ == "fp16";
    has_half_weights_ = is_half && (weights == precision_ || mixed.ends_with("-true") || flag("pure_bf16") ||
                                    (weights.empty() && of_program("half") == "true"));
  }

  void read_adapters() {
    const bool of_litgpt = program_->word(0) == "litgpt" && (has("lora_r") || has("lora_query"));
    const auto kind = !adapters_of_model_.empty()
                          ? adapters_of_model_.substr(0, adapters_of_model_.size() - 1)
                      : has("use_peft") ? written("use_peft")
                      : of_litgpt       ? std::string{"lora"}
                                        : std::string{of_program("finetune")};
    const auto quantised = written("quantize");  // "bnb.nf4", "bnb.nf4-dq"
    const bool is_four_bits =
        flag("load_in_4bit") || number("quantization_bit", 0) == 4 || quantised.starts_with("bnb.nf4");
    const bool adapts = kind == "true" || kind.find("lora") != std::string::npos;
    if (!adapts) {
      if (kind == "freeze")
        problem("use_peft", "gradway trains all parameters or adapters, but not some layers",
                "describe the model with fewer trained layers: docs/my-model.md");
      else if (!kind.empty() && kind != "full" && kind != "false" && kind != "none")
        problem("use_peft", fmt::format("gradway does not know the adapters '{}'", kind),
                "choose lora, qlora or full, or capture the program: docs/my-program.md");
      return;
    }
    const bool is_quantised = kind == "qlora" || is_four_bits;
    keys_.put("job.finetune", is_quantised ? "qlora" : "lora");
    keys_.put("job.lora_rank", number("lora_r", 8, 65536));
    constexpr Key nested = "bnb_4bit_use_double_quant";
    const bool is_nested =
        has(nested) ? flag(nested) : of_program("nested") == "true" || quantised.ends_with("-dq");
    if (is_quantised && !is_nested) keys_.put("job.double_quant", "false");
    of_litgpt ? read_litgpt_targets() : read_targets();
  }

  /// A switch for each layer; without any, queries and values. @source litgpt, finetune/lora.py
  void read_litgpt_targets() {
    if (flag("lora_mlp")) return;
    const bool is_all_of_attention = flag("lora_key") || flag("lora_projection");
    keys_.put("job.lora_targets", is_all_of_attention ? "attention" : "query_value");
  }

  void read_targets() {
    constexpr Key key = "lora_target_modules";
    std::vector<std::string> modules;
    for (const auto& word : with(key).words(key)) modules.push_back(lower_case(word.text));
    const auto has_module = [&](std::string_view name) { return std::ranges::count(modules, name) > 0; };
    if (modules.empty() && has("use_peft") && program_->word(0) == "Trainer")
      return keys_.put("job.lora_targets", "query_value");
    const bool has_mlp = std::ranges::any_of(modules, [](const std::string& name) {
      return name.find("linear") != std::string::npos || name == "all" || name.starts_with("gate") ||
             name.starts_with("up") || name.starts_with("down") || name.starts_with("fc");
    });
    if (modules.empty() || has_mlp || flag("apply_lora_to_mlp")) return;
    const bool is_all_of_attention =
        has_module("k_proj") || has_module("o_proj") || has_module("output_proj");
    keys_.put("job.lora_targets", is_all_of_attention ? "attention" : "query_value");
  }

  void read_strategy() {
    const auto distributed = written("distributed_type");
    if (has("deepspeed") || has("zero_stage") || distributed.starts_with("deepspeed"))
      return read_deepspeed(distributed);
    const auto fsdp = written("fsdp");
    const bool is_fsdp = (has("fsdp") && fsdp != "false" && !fsdp.empty()) ||
                         distributed.starts_with("fsdp") || number("fsdp_version", 0) > 0 ||
                         (gpus_ > 1 && of_program("strategy") == "fsdp");
    if (is_fsdp) return read_fsdp(fsdp);
    const std::array no_other{"", "no", "none", "auto", "single", "ddp", "dp", "multi_gpu"};
    if (std::ranges::none_of(no_other, [&](const std::string_view word) {
          return word.empty() ? distributed.empty() : distributed.starts_with(word);
        }))
      note(fmt::format("strategy {}: gradway does not know it and takes DDP", distributed));
    if (gpus_ <= 1) {
      keys_.put("strategy.kind", "none");
    } else {
      keys_.put("strategy.kind", "ddp");
      if (const auto size = number("ddp_bucket_cap_mb", 0); size > 0)
        keys_.put("strategy.bucket_cap", fmt::format("{} MiB", size));
      if (distributed.find("find_unused") != std::string::npos)
        keys_.put("strategy.find_unused_parameters", "true");
    }
    // PEFT keeps adapters in fp32, torchtune and litgpt in the format of the model.
    if (has_half_weights_ && (!keys_.has("job.finetune") || of_program("transformers") == "false"))
      keys_.put("job.state_dtype", precision_);
  }

  void read_fsdp(const std::string& words) {
    constexpr Key sharding_key = "fsdp_sharding_strategy";
    bool is_second = number("fsdp_version", of_program("transformers") == "false" ? 2 : 1) == 2;
    if (!is_second && keys_.has("job.finetune")) {
      note("fsdp: gradway divides adapters with FSDP2 only, which is assumed");
      is_second = true;
    }
    keys_.put("strategy.kind", is_second ? "fsdp" : "fsdp1");
    if (has_half_weights_ && of_program("transformers") == "false") {
      keys_.put("job.state_dtype", precision_);
    } else if (precision_ == "bf16" || precision_ == "fp16") {
      // @source accelerate, utils/dataclasses.py, set_mixed_precision: parameters and sums in one format
      keys_.put("strategy.param_dtype", precision_);
      keys_.put("strategy.reduce_dtype", precision_);
    }
    const auto sharding = words + " " + written(sharding_key);
    const bool keeps = sharding.find("grad_op") != std::string::npos || sharding.ends_with(" 2");
    if (sharding.find("hybrid") != std::string::npos)
      note(
          "fsdp: gradway's groups have all ranks: set parallel.replicate to the number of nodes for "
          "HYBRID_SHARD");
    if (keeps && !is_second) keys_.put("strategy.sharding_strategy", "shard_grad_op");
    if (is_second && (keeps || written("fsdp_reshard_after_forward") == "false"))
      keys_.put("strategy.reshard_after_forward", "false");
    const bool offloads = flag("fsdp_offload_params") || words.find("offload") != std::string::npos;
    if (offloads && is_second) keys_.put("strategy.cpu_offload", "true");
    if (offloads && !is_second)
      note(
          "fsdp_offload_params: gradway offloads with FSDP2 only, so parameters stay on the GPU: more "
          "memory, less time");
  }

  /// The stage in a name such as "deepspeed_configs/zero3_bf16.json", "ds_z2_config.json" or
  /// "deepspeed_stage_3"; 0: none.
  static int stage_in(std::string_view name) {
    const auto word = lower_case(last_name(name.ends_with(".json") ? name.substr(0, name.size() - 5) : name));
    for (const auto* start : {"zero", "stage", "z"})
      for (auto from = word.find(start); from != std::string::npos; from = word.find(start, from + 1)) {
        const auto digit = word.find_first_not_of("_-", from + std::string_view{start}.size());
        if (digit != std::string::npos && word[digit] >= '1' && word[digit] <= '3') return word[digit] - '0';
      }
    return 0;
  }

  void read_deepspeed(const std::string& distributed) {
    constexpr Key key = "deepspeed";
    const auto* setting = with(key).find(key);
    const auto name = setting == nullptr ? std::string{} : setting->text;
    if (name.ends_with(".json")) {
      if (const auto file = read_json_(name, with(key).whole().file)) return take_deepspeed(*file);
      if (stage_in(name) > 0)
        note(fmt::format(
            "deepspeed: there is no file '{}' here, so stage {} is taken from its name, with DeepSpeed's "
            "defaults",
            name, stage_in(name)));
    }
    const auto stage =
        has("zero_stage") ? number("zero_stage", 0, 3) : std::max(stage_in(name), stage_in(distributed));
    keys_.put("job.framework", "deepspeed");
    if (stage == 0 && !has("zero_stage"))
      return problem(key, fmt::format("the stage of ZeRO is not known: there is no file '{}'", name),
                     "give the DeepSpeed configuration as another file, or copy it to this place");
    keys_.put("strategy.kind", stage > 0 ? "zero" : gpus_ > 1 ? "ddp" : "none");
    if (stage > 0) keys_.put("strategy.stage", stage);
    const bool offloads = written("offload_optimizer_device") == "cpu" || flag("offload_optimizer_device") ||
                          distributed.ends_with("offload") || name.find("offload") != std::string::npos;
    if (stage > 0 && offloads) keys_.put("strategy.offload_optimizer", "true");
  }

  /// Takes the strategy of DeepSpeed's own file, with what the trainer sets where it says "auto".
  void take_deepspeed(const SettingsFile& file) {
    auto options = options_;
    options.model = keys_.value("model");
    options.gpus = gpus_ > 0 ? std::optional{gpus_} : std::nullopt;
    if (!file.root.find("bf16") || written_auto(file, "bf16"))
      options.precision = precision_ == "tf32" ? "fp32" : precision_;
    if (batch_ > 0 && written_auto(file, "train_micro_batch_size_per_gpu")) options.batch = batch_;
    const auto draft = draft_of_deepspeed(file, options);
    for (const auto& [key, value] : draft.keys)
      if (key.starts_with("strategy.") || key == "job.framework" || key == "optimizer" ||
          key.starts_with("parallel."))
        keys_.put(key, value);
    has_optimizer_ = file.root.find("optimizer") != nullptr;
    for (const auto& note : draft.notes)
      if (note.text.find("\"auto\"") == std::string::npos &&
          note.text.find("optimizer: the file") == std::string::npos)
        notes_.push_back(note);
  }

  static bool written_auto(const SettingsFile& file, std::string_view key) {
    const auto* setting = file.root.find(key);
    if (setting == nullptr) return true;
    if (setting->kind != Kind::table) return setting->text == "auto";
    const auto* enabled = setting->find("enabled");
    return enabled == nullptr || enabled->text == "auto" || enabled->text == "false";
  }

  void read_optimizer() {
    constexpr Key key = "optim";
    if (!has(key) && has_optimizer_) return;
    const auto name = has(key) ? last_name(written(key)) : std::string{of_program("optimizer")};
    const auto word = optimizer_word(with(key), key, name, true);
    const auto optimizer = word == "adamw" && flag("fused") ? "adamw_fused" : word;
    keys_.put("optimizer", optimizer.empty() ? "adamw" : optimizer);
    if (optimizer.empty())
      with(key).note(key, "gradway does not support this optimizer, so adamw is assumed");
    constexpr Key norm_key = "max_grad_norm";
    const auto most = with(norm_key).number(norm_key, 0);
    if (most ? *most > 0 : of_program("clip") == "true") keys_.put("job.clip_grad_norm", "true");
  }

  void note(std::string text) { notes_.push_back({first().whole(), std::move(text)}); }

  const DraftOptions& options_;
  const ReadJson& read_json_;
  const TextRow* program_ = nullptr;
  std::deque<SettingsFile> files_{};
  std::deque<TrainerSettings> settings_{};
  DraftedKeys keys_{};
  std::vector<DraftNote> notes_{};
  std::string precision_{};
  std::string adapters_of_model_{};  ///< "lora_" or "qlora_", in the name of the model
  bool has_half_weights_ = false;
  bool has_optimizer_ = false;
  int gpus_ = 0;
  int batch_ = 0;
  int sequence_ = 0;
  int accumulate_ = 1;
};

}  // namespace

Draft draft_of_finetuning(const std::vector<SettingsFile>& files, const DraftOptions& options,
                          const ReadJson& read_json) {
  return Finetuning{files, options, read_json}.draft();
}

}  // namespace gradway

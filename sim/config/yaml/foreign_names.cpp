// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/foreign_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/dialects/dialect.hpp"

namespace gradway::config {
namespace {

/// Common words for a key of ours; those of a trainer's settings are rows of its dialect.
struct ForeignKey {
  std::string_view wrong;    ///< without groups, in lower case with '_', separated by blanks
  std::string_view hint;     ///< our key, or a sentence with keys in quotes
  std::string_view group{};  ///< group of the key; empty: any
};

constexpr std::string_view data_hint =
    "leave it out: the data-parallel degree is 'job.gpus' divided by the tensor-, context- and "
    "pipeline-parallel degrees";

constexpr std::string_view petastorm_hint =
    "gradway does not model Petastorm: 'format: parquet' of 'input.dataset' through PyTorch's DataLoader is "
    "the nearest";
constexpr std::string_view inference_hint =
    "gradway models training, not inference: use a simulator of inference servers, such as Vidur, or a load "
    "test of your server";

constexpr auto foreign_keys = std::to_array<ForeignKey>({
    {"compile_loss fused_cross_entropy", "job.fused_loss"},
    {"apply_rope_fusion bias_activation_fusion bias_gelu_fusion bias_swiglu_fusion",
     "did you mean 'job.fusions'? It is all, activation, rope or none"},
    {"frees_early", "did you mean 'job.zero_grad'? before_backward frees gradients early"},
    {"num_gpus n_gpus ngpus gpu_count devices", "did you mean 'job.gpus'? It counts all ranks"},
    {"nodes num_nodes gpus_per_node",
     "set 'job.gpus' to the number of all GPUs; the number of nodes follows from the platform"},
    {"batch batch_size",
     "did you mean 'job.batch_per_gpu', the micro-batch of each GPU, or 'job.global_batch', the samples of a "
     "step?"},
    {"micro_batch per_device_train_batch_size", "job.batch_per_gpu"},
    {"gradient_accumulation grad_accum accumulation_steps accumulate_grad_batches num_microbatches",
     "job.accumulate"},
    {"sequence_length max_seq_len context_length block_size", "job.sequence"},
    {"activation_checkpointing activation_checkpoint gradient_checkpointing checkpointing recomputation",
     "did you mean 'job.recompute'? It is none, selective, selective_op or full"},
    {"dtype mixed_precision", "did you mean 'job.precision', or 'strategy.param_dtype' with kind fsdp?"},
    {"amp", "did you mean 'job.precision'? bf16 and fp16 use autocast"},
    {"torch_compile", "job.compile"},
    {"channels_last", "write 'memory_format: channels_last' in 'job'"},
    {"attn_implementation", "job.attention"},
    {"flash_attention", "did you mean 'job.attention'? auto is PyTorch's own choice"},
    {"max_grad_norm grad_clip", "did you mean 'job.clip_grad_norm'? It is true or false"},
    {"tp tensor_parallel", "parallel.tensor"},
    {"pp pipeline_parallel", "parallel.pipeline"},
    {"stages", "parallel.pipeline", "parallel"},
    {"vpp", "parallel.virtual"},
    {"chunks", "parallel.virtual", "parallel"},
    {"cp context_parallel", "parallel.context"},
    {"ep expert_parallel", "parallel.expert"},
    {"experts", "parallel.expert", "parallel"},
    {"etp", "parallel.expert_tensor"},
    {"sp", "did you mean 'parallel.sequence'? It is true or false"},
    {"dp data_parallel data_parallel_size", data_hint},
    {"data", data_hint, "parallel"},
    {"fsdp shard",
     "leave it out: the size of a sharded group follows from 'job.gpus' and 'parallel.replicate'",
     "parallel"},
    {"hsdp", "parallel.replicate"},
    {"num_workers", "input.loader_workers"},
    {"loader data_loader dataloader", "did you mean 'input.loader'? It is pytorch, dali or tf_data"},
    {"petastorm", petastorm_hint},
    {"dali", "write 'loader: dali' in 'input'"},
    {"tf_data", "write 'loader: tf_data' in 'input'"},
    {"num_threads num_parallel_calls",
     "did you mean 'input.loader_workers'? With 'loader: dali' or 'tf_data' it is the number of threads"},
    {"prefetch_queue_depth", "input.prefetch_factor"},
    {"mode", inference_hint, "job"},
    {"inference serving", inference_hint},
    {"retrieval retriever rag",
     "gradway does not model retrieval (RAG): describe the store as 'input.storage' with its 'first_byte', "
     "and what a sample fetches as 'input.dataset'"},
    {"zero_stage", "did you mean 'strategy.stage', with kind zero?"},
    {"sharding_strategy", "did you mean 'strategy.sharding_strategy', with kind fsdp1?", "parallel"},
    {"instance instance_type", "platform"},
});

/// Values of other trainers, and the hint to ours.
struct ForeignWord {
  std::string_view thing;
  std::string_view wrong;  ///< in lower case, separated by blanks
  std::string_view hint;   ///< our word, or a sentence
};

constexpr std::string_view precision_thing = "a precision";
constexpr std::string_view format_thing = "a number format";
constexpr std::string_view strategy_thing = "a strategy";
constexpr std::string_view recompute_thing = "a recompute mode";
constexpr std::string_view storage_thing = "a storage tier";

constexpr auto foreign_words = std::to_array<ForeignWord>({
    {precision_thing, "bfloat16 bf16-mixed", "bf16"},
    {precision_thing, "float16 half", "fp16"},
    {precision_thing, "16 mixed amp", "did you mean 'bf16' or 'fp16'?"},
    {precision_thing, "float32 float full 32", "fp32"},
    {precision_thing, "float8 e4m3", "fp8"},
    {precision_thing, "mxfp8", "write 'precision: fp8' and 'fp8_recipe: mxfp8'"},
    {precision_thing, "fp4 mxfp4 int4", "of formats with 4 bits, gradway models 'nvfp4'"},
    {precision_thing, "int8", "gradway does not model training in int8; did you mean 'fp8'?"},
    {format_thing, "bfloat16", "bf16"},
    {format_thing, "float16 half", "fp16"},
    {format_thing, "float32 float", "fp32"},
    {strategy_thing, "megatron megatron-lm",
     "write 'kind: distributed_optimizer', and 'framework: megatron' in 'job' for its layers and "
     "communication"},
    {strategy_thing, "deepspeed", "write 'kind: zero' and its 'stage': 1, 2 or 3"},
    {strategy_thing, "zero1 zero-1", "write 'kind: zero' and 'stage: 1'"},
    {strategy_thing, "zero2 zero-2", "write 'kind: zero' and 'stage: 2'"},
    {strategy_thing, "zero3 zero-3", "write 'kind: zero' and 'stage: 3'"},
    {strategy_thing, "horovod",
     "gradway does not model Horovod; 'ddp' is similar: it also reduces gradients in buckets"},
    {strategy_thing, "fsdp2", "did you mean 'fsdp'? It is FSDP2"},
    {strategy_thing, "fully_shard", "fsdp"},
    {strategy_thing, "hsdp", "write 'kind: fsdp', and 'replicate' in 'parallel'"},
    {strategy_thing, "dp", "ddp"},
    {strategy_thing, "single", "none"},
    {strategy_thing, "tp tensor", "use 'parallel.tensor', which combines with any strategy"},
    {strategy_thing, "pp pipeline", "use 'parallel.pipeline', which combines with any strategy"},
    {strategy_thing, "diloco", "local_sgd"},
    {recompute_thing, "true yes",
     "write full, which recomputes each block, or selective_op, torchtitan's default"},
    {recompute_thing, "false no", "write none"},
    {recompute_thing, "block uniform", "full"},
    {recompute_thing, "core_attn", "selective"},
    {"a framework", "torch torchtitan fsdp huggingface", "pytorch"},
    {"a framework", "nemo megatron-lm megatron-core", "megatron"},
    {"a framework", "tensorflow", "gradway models PyTorch and Megatron-LM, not TensorFlow; leave it out"},
    {"a framework", "jax", "gradway models PyTorch and Megatron-LM, not JAX; leave it out"},
    {"an optimizer", "adam", "did you mean 'adamw' or 'adamw_fused'?"},
    {"an attention implementation", "sdpa", "did you mean 'auto'? It is PyTorch's own choice"},
    {"an attention implementation", "eager", "composed"},
    {"an attention implementation", "flash2 flash_attention_2 flash_attn", "flash"},
    {"an attention implementation", "fused", "cudnn"},
    {"a loader", "petastorm", petastorm_hint},
    {"a loader", "dataloader", "pytorch"},
    {"a loader", "tensorflow", "tf_data"},
    {"a loader", "ffcv", "describe its file as a dataset of format pages, with 'loader: pytorch'"},
    {storage_thing, "s3-one-zone", "did you mean 's3-express'? It is S3 Express One Zone"},
    {storage_thing, "wekafs", "did you mean 'weka-1-client' or 'weka-dgx-2'?"},
    {storage_thing, "amlfs",
     "did you mean 'azure-managed-lustre-125-16tib'? 'gradway list storage' has its other tiers"},
    {storage_thing, "rapid-cache", "gcs-anywhere-cache"},
    {storage_thing, "gpfs", "did you mean 'lustre-hpc'? Its bandwidth is that of a GPFS"},
    {storage_thing, "ceph minio hdfs",
     "describe it in place: 'input.storage' may be a map with 'kind', 'read' and 'first_byte'"},
    {storage_thing, "glacier",
     "archives are restored before they are read: copy the data to another tier, such as 's3-standard'"},
    {"a memory format", "nhwc", "channels_last"},
    {"a memory format", "nchw", "contiguous"},
});

/// Accelerators other than NVIDIA's GPUs, by words of their names.
struct ForeignAccelerator {
  enum class Match : std::uint8_t { whole, start, first };
  Match match;  ///< how one of `words` occurs: as a word, as its start, or as the first word of the name
  std::string_view words;
  std::string_view product;
};

constexpr auto foreign_accelerators = [] {
  using enum ForeignAccelerator::Match;
  // "azure-nd96asr-v4" is a platform, but a name that begins with "v4" is a slice of TPUs.
  return std::to_array<ForeignAccelerator>({
      {start, "tpu v5e v5p v5lite v6e ct4p ct5 ct6e", "TPUs"},
      {first, "v2 v3 v4", "TPUs"},
      {whole, "trillium ironwood", "TPUs"},
      {start, "trn trainium", "AWS Trainium"},
      {start, "inf1 inf2 inferentia", "AWS Inferentia"},
      {start, "gaudi", "Intel Gaudi"},
      {whole, "hpu dl1", "Intel Gaudi"},
  });
}();

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_number(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The longest runs of characters that `belongs` accepts, in lower case.
template <class Belongs>
std::vector<std::string> words_of(std::string_view text, const Belongs& belongs) {
  std::vector<std::string> words;
  bool open = false;
  for (const char c : lower_case(text)) {
    const bool inside = belongs(c);
    if (inside && !open) words.emplace_back();
    if (inside) words.back() += c;
    open = inside;
  }
  return words;
}

/// "1.3b" as in names of model files: "1b3".
std::string with_unit_inside(const std::string& word) {
  const auto dot = word.find('.');
  if (dot == std::string::npos || dot == 0 || word.size() < dot + 3 || word.back() != 'b') return word;
  return word.substr(0, dot) + "b" + word.substr(dot + 1, word.size() - dot - 2);
}

bool is_release(const std::string& word) {
  return word.size() > 2 && word.front() == 'v' && is_number(word[1]) && word.find('.') != std::string::npos;
}

/// Letters and digits of a model's name, without words for its publisher or tuning.
/// @param minor with the minor release number: "llama318b" instead of "llama38b"
std::string letters_of_model(std::string_view name, bool minor) {
  constexpr std::array<std::string_view, 8> of_publishers{"hf",       "instruct", "chat", "base",
                                                          "pretrain", "meta",     "it",   "pt"};
  std::string letters;
  const auto model = name.substr(name.rfind('/') + 1);
  for (const auto& word : words_of(model, [](char c) { return is_alnum(c) || c == '.'; })) {
    if (std::ranges::find(of_publishers, word) != of_publishers.end() || is_release(word)) continue;
    const auto inside = with_unit_inside(word);
    const bool cuts = !minor && inside == word;
    std::ranges::copy_if(cuts ? word.substr(0, word.find('.')) : inside, std::back_inserter(letters),
                         is_alnum);
  }
  return letters;
}

/// Omits the group from its keys: 'gpus' instead of 'job.gpus'.
std::string inside_group(std::string_view hint, std::string_view group) {
  std::string text{hint};
  if (group.empty()) return text;
  const auto prefix = fmt::format("'{}.", group);
  for (auto position = text.find(prefix); position != std::string::npos;
       position = text.find(prefix, position + 1))
    text.replace(position, prefix.size(), "'");
  return text;
}

bool lists(std::string_view names, std::string_view name) {
  return std::ranges::count(names_in(names), name) > 0;
}

/// Hint for a word that other trainers have for a thing; empty: unknown.
std::string hint_for_foreign_word(std::string_view thing, std::string_view word) {
  const auto row = std::ranges::find_if(foreign_words, [&](const ForeignWord& foreign_word) {
    return foreign_word.thing == thing && lists(foreign_word.wrong, word);
  });
  return row == foreign_words.end() ? "" : hint_sentence(row->hint);
}

}  // namespace

std::string hint_for_foreign_key(std::string_view group, std::string_view key) {
  auto plain = lower_case(key);
  std::ranges::replace(plain, '-', '_');
  const auto row = std::ranges::find_if(foreign_keys, [&](const ForeignKey& foreign_key) {
    return lists(foreign_key.wrong, plain) && (foreign_key.group.empty() || foreign_key.group == group);
  });
  return row == foreign_keys.end() ? hint_for_trainer_key(plain) : hint_sentence(row->hint);
}

std::string hint_for_key(std::string_view group, std::string_view key,
                         const std::vector<std::string>& known) {
  const auto foreign = hint_for_foreign_key(group, key);
  return foreign.empty() ? suggestion(key, known) : inside_group(foreign, group);
}

std::string hint_for_word(std::string_view thing, std::string_view word,
                          const std::vector<std::string>& known) {
  const auto hint = hint_for_foreign_word(thing, lower_case(word));
  return hint.empty() ? suggestion(word, known) : hint;
}

std::string hint_for_accelerator(std::string_view name) {
  using enum ForeignAccelerator::Match;
  const auto words = words_of(name, is_alnum);
  for (const auto& accelerator : foreign_accelerators) {
    const auto known = names_in(accelerator.words);
    const auto is_meant = [&](const std::string& word) {
      return std::ranges::any_of(known, [&](std::string_view part) {
        return accelerator.match == start ? word.starts_with(part) : word == part;
      });
    };
    const auto some = accelerator.match == first ? std::min<std::size_t>(1, words.size()) : words.size();
    if (std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(some), is_meant))
      return fmt::format(
          "gradway does not model {}, only NVIDIA GPUs with NCCL: choose a platform of 'gradway list "
          "platforms', or measure the step on that hardware",
          accelerator.product);
  }
  return "";
}

std::string hint_for_storage(std::string_view name) {
  auto plain = lower_case(name);
  std::ranges::replace_if(
      plain, [](char c) { return c == ' ' || c == '_'; }, '-');
  return hint_for_foreign_word(storage_thing, plain);
}

std::vector<std::string> models_alike(std::string_view name, const std::vector<std::string>& known) {
  for (const bool minor : {true, false}) {
    const auto wanted = letters_of_model(name, minor);
    std::vector<std::string> models;
    std::ranges::copy_if(known, std::back_inserter(models), [&](const std::string& model) {
      return !wanted.empty() && letters_of_model(model, true) == wanted;
    });
    if (!models.empty()) return models;
  }
  return {};
}

std::vector<std::string> gpu_words(std::string_view platform) {
  std::vector<std::string> words;
  for (auto& word : words_of(platform, is_alnum)) {
    // "8xh100" counts GPUs first.
    const auto times = word.find('x');
    const bool counts =
        times != std::string::npos && times > 0 && times + 1 < word.size() &&
        std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(times), is_number);
    if (counts) word.erase(0, times + 1);
    const bool has_both = std::ranges::any_of(word, is_number) && !std::ranges::all_of(word, is_number);
    if (has_both) words.push_back(std::move(word));
  }
  return words;
}

bool is_gpu_model(std::string_view gpu, std::string_view model) {
  return gpu.starts_with(model) && (gpu.size() == model.size() || gpu[model.size()] == '-');
}

}  // namespace gradway::config

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

namespace gradway::config {
namespace {

/// A key of another trainer, or a common word, and the hint to our key.
struct ForeignKey {
  std::string_view wrong;  ///< without its group, in lower case with '_'
  std::string_view group;  ///< group of the key; empty: any
  std::string_view hint;   ///< keys are in quotes with their groups
};

constexpr std::string_view gpus_hint = "did you mean 'job.gpus'? It counts all ranks";
constexpr std::string_view nodes_hint =
    "set 'job.gpus' to the number of all GPUs; the number of nodes follows from the platform";
constexpr std::string_view batch_hint =
    "did you mean 'job.batch_per_gpu', the micro-batch of each GPU, or 'job.global_batch', the samples of a "
    "step?";
constexpr std::string_view accumulate_hint = "did you mean 'job.accumulate'?";
constexpr std::string_view sequence_hint = "did you mean 'job.sequence'?";
constexpr std::string_view recompute_hint =
    "did you mean 'job.recompute'? It is none, selective, selective_op or full";
constexpr std::string_view fusions_hint = "did you mean 'job.fusions'? It is all, activation, rope or none";
constexpr std::string_view data_hint =
    "leave it out: the data-parallel degree is 'job.gpus' divided by the tensor-, context- and "
    "pipeline-parallel degrees";
constexpr std::string_view shard_hint =
    "leave it out: the size of a sharded group follows from 'job.gpus' and 'parallel.replicate'";

constexpr std::string_view loader_hint = "did you mean 'input.loader'? It is pytorch, dali or tf_data";
constexpr std::string_view petastorm_hint =
    "gradway does not model Petastorm: 'format: parquet' of 'input.dataset' through PyTorch's DataLoader is "
    "the nearest";
constexpr std::string_view threads_hint =
    "did you mean 'input.loader_workers'? With 'loader: dali' or 'tf_data' it is the number of threads";
constexpr std::string_view queue_hint = "did you mean 'input.prefetch_factor'?";
constexpr std::string_view inference_hint =
    "gradway models training, not inference: use a simulator of inference servers, such as Vidur, or a load "
    "test of your server";
constexpr std::string_view retrieval_hint =
    "gradway does not model retrieval (RAG): describe the store as 'input.storage' with its 'first_byte', "
    "and "
    "what a sample fetches as 'input.dataset'";

constexpr auto foreign_keys = std::to_array<ForeignKey>({
    {"compile_loss", "", "did you mean 'job.fused_loss'?"},
    {"fused_cross_entropy", "", "did you mean 'job.fused_loss'?"},
    {"cross_entropy_loss_fusion", "", "did you mean 'job.fused_loss'?"},
    {"apply_rope_fusion", "", fusions_hint},
    {"bias_activation_fusion", "", fusions_hint},
    {"bias_gelu_fusion", "", fusions_hint},
    {"bias_swiglu_fusion", "", fusions_hint},
    {"frees_early", "", "did you mean 'job.zero_grad'? before_backward frees gradients early"},
    {"num_gpus", "", gpus_hint},
    {"n_gpus", "", gpus_hint},
    {"ngpus", "", gpus_hint},
    {"gpu_count", "", gpus_hint},
    {"world_size", "", gpus_hint},
    {"devices", "", gpus_hint},
    {"nodes", "", nodes_hint},
    {"num_nodes", "", nodes_hint},
    {"nnodes", "", nodes_hint},
    {"gpus_per_node", "", nodes_hint},
    {"nproc_per_node", "", nodes_hint},
    {"batch", "", batch_hint},
    {"batch_size", "", batch_hint},
    {"train_batch_size", "", "did you mean 'job.global_batch'?"},
    {"global_batch_size", "", "did you mean 'job.global_batch'?"},
    {"micro_batch", "", "did you mean 'job.batch_per_gpu'?"},
    {"micro_batch_size", "", "did you mean 'job.batch_per_gpu'?"},
    {"local_batch_size", "", "did you mean 'job.batch_per_gpu'?"},
    {"per_device_train_batch_size", "", "did you mean 'job.batch_per_gpu'?"},
    {"train_micro_batch_size_per_gpu", "", "did you mean 'job.batch_per_gpu'?"},
    {"gradient_accumulation_steps", "", accumulate_hint},
    {"gradient_accumulation", "", accumulate_hint},
    {"grad_accum", "", accumulate_hint},
    {"accumulation_steps", "", accumulate_hint},
    {"accumulate_grad_batches", "", accumulate_hint},
    {"num_microbatches", "", accumulate_hint},
    {"seq_len", "", sequence_hint},
    {"seq_length", "", sequence_hint},
    {"sequence_length", "", sequence_hint},
    {"max_seq_len", "", sequence_hint},
    {"context_length", "", sequence_hint},
    {"block_size", "", sequence_hint},
    {"activation_checkpointing", "", recompute_hint},
    {"activation_checkpoint", "", recompute_hint},
    {"gradient_checkpointing", "", recompute_hint},
    {"checkpointing", "", recompute_hint},
    {"recomputation", "", recompute_hint},
    {"dtype", "", "did you mean 'job.precision', or 'strategy.param_dtype' with kind fsdp?"},
    {"mixed_precision", "", "did you mean 'job.precision', or 'strategy.param_dtype' with kind fsdp?"},
    {"amp", "", "did you mean 'job.precision'? bf16 and fp16 use autocast"},
    {"bf16", "", "write 'precision: bf16' in 'job'"},
    {"fp16", "", "write 'precision: fp16' in 'job'"},
    {"torch_compile", "", "did you mean 'job.compile'?"},
    {"channels_last", "", "write 'memory_format: channels_last' in 'job'"},
    {"attn_implementation", "", "did you mean 'job.attention'?"},
    {"flash_attention", "", "did you mean 'job.attention'? auto is PyTorch's own choice"},
    {"gradient_clipping", "", "did you mean 'job.clip_grad_norm'?"},
    {"max_grad_norm", "", "did you mean 'job.clip_grad_norm'? It is true or false"},
    {"grad_clip", "", "did you mean 'job.clip_grad_norm'? It is true or false"},
    {"tp", "", "did you mean 'parallel.tensor'?"},
    {"tensor_parallel", "", "did you mean 'parallel.tensor'?"},
    {"tensor_parallel_degree", "", "did you mean 'parallel.tensor'?"},
    {"tensor_model_parallel_size", "", "did you mean 'parallel.tensor'?"},
    {"pp", "", "did you mean 'parallel.pipeline'?"},
    {"pipeline_parallel", "", "did you mean 'parallel.pipeline'?"},
    {"pipeline_parallel_degree", "", "did you mean 'parallel.pipeline'?"},
    {"pipeline_model_parallel_size", "", "did you mean 'parallel.pipeline'?"},
    {"stages", "parallel", "did you mean 'parallel.pipeline'?"},
    {"vpp", "", "did you mean 'parallel.virtual'?"},
    {"chunks", "parallel", "did you mean 'parallel.virtual'?"},
    {"cp", "", "did you mean 'parallel.context'?"},
    {"context_parallel", "", "did you mean 'parallel.context'?"},
    {"context_parallel_degree", "", "did you mean 'parallel.context'?"},
    {"context_parallel_size", "", "did you mean 'parallel.context'?"},
    {"ep", "", "did you mean 'parallel.expert'?"},
    {"experts", "parallel", "did you mean 'parallel.expert'?"},
    {"expert_parallel", "", "did you mean 'parallel.expert'?"},
    {"expert_parallel_degree", "", "did you mean 'parallel.expert'?"},
    {"expert_model_parallel_size", "", "did you mean 'parallel.expert'?"},
    {"etp", "", "did you mean 'parallel.expert_tensor'?"},
    {"sp", "", "did you mean 'parallel.sequence'? It is true or false"},
    {"sequence_parallel", "", "did you mean 'parallel.sequence'? It is true or false"},
    {"dp", "", data_hint},
    {"data", "parallel", data_hint},
    {"data_parallel", "", data_hint},
    {"data_parallel_size", "", data_hint},
    {"fsdp", "parallel", shard_hint},
    {"shard", "parallel", shard_hint},
    {"data_parallel_shard_degree", "", shard_hint},
    {"data_parallel_replicate_degree", "", "did you mean 'parallel.replicate'?"},
    {"hsdp", "", "did you mean 'parallel.replicate'?"},
    {"num_workers", "", "did you mean 'input.loader_workers'?"},
    {"loader", "", loader_hint},
    {"data_loader", "", loader_hint},
    {"dataloader", "", loader_hint},
    {"petastorm", "", petastorm_hint},
    {"dali", "", "write 'loader: dali' in 'input'"},
    {"tf_data", "", "write 'loader: tf_data' in 'input'"},
    {"num_threads", "", threads_hint},
    {"num_parallel_calls", "", threads_hint},
    {"prefetch_queue_depth", "", queue_hint},
    {"mode", "job", inference_hint},
    {"inference", "", inference_hint},
    {"serving", "", inference_hint},
    {"retrieval", "", retrieval_hint},
    {"retriever", "", retrieval_hint},
    {"rag", "", retrieval_hint},
    {"zero_stage", "", "did you mean 'strategy.stage', with kind zero?"},
    {"sharding_strategy", "parallel", "did you mean 'strategy.sharding_strategy', with kind fsdp1?"},
    {"instance", "", "did you mean 'platform'?"},
    {"instance_type", "", "did you mean 'platform'?"},
});

/// A value of another trainer, and the hint to ours.
struct ForeignWord {
  std::string_view thing;
  std::string_view wrong;  ///< in lower case
  std::string_view hint;
};

constexpr std::string_view four_bits = "of formats with 4 bits, gradway models 'nvfp4'";
constexpr std::string_view precision_thing = "a precision";
constexpr std::string_view format_thing = "a number format";
constexpr std::string_view strategy_thing = "a strategy";
constexpr std::string_view recompute_thing = "a recompute mode";
constexpr std::string_view storage_thing = "a storage tier";
constexpr std::string_view describe_storage =
    "describe it in place: 'input.storage' may be a map with 'kind', 'read' and 'first_byte'";

constexpr auto foreign_words = std::to_array<ForeignWord>({
    {precision_thing, "bfloat16", "did you mean 'bf16'?"},
    {format_thing, "bfloat16", "did you mean 'bf16'?"},
    {format_thing, "float16", "did you mean 'fp16'?"},
    {format_thing, "half", "did you mean 'fp16'?"},
    {format_thing, "float32", "did you mean 'fp32'?"},
    {format_thing, "float", "did you mean 'fp32'?"},
    {precision_thing, "bf16-mixed", "did you mean 'bf16'?"},
    {precision_thing, "float16", "did you mean 'fp16'?"},
    {precision_thing, "half", "did you mean 'fp16'?"},
    {precision_thing, "16", "did you mean 'bf16' or 'fp16'?"},
    {precision_thing, "mixed", "did you mean 'bf16' or 'fp16'?"},
    {precision_thing, "amp", "did you mean 'bf16' or 'fp16'?"},
    {precision_thing, "float32", "did you mean 'fp32'?"},
    {precision_thing, "float", "did you mean 'fp32'?"},
    {precision_thing, "full", "did you mean 'fp32'?"},
    {precision_thing, "32", "did you mean 'fp32'?"},
    {precision_thing, "float8", "did you mean 'fp8'?"},
    {precision_thing, "e4m3", "did you mean 'fp8'?"},
    {precision_thing, "mxfp8", "write 'precision: fp8' and 'fp8_recipe: mxfp8'"},
    {precision_thing, "fp4", four_bits},
    {precision_thing, "mxfp4", four_bits},
    {precision_thing, "int4", four_bits},
    {precision_thing, "int8", "gradway does not model training in int8; did you mean 'fp8'?"},
    {strategy_thing, "megatron",
     "write 'kind: distributed_optimizer', and 'framework: megatron' in 'job' for its layers and "
     "communication"},
    {strategy_thing, "megatron-lm",
     "write 'kind: distributed_optimizer', and 'framework: megatron' in 'job' for its layers and "
     "communication"},
    {strategy_thing, "deepspeed", "write 'kind: zero' and its 'stage': 1, 2 or 3"},
    {strategy_thing, "zero1", "write 'kind: zero' and 'stage: 1'"},
    {strategy_thing, "zero2", "write 'kind: zero' and 'stage: 2'"},
    {strategy_thing, "zero3", "write 'kind: zero' and 'stage: 3'"},
    {strategy_thing, "zero-1", "write 'kind: zero' and 'stage: 1'"},
    {strategy_thing, "zero-2", "write 'kind: zero' and 'stage: 2'"},
    {strategy_thing, "zero-3", "write 'kind: zero' and 'stage: 3'"},
    {strategy_thing, "horovod",
     "gradway does not model Horovod; 'ddp' is similar: it also reduces gradients in buckets"},
    {strategy_thing, "fsdp2", "did you mean 'fsdp'? It is FSDP2"},
    {strategy_thing, "fully_shard", "did you mean 'fsdp'?"},
    {strategy_thing, "hsdp", "write 'kind: fsdp', and 'replicate' in 'parallel'"},
    {strategy_thing, "dp", "did you mean 'ddp'?"},
    {strategy_thing, "single", "did you mean 'none'?"},
    {strategy_thing, "tp", "use 'parallel.tensor', which combines with any strategy"},
    {strategy_thing, "tensor", "use 'parallel.tensor', which combines with any strategy"},
    {strategy_thing, "pp", "use 'parallel.pipeline', which combines with any strategy"},
    {strategy_thing, "pipeline", "use 'parallel.pipeline', which combines with any strategy"},
    {strategy_thing, "diloco", "did you mean 'local_sgd'?"},
    {recompute_thing, "true",
     "write full, which recomputes each block, or selective_op, torchtitan's default"},
    {recompute_thing, "yes",
     "write full, which recomputes each block, or selective_op, torchtitan's default"},
    {recompute_thing, "false", "write none"},
    {recompute_thing, "no", "write none"},
    {recompute_thing, "block", "did you mean 'full'?"},
    {recompute_thing, "uniform", "did you mean 'full'?"},
    {recompute_thing, "core_attn", "did you mean 'selective'?"},
    {"a framework", "torch", "did you mean 'pytorch'?"},
    {"a framework", "torchtitan", "did you mean 'pytorch'?"},
    {"a framework", "fsdp", "did you mean 'pytorch'?"},
    {"a framework", "huggingface", "did you mean 'pytorch'?"},
    {"a framework", "nemo", "did you mean 'megatron'?"},
    {"a framework", "megatron-lm", "did you mean 'megatron'?"},
    {"a framework", "megatron-core", "did you mean 'megatron'?"},
    {"an optimizer", "adam", "did you mean 'adamw' or 'adamw_fused'?"},
    {"an attention implementation", "sdpa", "did you mean 'auto'? It is PyTorch's own choice"},
    {"an attention implementation", "eager", "did you mean 'composed'?"},
    {"an attention implementation", "flash2", "did you mean 'flash'?"},
    {"an attention implementation", "flash_attention_2", "did you mean 'flash'?"},
    {"an attention implementation", "flash_attn", "did you mean 'flash'?"},
    {"an attention implementation", "fused", "did you mean 'cudnn'?"},
    {"a framework", "tensorflow", "gradway models PyTorch and Megatron-LM, not TensorFlow; leave it out"},
    {"a framework", "jax", "gradway models PyTorch and Megatron-LM, not JAX; leave it out"},
    {"a loader", "petastorm", petastorm_hint},
    {"a loader", "dataloader", "did you mean 'pytorch'?"},
    {"a loader", "tensorflow", "did you mean 'tf_data'?"},
    {"a loader", "ffcv", "describe its file as a dataset of format pages, with 'loader: pytorch'"},
    {storage_thing, "s3-one-zone", "did you mean 's3-express'? It is S3 Express One Zone"},
    {storage_thing, "wekafs", "did you mean 'weka-1-client' or 'weka-dgx-2'?"},
    {storage_thing, "amlfs",
     "did you mean 'azure-managed-lustre-125-16tib'? 'gradway list storage' has its other tiers"},
    {storage_thing, "rapid-cache", "did you mean 'gcs-anywhere-cache'?"},
    {storage_thing, "gpfs", "did you mean 'lustre-hpc'? Its bandwidth is that of a GPFS"},
    {storage_thing, "ceph", describe_storage},
    {storage_thing, "minio", describe_storage},
    {storage_thing, "hdfs", describe_storage},
    {storage_thing, "glacier",
     "archives are restored before they are read: copy the data to another tier, such as 's3-standard'"},
    {"a memory format", "nhwc", "did you mean 'channels_last'?"},
    {"a memory format", "nchw", "did you mean 'contiguous'?"},
});

/// Accelerators other than NVIDIA's GPUs, by words of their names.
struct ForeignAccelerator {
  enum class Match : std::uint8_t { whole, start, first };
  Match match;  ///< how `word` occurs: as a word, as its start, or as the first word of the name
  std::string_view word;
  std::string_view product;
};

constexpr auto foreign_accelerators = [] {
  using enum ForeignAccelerator::Match;
  // "azure-nd96asr-v4" is a platform, but a name that begins with "v4" is a slice of TPUs.
  return std::to_array<ForeignAccelerator>({
      {start, "tpu", "TPUs"},
      {first, "v2", "TPUs"},
      {first, "v3", "TPUs"},
      {first, "v4", "TPUs"},
      {start, "v5e", "TPUs"},
      {start, "v5p", "TPUs"},
      {start, "v5lite", "TPUs"},
      {start, "v6e", "TPUs"},
      {start, "ct4p", "TPUs"},
      {start, "ct5", "TPUs"},
      {start, "ct6e", "TPUs"},
      {whole, "trillium", "TPUs"},
      {whole, "ironwood", "TPUs"},
      {start, "trn", "AWS Trainium"},
      {start, "trainium", "AWS Trainium"},
      {start, "inf1", "AWS Inferentia"},
      {start, "inf2", "AWS Inferentia"},
      {start, "inferentia", "AWS Inferentia"},
      {start, "gaudi", "Intel Gaudi"},
      {whole, "hpu", "Intel Gaudi"},
      {whole, "dl1", "Intel Gaudi"},
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

}  // namespace

std::string hint_for_foreign_key(std::string_view group, std::string_view key) {
  auto plain = lower_case(key);
  std::ranges::replace(plain, '-', '_');
  const auto row = std::ranges::find_if(foreign_keys, [&](const ForeignKey& foreign_key) {
    return foreign_key.wrong == plain && (foreign_key.group.empty() || foreign_key.group == group);
  });
  return row == foreign_keys.end() ? "" : std::string{row->hint};
}

std::string hint_for_key(std::string_view group, std::string_view key,
                         const std::vector<std::string>& known) {
  const auto foreign = hint_for_foreign_key(group, key);
  return foreign.empty() ? suggestion(key, known) : inside_group(foreign, group);
}

std::string hint_for_word(std::string_view thing, std::string_view word,
                          const std::vector<std::string>& known) {
  const auto plain = lower_case(word);
  const auto row = std::ranges::find_if(foreign_words, [&](const ForeignWord& foreign_word) {
    return foreign_word.thing == thing && foreign_word.wrong == plain;
  });
  return row == foreign_words.end() ? suggestion(word, known) : std::string{row->hint};
}

std::string hint_for_accelerator(std::string_view name) {
  using enum ForeignAccelerator::Match;
  const auto words = words_of(name, is_alnum);
  for (const auto& accelerator : foreign_accelerators) {
    const auto is_it = [&accelerator](const std::string& word) {
      if (accelerator.match == start) return word.starts_with(accelerator.word);
      return word == accelerator.word;
    };
    const auto some = accelerator.match == first ? std::min<std::size_t>(1, words.size()) : words.size();
    if (std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(some), is_it))
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
  const auto row = std::ranges::find_if(foreign_words, [&](const ForeignWord& foreign_word) {
    return foreign_word.thing == storage_thing && foreign_word.wrong == plain;
  });
  return row == foreign_words.end() ? "" : std::string{row->hint};
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

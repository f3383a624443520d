// SPDX-License-Identifier: Apache-2.0
#include "readers/training/scenario_draft.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "readers/training/trainer_settings.hpp"
#include "sim/base/nearest.hpp"
#include "sim/scenario/pipeline/stage_layout.hpp"

namespace gradway {
namespace {

constexpr int max_argument = 1 << 24;
constexpr int gpt2_vocabulary = 50257;  // Size of the published files of GPT2BPETokenizer.

/// Converts Megatron-LM's arguments into a scenario and a model.
/// @source defaults: Megatron-LM's megatron/training/arguments.py (those without one there are fields of
/// megatron/core/transformer/transformer_config.py), at d98e8a64dd of 2026-08-22
class Megatron {
 public:
  Megatron(const ArgumentSettings& arguments, const DraftOptions& options, const std::string& name)
      : arguments_{arguments}, settings_{arguments.file, dialects::megatron()}, options_{options} {
    model_.trainer = dialects::megatron().trainer;
    model_.file = arguments.file.text.name;
    keys_.put("model", options.model.empty() ? name : options.model);
  }

  MegatronDraft draft() {
    read_platform(keys_, options_, settings_);
    check_that_sizes_are_known();
    layers_ = required_shape("num_layers");
    hidden_ = required_shape("hidden_size");
    heads_ = required_shape("num_attention_heads");
    read_sequence();
    const auto& named = options_.model;
    if (layers_ == 0 && !named.empty() && options_.blocks_of) layers_ = options_.blocks_of(named);
    read_precision();
    keys_.put("strategy.kind", "distributed_optimizer");
    keys_.read(settings_);
    tensor_ = keys_.ranks("parallel.tensor");
    pipeline_ = keys_.ranks("parallel.pipeline");
    context_ = keys_.ranks("parallel.context");
    read_layout();
    read_job();
    read_strategy();
    read_optimizer();
    read_shape();
    for (const auto& setting : arguments_.replaced) {
      settings_.note_at(setting, "occurs again with another value: the last one is used, as in Megatron-LM");
    }
    auto scenario = keys_.finish(settings_);
    return {std::move(scenario), std::move(model_)};
  }

 private:
  using Key = std::string_view;

  int number(Key key, int otherwise, int least = 1) {
    return settings_.whole_number(key, least, max_argument).value_or(otherwise);
  }
  bool flag(Key key) { return settings_.boolean(key).value_or(false); }

  /// Reads a required argument; 0 after a problem.
  int required(Key key) {
    if (settings_.has(key)) return number(key, 0);
    std::string argument{key};
    std::ranges::replace(argument, '_', '-');
    settings_.problem(settings_.whole(), fmt::format("the file has no '--{}'", argument),
                      "Megatron-LM requires it");
    return 0;
  }

  /// A file that only overrides a recipe has no size at all.
  void check_that_sizes_are_known() {
    lacks_sizes_ = options_.model.empty() && !settings_.has("num_layers") && !settings_.has("hidden_size") &&
                   !settings_.has("num_attention_heads");
    if (lacks_sizes_)
      settings_.problem(
          settings_.whole(), "the file does not give the sizes of a model (--num-layers and others)",
          "if they are in a recipe or another file, name the model with --model; 'gradway list models' "
          "lists them");
  }

  /// Reads an argument of the shape, which is required unless the options name a model; 0 if missing.
  int required_shape(Key key) {
    const bool is_required = options_.model.empty() && !lacks_sizes_;
    return is_required || settings_.has(key) ? required(key) : 0;
  }

  void read_sequence() {
    const Key key = "seq_length";
    const auto file_sequence = settings_.whole_number(key, 1, max_argument);
    sequence_ = sequence_of(settings_, options_, key, file_sequence).value_or(0);
    if (!file_sequence && !options_.sequence && !settings_.has(key)) required(key);
  }

  void require(Key key, bool is_supported, const std::string& message, const std::string& hint) {
    if (!is_supported) settings_.problem(key, message, hint);
  }

  void read_layout() {
    read_experts_layout();
    const auto chunks = read_stages(read_chunks());
    if (chunks > 1) {
      keys_.put("parallel.virtual", chunks);
      keys_.put("parallel.schedule", "interleaved");
    }
  }

  int read_chunks() {
    const Key of_layers = "num_layers_per_virtual_pipeline_stage";
    const Key of_stages = "num_virtual_stages_per_pipeline_rank";
    const auto stages = number(of_stages, 1);
    const auto size = number(of_layers, 0);
    if (pipeline_ == 1) return 1;
    if (size == 0) return stages;
    require(of_layers, layers_ % (pipeline_ * size) == 0,
            fmt::format("{} layers are not divisible by {} stages of {} layers", layers_, pipeline_, size),
            "Megatron-LM gives all virtual stages the same number of layers");
    return layers_ / pipeline_ / size;
  }

  /// Stages that do not have the same number of blocks. @return chunks of a rank
  int read_stages(int chunks) {
    const Key written = "pipeline_model_parallel_layout";
    if (const auto text = settings_.text(written)) {
      const auto [blocks, problem] = read_stage_layout(*text);
      if (!problem.empty()) {
        settings_.note(written, "gradway divides the blocks as evenly as possible: " + problem);
        return chunks;
      }
      keys_.put("parallel.stage_layout", *text);
      return std::max(1, static_cast<int>(std::ssize(blocks)) / pipeline_);
    }
    const Key of_first = "decoder_first_pipeline_num_layers";
    const Key of_last = "decoder_last_pipeline_num_layers";
    const int embedding = flag("account_for_embedding_in_pipeline_split") ? 1 : 0;
    const int loss = flag("account_for_loss_in_pipeline_split") ? 1 : 0;
    const int first = number(of_first, 0);
    const int last = number(of_last, 0);
    const int named = (first > 0 ? 1 : 0) + (last > 0 ? 1 : 0);
    if (pipeline_ == 1 || named + embedding + loss == 0) return chunks;
    const int rest = layers_ + embedding + loss - first - last;
    const int stages = chunks * (pipeline_ - named);
    require(named > 0 ? (first > 0 ? of_first : of_last) : "account_for_loss_in_pipeline_split",
            stages > 0 && rest > 0 && rest % stages == 0 && first % chunks == 0 && last % chunks == 0,
            fmt::format("{} layers are not divisible by the {} other stages", rest, stages),
            "Megatron-LM gives all other stages the same number of layers");
    if (stages <= 0 || rest % stages != 0) return chunks;
    std::vector<int> blocks(static_cast<std::size_t>(chunks * pipeline_), rest / stages);
    for (std::size_t stage = 0; stage < blocks.size(); stage += static_cast<std::size_t>(pipeline_)) {
      if (first > 0) blocks[stage] = first / chunks;
      if (last > 0) blocks[stage + static_cast<std::size_t>(pipeline_) - 1] = last / chunks;
    }
    blocks.front() -= embedding;
    blocks.back() -= loss;
    keys_.put("parallel.stage_layout", stage_layout_of(blocks));
    return chunks;
  }

  void read_experts_layout() {
    const bool has_ranks = keys_.has("parallel.expert");
    const auto expert_tensor = number("expert_tensor_parallel_size", tensor_);
    // Megatron-LM accepts it without experts.
    if (number("num_experts", 0, 0) > 0 && expert_tensor > 1)
      keys_.put("parallel.expert_tensor", expert_tensor);
    const auto dispatcher = settings_.text("moe_token_dispatcher_type").value_or("");
    static_cast<void>(settings_.text("moe_flex_dispatcher_backend"));
    if (has_ranks && (flag("moe_enable_deepep") || dispatcher == "flex"))
      keys_.put("parallel.expert_dispatch", "deepep");
    const Key capacity = "moe_expert_capacity_factor";
    const auto factor = settings_.number(capacity, 0);
    if (!factor) return;
    keys_.put("parallel.expert_capacity_factor", fmt::format("{}", *factor));
    if (!flag("moe_pad_expert_input_to_capacity"))
      settings_.note(capacity, "gradway pads the rows of each expert to its capacity");
  }

  int read_gpus() {
    const auto nodes = number("nnodes", 1);
    const auto of_node = number("nproc_per_node", 0);
    const auto launched = std::min<long long>(max_ranks, static_cast<long long>(nodes) * of_node);
    auto gpus = launched > 0 ? static_cast<int>(launched) : number("world_size", 0);
    const Key key = launched > 0 ? "nproc_per_node" : "world_size";
    if (options_.gpus) {
      require(key, gpus == 0 || gpus == *options_.gpus,
              fmt::format("the file has {} GPUs, but --gpus is {}", gpus, *options_.gpus),
              "remove --gpus, or change the file");
      gpus = *options_.gpus;
    }
    if (gpus == 0) settings_.problem(key, "the file does not give the number of GPUs", "give it with --gpus");
    return gpus;
  }

  int accumulation(int gpus, int micro) {
    const Key key = "global_batch_size";
    const auto split = static_cast<long long>(tensor_) * pipeline_ * context_;
    const auto global = number(key, 0);
    if (gpus == 0) return 1;
    require("tensor_model_parallel_size", gpus % split == 0,
            fmt::format("{} GPUs are not divisible by the {} that hold one copy of the model", gpus, split),
            "Megatron-LM requires a multiple of tensor x pipeline x context ranks");
    if (gpus % split != 0 || global == 0) return 1;
    const auto of_micro_step = gpus / split * micro;
    require(
        key, global % of_micro_step == 0,
        fmt::format("{} samples per step are not divisible by {} on each of {} data-parallel ranks", global,
                    micro, gpus / split),
        "Megatron-LM requires global-batch-size = micro-batch-size x data-parallel ranks x micro-batches");
    return std::max(1, static_cast<int>(global / of_micro_step));
  }

  void read_job() {
    const auto gpus = gpus_ = read_gpus();
    const auto micro = required("micro_batch_size");
    const auto accumulate = accumulation(gpus, std::max(1, micro));
    check_job_numbers(settings_, micro, accumulate);
    keys_.put("job.gpus", gpus);
    keys_.put("job.batch_per_gpu", micro);
    if (accumulate > 1) keys_.put("job.accumulate", accumulate);
    if (!options_.model.empty()) keys_.put("job.sequence", sequence_);
    keys_.put("job.framework", "megatron");
    read_attention();
    read_loss();
    keys_.put("job.fusions", fusions_word(settings_));
    read_recompute();
    keys_.put("job.cuda_graphs", cuda_graphs_word(settings_));
  }

  void read_attention() {
    const bool is_flash = flag("use_flash_attn");
    if (is_flash && !settings_.has("attention_backend")) keys_.put("job.attention", "flash");
    constexpr std::string_view modules = "transformer_impl";
    if (settings_.text(modules).value_or("") != "local") return;
    // Separate kernels compute attention, whatever the backend is. @source Megatron-Core,
    // transformer/dot_product_attention.py
    settings_.note(modules, "gradway has Transformer Engine's kernels for all layers but attention");
    keys_.put("job.attention", "math");
  }

  void read_precision() {
    const bool bf16 = flag("bf16");
    const bool fp16 = flag("fp16");
    require("fp16", !(bf16 && fp16), "fp16 and bf16 are both enabled",
            "Megatron-LM accepts only one of them");
    precision_ = bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
    const auto recipe = fp8_recipe(settings_, precision_);
    const bool has_four_bits = recipe.empty() && reads_fp4(settings_);
    keys_.put("job.precision", has_four_bits ? "nvfp4" : recipe.empty() ? precision_ : "fp8");
    keys_.put("job.fp8_recipe", recipe);
    if ((has_four_bits || !recipe.empty()) &&
        (flag("fp8_dot_product_attention") || flag("fp8_multi_head_attention")))
      keys_.put("job.fp8_attention", "true");
  }

  /// Without Triton's kernel, Megatron-LM compiles parts of the loss, whose tensors stay the same.
  void read_loss() {
    const auto kernel = settings_.text("cross_entropy_fusion_impl").value_or("native");
    if (flag("cross_entropy_loss_fusion") && kernel == "te") keys_.put("job.fused_loss", "true");
  }

  void read_recompute() {
    const Key key = "recompute_granularity";
    const auto granularity = settings_.text(key).value_or(flag("recompute_activations") ? "selective" : "");
    const auto method = settings_.text("recompute_method").value_or("");
    const auto layers = number("recompute_num_layers", 1, 0);
    require(key, granularity.empty() || granularity == "full" || granularity == "selective",
            fmt::format("invalid granularity '{}'", granularity), "expected full or selective");
    keys_.put("job.recompute", granularity);
    const bool recomputes_all = method == "block" ? layers * pipeline_ >= layers_ : layers == 1;
    if (granularity == "full" && !recomputes_all)
      settings_.note("recompute_num_layers", "gradway recomputes each block from its own input");
    const auto modules = recomputed_modules(settings_);
    if (granularity == "selective") keys_.put("job.recompute_modules", modules);
    if (granularity != "full") keys_.put("job.offload_activations", offloaded_modules(settings_));
  }

  void read_strategy() {
    if (const auto size = settings_.number("ddp_bucket_size", 1))
      keys_.put("strategy.bucket_size", elements_text(*size));
    // In bf16 jobs fp32 by default; in fp16 jobs as the parameters.
    const bool in_fp32 = flag("accumulate_allreduce_grads_in_fp32");
    const bool in_bf16 = flag("grad_reduce_in_bf16");
    const bool in_half = precision_ == "bf16" ? in_bf16 : precision_ == "fp16" && !in_fp32;
    if (in_half) keys_.put("strategy.grad_reduce_dtype", precision_);
    if (flag("use_megatron_fsdp")) read_megatron_fsdp(settings_, keys_, precision_);
  }

  void read_optimizer() {
    const auto name = settings_.text("optimizer").value_or("adam");
    // FusedAdam of Transformer Engine or Apex. SGD has a default momentum of 0.9.
    // Muon's "distributed" optimizer gives each rank whole matrices: LayerWiseDistributedOptimizer.
    const bool has_experts = number("num_experts", 0, 0) > 0;  // of which gradway does not give whole tensors
    if (name == "muon" && flag("use_distributed_optimizer") && !has_experts)
      keys_.put("strategy.tensor_owners", std::max(1, gpus_ / (tensor_ * pipeline_)));
    keys_.put("optimizer",
              name == "sgd" ? "sgd_momentum" : optimizer_word(settings_, "optimizer", name, true));
    if (!keys_.has("optimizer"))
      settings_.note("optimizer",
                     "gradway does not support this optimizer, so sgd is assumed; set 'optimizer: "
                     "adamw_fused' in the scenario");
  }

  template <class Value>
  void put(std::string key, const Value& value) {
    model_.keys.emplace_back(std::move(key), fmt::format("{}", value));
  }

  void read_shape() {
    put("kind", "decoder");
    put("layers", layers_);
    put("heads", heads_);
    put("hidden", hidden_);
    put("sequence", sequence_);
    read_vocabulary();
    read_biases();
    const bool is_latent = flag("multi_latent_attention");
    read_positions(is_latent);
    read_heads(is_latent);
    if (is_latent) read_latent();
    read_mlp();
    read_dropout();
    if (!options_.model.empty()) model_.keys.clear();
  }

  /// The vocabulary is padded to equal shards of the tensor ranks:
  /// megatron/core/tokenizers/utils/build_tokenizer.py.
  void read_vocabulary() {
    const auto tokenizer = settings_.text("tokenizer_type").value_or("");
    const auto padded = number("padded_vocab_size", 0);
    // Without the tokenizer's name, its files say which one it is. @source Megatron-LM,
    // tests/functional_tests
    const bool has_merges = settings_.has("vocab_file") && settings_.has("merge_file");
    const bool is_gpt2 = tokenizer == "GPT2BPETokenizer" || (tokenizer.empty() && has_merges);
    const auto size = number("vocab_size", is_gpt2 ? gpt2_vocabulary : 0);
    const auto multiple = number("make_vocab_size_divisible_by", 128);
    put("vocabulary", padded > 0 ? padded : size);
    if (padded == 0) put("pad_vocabulary_to", multiple * tensor_);
    if (padded == 0 && size == 0 && options_.model.empty() && !lacks_sizes_)
      settings_.problem(settings_.whole(), "the file does not give the size of the vocabulary",
                        "add --vocab-size with the size of the tokenizer, or name a model with --model");
    put("tied_output", !flag("untie_embeddings_and_output_weights"));
  }

  void read_biases() {
    const Key key = "normalization";
    const auto norm = settings_.text(key).value_or("LayerNorm");
    require(key, norm == "LayerNorm" || norm == "RMSNorm", fmt::format("invalid normalization '{}'", norm),
            "expected LayerNorm or RMSNorm");
    is_rms_ = norm == "RMSNorm";
    if (is_rms_) put("norm", "rms_norm");
    const bool qkv = flag("add_qkv_bias");
    if (!flag("disable_bias_linear")) return;
    if (is_rms_) {
      put("bias", false);
      if (qkv) put("qkv_bias", true);
      return;
    }
    put("qkv_bias", qkv);  // LayerNorms keep their biases.
    put("attention_output_bias", false);
    put("mlp_bias", false);
  }

  void read_positions(bool is_latent) {
    const Key key = "position_embedding_type";
    auto type = settings_.text(key).value_or("learned_absolute");
    if (flag("use_rotary_position_embeddings")) type = "rope";
    if (is_latent && type == "learned_absolute") {  // Latent attention always rotates a part of each head.
      type = "rope";
      settings_.note_missing("positions: gradway has no learned positions beside those of latent attention");
    }
    const bool none = flag("no_position_embedding");
    const auto share = settings_.number("rotary_percent", 0).value_or(1);
    const auto rows = number("max_position_embeddings", sequence_);
    if (type == "rope" || type == "yarn" || type == "mrope") {
      put("positions", "rotary");
      const auto head = number("kv_channels", heads_ > 0 ? hidden_ / heads_ : 0);
      if (share < 1) put("rotary_size", static_cast<int>(share * head));
    } else if (type == "none" || (none && type == "learned_absolute")) {
      put("positions", "none");
    } else if (type == "learned_absolute") {
      put("position_rows", rows);
    } else {
      settings_.problem(key, fmt::format("gradway does not support positions '{}'", type),
                        "expected learned_absolute, rope, yarn, mrope or none");
    }
  }

  void read_heads(bool is_latent) {
    const bool is_grouped = flag("group_query_attention");
    const auto groups = number("num_query_groups", heads_);
    const auto size = number("kv_channels", 0);
    const bool has_norms = flag("qk_layernorm");
    if (is_latent) return;
    if (is_grouped) put("kv_heads", groups);
    if (size > 0 && size * heads_ != hidden_) put("head_size", size);
    if (!has_norms) return;
    put("qk_norm", true);
    if (!is_rms_) settings_.note("qk_layernorm", "gradway only supports RMSNorms for queries and keys");
  }

  void read_latent() {
    const auto q_rank = number("q_lora_rank", 0);
    put("latent_attention",
        fmt::format("{{ {}kv_rank: {}, plain_head_size: {}, rotary_head_size: {}, value_head_size: {} }}",
                    q_rank > 0 ? fmt::format("q_rank: {}, ", q_rank) : "", number("kv_lora_rank", 32),
                    number("qk_head_dim", 128), number("qk_pos_emb_head_dim", 64),
                    number("v_head_dim", 128)));
  }

  void read_mlp() {
    const bool is_gated = flag("swiglu");
    const bool is_relu = flag("squared_relu");
    if (is_gated) put("activation", "swiglu");
    if (is_relu) {
      put("activation", "relu");
      settings_.note("squared_relu", "gradway uses relu without the square");
    }
    // Default of arguments.py: two thirds of 4 x hidden, in whole multiples of 64.
    const auto width =
        number("ffn_hidden_size", is_gated ? static_cast<int>(8LL * hidden_ / 3 / 64 * 64) : 4 * hidden_);
    const auto experts = number("num_experts", 0);
    const auto dense = experts > 0 ? read_dense_layers() : layers_;
    if (dense > 0) put("mlp", width);
    if (experts > 0) read_experts(experts, width, dense);
  }

  void read_experts(int experts, int width, int dense) {
    const auto expert_width = number("moe_ffn_hidden_size", width);
    const auto shared = number("moe_shared_expert_intermediate_size", 0);
    const bool divides = expert_width > 0 && shared % expert_width == 0;
    const auto top_k = number("moe_router_topk", 2);
    put("experts", fmt::format("{{ number: {}, top_k: {}, mlp: {}{}{}{}{} }}", experts, top_k, expert_width,
                               shared == 0 ? ""
                               : divides   ? fmt::format(", shared: {}", shared / expert_width)
                                           : fmt::format(", shared: 1, shared_mlp: {}", shared),
                               flag("moe_shared_expert_gate") ? ", shared_gate: true" : "",
                               dense > 0 ? fmt::format(", dense_layers: {}", dense) : "",
                               flag("moe_router_enable_expert_bias") ? ", router_bias: true" : ""));
  }

  /// Reads moe_layer_freq: 1, or a Python list such as ([0]*3+[1]*58).
  int read_dense_layers() {
    const Key key = "moe_layer_freq";
    const auto* setting = settings_.find(key);
    if (setting == nullptr || setting->text == "1") return 0;
    const auto [zeros, ones] = zeros_and_ones(setting->text);
    require(key, zeros > 0 && ones == layers_ - zeros,
            "gradway requires experts in all layers after the first dense ones",
            "write 1, or a list such as ([0]*3+[1]*58): zeros first, with one entry per layer");
    return zeros;
  }

  void read_dropout() {
    const auto attention = settings_.number("attention_dropout", 0).value_or(0.1);
    const auto hidden = settings_.number("hidden_dropout", 0).value_or(0.1);
    if (attention > 0 || hidden > 0) put("dropout", true);
    if (options_.model.empty() && (attention > 0) != (hidden > 0))
      settings_.note_missing(fmt::format(
          "dropout: {} in attention, {} elsewhere; gradway has both or none, and both are assumed", attention,
          hidden));
  }

  const ArgumentSettings& arguments_;
  TrainerSettings settings_;
  const DraftOptions& options_;
  DraftedKeys keys_{};
  Draft model_{};
  std::string precision_{};
  int layers_ = 0;
  int hidden_ = 0;
  int heads_ = 0;
  int sequence_ = 0;
  int gpus_ = 0;
  int tensor_ = 1;
  int pipeline_ = 1;
  int context_ = 1;
  bool is_rms_ = false;
  bool lacks_sizes_ = false;
};

}  // namespace

MegatronDraft draft_of_megatron(const ArgumentSettings& arguments, const DraftOptions& options,
                                const std::string& name) {
  auto with_model = options;
  if (options.model.empty()) with_model.model = model_named_in(arguments.file, options);
  return Megatron{megatron_arguments(arguments), with_model, name}.draft();
}

}  // namespace gradway

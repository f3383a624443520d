// SPDX-License-Identifier: Apache-2.0
// The keys of models by their kind, and of what they consist of.
#include "sim/scenario/catalogue/catalogue_fields.hpp"
#include "sim/scenario/catalogue/catalogue_values.hpp"
#include "sim/scenario/catalogue/model_limits.hpp"
#include "sim/scenario/field_rows.hpp"
#include "sim/workload/profile_words.hpp"

namespace gradway {
namespace {

using namespace catalogue;

constexpr std::array<std::string_view, 2> norm_words{"layer_norm", "rms_norm"};
constexpr std::array<std::string_view, 4> position_words{"learned", "rotary", "alibi", "none"};
constexpr std::array<std::string_view, 6> activation_words{"gelu",         "gelu_new", "relu",
                                                           "relu_squared", "swiglu",   "geglu"};
constexpr std::array<std::string_view, 3> block_words{"sequential", "parallel", "parallel_one_norm"};
constexpr std::array<std::string_view, 3> norm_placement_words{"before", "after", "both"};
constexpr std::array<std::string_view, 3> qk_norm_words{"false", "true", "all_heads"};
constexpr std::array<std::string_view, 3> packing_words{"false", "split", "sliced"};

constexpr value::Whole layer_number{1, most_layers};
constexpr value::Whole width{1, widest};
constexpr value::Whole head_elements{1, largest_head};
constexpr value::Whole token_number{1, most_tokens};
constexpr value::Whole pixels{1, largest_image};
constexpr value::Whole image_pixels{32, largest_image};
constexpr value::Described values_of_stages{"a list of 4 numbers"};

constexpr value::Whole sample_number{1, 1'000'000};
constexpr value::Words an_optimizer{"an optimizer", optimizer_words};
constexpr value::Words a_profiled_precision{"a precision", profile_words::precisions};

/// The keys of all transformers of tokens.
template <class Shape>
FieldTable fields_of_blocks() {
  return {required(field("layers", &Shape::layers, layer_number, "number of blocks")),
          required(field("heads", &Shape::heads, width, "attention heads")),
          required(field("hidden", &Shape::hidden, width, "width of a token")),
          required(field("vocabulary", &Shape::vocabulary, token_number, "number of words")),
          required(field("sequence", &Shape::sequence, token_number, "tokens per sample"))};
}

}  // namespace

FieldTable make_fields(std::type_identity<LinearAttention>) {
  using Linear = LinearAttention;
  return {required(field("key_heads", &Linear::key_heads, width, "heads of queries and keys")),
          required(field("value_heads", &Linear::value_heads, width, "heads of values")),
          required(field("key_head_size", &Linear::key_head, head_elements, "elements of a head of keys")),
          required(field("value_head_size", &Linear::value_head, head_elements, "of a head of values")),
          field("convolution", &Linear::convolution, value::Whole{1, 64}, "tokens of its convolution")};
}

FieldTable make_fields(std::type_identity<Tower>) {
  return {
      required(field("layers", &Tower::layers, layer_number, "blocks")),
      required(field("heads", &Tower::heads, width, "heads of attention")),
      required(field("hidden", &Tower::hidden, width, "width of the blocks")),
      required(field("mlp", &Tower::mlp, width, "width of MLPs")),
      required(field("patches", &Tower::patches, token_number, "patches of a sample")),
      required(
          field("patch_inputs", &Tower::patch_inputs, width, "numbers of a patch, or of a frame of sound")),
      field("join", &Tower::join, width, "patches that become one token; default: 4"),
      field("llama", &Tower::llama, boolean, "RMSNorms and SwiGLU, as in Qwen2.5-VL"),
      field("rotary", &Tower::rotary, boolean, "false: learned positions, as in CLIP"),
      field("window", &Tower::window, token_number, "patches that layers without full attention read"),
      field("full_attention_every", &Tower::full_every, layer_number, "every n-th layer has full attention"),
      field("averaged", &Tower::averaged, boolean, "patches are joined by their mean and one product"),
      field("frozen", &Tower::frozen, boolean, "runs without gradients")};
}

FieldTable make_fields(std::type_identity<LatentAttention>) {
  using Latent = LatentAttention;
  return {field("q_rank", &Latent::q_rank, width, "rank of queries; default: one projection"),
          required(field("kv_rank", &Latent::kv_rank, width, "rank of keys and values")),
          required(field("plain_head_size", &Latent::plain_head, head_elements, "without positions")),
          required(field("rotary_head_size", &Latent::rotary_head, head_elements, "with positions")),
          required(field("value_head_size", &Latent::value_head, head_elements, "of a head of values"))};
}

FieldTable make_fields(std::type_identity<Experts>) {
  return {required(field("number", &Experts::number, width, "experts of a layer")),
          required(field("top_k", &Experts::top_k, width, "experts per token")),
          required(field("mlp", &Experts::mlp, width, "width of an expert")),
          field("shared", &Experts::shared, value::Whole{0, widest}, "experts that every token uses"),
          field("shared_mlp", &Experts::shared_mlp, value::Whole{0, widest},
                "width of the shared experts together; 0: that of as many experts"),
          field("shared_gate", &Experts::shared_gate, boolean, "a trained gate of the shared experts"),
          field("dense_layers", &Experts::dense_layers, value::Whole{0, most_layers},
                "first layers that have an MLP instead"),
          field("every", &Experts::every, layer_number, "after them, every n-th layer has experts"),
          field("bias", &Experts::bias, boolean, "of the experts' products"),
          field("router_bias", &Experts::router_bias, boolean, "a bias per expert in their choice")};
}

FieldTable make_fields(std::type_identity<DecoderShape>) {
  using Shape = DecoderShape;
  return joined(
      {fields_of_blocks<Shape>(),
       {field("pad_vocabulary_to", &Shape::pad_vocabulary_to, token_number, "multiple of the vocabulary"),
        field("tied_output", &Shape::tied_output, boolean, "the output layer is the embedding"),
        field("dropout", &Shape::dropout, boolean, "after embedding, attention and MLP"),
        field("attention_dropout", &Shape::attention_dropout, boolean, "of the softmax; default: dropout"),
        field("logit_soft_cap", &Shape::soft_cap, boolean, "of the logits, as in Gemma 2"),
        field("embedding_norm", &Shape::embedding_norm, boolean, "after the embedding, as in BLOOM"),
        field("norm", &Shape::norm, value::Words{"a norm", norm_words}, "kind of norms"),
        field("blocks", &Shape::blocks, value::Words{"a block order", block_words},
              "parallel: attention and MLP read the same input"),
        field("norm_placement", &Shape::norm_placement,
              value::Words{"a place of norms", norm_placement_words}, "of attention and MLP"),
        field("bias", &Shape::bias, boolean, "of LayerNorms and, by default, of all projections"),
        field("qkv_bias", &Shape::qkv_bias, boolean, "of queries, keys and values; default: bias"),
        field("attention_output_bias", &Shape::attention_output_bias, boolean, "default: bias"),
        field("mlp_bias", &Shape::mlp_bias, boolean, "default: bias"),
        field("output_bias", &Shape::output_bias, boolean, "of the output layer"),
        field("masked_lm", &Shape::masked_lm, boolean, "no causal mask, and BERT's head"),
        field("positions", &Shape::positions, value::Words{"a position encoding", position_words},
              "kind of positions"),
        field("rotary_size", &Shape::rotary_size, width, "elements of a head with positions; default: all"),
        field("no_rotary_every", &Shape::no_rotary_every, layer_number, "every n-th layer has no positions"),
        field("position_rows", &Shape::position_rows, token_number, "of learned positions"),
        section("latent_attention", &Shape::latent, "low-rank queries, keys and values"),
        field("kv_heads", &Shape::kv_heads, width, "heads of keys and values; default: heads"),
        field("head_size", &Shape::head_size, head_elements, "default: hidden / heads"),
        field("qk_norm", &Shape::qk_norm, value::Words{"norms of queries and keys", qk_norm_words},
              "true: of each head; all_heads: of all heads together"),
        field("attention_gate", &Shape::attention_gate, boolean, "as in Qwen3-Next"),
        field("attention_sinks", &Shape::sinks, boolean, "as in gpt-oss"),
        field("packed_projections", &Shape::packed, value::Words{"a packing of projections", packing_words},
              "one projection of queries, keys and values in transformers' program"),
        field("window", &Shape::window, token_number, "tokens that layers without full attention read"),
        field("full_attention_every", &Shape::full_every, layer_number,
              "every n-th layer has full attention"),
        section("linear_attention", &Shape::linear, "in layers without full attention"),
        section("tower", &Shape::tower, "an encoder of images beside the text"),
        section("sound_tower", &Shape::sound_tower, "an encoder of sound beside the text"),
        field("activation", &Shape::activation, value::Words{"an activation", activation_words}, "of MLPs"),
        group("experts", &Shape::experts, "experts in place of MLPs"),
        custom("mlp", width, "width of MLPs; required unless all layers have experts")}});
}

FieldTable make_fields(std::type_identity<SpeechShape>) {
  using Shape = SpeechShape;
  return joined(
      {fields_of_blocks<Shape>(),
       {custom("decoder_layers", layer_number, "blocks of the decoder; default: layers"),
        required(field("mlp", &Shape::mlp, width, "width of MLPs")),
        required(field("mel_bins", &Shape::mel_bins, width, "of the spectrogram")),
        required(field("frames", &Shape::frames, value::Whole{2, most_tokens}, "of the spectrogram")),
        required(field("positions", &Shape::positions, token_number, "of the decoder"))}});
}

FieldTable make_fields(std::type_identity<EncoderDecoderShape>) {
  using Shape = EncoderDecoderShape;
  return joined(
      {fields_of_blocks<Shape>(),
       {required(field("mlp", &Shape::mlp, width, "width of MLPs")),
        required(field("head_size", &Shape::head_size, head_elements, "elements of a head")),
        field("target_sequence", &Shape::target_sequence, token_number, "of the decoder; default: sequence"),
        field("position_buckets", &Shape::position_buckets, width, "of relative positions")}});
}

FieldTable make_fields(std::type_identity<EncoderShape>) {
  using Shape = EncoderShape;
  return joined({fields_of_blocks<Shape>(),
                 {required(field("mlp", &Shape::mlp, width, "width of MLPs")),
                  field("positions", &Shape::positions, token_number, "rows of the position embedding"),
                  field("types", &Shape::types, width, "rows of the type embedding"),
                  field("masked_lm", &Shape::masked_lm, boolean, "the output is one per word"),
                  custom("outputs", width, "outputs per token; required unless masked_lm"),
                  field("pooler", &Shape::pooler, boolean, "whether it has a pooler")}});
}

FieldTable make_fields(std::type_identity<VisionTransformerShape>) {
  using Shape = VisionTransformerShape;
  return {required(field("image_size", &Shape::image_size, pixels, "side of an image in pixels")),
          required(field("patch_size", &Shape::patch_size, pixels, "side of a patch in pixels")),
          required(field("layers", &Shape::layers, layer_number, "number of blocks")),
          required(field("heads", &Shape::heads, width, "attention heads")),
          required(field("hidden", &Shape::hidden, width, "width of a token")),
          required(field("mlp", &Shape::mlp, width, "width of MLPs")),
          required(field("classes", &Shape::classes, width, "number of outputs"))};
}

FieldTable make_fields(std::type_identity<ResidualShape>) {
  using Shape = ResidualShape;
  return {required(field("image_size", &Shape::image_size, image_pixels, "side of an image in pixels")),
          custom("blocks", values_of_stages, "blocks of each of 4 stages", {.is_required = true}),
          field("groups", &Shape::groups, width, "of convolutions, as in ResNeXt"),
          field("width_per_group", &Shape::width_per_group, width, "channels of a group"),
          required(field("classes", &Shape::classes, width, "number of outputs"))};
}

FieldTable make_fields(std::type_identity<ConvNextShape>) {
  using Shape = ConvNextShape;
  return {required(field("image_size", &Shape::image_size, image_pixels, "side of an image in pixels")),
          custom("blocks", values_of_stages, "blocks of each of 4 stages", {.is_required = true}),
          custom("channels", values_of_stages, "channels of each of 4 stages", {.is_required = true}),
          required(field("classes", &Shape::classes, width, "number of outputs"))};
}

FieldTable make_fields(std::type_identity<DetectorShape>) {
  return {required(field("classes", &DetectorShape::classes, width, "classes and the background"))};
}

FieldTable make_fields(std::type_identity<ImageShape>) {
  return {required(field("channels", &ImageShape::channels, width, "of an image")),
          required(field("height", &ImageShape::height, pixels, "in pixels")),
          required(field("width", &ImageShape::width, pixels, "in pixels"))};
}

FieldTable make_fields(std::type_identity<SyntheticLayer>) {
  using Synthetic = SyntheticLayer;
  return {required(field("name", &Synthetic::name, text, "name of the layer")),
          field("repeat", &Synthetic::repeat, value::Whole{1, std::int64_t{100} * most_layers},
                "equal layers in a row"),
          required(field("forward", &Synthetic::forward, time_or_none, "time per sample")),
          required(field("backward", &Synthetic::backward, time_or_none, "time per sample")),
          required(field("parameters", &Synthetic::parameters, value::Whole{0, 1'000'000'000'000},
                         "of one tensor")),
          field("output", &Synthetic::output, size_or_none, "of a sample")};
}

FieldTable make_fields(std::type_identity<RecommenderShape>) {
  using Shape = RecommenderShape;
  constexpr value::Described widths{"a list of widths"};
  return {required(field("dense_features", &Shape::dense_features, width, "dense features of a sample")),
          custom("bottom", widths, "layers of the bottom MLP", {.is_required = true}),
          custom("top", widths, "layers of the top MLP", {.is_required = true}),
          custom("tables", value::Maps{}, "embedding tables: rows, lookups, repeat", {.is_required = true})};
}

FieldTable make_fields(std::type_identity<Anchor>) {
  return {custom("gpu", name, "GPU of the measurement: a file of platforms/gpus", {.is_required = true}),
          custom("precision", value::Words{"a precision", precision_words}, "precision of the measured step",
                 {.is_required = true}),
          required(field("batch", &Anchor::batch, sample_number, "samples of the measured step")),
          required(field("optimizer", &Anchor::optimizer, an_optimizer, "optimizer of the measured step")),
          custom("step_time", value::Amount{value::Unit::time, "97 ms"},
                 "measured step time; use this key or rate"),
          custom("rate", value::Amount{value::Unit::step_rate, "8.91 steps/s"},
                 "measured step rate; use this key or step_time"),
          required(field("source", &Anchor::source, text, "where the measurement comes from"))};
}

FieldTable make_fields(std::type_identity<Profile>) {
  const value::Words a_source_of_memory{"a memory source", profile_words::memory_sources};
  return {custom("gpu", name, "GPU of the trace: a file of platforms/gpus", {.is_required = true}),
          required(field("precision", &Profile::precision, a_profiled_precision, "of the traced step")),
          required(field("batch", &Profile::batch, sample_number, "samples of the traced step")),
          required(field("optimizer", &Profile::optimizer, an_optimizer, "of the traced step")),
          required(field("steps", &Profile::steps, sample_number, "steps of the trace")),
          required(field("traced_step", &Profile::traced_step, time, "step time under the profiler")),
          field("step_time", &Profile::step_time, time, "step time without the profiler"),
          field("accumulate_grad", &Profile::accumulate_grad, time, "CPU time of AccumulateGrad"),
          required(field("gap", &Profile::gap, time_or_none, "between two kernels")),
          custom("input_per_sample", size_or_none, "input of a sample", {.is_required = true}),
          custom("sequence", token_number, "tokens per sample of text"),
          custom("launches", value::TextRows{"launches, as gradway import kineto writes them"},
                 "launches of one step", {.is_required = true}),
          custom("gradients", value::TextRows{"after, dtype and shape"}, "in the order they are ready",
                 {.is_required = true}),
          custom("buffers", value::TextRows{"dtype and shape"}, "tensors that DDP broadcasts"),
          custom("memory_from", a_source_of_memory, "source of `memory`"),
          custom("memory", value::TextRows{"phase, grows, fixed, gradients and output"}, "of activations"),
          custom("memory_lacks", text, "operations whose saved tensors are unknown"),
          custom("keeps_gradients", boolean, "until the next forward pass")};
}

FieldTable make_fields(std::type_identity<CapturedStep>) {
  using Step = CapturedStep;
  constexpr value::TextRows memory_rows{"phase, grows, fixed and gradients"};
  return {required(field("framework", &Step::framework, text, "version of PyTorch")),
          required(field("precision", &Step::precision, a_profiled_precision, "of the step")),
          required(field("state_dtype", &Step::state_dtype, a_profiled_precision, "of parameters")),
          required(field("batch", &Step::batch, sample_number, "samples of a micro-batch")),
          field("sequence", &Step::sequence, token_number, "tokens per sample"),
          required(field("optimizer", &Step::optimizer, an_optimizer, "of the step")),
          field("accumulate", &Step::accumulate, sample_number, "micro-batches per step"),
          field("ranks", &Step::ranks, sample_number, "ranks with which the program was started"),
          custom("strategy", value::Map{}, "strategy that the program sets, with the keys of a scenario"),
          custom("parallel", value::Map{}, "with `replicate`: the replicas of that strategy"),
          field("clip_grad_norm", &Step::clips_gradients, boolean, "whether gradients are clipped"),
          field("compiled", &Step::is_compiled, boolean, "whether torch.compile was used"),
          custom("channels_last", boolean, "not interpreted"),
          custom("checkpointing", boolean, "not interpreted"),
          custom("input_per_sample", size_or_none, "input of a sample", {.is_required = true}),
          custom("parameters", value::TextRows{"dtype, shape and name"}, "", {.is_required = true}),
          custom("operations", value::Maps{}, "operations: pass, blocks, list", {.is_required = true}),
          custom("memory", memory_rows, "of activations"),
          custom("times", value::Map{}, "times of operations by their names, instead of predicted ones"),
          custom("second", value::Map{}, "the same step at another sequence length")};
}

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kinds{
      {"vision_transformer", fields_of<VisionTransformerShape>()},
      {"decoder", fields_of<DecoderShape>()},
      {"encoder", fields_of<EncoderShape>()},
      {"encoder_decoder", fields_of<EncoderDecoderShape>()},
      {"speech", fields_of<SpeechShape>()},
      {"residual", fields_of<ResidualShape>()},
      {"convnext", fields_of<ConvNextShape>()},
      {"ssd300", fields_of<DetectorShape>()},
      {"recommender", fields_of<RecommenderShape>()},
      {"layers",
       {custom_group<ImageShape>("input", value::Map{}, "size of images"),
        custom("layers", value::Maps{}, "in their order")}},
      {"synthetic",
       {custom("layers", value::Maps{}, "in their order"),
        custom("optimizer_time", time_or_none, "of a step", {.is_required = true}),
        custom("input_per_sample", size_or_none, "input of a sample")}},
      {"profile", fields_of<Profile>()},
      {"captured", fields_of<CapturedStep>()}};
  return kinds;
}

FieldTable model_fields() {
  static const auto kinds = [] {
    std::vector<std::string_view> words;
    for (const auto& kind : model_kinds()) words.push_back(kind.name);
    return words;
  }();
  const value::Words an_implementation{"an implementation", std::span{implementation_words}.subspan(1)};
  return {
      custom("source", text, a_source, {.is_required = true}),
      custom("kind", value::Words{"a model kind", kinds}, "architecture", {.is_required = true}),
      custom("implementation", an_implementation, "program that runs it"),
      custom_group<Anchor>("anchors", value::Maps{}, "measured steps on one GPU, to which times are scaled")};
}

}  // namespace gradway

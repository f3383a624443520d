// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/eager/eager_step.hpp"

namespace gradway {

/// Runs a model's forward pass on symbolic tensors. Records the operations that PyTorch issues for it,
/// forward and backward, and the tensors that autograd keeps.
///
/// Each function stands for a module or function of PyTorch of the same name, opens a layer and records what
/// PyTorch 2.11 does (own traces on H100 and H200, 2026-11-22: kernels and saved tensors by shape). Arguments
/// (rows, tokens, elements) are per sample; the batch comes from the settings. Under autocast, products and
/// convolutions cast their operands to 16 bits (weights once per step), norms and losses to fp32.
class Eager {
 public:
  explicit Eager(const EagerSettings& settings) : settings_{settings} {}

  const EagerSettings& settings() const { return settings_; }
  /// Replaces the layers and operations of modules, as for captured models.
  /// @param operations one element per layer
  void take_step(std::vector<Layer> layers, std::vector<LayerOperations> operations, StepMemory memory);

  /// Tokens per sample on a rank. @param of_model default of the model
  std::int64_t tokens(std::int64_t of_model) const {
    const std::int64_t sequence = settings_.sequence > 0 ? settings_.sequence : of_model;
    return (sequence + settings_.context - 1) / settings_.context;
  }

  /// Whether products run in 16 bits.
  bool is_half() const {
    return settings_.precision == Precision::bf16 || settings_.precision == Precision::fp16;
  }
  /// The input of the model, without gradient: images in fp32, or token indices.
  Tensor input(double elements);

  /// The dimension in which tensor parallelism splits the weight of a linear layer.
  enum class Split { none, outputs, inputs };
  /// @param inputs, outputs sizes before the split
  Tensor linear(const std::string& name, Tensor x, std::int64_t rows, std::int64_t inputs,
                std::int64_t outputs, bool bias = true, bool tied = false, Split split = Split::none);

  // Tensor parallelism. @source Megatron-Core, tensor_parallel/layers.py and mappings.py; PyTorch's
  // ColwiseParallel, RowwiseParallel and SequenceParallel
  int tensor_ranks() const { return settings_.tensor; }
  bool is_compiled() const { return settings_.compiled; }
  bool packs_projections() const { return settings_.megatron; }
  /// Whether the bias, activation and gate of an MLP are one kernel.
  bool fuses_activation() const { return settings_.megatron && gradway::fuses_activation(settings_.fusions); }
  /// Whether separate kernels add the bias of an MLP and apply its activation. Elsewhere the product adds it.
  bool adds_bias_separately() const { return settings_.megatron && !fuses_activation(); }
  /// Whether products of experts, their activation and casts of its results are single kernels.
  /// @source Transformer Engine, pytorch/ops/fused/grouped_mlp.py at d0067d0d: mxfp8 and nvfp4 on Blackwell;
  /// Megatron-Bridge 0.6 enables it together with a CUDA graph of the step, in all its recipes with one
  bool fuses_experts() const;
  /// Whether Megatron-Core adds the biases of experts expert by expert, which needs their numbers of rows.
  bool adds_expert_biases() const { return settings_.megatron && !settings_.graph_of_step; }
  /// Whether operations are written out as in the models of Hugging Face's transformers.
  bool is_hugging_face() const { return settings_.hugging_face && !settings_.megatron; }
  /// A tensor rank's share of a dimension.
  std::int64_t share(std::int64_t of_all) const { return (of_all + settings_.tensor - 1) / settings_.tensor; }
  /// Tokens of a rank between products: its share with sequence parallelism, else all.
  std::int64_t own_tokens(std::int64_t tokens) const {
    return settings_.sequence_parallel ? share(tokens) : tokens;
  }
  /// The input of products that are split by outputs: all tokens. Its gradients are summed over the ranks.
  /// PyTorch does both outside the products, Megatron's products overlap them.
  Tensor to_ranks(Tensor x);
  /// Sums the results of products that are split by inputs over the ranks. With sequence parallelism, each
  /// rank gets its tokens of the sum.
  Tensor from_ranks(Tensor x);

  struct Conv2d {
    std::int64_t in_channels, out_channels, kernel, stride, padding, side;
    bool bias = true;
    std::int64_t groups = 1;
    double height = 0;           ///< of the input; 0: `side`
    bool channels_last = false;  ///< the input is a permuted view, independently of the model's format
  };
  Tensor conv2d(const std::string& name, Tensor x, const Conv2d& shape);
  /// A convolution over time with padding 1. @param places of the input
  Tensor conv1d(const std::string& name, Tensor x, std::int64_t in_channels, std::int64_t out_channels,
                std::int64_t kernel, std::int64_t stride, std::int64_t places);
  Tensor layer_norm(const std::string& name, Tensor x, std::int64_t rows, std::int64_t width,
                    bool bias = true);
  /// @param composed runs as separate operations independently of the settings
  Tensor rms_norm(const std::string& name, Tensor x, std::int64_t rows, std::int64_t width,
                  bool composed = false);
  Tensor batch_norm(const std::string& name, Tensor x, std::int64_t channels, double side);
  /// gelu, silu, tanh, hardswish: saves its input.
  Tensor activation(const std::string& name, std::string_view function, Tensor x);
  /// GELU by its tanh approximation, which transformers writes out in eight operations.
  Tensor gelu_new(const std::string& name, Tensor x);
  /// cap * tanh(x / cap), as three operations.
  Tensor soft_cap(const std::string& name, Tensor x);
  /// In place: saves its result, which the next layer saves, too.
  Tensor relu(const std::string& name, Tensor x);
  Tensor add(const std::string& name, Tensor x, Tensor y);
  Tensor multiply(const std::string& name, Tensor x, Tensor y);
  /// Adds a bias in a kernel of its own. Its gradient is part of the linear layer.
  Tensor add_bias(Tensor x);
  /// The activation of one half of x times the other half, in one kernel for each direction.
  /// @source Megatron-Core, fusions/fused_bias_swiglu.py and fused_bias_geglu.py; only x is saved
  Tensor gated_halves(const std::string& name, Tensor x);
  /// Clamps both halves of x in separate kernels and joins them, as Megatron-Core does before the fused
  /// activation of gpt-oss. @source fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl at d98e8a64dd
  Tensor clamped_halves(Tensor x);
  /// Multiplies x by a trained number per channel.
  Tensor layer_scale(const std::string& name, Tensor x, std::int64_t channels);
  Tensor dropout(const std::string& name, Tensor x);
  /// Changes the memory layout: one copy in each direction.
  Tensor contiguous(Tensor x);
  Tensor max_pool(const std::string& name, Tensor x, std::int64_t channels, double side, double outputs);
  Tensor mean(const std::string& name, Tensor x, double outputs);
  /// Multiplies x by a random number per sample (stochastic depth).
  Tensor scale(const std::string& name, Tensor x);
  /// x times a constant.
  Tensor scaled(Tensor x);
  /// A part of x. Its gradient is written into a tensor of zeros.
  Tensor slice(Tensor x, std::int64_t elements);
  /// Concatenates tensors. @param elements per sample, of the part that the loss reads
  Tensor concatenate(const std::vector<Tensor>& tensors, double elements);
  Tensor embedding(const std::string& name, std::int64_t rows, std::int64_t vocabulary, std::int64_t width);
  /// Another lookup in an existing embedding. Its gradient is added to that of the first lookup.
  Tensor embedding_again(const std::string& name, std::int64_t rows, std::int64_t vocabulary,
                         std::int64_t width);
  /// Views of column ranges of x. Their gradients are concatenated.
  std::vector<Tensor> split(Tensor x, std::int64_t rows, const std::vector<std::int64_t>& widths);
  /// Parts of the columns of x, as Python's indices make them: the gradient of each is written into zeros of
  /// the whole size, and these are added. @see split, whose gradients are concatenated
  std::vector<Tensor> slices(Tensor x, std::int64_t rows, const std::vector<std::int64_t>& widths);
  /// Concatenates the rows of x and y. @param width of the result; y is expanded if heads share it
  Tensor join(Tensor x, Tensor y, std::int64_t rows, std::int64_t width);
  /// x + parameters, which are the same for every sample.
  Tensor add_parameters(const std::string& name, Tensor x, std::vector<Parameter> parameters);
  /// Prepends a class token and adds positions, as torchvision's VisionTransformer does.
  Tensor class_token(const std::string& name, Tensor x, std::int64_t tokens, std::int64_t width);

  struct Attention {
    std::int64_t heads, kv_heads, tokens, head_size;
    bool causal = false;
    bool splits = true;           ///< a packed tensor is split, and its gradients are concatenated
    std::int64_t value_size = 0;  ///< elements of a head of values; 0: `head_size`
    std::int64_t keys = 0;        ///< number of keys; 0: `tokens`
    Tensor bias{};                ///< is added to the scores; optional
    bool dropout = false;         ///< of the softmax
    std::int64_t window = 0;      ///< each query reads this many last keys; 0: all
    bool sinks = false;           ///< a trained number per head joins the softmax
  };
  /// With context parallelism, tokens, queries, keys and values are those of a rank. Sequences are split such
  /// that all ranks have equal causal work.
  /// @source TransformerEngine, attention/dot_product_attention/context_parallel.py
  /// @param qkv one tensor that holds all three (a packed projection), or three
  Tensor attention(const std::string& name, const std::vector<Tensor>& qkv, const Attention& shape);
  /// A gated delta net: linear attention whose state is updated by a gated delta rule, in chunks of tokens.
  struct DeltaNet {
    std::int64_t tokens, key_heads, value_heads, key_size, value_size, kernel;
  };
  /// The part between the projections. @param x queries, keys, values; @param gates two numbers per head of
  /// values
  Tensor delta_net(const std::string& name, Tensor x, Tensor gates, const DeltaNet& shape);
  /// Rotary positions: in complex fp32 numbers, as in Llama; in Megatron's fused kernel; or as Megatron and
  /// transformers compose them.
  /// @param factors size of the table of rotations, which all heads and samples share, in real numbers
  Tensor rotary(const std::string& name, Tensor x, double factors);
  /// What T5 adds to the scores: the mask and, with `buckets`, a trained number per head and distance.
  /// @source transformers' modeling_t5.py, T5Attention.compute_bias
  Tensor score_bias(const std::string& name, std::int64_t heads, std::int64_t tokens, std::int64_t keys,
                    std::int64_t buckets);
  /// Brings a packed projection into head order, and its gradients back, as torch.nn.MultiheadAttention does.
  Tensor unpack_heads(Tensor qkv);

  // Experts, as transformers and Megatron-Core run them on one GPU, with equally many tokens per expert. With
  // expert parallelism, an all-to-all in each direction moves rows and shares between the ranks of tokens and
  // of experts. The CPU must know the sizes first, unless experts have a fixed capacity.
  // @source Megatron-Core, transformer/moe/token_dispatcher.py (MoEAlltoAllTokenDispatcher); torchtitan,
  // distributed/expert_parallel.py
  /// Number of experts of a layer that a rank has.
  std::int64_t own_experts(std::int64_t experts) const { return experts / settings_.expert; }
  /// A rank's share of the width of an expert.
  std::int64_t share_of_expert(std::int64_t width) const {
    return (width + settings_.expert_tensor - 1) / settings_.expert_tensor;
  }
  /// Number of rows that a router sends to experts. @param rows tokens of a rank
  std::int64_t routed_rows(std::int64_t rows, std::int64_t experts, std::int64_t k) const;
  /// Number of rows that a rank's experts receive if each rank sends `routed` rows.
  std::int64_t rows_of_experts(std::int64_t routed) const;
  /// Sends rows to the ranks of their experts. @param width elements of a row @param experts on all ranks
  Tensor to_experts(Tensor x, std::int64_t routed, std::int64_t width, std::int64_t experts);
  /// Sends the shares of rows to the ranks of their experts, as Megatron-Core does after the rows.
  Tensor shares_to_experts(Tensor shares, std::int64_t routed);
  Tensor from_experts(Tensor x, std::int64_t routed, std::int64_t width, std::int64_t experts);
  /// Runs a part of the forward pass that is recomputed if the settings name its module or divide it into
  /// tiles, and no module around it is.
  template <class Part>
  Tensor module(RecomputedModule module, const Part& part) {
    const bool is_recomputed = (recomputes(module) || runs_in_tiles(module)) && !in_module_;
    const auto first = nodes_.size();
    if (is_recomputed) in_module_ = true;
    const auto result = part();
    if (is_recomputed) {
      in_module_ = false;
      recomputed_parts_.push_back({module, first, nodes_.size()});
    }
    return result;
  }
  /// Runs a part of the forward pass whose saved tensors are offloaded if the settings name its module.
  template <class Part>
  Tensor offloading(OffloadedModule module, const Part& part) {
    const bool before = std::exchange(offloads_, settings_.offload_activations.has(module));
    const auto result = part();
    offloads_ = before;
    return result;
  }
  /// Runs a part of the forward pass without autograd. Its parameters are frozen.
  Tensor without_gradients(const std::function<Tensor()>& part);
  /// Sets the role of all layers that are opened from now on.
  void set_role(LayerRole role) { role_ = role; }
  /// Computes the shares of each token's best experts from the router's logits.
  Tensor top_k(const std::string& name, Tensor logits, std::int64_t rows, std::int64_t experts,
               std::int64_t k);
  /// Sorts rows by expert. If experts run one after another, everything up to `combine` runs for each expert
  /// with its rows. @param routed number of rows
  Tensor dispatch(const std::string& name, Tensor x, std::int64_t routed, std::int64_t width,
                  std::int64_t experts);
  /// A linear layer per expert. @param rows of all experts of a rank
  Tensor grouped_linear(const std::string& name, Tensor x, std::int64_t rows, std::int64_t inputs,
                        std::int64_t outputs, std::int64_t experts, Split split = Split::none,
                        bool bias = false);
  /// Adds the bias of each expert times the shares of its rows, which are in fp32, to its rows, and joins the
  /// rows of all experts. @source Megatron-Core 0.15, transformer/moe/experts.py (TEGroupedMLP._apply_bias)
  Tensor add_weighted_biases(Tensor x, std::int64_t experts);
  /// Multiplies rows between the layers of an expert by their shares, as Megatron-Core does; elsewhere
  /// `combine` does. @source Megatron-Core 0.15, transformer/moe/experts.py (TEGroupedMLP) and
  /// fusions/fused_bias_swiglu.py (weighted_swiglu_back)
  Tensor weighted_rows(Tensor x, Tensor shares);
  /// Sums the rows of each token, in Megatron-Core weighted already, in the order of tokens.
  Tensor combine(const std::string& name, Tensor x, Tensor shares, std::int64_t rows, std::int64_t width);

  // Recommendation models.
  /// Products of all pairs of features, of which x is one and the others were looked up in embedding tables.
  /// @param width elements of a feature
  Tensor dot_interaction(const std::string& name, Tensor x, std::int64_t features, std::int64_t width);
  void binary_cross_entropy(const std::string& name, Tensor logits);

  /// @param classes on all ranks @param shared tensor ranks split the classes with the output layer
  void cross_entropy(const std::string& name, Tensor logits, std::int64_t rows, std::int64_t classes,
                     bool shared = false);

  /// Moves out the layers in the order of the forward pass.
  std::vector<Layer> take_layers();
  /// By layer. @pre finish() was called
  const std::vector<LayerOperations>& operations() const { return operations_; }
  std::vector<LayerOperations> take_operations() { return std::move(operations_); }
  /// Determines the operations of both passes, and the memory. @pre the forward pass is complete
  void finish();
  const StepMemory& memory() const { return memory_; }
  /// The kinds of attention heads; empty if the model has no attention.
  const std::set<AttentionHead>& attention_heads() const { return attention_heads_; }

 private:
  static double d(std::int64_t value) { return static_cast<double>(value); }

  struct Info {
    double elements = 0;
    Number number = Number::fp32;
    bool needs_grad = false;
    std::int32_t storage = -1;         ///< the tensor whose memory it uses; -1: memory is counted elsewhere
    std::int32_t made = 0;             ///< node that produced it
    std::int32_t last_use = 0;         ///< last node that reads it in the forward pass
    std::int32_t saved_for = -1;       ///< node whose backward pass needs it last; -1: none
    std::int32_t again_for = -1;       ///< node before whose backward pass it is recomputed; -1: it is kept
    std::int32_t consumer = -1;        ///< last node that has it as an input
    std::int32_t in_fp8 = -1;          ///< its fp8 copy
    bool gradient_overwrites = false;  ///< where it was saved, its gradient overwrites it
    bool sums_gradient = false;        ///< the product that reads it must sum its gradient over the ranks
    Bytes gathered_in_pieces{};  ///< gathered while it is read: the products are split, the first one gathers
    bool is_gathered = false;    ///< the first of these products was issued
    int consumers = 0;
    bool offloaded = false;      ///< waits in host memory for the backward pass
    bool outlasts_uses = false;  ///< autocast's copy of a weight, kept until autocast ends
    double share = 1;            ///< of its elements that exist at a time: those of one chunk or tile
    double bytes() const { return share * elements * bytes_of(number); }
  };
  /// A function of autograd.
  struct Node {
    static constexpr std::size_t every = static_cast<std::size_t>(-1);
    std::int32_t layer = 0;
    std::vector<Operation> forward;
    std::vector<Operation> backward;
    std::vector<Exchange> forward_exchanges{};
    std::vector<Exchange> backward_exchanges{};
    std::vector<Tensor> reads;
    std::vector<Tensor> inputs;  ///< those of `reads` that need a gradient
    std::vector<Tensor> saves;
    Tensor result;
    bool is_product = false;   ///< aten::mm, which linear layers without bias call
    std::int32_t experts = 0;  ///< runs in a loop over this many experts, for each with its rows
    bool never_fuses = false;  ///< torch.compile does not fuse it with others
    /// torch.compile adds the parts of its result's gradient in one kernel, which also copies for a
    /// reduce-scatter.
    bool adds_gradients = false;
    std::size_t recomputed_operations = every;  ///< number of first operations that recomputation repeats
    double parameter_bytes = 0;                 ///< bytes of the parameter gradients that it makes
    double temporary = 0;                       ///< bytes of temporaries, forward
    double temporary_backward = 0;              ///< bytes of temporaries, backward
  };

  void open(const std::string& name, std::vector<Parameter> parameters = {});
  /// Whether autocast is active: products cast their operands, and norms run in fp32.
  bool casts() const { return is_half() && !settings_.half_parameters; }
  Number trained_number() const { return settings_.half_parameters ? half_number() : Number::fp32; }
  /// Format of the model's own parameters and of tensors that are computed from them alone.
  Number parameter_number() const;
  Number half_number() const { return settings_.precision == Precision::fp16 ? Number::fp16 : Number::bf16; }
  /// Name of the precision of products.
  std::string_view arithmetic() const;
  Info& of(Tensor tensor) { return tensors_[static_cast<std::size_t>(tensor.id)]; }
  Tensor make(double elements, Number number, bool needs_grad);
  /// A view of a tensor.
  Tensor view(Tensor x, double elements);
  Node& node(std::initializer_list<Tensor> inputs);
  void save(Tensor tensor);
  void forward(Operation operation);
  Tensor cast(Tensor x, Number number);
  /// Casts a weight to 16 bits under autocast. @return bytes of the copy; 0 without autocast
  double cast_weight(double elements);
  void keep_cast_weight(double elements, Number number);
  /// Records the gradient of a weight, which is cast under autocast.
  void add_weight_gradient(Node& node, double elements);
  /// Records the gradients of a layer's own parameters unless they are frozen.
  void add_parameter_gradient(Node& node, double elements);
  /// x times a trained weight, plus an optional bias.
  Tensor multiply_by_weight(Tensor x, double m, double inputs, double outputs, bool bias, bool tied);
  /// x times a frozen weight, plus the adapter's part if the layer has an adapter.
  Tensor multiply_by_frozen(Tensor x, double m, std::int64_t inputs, std::int64_t outputs, Split split);
  Tensor with_adapter(Tensor x, Tensor y, double m, std::int64_t inputs, std::int64_t outputs, Split split);
  void exchange_of_frozen(Node& node, Tensor x, Bytes gathered, Bytes gradient);
  bool is_in_block() const;
  bool has_adapter(const Layer& layer) const;
  Tensor dropped(Tensor x);
  bool is_quantised() const { return settings_.lora && settings_.lora->quantised && is_in_block(); }
  std::vector<Operation> dequantised(double elements) const;
  /// Whether 16-bit weight gradients are accumulated in fp32 buffers.
  bool adds_in_fp32() const { return settings_.adds_in_fp32 && is_half(); }
  /// Removes backward operations and saved tensors of functions without gradients.
  void drop_frozen();
  /// Selects the products whose results checkpointed blocks keep: the first, the third, and so on.
  void select_kept_products();
  /// By layer: the block that is recomputed before its backward pass, or `Blocks::none`.
  std::vector<std::int32_t> checkpointed_blocks() const;
  void overlap_exchange(Node& node, std::size_t of_inputs, Bytes gathered, Bytes gradient);
  struct Pass {
    std::vector<Operation>& operations;
    std::vector<Exchange>& exchanges;
  };
  void overlap_gather(Pass pass, std::size_t product, Bytes gathered);
  void split_reader(Node& node, Tensor x);
  void overlap_scatter(Pass pass, Bytes scattered);
  std::size_t split_product(std::vector<Operation>& operations, std::size_t product) const;
  void copy_gathered(std::vector<Operation>& pass, Number number, double elements) const;
  void copy_scattered(std::vector<Operation>& pass, Number number, double elements) const;
  /// Format of the gradient of a tensor: 16 bits for an fp8 tensor.
  Number gradient_number(const Info& info) const {
    return info.number == Number::fp8 || info.number == Number::nvfp4 ? half_number() : info.number;
  }
  /// A linear layer, or the linear layers of a rank's experts. `m` is the number of rows on a rank.
  struct LinearShape {
    double m = 0, inputs = 0, outputs = 0;
    bool bias = false;
    bool sums = false;                 ///< its results are summed over the tensor ranks
    double experts = 0;                ///< number of experts; 0: a single layer
    bool has_scaled_gradient = false;  ///< the gradient of its results is fp8 already
    double weight() const { return inputs * outputs * (experts > 0 ? experts : 1); }
  };
  void mark_fp8(std::int64_t inputs, std::int64_t outputs);
  bool runs_in_fp8() const;
  bool gathers_in_fp8() const;
  Tensor linear_in_fp8(Tensor x, const LinearShape& shape);
  enum class FromFp8 : std::uint8_t { output, input_gradient, weight_gradient };
  Operation product_in_fp8(FromFp8 makes, const LinearShape& shape, double m, double n, double k) const;
  /// Format of the operands of linear layers in fp8 or nvfp4.
  Number scaled_number() const;
  bool keeps_transposes() const;
  void quantise(std::vector<Operation>& pass, Number from, double elements, bool transposed) const;
  void fused_cross_entropy(Tensor logits, double m);
  void write_loss(Tensor logits, double m, std::int64_t classes, bool shared);
  void split_loss(Tensor logits, double m);
  void vocabulary_parallel_cross_entropy(Tensor logits, double m);
  // Casts of a matrix with rows of `width` elements to fp8.
  Tensor copy_in_fp8(Node& node, Tensor x, double elements, double width);
  void cast_to_fp8(std::vector<Operation>& pass, Number from, double elements, double width) const;
  void cast_and_transpose(std::vector<Operation>& pass, Number from, double elements, double width) const;
  void cast_columns(std::vector<Operation>& pass, Number from, double elements, double width) const;
  Operation transposed_fp8(double elements) const;
  void cast_weight_to_fp8(Node& node, double weight, double width);
  Operation stream(std::string_view kernel, Number number, double elements) const;
  Operation rows(std::string_view kernel, Number number, double rows, double width) const;
  Operation product(const char* layout, double m, double n, double k) const;
  static std::vector<Parameter> weight_and_bias(const std::string& name, std::vector<std::int64_t> weight,
                                                std::int64_t outputs, bool bias);
  Tensor norm(const std::string& name, Tensor x, std::int64_t rows, std::int64_t width,
              std::string_view kernel, std::vector<Parameter> parameters);
  Tensor composed_rotary(const std::string& name, Tensor x);
  Tensor megatron_rotary(const std::string& name, Tensor x, double factors);
  Tensor composed_rms_norm(const std::string& name, Tensor x, double m, std::int64_t width);
  Tensor hugging_face_rms_norm(const std::string& name, Tensor x, double m, std::int64_t width);
  bool has_mask(const Attention& shape) const;
  bool repeats_heads(const Attention& shape) const;
  void repeat_heads(const Attention& shape, Number number);
  void save_for_attention(Tensor tensor);
  void cast_for_attention(std::vector<Operation>& pass, Number from, double elements) const;
  /// Attention within the layer that is open.
  Tensor attend(const std::vector<Tensor>& qkv, const Attention& shape);
  /// The scores of attention that runs as several kernels: `groups` matrices of tokens by keys.
  struct Scores {
    double groups = 0, tokens = 0, size = 0, keys = 0, values = 0;
    double all = 0;  ///< number of scores
  };
  Scores scores_of(const Attention& shape) const;
  void math_attention(const Attention& shape, Number number, Tensor out);
  void composed_attention(const Attention& shape, Number number, Tensor out);
  void fused_attention(const Attention& shape, AttentionKernel kernel, Number number, Tensor out);
  std::pair<Bytes, Bytes> keys_and_values(const Attention& shape, Number number) const;
  void gather_keys(Bytes keys, Bytes kv);
  /// Attention in one kernel. Arguments: "forward" or "backward", samples, tokens, whether it is causal.
  using FusedAttention = std::function<Operation(std::string_view, double, double, bool)>;
  void attend_by_parts(const Attention& shape, Number number, const FusedAttention& fused);
  void attend_by_parts_of_pytorch(const Attention& shape, Number number, const FusedAttention& fused);
  bool shares_tokens() const {
    return settings_.context > 1 && settings_.context_method != ContextMethod::all_to_all;
  }
  /// Exchanges x over ranks. @param elements of the result
  Tensor exchanged(Tensor x, double elements, CollectiveKind there, CollectiveKind back, RankGroup over);
  /// Appends the operations and exchanges of a node to those of its layer.
  void issue_forward(const Node& node);
  void issue_loop(std::size_t first, std::size_t end);
  void issue_loop_backward(std::size_t first, std::size_t end);
  Operation tiny(bool host_waits) const;
  /// Whether tokens go to the ranks of their experts as they are, and come back summed: DeepEP and HybridEP.
  /// @source Megatron-Core, transformer/moe/token_dispatcher.py (MoEFlexTokenDispatcher)
  bool sends_tokens() const;
  void combine_in_loop(Node& node, double elements, Number number) const;
  void call_by_expert(Node& node, double experts) const;
  void issue_backward(const Node& node);
  void issue_recomputed(const Node& node);
  void issue();
  bool recomputes(RecomputedModule module) const {
    return settings_.recompute == Recompute::selective && settings_.recompute_modules.has(module);
  }
  bool runs_in_tiles(RecomputedModule module) const;
  void run_in_tiles(std::size_t first, std::size_t end);
  void recompute_modules();
  void recompute_fused();
  void issue_fused();
  Operation fused(double bytes) const;
  /// Whether torch.compile fuses a node with its neighbours.
  static bool fuses(const Node& node);
  /// By node: one past the last node of its fused kernel; 0 if it is not fused.
  std::vector<std::int32_t> ends_of_kernels() const;
  void account();
  void hold_recomputed(MemoryTimeline& held);
  void hold_offloaded(MemoryTimeline& held, const Info& info, std::int32_t block, std::int32_t until);

  EagerSettings settings_;
  std::vector<Info> tensors_;
  std::vector<Node> nodes_;
  std::map<std::int32_t, Tensor> narrowed_;  ///< by tensor: its last 16-bit copy
  std::size_t expert_layer_ = 0;             ///< number of layers with experts so far
  std::int32_t loop_ = 0;                    ///< number of experts of the current expert loop; 0: none
  LayerRole role_ = LayerRole::other;
  std::vector<Operation> casts_;  ///< of weights, which the next node issues first
  std::vector<double> lasting_;   ///< by layer: bytes of fp8 copies of weights that outlive a pass
  /// Nodes of a module that is recomputed.
  struct RecomputedPart {
    RecomputedModule module;
    std::size_t first, end;
  };
  std::vector<RecomputedPart> recomputed_parts_;
  bool in_module_ = false;                  ///< that is recomputed
  bool offloads_ = false;                   ///< what is saved waits in host memory
  bool is_frozen_ = false;                  ///< inside of `without_gradients`
  std::vector<std::int32_t> end_of_block_;  ///< by block: its last node
  std::vector<Layer> layers_;
  std::vector<LayerOperations> operations_;
  StepMemory memory_;
  bool is_taken_ = false;  ///< by `take_step`
  std::set<AttentionHead> attention_heads_;
};

}  // namespace gradway

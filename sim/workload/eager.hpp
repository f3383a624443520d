// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/attention_choice.hpp"
#include "sim/workload/fp8.hpp"
#include "sim/workload/lora.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/recompute.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// What decides which kernels PyTorch issues for a model.
struct EagerSettings {
  int batch = 1;
  int sequence = 0;                       ///< tokens a sample, for models of text; 0: the model's own
  Precision precision = Precision::fp32;  ///< bf16 and fp16: autocast; parameters and gradients stay fp32
  std::optional<Fp8> fp8{};      ///< linear layers in blocks have products of 8 bits; precision: the others'
  bool half_parameters = false;  ///< no autocast: parameters, gradients and all between are of 16 bits
  bool channels_last = false;
  AttentionKernel attention = AttentionKernel::automatic;
  int compute_capability = 90;  ///< PyTorch chooses its attention by it
  bool float_logits = false;    ///< under autocast the loss is taken of `logits.float()`
  Recompute recompute = Recompute::none;
  int recompute_every = 1;  ///< of so many blocks one does
  std::optional<Lora> lora{};
  bool compiled = false;           ///< torch.compile fuses what lies between products
  bool fused_loss = false;         ///< the loss is one kernel
  bool composed_norms = false;     ///< RMSNorms are operations one by one, where there is a choice
  bool composed_rotary = false;    ///< rotary positions are, where there is a choice
  int tensor = 1;                  ///< ranks that share each layer
  bool sequence_parallel = false;  ///< ... and the tokens between products
  bool overlaps_gradients = true;  ///< ... which sum an input's gradient beside the product of the weight's
  bool sends_pieces = false;       ///< ... whose exchanges go piece by piece beside parts of the products
  bool adds_in_fp32 = false;       ///< products add weights' gradients to buffers in fp32
  bool megatron = false;           ///< Megatron-Core's modules: packed projections, exchanges beside products
  int context = 1;                 ///< ranks that each have a part of every sequence
  ContextMethod context_method = ContextMethod::ring;
  int expert = 1;                           ///< ranks that share the experts of a layer
  int expert_tensor = 1;                    ///< ... and that share each of them
  double expert_imbalance = 1;              ///< rows of the busiest rank's experts over those of the average
  bool expert_loop = false;                 ///< experts run one after the other, each with rows read back
  std::optional<double> expert_capacity{};  ///< rows that each expert has room for, over its even share

  bool operator==(const EagerSettings&) const = default;
};

/// A tensor of the forward pass. Views share it.
struct Tensor {
  std::int32_t id = -1;
};

/// Runs a model's forward pass on symbolic tensors and writes down what eager PyTorch issues for it, forward
/// and backward, and what autograd keeps.
///
/// Each function is a module or a function of PyTorch under its name there, opens a layer of that name and
/// counts what PyTorch 2.11 does (own traces on H100 and H200, 2026-11-22: kernels and saved tensors by
/// shape). Rows, tokens and elements are of one sample; the batch comes from the settings. Under autocast,
/// products and convolutions cast their operands to 16 bits (weights once a step), norms and losses to fp32.
class Eager {
 public:
  explicit Eager(const EagerSettings& settings) : settings_{settings} {}

  const EagerSettings& settings() const { return settings_; }
  /// Takes a step that is known already, as that of a captured model, in place of what modules issue.
  /// @param operations one for each layer
  void take_step(std::vector<Layer> layers, std::vector<LayerOperations> operations, StepMemory memory);

  /// Tokens a sample on a rank. @param of_model what it is without being told
  std::int64_t tokens(std::int64_t of_model) const {
    const std::int64_t all = settings_.sequence > 0 ? settings_.sequence : of_model;
    return (all + settings_.context - 1) / settings_.context;
  }

  /// Whether products run in 16 bits, by autocast.
  bool is_half() const {
    return settings_.precision == Precision::bf16 || settings_.precision == Precision::fp16;
  }
  /// What the input copy brought: images in fp32, or indices of tokens. Needs no gradient.
  Tensor input(double elements);

  /// What each of the ranks that share a linear layer has of its weight.
  enum class Split { none, outputs, inputs };
  /// @param inputs, outputs of all ranks together
  Tensor linear(const std::string& name, Tensor x, std::int64_t rows, std::int64_t inputs,
                std::int64_t outputs, bool bias = true, bool tied = false, Split split = Split::none);

  // Tensor parallelism. @source Megatron-Core, tensor_parallel/layers.py and mappings.py; PyTorch's
  // ColwiseParallel, RowwiseParallel and SequenceParallel
  int tensor_ranks() const { return settings_.tensor; }
  bool is_compiled() const { return settings_.compiled; }
  bool packs_projections() const { return settings_.megatron; }
  /// A rank's share of something that ranks divide.
  std::int64_t share(std::int64_t of_all) const { return (of_all + settings_.tensor - 1) / settings_.tensor; }
  /// Of the tokens between products: all, or a rank's part.
  std::int64_t own_tokens(std::int64_t tokens) const {
    return settings_.sequence_parallel ? share(tokens) : tokens;
  }
  /// What products split by outputs read: all tokens, whose gradients are then summed over the ranks. PyTorch
  /// does so before the products and after them; Megatron's products do it themselves, beside each other.
  Tensor to_ranks(Tensor x);
  /// The sum over the ranks of what products split by inputs made; with sequence parallelism each rank's
  /// tokens of it.
  Tensor from_ranks(Tensor x);

  /// Square images.
  struct Conv2d {
    std::int64_t in_channels, out_channels, kernel, stride, padding, side;
    bool bias = true;
    std::int64_t groups = 1;
    double height = 0;           ///< 0: `side`
    bool channels_last = false;  ///< its input is a permuted view, whatever the model's format
  };
  Tensor conv2d(const std::string& name, Tensor x, const Conv2d& shape);
  Tensor layer_norm(const std::string& name, Tensor x, std::int64_t rows, std::int64_t width,
                    bool bias = true);
  /// @param composed whatever the settings say
  Tensor rms_norm(const std::string& name, Tensor x, std::int64_t rows, std::int64_t width,
                  bool composed = false);
  Tensor batch_norm(const std::string& name, Tensor x, std::int64_t channels, double side);
  /// gelu, silu, tanh, hardswish: keeps its input.
  Tensor activation(const std::string& name, std::string_view function, Tensor x);
  /// In place; keeps its result, which is what follows keeps too.
  Tensor relu(const std::string& name, Tensor x);
  Tensor add(const std::string& name, Tensor x, Tensor y);
  /// @param computes_x_again in the backward pass, from what it was made of: x is not kept
  Tensor multiply(const std::string& name, Tensor x, Tensor y, bool computes_x_again = false);
  /// x times a trained number a channel.
  Tensor layer_scale(const std::string& name, Tensor x, std::int64_t channels);
  Tensor dropout(const std::string& name, Tensor x);
  /// Another layout in memory: a copy each way.
  Tensor contiguous(Tensor x);
  Tensor max_pool(const std::string& name, Tensor x, std::int64_t channels, double side, double outputs);
  Tensor mean(const std::string& name, Tensor x, double outputs);
  /// x times a random number a sample, as stochastic depth has it.
  Tensor scale(const std::string& name, Tensor x);
  /// A part of x; its gradient is put into zeros.
  Tensor slice(Tensor x, std::int64_t elements);
  /// Some tensors behind each other. @param elements of the part that a loss reads, a sample
  Tensor concatenate(const std::vector<Tensor>& parts, double elements);
  Tensor embedding(const std::string& name, std::int64_t rows, std::int64_t vocabulary, std::int64_t width);
  /// Rows of an embedding that is there already; a second gradient of it is added to the first.
  Tensor embedding_again(const std::string& name, std::int64_t rows, std::int64_t vocabulary,
                         std::int64_t width);
  /// Views of the columns of x; their gradients are put together again.
  std::vector<Tensor> split(Tensor x, std::int64_t rows, const std::vector<std::int64_t>& widths);
  /// Rows of x, then of y behind each other. @param width of both; y has less if heads share it
  Tensor join(Tensor x, Tensor y, std::int64_t rows, std::int64_t width);
  /// x + parameters that are the same for every sample.
  Tensor add_parameters(const std::string& name, Tensor x, std::vector<Parameter> parameters);
  /// A class token before the others, then positions, as torchvision's VisionTransformer has them.
  Tensor class_token(const std::string& name, Tensor x, std::int64_t tokens, std::int64_t width);

  struct Attention {
    std::int64_t heads, kv_heads, tokens, head_size;
    bool causal = false;
    bool splits = true;           ///< one packed tensor is split, and its gradient put together again
    std::int64_t value_size = 0;  ///< elements of a head of values; 0: `head_size`
    std::int64_t keys = 0;        ///< tokens that are attended to; 0: `tokens`
    Tensor bias{};                ///< added to the scores, if there is one
    bool dropout = false;         ///< of the softmax
  };
  /// With context parallelism tokens, and queries, keys and values, are those of a rank, its parts of each
  /// sequence such that causal work is equal on all.
  /// @source TransformerEngine, attention/dot_product_attention/context_parallel.py
  /// @param qkv one tensor that holds all three (a packed projection), or three
  Tensor attention(const std::string& name, const std::vector<Tensor>& qkv, const Attention& shape);
  /// Rotary positions, in complex fp32 numbers as Llama has them.
  /// @param factors real numbers that turn x: a head's tokens, which all heads and samples share
  Tensor rotary(const std::string& name, Tensor x, double factors);
  /// What T5 adds to the scores: the mask, and with `buckets` a trained number a head and distance.
  /// @source transformers' modeling_t5.py, T5Attention.compute_bias
  Tensor score_bias(const std::string& name, std::int64_t heads, std::int64_t tokens, std::int64_t keys,
                    std::int64_t buckets);
  /// As torch.nn.MultiheadAttention brings a packed projection into head order, and its gradients back.
  Tensor unpack_heads(Tensor qkv);

  // Experts: as transformers and Megatron-Core run them on one GPU, tokens as many to each expert. With
  // expert parallelism rows and shares go to the ranks of their experts and back, each way all to all; of
  // sizes that the CPU must first know, unless experts have room for a fixed number of rows.
  // @source Megatron-Core, transformer/moe/token_dispatcher.py (MoEAlltoAllTokenDispatcher); torchtitan,
  // distributed/expert_parallel.py
  /// Of all experts of a layer, those that a rank has.
  std::int64_t own_experts(std::int64_t all) const { return all / settings_.expert; }
  /// Of the width of an expert, a rank's share.
  std::int64_t share_of_expert(std::int64_t width) const {
    return (width + settings_.expert_tensor - 1) / settings_.expert_tensor;
  }
  /// Rows that the router sends out. @param rows of tokens
  std::int64_t routed_rows(std::int64_t rows, std::int64_t experts, std::int64_t k) const;
  /// Rows that a rank's experts take when so many are sent out by each rank.
  std::int64_t rows_of_experts(std::int64_t routed) const;
  /// To the ranks that have the experts. @param experts of all ranks @param width elements of a row
  Tensor to_experts(Tensor x, std::int64_t routed, std::int64_t width, std::int64_t experts);
  /// Megatron-Core sends the shares of the rows behind them.
  Tensor shares_to_experts(Tensor shares, std::int64_t routed);
  Tensor from_experts(Tensor x, std::int64_t routed, std::int64_t width, std::int64_t experts);
  /// Role of the layers that are opened from now on.
  void set_role(LayerRole role) { role_ = role; }
  /// The shares of a token's best experts, from the router's logits.
  Tensor top_k(const std::string& name, Tensor logits, std::int64_t rows, std::int64_t experts,
               std::int64_t k);
  /// Rows of x sorted by expert. Where experts run one after the other, all up to `combine` is done for each
  /// of them with its rows. @param routed so many
  Tensor dispatch(const std::string& name, Tensor x, std::int64_t routed, std::int64_t width,
                  std::int64_t experts);
  /// A linear layer of its own for each expert. @param rows of all experts of a rank
  Tensor grouped_linear(const std::string& name, Tensor x, std::int64_t rows, std::int64_t inputs,
                        std::int64_t outputs, std::int64_t experts, Split split = Split::none);
  /// Back to the order of tokens: the sum of each one's rows, times their shares.
  Tensor combine(const std::string& name, Tensor x, Tensor shares, std::int64_t rows, std::int64_t width);

  /// @param classes of all ranks, which share them if they share the output layer
  void cross_entropy(const std::string& name, Tensor logits, std::int64_t rows, std::int64_t classes,
                     bool shared = false);

  /// @return layers in the order of the forward pass, with parameters, operations a sample where the batch is
  /// 1
  std::vector<Layer> take_layers();
  const std::vector<LayerOperations>& operations() const { return operations_; }
  /// Backward operations of each layer, in their order, and what is in memory. @pre the forward pass is
  /// complete
  void finish();
  const StepMemory& memory() const { return memory_; }
  /// Of all attention; empty: the model has none.
  const std::set<AttentionHead>& attention_heads() const { return attention_heads_; }

 private:
  static double d(std::int64_t value) { return static_cast<double>(value); }

  struct Info {
    double elements = 0;
    Number number = Number::fp32;
    bool needs_grad = false;
    std::int32_t storage = -1;    ///< the tensor whose memory it is; -1: none that counts
    std::int32_t made = 0;        ///< by this node
    std::int32_t last_use = 0;    ///< by this node of the forward pass
    std::int32_t saved_for = -1;  ///< the node whose backward pass needs it last; -1: none
    std::int32_t consumer = -1;   ///< the last node that takes it as an input
    std::int32_t in_fp8 = -1;     ///< its copy of 8 bits
    bool is_of_ranks = false;     ///< its gradient must be summed over the ranks by the product that reads it
    Bytes in_pieces{};            ///< products that read it are cut; beside the first so much is gathered
    bool is_gathered = false;     ///< ... which was done
    int consumers = 0;
  };
  /// One function of autograd.
  struct Node {
    static constexpr std::size_t every = static_cast<std::size_t>(-1);
    std::int32_t layer = 0;
    std::vector<Operation> forward;
    std::vector<Operation> backward;
    std::vector<Exchange> forward_exchanges{};
    std::vector<Exchange> backward_exchanges{};
    std::vector<Tensor> reads;
    std::vector<Tensor> inputs;  ///< of these, that need a gradient
    std::vector<Tensor> saves;
    Tensor result;
    bool is_product = false;   ///< aten::mm: of a linear layer without a bias
    std::int32_t experts = 0;  ///< of a loop over so many, which does it for each with its rows
    bool is_apart = false;     ///< torch.compile does not fuse it with others
    /// ... but adds up the parts of its result's gradient in one kernel, which copies for a reduce-scatter
    /// too
    bool adds_gradients = false;
    std::size_t runs_again = every;  ///< of its operations so many, the first, in a block that keeps some
    double parameter_bytes = 0;      ///< whose gradients it makes, fp32
    double temporary = 0;            ///< bytes, forward
    double temporary_backward = 0;   ///< bytes
  };

  void open(const std::string& name, std::vector<Parameter> parameters = {});
  /// Whether autocast casts what products read, and norms work in fp32.
  bool casts() const { return is_half() && !settings_.half_parameters; }
  Number trained_number() const { return settings_.half_parameters ? half_number() : Number::fp32; }
  /// Of the model's own parameters, and of what is made from them alone.
  Number parameter_number() const { return settings_.lora ? half_number() : trained_number(); }
  Number half_number() const { return settings_.precision == Precision::fp16 ? Number::fp16 : Number::bf16; }
  /// The arithmetic of products under these settings, as words.
  std::string_view arithmetic() const;
  Info& of(Tensor tensor) { return tensors_[static_cast<std::size_t>(tensor.id)]; }
  Tensor make(double elements, Number number, bool needs_grad);
  /// The same memory, or a part of it.
  Tensor view(Tensor x, double elements);
  Node& node(std::initializer_list<Tensor> inputs);
  void save(Tensor tensor);
  void forward(Operation operation);
  Tensor cast(Tensor x, Number number);
  /// The 16-bit copy of a weight. @return its bytes; 0 without autocast
  double cast_weight(double elements);
  void weight_back(Node& at, double elements);
  /// The gradients of a layer's own parameters, unless those are frozen.
  void trains(Node& at, double elements);
  /// x times a trained weight, plus a trained bias.
  Tensor times_weight(Tensor x, double m, double inputs, double outputs, bool bias, bool tied);
  /// x times a frozen weight; with the adapter's part, if the layer is one that has an adapter.
  Tensor times_frozen(Tensor x, double m, std::int64_t inputs, std::int64_t outputs);
  Tensor with_adapter(Tensor x, Tensor y, double m, std::int64_t inputs, std::int64_t outputs);
  bool is_in_block() const { return layers_.back().name.find('.') != std::string::npos; }
  bool is_quantised() const { return settings_.lora && settings_.lora->quantised && is_in_block(); }
  std::vector<Operation> dequantised(double elements) const;
  /// Gradients of 16 bits to buffers of 32.
  bool adds_in_fp32() const { return settings_.adds_in_fp32 && is_half(); }
  /// Functions that make no gradient: no backward pass, and nothing kept for it.
  void leave_out_frozen();
  /// In checkpointed blocks that keep every second product: the first, the third ...
  void keep_products();
  /// By layer: the block that runs again before its backward pass; none: it keeps all.
  std::vector<std::int32_t> checkpointed_blocks() const;
  void exchange_beside(Node& at, std::size_t of_inputs, Bytes gathered, Bytes gradient);
  struct Pass {
    std::vector<Operation>& operations;
    std::vector<Exchange>& exchanges;
  };
  void gather_beside(Pass pass, std::size_t product, Bytes whole);
  void take_pieces(Node& at, Tensor x);
  void scatter_beside(Pass pass, Bytes whole);
  std::size_t cut_product(std::vector<Operation>& operations, std::size_t product) const;
  void copy_gathered(std::vector<Operation>& to, Number number, double elements) const;
  void copy_scattered(std::vector<Operation>& to, Number number, double elements) const;
  /// A gradient is of 16 bits where its tensor is of 8.
  Number gradient_number(const Info& info) const {
    return info.number == Number::fp8 ? half_number() : info.number;
  }
  /// A linear layer, or those of experts, behind `open`. @param m rows of a rank
  struct LinearShape {
    double m = 0, inputs = 0, outputs = 0;
    bool bias = false;
    bool sums = false;   ///< the ranks that share it add up what comes of it
    double experts = 0;  ///< 0: it is one layer
    double weight() const { return inputs * outputs * (experts > 0 ? experts : 1); }
  };
  void mark_fp8(std::int64_t inputs, std::int64_t outputs);
  bool runs_in_fp8() const;
  bool gathers_in_fp8() const;
  Tensor linear_in_fp8(Tensor x, const LinearShape& shape);
  void fused_cross_entropy(Tensor logits, double m);
  // Casts of a matrix to 8 bits. @param width of its rows
  Tensor copy_in_fp8(Node& at, Tensor x, double elements, double width);
  void cast_to_8(std::vector<Operation>& to, Number from, double elements, double width) const;
  void cast_both(std::vector<Operation>& to, Number from, double elements, double width) const;
  void cast_columns(std::vector<Operation>& to, Number from, double elements, double width) const;
  Operation turned_fp8(double elements) const;
  void cast_weight_to_8(Node& at, double weight, double width);
  Operation stream(std::string_view what, Number number, double elements) const;
  Operation rows(std::string_view what, Number number, double rows, double width) const;
  Operation product(const char* layout, double m, double n, double k) const;
  static std::vector<Parameter> weight_and_bias(const std::string& name, std::vector<std::int64_t> weight,
                                                std::int64_t outputs, bool bias);
  Tensor norm(const std::string& name, Tensor x, std::int64_t rows, std::int64_t width, std::string_view what,
              std::vector<Parameter> parameters);
  /// @param m rows
  Tensor rotary_in_steps(const std::string& name, Tensor x);
  Tensor rms_norm_in_steps(const std::string& name, Tensor x, double m, std::int64_t width);
  void keep_of_attention(Tensor tensor);
  /// Behind `open`.
  Tensor attend(const std::vector<Tensor>& qkv, const Attention& shape);
  /// The products of an attention that is several kernels: so many, each of rows by keys of a head.
  struct Scores {
    double groups = 0, tokens = 0, size = 0, keys = 0, values = 0;
    double all = 0;  ///< numbers
  };
  Scores scores_of(const Attention& shape) const;
  void math_attention(const Attention& shape, Number number, Tensor out);
  void composed_attention(const Attention& shape, Number number, Tensor out);
  std::pair<Bytes, Bytes> keys_and_values(const Attention& shape, Number number) const;
  void gather_keys(Bytes keys, Bytes kv);
  template <class Fused>
  void attend_in_parts(const Attention& shape, Number number, const Fused& fused);
  bool shares_tokens() const {
    return settings_.context > 1 && settings_.context_method != ContextMethod::all_to_all;
  }
  /// Nothing but an exchange. @param elements that come of it
  Tensor exchanged(Tensor x, double elements, CollectiveKind there, CollectiveKind back, RankGroup over);
  /// The operations of a node, with its exchanges, behind those of its layer.
  void issue_forward(const Node& at);
  void issue_loop(std::size_t first, std::size_t end);
  void issue_loop_backward(std::size_t first, std::size_t end);
  Operation tiny(bool host_waits) const;
  void combine_in_loop(Node& at, double elements, Number number) const;
  void issue_backward(const Node& at);
  void issue_again(const Node& at);
  void issue();
  void recompute_fused();
  void issue_fused();
  Operation fused(double bytes) const;
  /// Whether torch.compile puts it into one kernel with its neighbours.
  static bool fuses(const Node& at);
  /// By node: the one behind the kernel that it becomes a part of; 0: it is no part of one.
  std::vector<std::int32_t> ends_of_kernels() const;
  void account();
  void hold_recomputed(MemoryTimeline& held) const;

  EagerSettings settings_;
  std::vector<Info> tensors_;
  std::vector<Node> nodes_;
  std::map<std::int32_t, Tensor> narrowed_;  ///< by tensor: its last copy of 16 bits
  std::int32_t loop_ = 0;                    ///< experts of the loop that is open
  LayerRole role_ = LayerRole::other;
  std::vector<Operation> casts_;  ///< of weights, before the node that comes next
  std::vector<double> lasting_;   ///< by layer: bytes of its weights' copies of 8 bits that outlive a pass
  std::vector<Layer> layers_;
  std::vector<LayerOperations> operations_;
  StepMemory memory_;
  bool is_taken_ = false;  ///< by `take_step`
  std::set<AttentionHead> attention_heads_;
};

/// What PyTorch issues for a model, and what it keeps.
struct EagerStep {
  std::vector<LayerOperations> layers;  ///< as the model's layers
  std::vector<Layer> of_rank;           ///< the model's layers as a rank has them
  StepMemory memory;
};
/// @pre the model has a forward pass
EagerStep eager_step(const Model& model, const EagerSettings& settings);

}  // namespace gradway

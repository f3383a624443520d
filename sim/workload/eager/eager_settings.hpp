// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/attention_choice.hpp"
#include "sim/workload/fp8.hpp"
#include "sim/workload/lora.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/recompute.hpp"

namespace gradway {

/// Settings that determine which kernels PyTorch issues for a model.
struct EagerSettings {
  int batch = 1;
  int sequence = 0;                       ///< tokens per sample of text models; 0: the model's own
  int document = 0;                       ///< tokens of the documents packed into a sample; 0: one document
  Precision precision = Precision::fp32;  ///< bf16 and fp16: autocast with fp32 parameters and gradients
  std::optional<Fp8> fp8{};  ///< linear layers in blocks run in fp8; `precision` is that of other products
  bool half_parameters = false;  ///< parameters, gradients and activations have 16 bits, without autocast
  bool channels_last = false;
  AttentionKernel attention = AttentionKernel::automatic;
  int compute_capability = 90;  ///< PyTorch chooses the attention kernel by it
  bool float_logits = false;    ///< under autocast, the loss reads `logits.float()`
  Recompute recompute = Recompute::none;
  RecomputedModules recompute_modules{};  ///< by `selective`
  int recompute_every = 1;                ///< every n-th block is recomputed
  bool recompute_offload = false;         ///< inputs of recomputed blocks wait in host memory
  OffloadedModules offload_activations{};
  std::optional<Lora> lora{};
  bool compiled = false;           ///< torch.compile fuses operations between products
  bool fused_loss = false;         ///< the loss is one kernel
  int loss_chunk = 0;              ///< rows of logits that exist at a time; 0: all
  int mlp_tiles = 1;               ///< parts of the tokens for which MLPs run one after another
  bool composed_norms = false;     ///< RMSNorms run as separate operations where there is a choice
  bool hugging_face = false;       ///< operations are written out as in the models of transformers
  int tensor = 1;                  ///< ranks of tensor parallelism
  bool sequence_parallel = false;  ///< tensor ranks also split the tokens between products
  bool overlaps_gradients =
      true;                   ///< the sum of an input gradient overlaps the product of the weight gradient
  bool sends_pieces = false;  ///< exchanges are split and overlap parts of their product (async TP)
  bool adds_in_fp32 = false;  ///< products accumulate weight gradients in fp32 buffers
  bool megatron = false;      ///< Megatron-Core's modules: packed projections, overlapped exchanges
  Fusions fusions = Fusions::all;  ///< of Megatron's modules
  int context = 1;                 ///< ranks of context parallelism, which split every sequence
  ContextMethod context_method = ContextMethod::ring;
  int expert = 1;         ///< ranks of expert parallelism, which divide the experts of a layer
  int expert_tensor = 1;  ///< ranks that split each expert
  /// Rows of the busiest expert rank as a multiple of the mean: by layer with experts, or one for all layers.
  std::vector<double> expert_imbalance{1};
  double expert_tokens = 1;      ///< tokens that a dispatcher sends per row of an expert
  bool fp8_dispatch = false;     ///< rows are sent to experts in fp8
  bool waits_for_counts = true;  ///< the CPU reads the numbers of rows before it launches experts
  bool graph_of_step = false;  ///< the CPU never knows the numbers of rows: one CUDA graph has the whole step
  bool expert_loop = false;    ///< experts run one after another, and the CPU reads the rows of each
  bool sends_tokens = false;   ///< a dispatcher sends tokens instead of rows (DeepEP, HybridEP)
  std::optional<double> expert_capacity{};  ///< capacity factor: room for rows as a multiple of an even share

  bool operator==(const EagerSettings&) const = default;
};

}  // namespace gradway

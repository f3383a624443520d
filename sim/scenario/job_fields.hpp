// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/fields.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

inline constexpr std::array<std::string_view, 2> memory_format_words{"contiguous", "channels_last"};
inline constexpr std::array<std::string_view, 3> finetune_words{"full", "lora", "qlora"};

inline std::optional<Fp8Recipe> recipe_that_counts(const Job& job) {
  const auto fp8 = fp8_of(job);
  return fp8 ? std::optional{fp8->recipe} : std::nullopt;
}

/// The keys of `job`.
constexpr auto fields_of(std::type_identity<Job>) {
  return std::tuple{
      field("gpus", &Job::gpus, value::Gpus{1 << 20},
            "ranks, one on each GPU; nodes follow from the platform", {.is_required = true}),
      field("batch_per_gpu", &Job::batch_per_gpu, value::Whole{1, 1'000'000},
            "samples of a micro-step on each GPU; 1 with strategy.kind collective", {.is_required = true}),
      field("precision", &Job::precision, value::Words{"a precision", precision_words},
            "of kernels; bf16 and fp16 by autocast: weights and gradients stay fp32; fp8: bf16, but for the "
            "products of linear layers in the model's blocks; a profile brings its own",
            {.decides = {.kernels = true}}),
      field(
          "state_dtype", &Job::state_dtype, value::Words{"a format of numbers", dtype_words},
          "format in which ranks keep parameters, gradients and optimizer states, under every strategy; bf16 "
          "and fp16: as after model.to(bfloat16), without autocast and without masters in fp32",
          {.decides = {.kernels = true}}),
      field("accumulate", &Job::accumulate, value::Whole{1, 10000},
            "micro-steps to one optimizer step, under DDP's no_sync"),
      OwnField{"global_batch", value::Whole{1, 1'000'000'000},
               "samples of a step, over all ranks, in place of job.accumulate, which then follows from it, "
               "job.batch_per_gpu and the data-parallel ranks"},
      field(
          "attention", &Job::attention, value::Words{"an attention", attention_kernel_words},
          "implementation of scaled_dot_product_attention; auto: PyTorch's choice; flash1: FlashAttention 1, "
          "which PyTorch 2.0 and 2.1 have, or its Triton version; composed: products and a softmax in fp32 "
          "one "
          "after the other, as BERT's models and Hugging Face's attn_implementation \"eager\" have them",
          {.decides = {.kernels = true}}),
      field("memory_format", &Job::channels_last, value::Words{"a memory format", memory_format_words},
            "how images lie in memory: NCHW or NHWC", {.decides = {.kernels = true}}),
      field("compile", &Job::compiled, value::Boolean{}, "torch.compile: what lies between products is fused",
            {.decides = {.kernels = true, .launches = true}}),
      field(
          "fused_loss", &Job::fused_loss, value::Boolean{},
          "the loss is one kernel, so nothing of 32 bits is as large as the logits: torch.compile makes it "
          "with "
          "job.compile (nanoGPT, Hugging Face's models that are given labels, torchtitan from 2025), or the "
          "program calls one (flash-attn's, as llm-foundry does, or Liger's)",
          {.decides = {.kernels = true, .launches = true}}),
      field("composed_norms", &Job::composed_norms, value::Boolean{},
            "RMSNorms are written out in operations, as Hugging Face's and IBM's models have them and "
            "PyTorch's "
            "own before 2.9; T5's always are; Megatron has a kernel",
            {.decides = {.kernels = true}}),
      field(
          "composed_rotary", &Job::composed_rotary, value::Boolean{},
          "rotary positions are written out in operations on halves of heads, as Hugging Face's models have "
          "them; without, one complex product in fp32, as in torchtitan",
          {.decides = {.kernels = true}}),
      field("recompute", &Job::recompute, value::Words{"what is computed again", recompute_words},
            "activation checkpointing: full: each block keeps its input alone, and runs again before its "
            "backward "
            "pass; selective_op, as torchtitan has it: but for attention and every second product, which it "
            "keeps; selective, as Megatron has it: attention keeps queries, keys and values alone",
            {.decides = {.kernels = true}}),
      field("framework", &Job::framework, value::Words{"a framework", framework_words},
            "whose exchanges between the stages of a pipeline: PyTorch's (and torchtitan's), Megatron-Core's "
            "or "
            "DeepSpeed's",
            {.decides = {.kernels = true, .launches = true}}),
      field("zero_grad", &Job::zero_grad, value::Words{"a place of zero_grad", zero_grad_words},
            "when the training loop frees the gradients (zero_grad): after the optimizer's step, as Hugging "
            "Face's Trainer and torchtitan do, or between the forward and the backward pass, as Lightning "
            "does; "
            "memory only",
            {.outside_identity = "memory only"}),
      field("float_logits", &Job::float_logits, value::Boolean{},
            "under autocast the loss is taken of logits.float(), as in Hugging Face's models and torchtitan; "
            "false: of the logits as they are, as in nanoGPT; memory only",
            {.outside_identity = "memory only"}),
      field("launch_blocking", &Job::launch_blocking, value::Boolean{},
            "CUDA_LAUNCH_BLOCKING=1: the CPU waits for each kernel and collective before it issues the next",
            {.decides = {.launches = true}}),
      field("cuda_graphs", &Job::cuda_graphs, value::Words{"a choice of CUDA graphs", cuda_graphs_words},
            "what the CPU launches as CUDA graphs: layers: each block of the model, forward and backward "
            "(torch.cuda.make_graphed_callables, Megatron's --cuda-graph-impl); step: the whole step as one "
            "graph, with Megatron all but the optimizer (full_iteration)",
            {.decides = {.launches = true}}),
      field("experts", &Job::experts, value::Words{"a way to run experts", expert_products_words},
            "how the experts of a layer run: as grouped products (torchtitan, Megatron, Hugging Face's "
            "experts_implementation grouped_mm), or one after the other, each with rows that the CPU reads "
            "back "
            "from the GPU (Hugging Face's eager, the only one before transformers 5)",
            {.decides = {.kernels = true}}),
      field(
          "clip_grad_norm", &Job::clip_grad_norm, value::Boolean{},
          "gradients are scaled by their norm before the optimizer's step: one more read, and one more read "
          "and write, of each rank's own"),
      field(
          "fp8_recipe", &Job::fp8_recipe, value::Words{"a recipe of fp8", fp8_recipe_words},
          "precision fp8: how operands are scaled: by torchao's recipes, or by Transformer Engine's delayed "
          "scaling; left out, tensorwise, or delayed with framework megatron, whose tensorwise is "
          "Transformer "
          "Engine's current scaling",
          {.effective = recipe_that_counts, .decides = {.kernels = true}}),
      field("slow_gpu", &Job::slow_gpu, value::Slowdown{},
            "kernels of one GPU, that of the last rank, take so many times as long: all others wait for it",
            {.is_echoed = [](const Job& job) { return job.slow_gpu > 1; }}),
      field("sequence", &Job::sequence, value::Whole{1, 1 << 24},
            "tokens a sample, for models of text, instead of the model's own",
            {.is_echoed = [](const Job& job) { return job.sequence > 0; }}),
      field("recompute_every", &Job::recompute_every, value::Whole{1, 10000},
            "recompute full: of so many blocks one is computed again, as torchtitan's selective_ac_option "
            "has it",
            {.is_echoed = [](const Job& job) { return job.recompute_every > 1; },
             .decides = {.kernels = true}}),
      OwnField{
          "finetune", value::Words{"a fine-tuning", finetune_words},
          "what is trained: all; or low-rank adapters beside linear layers (PEFT's LoRA), all else frozen in "
          "16 bits, qlora: linear layers of blocks in NF4",
          "full"},
      OwnField{"lora_rank", value::Whole{1, 65536}, "finetune lora or qlora: PEFT's r", "8"},
      OwnField{
          "lora_targets", value::Words{"a choice of layers", lora_target_words},
          "finetune lora or qlora: linear layers that have adapters: of attention (q, k, v, o), or all of "
          "the blocks",
          "all_linear"}};
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
// The keys of `job`.
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/key_context.hpp"
#include "sim/workload/architectures.hpp"

namespace gradway {
namespace {

constexpr std::array<std::string_view, 2> memory_format_words{"contiguous", "channels_last"};

std::optional<Fp8Recipe> recipe_that_counts(const Job& job) {
  const auto fp8 = fp8_of(job);
  return fp8 ? std::optional{fp8->recipe} : std::nullopt;
}

bool reads_values(const Job& job) {
  return job.host_reads > 0;
}

bool evaluates(const Job& job) {
  return job.eval_batch > 0;
}

namespace job_lacks {
Lack forward_pass(const KeyContext& context) {
  return lack_unless(context.model.run && !context.model.captured, "the kernels of the model are recorded");
}
Lack free_gradients(const KeyContext& context) {
  const auto& job = context.job;
  const bool steps_alone =
      std::holds_alternative<NoExchange>(job.strategy) || std::holds_alternative<Fsdp>(job.strategy);
  if (!steps_alone)
    return lack_unless(false, "gradients stay in the strategy's buckets",
                       "write 'kind: fsdp' or 'kind: none'");
  return lack_unless(job.accumulate == 1, "gradients add up over micro-batches",
                     "leave it out, or write 'accumulate: 1'");
}
Lack evaluation(const KeyContext& context) {
  return lack_unless(evaluates(context.job), "nothing is evaluated", "set job.eval_batch, or leave it out");
}
Lack host_reads(const KeyContext& context) {
  return lack_unless(reads_values(context.job), "no values are read back",
                     "set job.host_reads to their number, or leave it out");
}
Lack convolutions(const KeyContext& context) {
  return lack_unless(!context.model.run || has_convolutions(context.model.run),
                     "the model has no convolutions");
}
Lack attention(const KeyContext& context) {
  return lack_unless(
      runs_blocks_again(context.job.recompute) || (context.model.run && has_attention(context.model.run)),
      "the kernels of the model have no attention", "write 'recompute: full', or leave it out");
}
Lack whole_blocks(const KeyContext& context) {
  const auto recompute = context.job.recompute;
  return lack_unless(runs_blocks_again(recompute) && recompute != Recompute::selective_op,
                     "no whole blocks are recomputed", "leave it out, or write 'recompute: full'");
}
Lack modules(const KeyContext& context) {
  const auto& job = context.job;
  return lack_unless(job.recompute == Recompute::selective && has_megatron_modules(job),
                     "no modules of Megatron are recomputed",
                     "leave it out, or write 'recompute: selective' and 'framework: megatron'");
}
Lack offloaded_inputs(const KeyContext& context) {
  if (!context.model.run) return lack_unless(false, "the kernels of the model are recorded");
  return whole_blocks(context);
}
Lack saved_activations(const KeyContext& context) {
  const auto& job = context.job;
  if (!context.model.run || context.model.captured)
    return lack_unless(false, "the kernels of the model are recorded");
  if (job.recompute_offload)
    return lack_unless(false, "job.recompute_offload is set", "leave one of them out");
  if (job.offload_activations == "all")
    return lack_unless(job.recompute != Recompute::selective_op, "parts of blocks are recomputed",
                       "write 'recompute: full' or 'none'");
  return lack_unless(has_megatron_modules(job) && !runs_blocks_again(job.recompute),
                     "no modules of Megatron keep what they save",
                     "write 'all', or 'framework: megatron' without 'recompute: full'");
}
Lack class_loss(const KeyContext& context) {
  return lack_unless(context.model.tables.empty(),
                     "the loss of a recommendation model has no logits of classes");
}
std::int64_t tokens_of_rank(const KeyContext& context) {
  const auto& job = context.job;
  return std::int64_t{job.sequence > 0 ? job.sequence : context.model.tokens_per_sample} / job.layout.context;
}
Lack chunks(const KeyContext& context) {
  const auto& job = context.job;
  if (job.layout.tensor > 1 || has_megatron_modules(job))
    return lack_unless(false, "tensor ranks and Megatron compute the loss of all tokens at a time");
  if (context.model.causal_heads == 0) return lack_unless(false, "the model is no decoder");
  return lack_unless(job.loss_chunk < tokens_of_rank(context) * job.batch_per_gpu,
                     "a micro-batch of a rank has no more tokens");
}
Lack tiles(const KeyContext& context) {
  const auto& job = context.job;
  if (job.layout.tensor > 1 || has_megatron_modules(job) || job.compiled ||
      job.recompute == Recompute::selective_op)
    return lack_unless(false,
                       "MLPs run for all tokens at a time with parallel.tensor, framework megatron, "
                       "compile and recompute selective_op");
  const bool has_mlps = std::ranges::any_of(
      context.model.layers, [](const Layer& layer) { return layer.name.ends_with(".mlp.fc2"); });
  if (!has_mlps) return lack_unless(false, "the model is no decoder with dense MLPs");
  return lack_unless(job.mlp_tiles <= tokens_of_rank(context), "a sample of a rank has fewer tokens");
}
}  // namespace job_lacks

}  // namespace

FieldTable make_fields(std::type_identity<Job>) {
  return {
      field("gpus", &Job::gpus, value::Gpus{most_ranks},
            "number of ranks, one per GPU; the number of nodes follows from the platform",
            {.is_required = true}),
      field("batch_per_gpu", &Job::batch_per_gpu, value::Whole{1, 1'000'000},
            "samples of a micro-batch on each GPU; 1 with strategy.kind collective", {.is_required = true}),
      field("precision", &Job::precision, value::Words{"a precision", precision_words},
            "number format of the kernels. bf16 and fp16: autocast, with weights and gradients in fp32; fp8 "
            "and nvfp4: as bf16, with the linear layers of the model's blocks in that format (nvfp4: "
            "Transformer Engine's on Blackwell); a profile has its own precision",
            {.affects = {.kernels = true}}),
      field("state_dtype", &Job::state_dtype, value::Words{"a number format", dtype_words},
            "format of parameters, gradients and optimizer states on the ranks, with every strategy. bf16 "
            "and fp16: as after model.to(bfloat16), without autocast and without fp32 master weights",
            {.affects = {.kernels = true}}),
      field("accumulate", &Job::accumulate, value::Whole{1, most_accumulated},
            "number of micro-batches per optimizer step (gradient accumulation, DDP's no_sync)"),
      custom("global_batch", value::Whole{1, 1'000'000'000},
             "samples of a step over all ranks; use it instead of job.accumulate, which then follows from "
             "job.batch_per_gpu and the number of data-parallel ranks"),
      field("attention", &Job::attention, value::Words{"an attention implementation", attention_kernel_words},
            "implementation of scaled_dot_product_attention. auto: PyTorch's choice; flash1: FlashAttention "
            "1 of PyTorch 2.0 and 2.1, or its Triton version; composed: separate matrix products and a "
            "softmax in fp32, as in BERT models and Hugging Face's attn_implementation \"eager\"",
            {.affects = {.kernels = true}}),
      field("memory_format", &Job::channels_last, value::Words{"a memory format", memory_format_words},
            "memory layout of images: NCHW (contiguous) or NHWC (channels_last)",
            {.affects = {.kernels = true}, .lack = job_lacks::convolutions}),
      field("compile", &Job::compiled, value::Boolean{},
            "torch.compile: operations between matrix products are fused",
            {.affects = {.kernels = true, .launches = true}}),
      field("fused_loss", &Job::fused_loss, value::Boolean{},
            "the loss is one kernel and needs no fp32 copy of the logits. torch.compile generates it with "
            "job.compile (nanoGPT, Hugging Face models that get labels, torchtitan since 2025), or the "
            "program calls one (flash-attn's in llm-foundry, Liger's)",
            {.affects = {.kernels = true, .launches = true}, .lack = job_lacks::class_loss}),
      field("composed_norms", &Job::composed_norms, value::Boolean{},
            "RMSNorm is composed of separate operations, as in Hugging Face's and IBM's models and in "
            "PyTorch before 2.9; T5 models always do this; Megatron has a kernel",
            {.affects = {.kernels = true}}),
      field("implementation", &Job::implementation, value::Words{"an implementation", implementation_words},
            "whose program runs the layers. fused: PyTorch's fused kernels, as in torchtitan; huggingface: "
            "the models of transformers, which write out norms, rotary embeddings and gelu_new as separate "
            "operations, compute the loss in fp32 and give attention a mask for windows; auto: huggingface "
            "for models of 'gradway import hf', else fused. Megatron has its own",
            {.affects = {.kernels = true}}),
      field("fusions", &Job::fusions, value::Words{"a set of fusions", fusions_words},
            "with Megatron's modules: which of its fused kernels run. activation: that of an MLP's bias, "
            "activation and gate (--no-bias-swiglu-fusion, --no-bias-gelu-fusion turn it off); rope: that of "
            "rotary positions (--no-rope-fusion). Megatron has both since 2024",
            {.is_echoed = [](const Job& job) { return job.fusions != Fusions::all; },
             .affects = {.kernels = true, .launches = true}}),
      field("recompute", &Job::recompute, value::Words{"a recompute mode", recompute_words},
            "activation checkpointing. full: each block keeps only its input and is recomputed before its "
            "backward pass; selective_op: everything is recomputed except attention and every second matrix "
            "product (torchtitan); selective: what recompute_modules names, by default the core of attention "
            "alone, from queries, keys and values (Megatron)",
            {.affects = {.kernels = true}, .lack = job_lacks::attention}),
      field(
          "recompute_modules", &Job::recompute_modules, value::Text{},
          "with recompute selective and Megatron's modules: what is recomputed, as --recompute-modules lists "
          "it: core_attn (the core of attention), layernorm (norms before experts and latent attention), "
          "moe_act (activations of experts), mla_up_proj (from latent vectors to heads), mlp (of dense "
          "layers), shared_experts, moe (layers of experts)",
          {.is_echoed = [](const Job& job) { return job.recompute_modules != Job{}.recompute_modules; },
           .affects = {.kernels = true},
           .lack = job_lacks::modules}),
      field("framework", &Job::framework, value::Words{"a framework", framework_words},
            "framework whose communication within the model is simulated: PyTorch (also torchtitan), "
            "Megatron-Core or DeepSpeed",
            {.affects = {.kernels = true, .launches = true}}),
      field("zero_grad", &Job::zero_grad, value::Words{"a zero_grad mode", zero_grad_words},
            "when the training loop frees the gradients (zero_grad). after_step: after the optimizer step, "
            "as in Hugging Face's Trainer and torchtitan; before_backward: between the forward and the "
            "backward pass, as in Lightning; affects memory only",
            {.outside_identity = "memory only"}),
      field("eval_batch", &Job::eval_batch, value::Whole{1, 1'000'000},
            "samples that each GPU evaluates at a time between steps, forward only and without gradients "
            "(per_device_eval_batch_size of Hugging Face's Trainer, validation.local_batch_size of "
            "torchtitan); default: no evaluation; affects memory only",
            {.is_echoed = evaluates, .outside_identity = "memory only", .lack = job_lacks::forward_pass}),
      field("eval_sequence", &Job::eval_sequence, value::Whole{1, 1 << 24},
            "with eval_batch: tokens of each of these samples; default: those of training",
            {.is_echoed = [](const Job& job) { return job.eval_sequence > 0; },
             .outside_identity = "memory only",
             .lack = job_lacks::evaluation}),
      field(
          "deterministic", &Job::deterministic, value::Boolean{},
          "torch.use_deterministic_algorithms, for which cuBLAS has workspaces of 32 MiB on every GPU "
          "(CUBLAS_WORKSPACE_CONFIG=:4096:8), as on Hopper by default: Megatron's --deterministic-mode, "
          "torchtitan's debug.deterministic; affects memory only: kernels are the usual ones",
          {.is_echoed = [](const Job& job) { return job.deterministic; }, .outside_identity = "memory only"}),
      field("expandable_segments", &Job::expandable_segments, value::Boolean{},
            "PYTORCH_ALLOC_CONF=expandable_segments:True: PyTorch's allocator grows its segments page by "
            "page, so that little of what it reserves is unused; torchtitan's run_train.sh sets it; affects "
            "reserved memory only",
            {.is_echoed = [](const Job& job) { return job.expandable_segments; },
             .outside_identity = "memory only"}),
      field("float_logits", &Job::float_logits, value::Boolean{},
            "under autocast the loss is computed from logits.float(), as in Hugging Face's models and "
            "torchtitan; false: from the logits as they are, as in nanoGPT; affects memory only",
            {.outside_identity = "memory only"}),
      field("launch_blocking", &Job::launch_blocking, value::Boolean{},
            "CUDA_LAUNCH_BLOCKING=1: the CPU waits for each kernel and collective before it launches the "
            "next one",
            {.affects = {.launches = true}}),
      field("cuda_graphs", &Job::cuda_graphs, value::Words{"a CUDA graph mode", cuda_graphs_words},
            "what is captured in CUDA graphs. layers: each block of the model, forward and backward "
            "(torch.cuda.make_graphed_callables, Megatron's --cuda-graph-impl); step: the whole step in one "
            "graph, with Megatron without the optimizer (full_iteration); reduce_overhead: the forward and "
            "the backward pass in a graph each, with FSDP each block (mode of torch.compile)",
            {.affects = {.launches = true}}),
      field("experts", &Job::experts, value::Words{"an expert implementation", expert_products_words},
            "how the experts of a layer are computed. grouped: in grouped matrix products (torchtitan, "
            "Megatron, Hugging Face's experts_implementation grouped_mm); loop: one after the other, each "
            "with row indices that the CPU reads back from the GPU (Hugging Face's eager, the only one "
            "before transformers 5)",
            {.affects = {.kernels = true}}),
      field("clip_grad_norm", &Job::clip_grad_norm, value::Boolean{},
            "gradients are clipped by their norm before the optimizer step: each rank reads its gradients to "
            "compute the norm, then reads and writes them to scale them"),
      field(
          "optimizer_in_backward", &Job::optimizer_in_backward, value::Boolean{},
          "each parameter is updated as soon as the backward pass has made its gradient, which is then freed "
          "(optimizer_in_bwd of torchtune, early_step_in_backward of torchtitan), without clipping; affects "
          "memory only: the kernels are the same",
          {.is_echoed = [](const Job& job) { return job.optimizer_in_backward; },
           .outside_identity = "memory only",
           .lack = job_lacks::free_gradients}),
      field("host_reads", &Job::host_reads, value::Whole{0, 100'000},
            "values that the program reads back from the GPU in a step (loss.item(), metrics, norms for a "
            "log). For each one the CPU waits until the GPU has computed it",
            {.is_echoed = reads_values, .affects = {.launches = true}}),
      field("host_reads_after", &Job::host_reads_after,
            value::Words{"a phase of the step", host_reads_after_words},
            "with host_reads: when they are read. forward and backward: after that pass of the last "
            "micro-batch; optimizer: at the end of the step",
            {.is_echoed = reads_values, .affects = {.launches = true}, .lack = job_lacks::host_reads}),
      field("host_read_size", &Job::host_read_size, value::Amount{value::Unit::size, "4 B"},
            "with host_reads: size of each value; 4 B is a scalar, outputs and predictions are larger",
            {.is_echoed = reads_values, .affects = {.launches = true}, .lack = job_lacks::host_reads}),
      field("reduced_metrics", &Job::reduced_metrics, value::Whole{0, 100'000},
            "with host_reads: how many of the values are all-reduced over all ranks before they are read",
            {.is_echoed = [](const Job& job) { return job.reduced_metrics > 0; },
             .affects = {.launches = true},
             .lack = job_lacks::host_reads}),
      field("sync_batch_norm", &Job::sync_batch_norm, value::Boolean{},
            "SyncBatchNorm: each BatchNorm exchanges its statistics with all ranks, forward and backward",
            {.is_echoed = [](const Job& job) { return job.sync_batch_norm; },
             .affects = {.kernels = true, .launches = true}}),
      field("fp8_recipe", &Job::fp8_recipe, value::Words{"an fp8 recipe", fp8_recipe_words},
            "with precision fp8: how operands are scaled. tensorwise, rowwise and mxfp8: torchao's, or, with "
            "framework megatron, tensorwise and mxfp8 are Transformer Engine's; delayed and blockwise: "
            "Transformer Engine's; default: tensorwise, or delayed with framework megatron",
            {.is_echoed = [](const Job& job) { return job.precision == Precision::fp8; },
             .effective = recipe_that_counts,
             .affects = {.kernels = true}}),
      field("fp8_attention", &Job::fp8_attention, value::Boolean{},
            "with precision fp8 or nvfp4: attention runs in fp8, too, by cuDNN (Transformer Engine's "
            "fp8_dpa, --fp8-dot-product-attention)",
            {.is_echoed = [](const Job& job) { return job.fp8_attention; }, .affects = {.kernels = true}}),
      field(
          "slow_gpu", &Job::slow_gpu, value::slowdown,
          "slow-down of the kernels of one straggler GPU, that of the last rank; all other ranks wait for it",
          {.is_echoed = [](const Job& job) { return job.slow_gpu > 1; }}),
      field("sequence", &Job::sequence, value::Whole{1, 1 << 24},
            "tokens per sample, for text models; default: the model's own",
            {.is_echoed = [](const Job& job) { return job.sequence > 0; }}),
      field("segment", &Job::segment, value::Whole{1, 1 << 20},
            "nodes of the job in each NVLink domain, as Slurm's --segment places them; default: all nodes of "
            "a domain",
            {.is_echoed = [](const Job& job) { return job.segment > 0; }}),
      field("document_length", &Job::document_length, value::Whole{1, 1 << 24},
            "tokens of each document if several are packed into a sample of a text model, whose attention "
            "stays within a document; default: one document per sample",
            {.is_echoed = [](const Job& job) { return job.document_length > 0; },
             .affects = {.kernels = true}}),
      field("recompute_every", &Job::recompute_every, value::Whole{1, 10000},
            "with recompute full: one of every N blocks is recomputed (torchtitan's selective_ac_option)",
            {.is_echoed = [](const Job& job) { return job.recompute_every > 1; },
             .affects = {.kernels = true},
             .lack = job_lacks::whole_blocks}),
      field(
          "recompute_offload", &Job::recompute_offload, value::Boolean{},
          "with recompute full: the inputs of recomputed blocks wait in pinned host memory for the backward "
          "pass; the CPU waits for each copy to the host (activation_checkpointing_offload of Hugging Face "
          "Accelerate, PyTorch's save_on_cpu around checkpointed blocks)",
          {.is_echoed = [](const Job& job) { return job.recompute_offload; },
           .affects = {.launches = true},
           .lack = job_lacks::offloaded_inputs}),
      field(
          "offload_activations", &Job::offload_activations, value::Text{},
          "what autograd saves in blocks waits in pinned host memory, and is copied on streams of its own "
          "while the blocks beside it run; the last block keeps its own. all: everything, of recomputed "
          "blocks the inputs (torchtune's enable_activation_offloading, TRL's activation_offloading); or "
          "modules of Megatron, as --offload-modules lists them: attn_norm, mlp_norm, qkv_linear, core_attn, "
          "attn_proj, expert_fc1, moe_act",
          {.is_echoed = [](const Job& job) { return !job.offload_activations.empty(); },
           .affects = {.kernels = true, .launches = true},
           .lack = job_lacks::saved_activations}),
      field(
          "loss_chunk", &Job::loss_chunk, value::Whole{1, 1 << 24},
          "tokens whose logits exist at a time: output layer and loss run in checkpointed chunks, which the "
          "backward pass computes again (TRL's loss_type chunked_nll has 256); default: all tokens",
          {.is_echoed = [](const Job& job) { return job.loss_chunk > 0; },
           .affects = {.kernels = true},
           .lack = job_lacks::chunks}),
      field("mlp_tiles", &Job::mlp_tiles, value::Whole{1, 1 << 20},
            "parts into which MLPs divide a sample's tokens and run one after another; the backward pass "
            "computes each part again (ALST's tiled MLP, tiled_mlp_num_shards of axolotl and ms-swift, "
            "which is the sequence over the hidden size by axolotl's default)",
            {.is_echoed = [](const Job& job) { return job.mlp_tiles > 1; },
             .affects = {.kernels = true},
             .lack = job_lacks::tiles}),
      custom<Job>(
          "finetune", value::Words{"a fine-tuning method", finetune_words},
          "parameters that are trained. full: all; lora: low-rank adapters of linear layers (PEFT), with all "
          "other weights frozen in 16 bits; qlora: the same, with the linear layers of the blocks in NF4",
          {.default_text = "full"},
          [](const Job& job) {
            return job.lora ? std::optional{job.lora->quantised ? 2 : 1} : std::nullopt;
          }),
      custom<Job>("lora_rank", value::Whole{1, 65536},
                  "with finetune lora or qlora: rank of the adapters (PEFT's r)", {.default_text = "8"},
                  [](const Job& job) { return job.lora ? std::optional{job.lora->rank} : std::nullopt; }),
      custom<Job>(
          "lora_targets", value::Words{"a choice of LoRA targets", lora_target_words},
          "with finetune lora or qlora: linear layers with adapters: those of queries and values (PEFT's "
          "default), those of attention (q, k, v, o), or all of the blocks",
          {.default_text = "all_linear"},
          [](const Job& job) { return job.lora ? std::optional{job.lora->targets} : std::nullopt; }),
      custom<Job>(
          "lora_dropout", value::Boolean{},
          "with finetune lora or qlora: adapters drop some of their inputs (PEFT's lora_dropout above 0), "
          "and keep what is left, with a mask, for the backward pass",
          {.default_text = "false"},
          [](const Job& job) {
            return job.lora && job.lora->drops_inputs ? std::optional{true} : std::nullopt;
          }),
      custom<Job>("double_quant", value::Boolean{},
                  "with finetune qlora: the scales of NF4 are quantised, too (bitsandbytes' "
                  "bnb_4bit_use_double_quant; always in torchtune)",
                  {.default_text = "true"},
                  [](const Job& job) {
                    return job.lora && !job.lora->double_quant ? std::optional{false} : std::nullopt;
                  }),
      custom<Job>(
          "nf4_keeps_inputs", value::Boolean{},
          "with finetune qlora: 4-bit layers keep their inputs for the backward pass, as bitsandbytes before "
          "0.43.3 does; affects memory only",
          {.default_text = "false"}, [](const Job& job) {
            return job.lora && job.lora->keeps_inputs ? std::optional{true} : std::nullopt;
          })};
}

}  // namespace gradway

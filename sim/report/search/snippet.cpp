// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/snippet.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/report/search/snippet_parts.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t longest_line = 76;

/// A Python string literal.
std::string python_text(std::string_view text) {
  std::string result = "\"";
  for (const auto c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// A call on one line if it fits, else with one line per argument. @param start "model =
/// DistributedDataParallel"
std::string python_call(std::string_view start, const std::vector<std::string>& arguments) {
  const auto line = fmt::format("{}({})", start, fmt::join(arguments, ", "));
  if (line.size() <= longest_line) return line + "\n";
  return fmt::format("{}(\n    {},\n)\n", start, fmt::join(arguments, ",\n    "));
}

using Arguments = std::vector<std::string>;

const char* torch_dtype(Number number) {
  switch (number) {
    case Number::fp32:
      return "torch.float32";
    case Number::bf16:
      return "torch.bfloat16";
    case Number::fp16:
      return "torch.float16";
    case Number::fp8:
      return "torch.float8_e4m3fn";
    case Number::nvfp4:
      return "torch.float4_e2m1fn_x2";
  }
  return "";
}

template <class Sharded>
Arguments dtype_arguments(const Sharded& fsdp) {
  Arguments formats;
  if (fsdp.param_dtype) formats.push_back(fmt::format("param_dtype={}", torch_dtype(*fsdp.param_dtype)));
  if (fsdp.reduce_dtype) formats.push_back(fmt::format("reduce_dtype={}", torch_dtype(*fsdp.reduce_dtype)));
  return formats;
}

template <class Sharded>
std::string imports(const Sharded& fsdp, Arguments of_fsdp) {
  std::string text;
  if (!dtype_arguments(fsdp).empty()) text += "import torch\n";
  if (fsdp.replicate > 1) text += "from torch.distributed.device_mesh import init_device_mesh\n";
  const auto names = fmt::format("{}", fmt::join(of_fsdp, ", "));
  const std::string from = "from torch.distributed.fsdp import ";
  if (from.size() + names.size() <= 88) return text + from + names + "\n";
  return text + fmt::format("{}(\n    {},\n)\n", from, fmt::join(of_fsdp, ",\n    "));
}

template <class Sharded>
std::string mesh_of(const Sharded& fsdp, int gpus) {
  if (fsdp.replicate == 1) return "";
  return python_call("mesh = init_device_mesh",
                     {"\"cuda\"", fmt::format("({}, {})", fsdp.replicate, gpus / fsdp.replicate),
                      "mesh_dim_names=(\"replicate\", \"shard\")"});
}

std::string accumulation(int accumulate, bool no_sync, const char* how) {
  if (accumulate == 1) return "";
  if (!no_sync) return fmt::format("# In the loop: {} backward passes per step.\n", accumulate);
  return fmt::format("# In the loop: {} of {} backward passes {}.\n", accumulate - 1, accumulate, how);
}

constexpr std::string_view of_blocks = "# `blocks`: the model's repeated blocks, first to last\n";

/// Code that sets explicit prefetches. @param groups Python name of the list of groups
std::string prefetches(const Fsdp& fsdp, std::string_view groups) {
  std::string text;
  if (fsdp.forward_prefetch > 0) {
    text += fmt::format(
        "for i, module in enumerate({0}):\n"
        "    module.set_modules_to_forward_prefetch({0}[i + 1 : i + {1}])\n",
        groups, fsdp.forward_prefetch + 1);
  }
  if (fsdp.backward_prefetch > 0) {
    text += fmt::format(
        "order = [*{}, model]\n"
        "for i, module in enumerate(order):\n"
        "    module.set_modules_to_backward_prefetch(order[max(0, i - {}) : i][::-1])\n",
        groups, fsdp.backward_prefetch);
  }
  return text;
}

/// Python that wraps `model`, whose repeated modules are `blocks`, with the settings of the strategy.
/// @source torch/distributed/fsdp/_fully_shard/_fully_shard.py, torch/distributed/fsdp/
/// fully_sharded_data_parallel.py and wrap.py, PyTorch 2.11
std::string wrapped_model(const Fsdp& fsdp, const Job& job) {
  if (fsdp.megatron_fsdp)
    return fmt::format(
        "from megatron_fsdp import fully_shard_model\n\n"
        "model = fully_shard_model(model, fsdp_unit_modules=[type(blocks[0])], zero_dp_strategy={})\n",
        fsdp.reshard == Fsdp::kept ? 2 : 3);
  Arguments names;
  const auto formats = dtype_arguments(fsdp);
  if (fsdp.cpu_offload) names.emplace_back("CPUOffloadPolicy");
  if (!formats.empty()) names.emplace_back("MixedPrecisionPolicy");
  names.emplace_back("fully_shard");
  auto text = imports(fsdp, names) + "\n" + mesh_of(fsdp, job.gpus);

  Arguments sharding;
  if (fsdp.replicate > 1) sharding.emplace_back("mesh=mesh");
  if (!formats.empty()) {
    text += python_call("policy = MixedPrecisionPolicy", formats);
    sharding.emplace_back("mp_policy=policy");
  }
  if (fsdp.cpu_offload) sharding.emplace_back("offload_policy=CPUOffloadPolicy()");
  if (fsdp.reshard) {
    const auto over = *fsdp.reshard;
    sharding.push_back("reshard_after_forward=" + (over == Fsdp::over_all ? std::string{"True"}
                                                   : over == Fsdp::kept   ? std::string{"False"}
                                                                          : fmt::format("{}", over)));
  }
  std::string how;
  if (!sharding.empty()) {
    text += python_call("sharding = dict", sharding);
    how = ", **sharding";
  }

  if (fsdp.wrap.blocks == 1) {
    text += fmt::format("{}for block in blocks:\n    fully_shard(block{})\n", of_blocks, how);
  } else if (fsdp.wrap.blocks > 1) {
    text += fmt::format(
        "{0}groups = [blocks[i : i + {1}] for i in range(0, len(blocks), {1})]\n"
        "for group in groups:\n    fully_shard(group{2})\n",
        of_blocks, fsdp.wrap.blocks, how);
  }
  text += fmt::format("fully_shard(model{})\n", how);
  const bool prefetches_groups = fsdp.forward_prefetch > 0 || fsdp.backward_prefetch > 0;
  if (fsdp.wrap.blocks > 1 && prefetches_groups) text += "heads = [group[0] for group in groups]\n";
  if (fsdp.wrap.blocks > 0) text += prefetches(fsdp, fsdp.wrap.blocks == 1 ? "blocks" : "heads");
  return text + accumulation(job.accumulate, fsdp.no_sync, "after `model.set_requires_gradient_sync(False)`");
}

std::string wrapped_model(const Fsdp1& fsdp, const Job& job) {
  const bool keeps = fsdp.sharding == Fsdp1::Sharding::shard_grad_op;
  const bool has_prefetch = fsdp.backward_prefetch == Fsdp1::Prefetch::post;
  const auto formats = dtype_arguments(fsdp);
  Arguments names;
  if (has_prefetch) names.emplace_back("BackwardPrefetch");
  names.emplace_back("FullyShardedDataParallel");
  if (!formats.empty()) names.emplace_back("MixedPrecision");
  if (keeps || fsdp.replicate > 1) names.emplace_back("ShardingStrategy");
  auto text = imports(fsdp, names);
  if (fsdp.wrap.blocks > 0) text += "from torch.distributed.fsdp.wrap import CustomPolicy\n";
  text += "\n" + mesh_of(fsdp, job.gpus);

  Arguments arguments{"model", "device_id=local_rank"};
  if (fsdp.wrap.blocks > 0) {
    const bool together = fsdp.wrap.blocks > 1;
    text += together ? fmt::format("# `groups`: modules of {} blocks each, such as torch.nn.Sequential\n",
                                   fsdp.wrap.blocks)
                     : std::string{of_blocks};
    arguments.push_back(fmt::format("auto_wrap_policy=CustomPolicy(lambda module: module in {})",
                                    together ? "groups" : "blocks"));
  }
  const char* sharding =
      fsdp.replicate > 1 ? (keeps ? "_HYBRID_SHARD_ZERO2" : "HYBRID_SHARD") : (keeps ? "SHARD_GRAD_OP" : "");
  if (*sharding != '\0') arguments.push_back(fmt::format("sharding_strategy=ShardingStrategy.{}", sharding));
  if (fsdp.replicate > 1) arguments.emplace_back("device_mesh=mesh");
  if (!formats.empty())
    arguments.push_back(fmt::format("mixed_precision=MixedPrecision({})", fmt::join(formats, ", ")));
  if (fsdp.forward_prefetch) arguments.emplace_back("forward_prefetch=True");
  if (has_prefetch) arguments.emplace_back("backward_prefetch=BackwardPrefetch.BACKWARD_POST");
  if (fsdp.backward_prefetch == Fsdp1::Prefetch::none) arguments.emplace_back("backward_prefetch=None");
  if (!fsdp.limit_all_gathers) arguments.emplace_back("limit_all_gathers=False");
  return text + python_call("model = FullyShardedDataParallel", arguments) +
         accumulation(job.accumulate, fsdp.no_sync, "under `with model.no_sync():`");
}

/// Python that enables activation checkpointing for the blocks that the job recomputes.
std::string recomputed_blocks(const Job& job) {
  if (!runs_blocks_again(job.recompute)) return "";
  if (job.recompute == Recompute::selective_op)
    return "# torchtitan's apply_ac: activation_checkpoint.mode selective, selective_ac_option op.\n\n";
  const auto which =
      job.recompute_every > 1 ? fmt::format("[{}::{}]", job.recompute_every - 1, job.recompute_every) : "";
  return fmt::format(
      "from functools import partial\n"
      "from torch.utils.checkpoint import checkpoint\n"
      "\n"
      "for block in blocks{}:\n"
      "    block.forward = partial(checkpoint, block.forward, use_reentrant=False)\n"
      "\n",
      which);
}

std::string variables(const Job& job) {
  if (job.nccl.empty()) return "";
  std::string text = "import os\n\n# before init_process_group()\n";
  for (const auto& [name, value] : job.nccl)
    text += fmt::format("os.environ[{}] = {}\n", python_text(name), python_text(value));
  return text + "\n";
}

std::string imports(const Ddp& strategy) {
  const std::string hooks = "from torch.distributed.algorithms.ddp_comm_hooks import ";
  std::string text;
  if (strategy.comm_hook == CommHook::powersgd) text += hooks + "powerSGD_hook\n";
  if (strategy.comm_hook == CommHook::fp16 || strategy.comm_hook == CommHook::bf16)
    text += hooks + "default_hooks\n";
  return text + "from torch.nn.parallel import DistributedDataParallel\n";
}

std::string wrapped_model(const Ddp& strategy) {
  std::vector<std::string> arguments{"model", "device_ids=[local_rank]"};
  // {} is the shortest text that reads back as the same number; a division by 2^20 is exact.
  if (strategy.bucket_cap) arguments.push_back(fmt::format("bucket_cap_mb={}", *strategy.bucket_cap / 1_MiB));
  if (strategy.static_graph) arguments.emplace_back("static_graph=True");
  if (strategy.find_unused_parameters) arguments.emplace_back("find_unused_parameters=True");
  if (!strategy.broadcast_buffers) arguments.emplace_back("broadcast_buffers=False");
  if (strategy.gradient_as_bucket_view) arguments.emplace_back("gradient_as_bucket_view=True");
  return python_call("model = DistributedDataParallel", arguments);
}

std::string hook(const Ddp& strategy) {
  switch (strategy.comm_hook) {
    case CommHook::none:
      return "";
    case CommHook::fp16:
      return "model.register_comm_hook(None, default_hooks.fp16_compress_hook)\n";
    case CommHook::bf16:
      return "model.register_comm_hook(None, default_hooks.bf16_compress_hook)\n";
    case CommHook::powersgd:
      return "# Compresses from step start_powerSGD_iter on, 1000 unless it is given.\n" +
             python_call("state = powerSGD_hook.PowerSGDState",
                         {"process_group=None",
                          fmt::format("matrix_approximation_rank={}", strategy.powersgd_rank)}) +
             "model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)\n";
  }
  return "";
}

std::string accumulation(const Job& job) {
  if (job.accumulate == 1) return "";
  return fmt::format("# In the loop: {} of {} backward passes under `with model.no_sync():`.\n",
                     job.accumulate - 1, job.accumulate);
}

/// Code that prepares `model` before a strategy wraps it. @param has_blocks compile block by block, as for
/// FSDP
std::string prepared_model(const Job& job, bool has_blocks) {
  std::string text;
  if (job.precision == Precision::tf32) text += "torch.set_float32_matmul_precision(\"high\")\n";
  if (has_half_states(job)) text += fmt::format("model = model.to({})\n", torch_dtype(job.state_dtype));
  if (job.channels_last) text += "model = model.to(memory_format=torch.channels_last)\n";
  if (job.precision == Precision::fp8)
    text +=
        "from torchao.float8 import convert_to_float8_training\n\nmodel = "
        "convert_to_float8_training(model)\n";
  if (job.compiled && has_blocks)
    text += "for block in blocks:\n    block.compile()\n";
  else if (job.compiled)
    text += job.fused_loss
                ? "# `model` returns the loss, which is compiled too\nmodel = torch.compile(model)\n"
                : "model = torch.compile(model)\n";
  if (job.compiled && job.fused_loss && has_blocks) text += "loss_fn = torch.compile(loss_fn)\n";
  if (!job.compiled && job.fused_loss)
    text += "# The loss: one fused kernel, such as CrossEntropyLoss of flash_attn.losses.cross_entropy.\n";
  return text.empty() ? text : "import torch\n\n" + text + "\n";
}

/// Comments on what the training loop does around the passes.
std::string around_passes(const Job& job) {
  std::string text;
  if (is_half(job.precision) && !half_parameters(job))
    text += fmt::format(
        "# In the loop: the forward pass under `with torch.autocast(\"cuda\", dtype={}):`.\n",
        precision_outside_fp8(job.precision) == Precision::fp16 ? "torch.float16" : "torch.bfloat16");
  if (job.clip_grad_norm)
    text +=
        "# In the loop: `torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)` before the optimizer.\n";
  return text;
}

/// The data loader, if the job names a dataset.
std::string data_loader(const Job& job) {
  const auto& input = job.input;
  if (!input.dataset || input.loader != LoaderKind::pytorch) return "";
  std::vector<std::string> arguments{"dataset", fmt::format("batch_size={}", job.batch_per_gpu),
                                     fmt::format("num_workers={}", input.loader_workers)};
  if (input.loader_workers > 0) arguments.push_back(fmt::format("prefetch_factor={}", input.prefetch_factor));
  if (input.pin_memory) arguments.emplace_back("pin_memory=True");
  if (input.persistent_workers) arguments.emplace_back("persistent_workers=True");
  return "\nfrom torch.utils.data import DataLoader\n\n" + python_call("loader = DataLoader", arguments);
}

}  // namespace

Snippet snippet_of(const Job& job) {
  const auto python = [&](const char* file, std::string model) {
    constexpr std::string_view import_torch = "import torch\n";
    const bool is_whole =
        std::holds_alternative<Ddp>(job.strategy) || std::holds_alternative<NoExchange>(job.strategy);
    const auto prepared = prepared_model(job, !is_whole);
    if (!prepared.empty() && model.starts_with(import_torch)) model.erase(0, import_torch.size());
    return Snippet{
        "pytorch", file,
        variables(job) + recomputed_blocks(job) + prepared + model + around_passes(job) + data_loader(job)};
  };
  if (std::holds_alternative<NoExchange>(job.strategy)) return python("model.py", "");
  if (const auto* ddp = std::get_if<Ddp>(&job.strategy))
    return python("ddp.py", imports(*ddp) + "\n" + wrapped_model(*ddp) + hook(*ddp) + accumulation(job));
  if (const auto* fsdp = std::get_if<Fsdp>(&job.strategy))
    return python("fsdp.py", wrapped_model(*fsdp, job));
  if (const auto* fsdp1 = std::get_if<Fsdp1>(&job.strategy))
    return python("fsdp.py", wrapped_model(*fsdp1, job));
  expects(std::holds_alternative<Zero>(job.strategy), "the strategy is DDP's, FSDP's or ZeRO's");
  return {"deepspeed", "ds_config.json", deepspeed_config(std::get<Zero>(job.strategy), job)};
}

}  // namespace gradway::report

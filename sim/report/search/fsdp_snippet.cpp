// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/snippet_parts.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway::report {
namespace {

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

}  // namespace

std::string wrapped_model(const Fsdp& fsdp, const Job& job) {
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

}  // namespace gradway::report

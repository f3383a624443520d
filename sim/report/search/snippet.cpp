// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/snippet.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/report/search/snippet_parts.hpp"

namespace gradway::report {
namespace {

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

std::string torch_format(Number number) {
  return number == Number::bf16 ? "torch.bfloat16" : "torch.float16";
}

/// Code that prepares `model` before a strategy wraps it. @param has_blocks compile block by block, as for
/// FSDP
std::string prepared_model(const Job& job, bool has_blocks) {
  std::string text;
  if (job.precision == Precision::tf32) text += "torch.set_float32_matmul_precision(\"high\")\n";
  if (has_half_states(job)) text += fmt::format("model = model.to({})\n", torch_format(job.state_dtype));
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

constexpr std::size_t longest_line = 76;

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

std::string python_text(std::string_view text) {
  std::string result = "\"";
  for (const auto c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string python_call(std::string_view start, const std::vector<std::string>& arguments) {
  const auto line = fmt::format("{}({})", start, fmt::join(arguments, ", "));
  if (line.size() <= longest_line) return line + "\n";
  return fmt::format("{}(\n    {},\n)\n", start, fmt::join(arguments, ",\n    "));
}

}  // namespace gradway::report

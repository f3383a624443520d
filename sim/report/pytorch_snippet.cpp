// SPDX-License-Identifier: Apache-2.0
#include "sim/report/pytorch_snippet.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t longest_line = 76;

std::string python_text(std::string_view text) {
  std::string result = "\"";
  for (const auto c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// A call on one line, or with a line for each argument.
std::string call(std::string_view start, const std::vector<std::string>& arguments) {
  const auto line = fmt::format("{}({})", start, fmt::join(arguments, ", "));
  if (line.size() <= longest_line) return line + "\n";
  return fmt::format("{}(\n    {},\n)\n", start, fmt::join(arguments, ",\n    "));
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
  // {} is the shortest text that reads back as the same number; a division by 2^20 loses nothing.
  if (strategy.bucket_cap) arguments.push_back(fmt::format("bucket_cap_mb={}", *strategy.bucket_cap / 1_MiB));
  if (strategy.static_graph) arguments.emplace_back("static_graph=True");
  if (strategy.gradient_as_bucket_view) arguments.emplace_back("gradient_as_bucket_view=True");
  return call("model = DistributedDataParallel", arguments);
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
             call("state = powerSGD_hook.PowerSGDState",
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

}  // namespace

std::string pytorch_snippet(const Job& job) {
  expects(std::holds_alternative<Ddp>(job.strategy), "the strategy is DDP");
  const auto& strategy = std::get<Ddp>(job.strategy);
  return variables(job) + imports(strategy) + "\n" + wrapped_model(strategy) + hook(strategy) +
         accumulation(job);
}

}  // namespace gradway::report

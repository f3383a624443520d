// SPDX-License-Identifier: Apache-2.0
#include "sim/report/pytorch_snippet.hpp"

#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

using namespace gradway;
using report::pytorch_snippet;

namespace {

Job plain_job() {
  Job job;
  job.strategy = Ddp{};
  return job;
}

Job job_with(std::optional<Bytes> cap, CommHook hook) {
  auto job = plain_job();
  std::get<Ddp>(job.strategy).bucket_cap = cap;
  std::get<Ddp>(job.strategy).comm_hook = hook;
  std::get<Ddp>(job.strategy).static_graph = std::get<Ddp>(job.strategy).gradient_as_bucket_view = true;
  return job;
}

/// Runs Python on standard input. @return its exit status
int python(const std::string& code) {
  auto* pipe = popen("python3 -", "w");
  REQUIRE(pipe != nullptr);
  fwrite(code.data(), 1, code.size(), pipe);
  return pclose(pipe);
}

/// Modules with the signatures of PyTorch 2.8 that note what they were given.
const std::string made_up_torch = R"(
import sys, types

def module(name, **what):
    made = types.ModuleType(name)
    made.__dict__.update(what)
    sys.modules[name] = made

class DistributedDataParallel:
    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True,
                 init_sync=True, process_group=None, bucket_cap_mb=None, find_unused_parameters=False,
                 check_reduction=False, gradient_as_bucket_view=False, static_graph=False,
                 delay_all_reduce_named_params=None, param_to_hook_all_reduce=None, mixed_precision=None,
                 device_mesh=None, skip_all_reduce_unused_params=False):
        self.cap = None if bucket_cap_mb is None else int(bucket_cap_mb * 1024 * 1024)
        self.views, self.static, self.devices = gradient_as_bucket_view, static_graph, device_ids
        self.state = self.hook = None

    def register_comm_hook(self, state, hook):
        self.state, self.hook = state, hook

class PowerSGDState:
    def __init__(self, process_group, matrix_approximation_rank=1, start_powerSGD_iter=1000,
                 min_compression_rate=2, use_error_feedback=True, warm_start=True,
                 orthogonalization_epsilon=0, random_seed=0, compression_stats_logging_frequency=10000,
                 batch_tensors_with_same_shape=False):
        self.rank = matrix_approximation_rank

hooks = "torch.distributed.algorithms.ddp_comm_hooks"
for name in ["torch", "torch.nn", "torch.distributed", "torch.distributed.algorithms"]:
    module(name)
module("torch.nn.parallel", DistributedDataParallel=DistributedDataParallel)
module(hooks)
default_hooks = types.SimpleNamespace(fp16_compress_hook="fp16", bf16_compress_hook="bf16")
power = types.SimpleNamespace(PowerSGDState=PowerSGDState, powerSGD_hook="powersgd")
sys.modules[hooks].default_hooks, sys.modules[hooks].powerSGD_hook = default_hooks, power
model, local_rank = object(), 3
)";

}  // namespace

TEST_CASE("only what differs from PyTorch's defaults is written", "[report]") {
  CHECK(pytorch_snippet(plain_job()) ==
        "from torch.nn.parallel import DistributedDataParallel\n"
        "\n"
        "model = DistributedDataParallel(model, device_ids=[local_rank])\n");
  auto job = job_with(100_MiB, CommHook::bf16);
  job.nccl = {{"NCCL_PROTO", "LL128"}};
  job.accumulate = 4;
  CHECK(pytorch_snippet(job) ==
        "import os\n"
        "\n"
        "# before init_process_group()\n"
        "os.environ[\"NCCL_PROTO\"] = \"LL128\"\n"
        "\n"
        "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
        "from torch.nn.parallel import DistributedDataParallel\n"
        "\n"
        "model = DistributedDataParallel(\n"
        "    model,\n"
        "    device_ids=[local_rank],\n"
        "    bucket_cap_mb=100,\n"
        "    static_graph=True,\n"
        "    gradient_as_bucket_view=True,\n"
        ")\n"
        "model.register_comm_hook(None, default_hooks.bf16_compress_hook)\n"
        "# In the loop: 3 of 4 backward passes under `with model.no_sync():`.\n");
}

TEST_CASE("PyTorch understands the code as the scenario means it", "[report]") {
  const auto cap = GENERATE(std::optional<Bytes>{}, std::optional{25_MiB}, std::optional{100_MB},
                            std::optional{Bytes{1234567}});
  const auto hook = GENERATE(CommHook::none, CommHook::fp16, CommHook::bf16, CommHook::powersgd);
  auto job = job_with(cap, hook);
  std::get<Ddp>(job.strategy).powersgd_rank = hook == CommHook::powersgd ? 4 : 1;
  job.nccl = {{"NCCL_ALGO", "^\"TREE\\"}};
  const std::string names[] = {"None", "'fp16'", "'bf16'", "'powersgd'"};
  const auto bytes = cap ? std::to_string(static_cast<std::int64_t>(cap->value())) : "None";
  const auto code =
      made_up_torch + pytorch_snippet(job) + "assert model.cap == " + bytes +
      "\nassert model.views and model.static and model.devices == [3]\n"
      "assert model.hook == " +
      names[static_cast<std::size_t>(hook)] + "\nassert (model.state.rank if model.state else None) == " +
      (hook == CommHook::powersgd ? "4" : "None") + "\nassert os.environ['NCCL_ALGO'] == '^\"TREE\\\\'\n";
  CAPTURE(code);
  CHECK(python(code) == 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/snippet.hpp"

#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

using namespace gradway;

namespace {

std::string pytorch_snippet(const Job& job) {
  return report::snippet_of(job).text;
}

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

/// Modules with the signatures of PyTorch 2.8 that record their arguments.
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

/// FSDP of PyTorch 2.11 in the same way: the sharding arguments and prefetches of each module.
const std::string made_up_fsdp = R"(
import sys, types

def module(name, **what):
    made = types.ModuleType(name)
    made.__dict__.update(what)
    sys.modules[name] = made

class Module:
    def __init__(self, name):
        self.name, self.sharding, self.ahead, self.behind, self.head = name, None, None, None, None
    def forward(self):
        return self.name
    def set_modules_to_forward_prefetch(self, modules):
        self.ahead = [one.name for one in modules]
    def set_modules_to_backward_prefetch(self, modules):
        self.behind = [one.name for one in modules]

class MixedPrecisionPolicy:
    def __init__(self, param_dtype=None, reduce_dtype=None, output_dtype=None, cast_forward_inputs=True):
        self.formats = (param_dtype, reduce_dtype)

class CPUOffloadPolicy:
    def __init__(self, pin_memory=True):
        assert pin_memory

def fully_shard(module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=None,
                offload_policy=None, ignored_params=None):
    for one in module if isinstance(module, list) else [module]:
        assert one.sharding is None
        one.head = (module[0] if isinstance(module, list) else module).name
        one.offloads = isinstance(offload_policy, CPUOffloadPolicy)
        one.sharding = (mesh, reshard_after_forward, mp_policy.formats if mp_policy else None)

class FullyShardedDataParallel:
    def __init__(self, module, process_group=None, sharding_strategy=None, cpu_offload=None,
                 auto_wrap_policy=None, backward_prefetch="pre", mixed_precision=None, ignored_modules=None,
                 param_init_fn=None, device_id=None, sync_module_states=False, forward_prefetch=False,
                 limit_all_gathers=True, use_orig_params=False, ignored_states=None, device_mesh=None):
        self.strategy, self.backward, self.forward = sharding_strategy, backward_prefetch, forward_prefetch
        self.wraps = [one.name for one in blocks if auto_wrap_policy and auto_wrap_policy(one)]
        self.limited, self.mesh, self.device, self.formats = limit_all_gathers, device_mesh, device_id, mixed_precision

for name in ["torch.distributed", "torch.utils"]:
    module(name)
module("torch", bfloat16="bf16", float32="fp32", float16="fp16")
module("torch.distributed.device_mesh", init_device_mesh=lambda device, shape, mesh_dim_names: (device, shape, mesh_dim_names))
module("torch.distributed.fsdp", fully_shard=fully_shard, CPUOffloadPolicy=CPUOffloadPolicy, MixedPrecisionPolicy=MixedPrecisionPolicy,
       FullyShardedDataParallel=FullyShardedDataParallel, MixedPrecision=lambda param_dtype, reduce_dtype: (param_dtype, reduce_dtype),
       BackwardPrefetch=types.SimpleNamespace(BACKWARD_PRE="pre", BACKWARD_POST="post"),
       ShardingStrategy=types.SimpleNamespace(FULL_SHARD="full", SHARD_GRAD_OP="grad_op", HYBRID_SHARD="hybrid",
                                              _HYBRID_SHARD_ZERO2="hybrid_grad_op"))
module("torch.distributed.fsdp.wrap", CustomPolicy=lambda chosen: chosen)
module("torch.utils.checkpoint", checkpoint=lambda forward, use_reentrant: "again " + forward())
model, local_rank, blocks = Module("model"), 3, [Module(f"h{i}") for i in range(6)]
)";

void check_python(const std::string& code) {
  CAPTURE(code);
  CHECK(python(code) == 0);
}

}  // namespace

TEST_CASE("only settings that differ from PyTorch's defaults are written", "[report]") {
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

TEST_CASE("the code configures PyTorch as in the scenario", "[report]") {
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

TEST_CASE("fully_shard gets exactly the settings of the strategy", "[report]") {
  Job job;
  job.gpus = 8;
  job.strategy = Fsdp{};
  CHECK(pytorch_snippet(job) ==
        "from torch.distributed.fsdp import fully_shard\n"
        "\n"
        "# `blocks`: the model's repeated blocks, first to last\n"
        "for block in blocks:\n"
        "    fully_shard(block)\n"
        "fully_shard(model)\n");
  using Row = std::pair<std::optional<int>, std::string>;
  const auto [reshard, word] =
      GENERATE(values<Row>({{{}, "None"}, {Fsdp::over_all, "True"}, {Fsdp::kept, "False"}, {2, "2"}}));
  const auto blocks = GENERATE(0, 1, 2);
  job.strategy = Fsdp{.wrap = {blocks},
                      .reshard = reshard,
                      .forward_prefetch = 1,
                      .backward_prefetch = 2,
                      .param_dtype = Number::bf16,
                      .reduce_dtype = Number::fp32,
                      .replicate = 2};
  const auto how = "(('cuda', (2, 4), ('replicate', 'shard')), " + word + ", ('bf16', 'fp32'))";
  const std::string groups[] = {"",
                                "assert [b.head for b in blocks] == ['h0', 'h1', 'h2', 'h3', 'h4', 'h5']\n"
                                "assert blocks[0].ahead == ['h1'] and blocks[5].ahead == []\n"
                                "assert model.behind == ['h5', 'h4'] and blocks[1].behind == ['h0']\n",
                                "assert [b.head for b in blocks] == ['h0', 'h0', 'h2', 'h2', 'h4', 'h4']\n"
                                "assert blocks[0].ahead == ['h2'] and blocks[4].ahead == []\n"
                                "assert model.behind == ['h4', 'h2'] and blocks[2].behind == ['h0']\n"};
  check_python(made_up_fsdp + pytorch_snippet(job) + "assert model.sharding == " + how + "\n" +
               "assert all(b.sharding == " + (blocks == 0 ? "None" : how) + " for b in blocks)\n" +
               groups[blocks]);
}

TEST_CASE("FSDP1 gets exactly the settings of the strategy", "[report]") {
  Job job;
  job.gpus = 8;
  const auto keeps = GENERATE(false, true);
  const auto replicate = GENERATE(1, 4);
  const auto prefetch = GENERATE(Fsdp1::Prefetch::pre, Fsdp1::Prefetch::post, Fsdp1::Prefetch::none);
  job.strategy = Fsdp1{.sharding = keeps ? Fsdp1::Sharding::shard_grad_op : Fsdp1::Sharding::full_shard,
                       .forward_prefetch = keeps,
                       .backward_prefetch = prefetch,
                       .limit_all_gathers = !keeps,
                       .param_dtype = Number::fp16,
                       .reduce_dtype = Number::fp16,
                       .replicate = replicate};
  const std::string strategies[] = {"None", "'grad_op'", "'hybrid'", "'hybrid_grad_op'"};
  const std::string backward[] = {"'pre'", "'post'", "None"};
  const std::string flag = keeps ? "True" : "False";
  check_python(
      made_up_fsdp + pytorch_snippet(job) +
      "assert model.strategy == " + strategies[(replicate > 1 ? 2 : 0) + (keeps ? 1 : 0)] +
      "\nassert model.backward == " + backward[static_cast<std::size_t>(prefetch)] +
      "\nassert model.forward is " + flag + " and model.limited is not " + flag +
      "\nassert model.mesh == " + (replicate > 1 ? "('cuda', (4, 2), ('replicate', 'shard'))" : "None") +
      "\nassert model.wraps == [b.name for b in blocks] and model.device == 3"
      "\nassert model.formats == ('fp16', 'fp16')\n");
}

TEST_CASE("fully_shard gets an offload policy", "[report]") {
  Job job;
  job.gpus = 8;
  job.strategy = Fsdp{.cpu_offload = true};
  check_python(made_up_fsdp + pytorch_snippet(job) +
               "assert model.offloads and all(b.offloads for b in blocks)\n");
  job.strategy = Fsdp{};
  check_python(made_up_fsdp + pytorch_snippet(job) + "assert not model.offloads\n");
}

TEST_CASE("blocks that are recomputed run through PyTorch's checkpoint", "[report]") {
  Job job;
  job.gpus = 8;
  job.recompute = Recompute::full;
  job.strategy = Fsdp{};
  check_python(made_up_fsdp + pytorch_snippet(job) +
               "assert [b.forward() for b in blocks[:2]] == ['again h0', 'again h1']\n");
  job.recompute_every = 2;
  check_python(made_up_fsdp + pytorch_snippet(job) +
               "assert [b.forward() for b in blocks[:2]] == ['h0', 'again h1']\n");
}

TEST_CASE("DeepSpeed gets exactly the settings of the strategy", "[report]") {
  Job job;
  job.gpus = 8;
  job.batch_per_gpu = 4;
  job.precision = Precision::bf16;
  job.strategy = Zero{.stage = 3,
                      .reduce_bucket_size = 2e8,
                      .overlap_comm = false,
                      .prefetch_bucket_size = 1e6,
                      .communication_dtype = Number::fp32};
  job.clip_grad_norm = true;
  const auto snippet = report::snippet_of(job);
  CHECK(snippet.file == "ds_config.json");
  CHECK(snippet.text == R"({
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 1,
  "bf16": {
    "enabled": true
  },
  "optimizer": {
    "type": "SGD"
  },
  "gradient_clipping": 1.0,
  "communication_data_type": "fp32",
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": false,
    "reduce_bucket_size": 200000000,
    "stage3_prefetch_bucket_size": 1000000
  }
}
)");
}

TEST_CASE("the PyTorch code reproduces the predicted job: autocast, compilation, formats",
          "[report][snippet]") {
  auto job = plain_job();
  CHECK(pytorch_snippet(job).find("torch.compile") == std::string::npos);
  CHECK(pytorch_snippet(job).find("autocast") == std::string::npos);
  job.precision = Precision::bf16;
  job.compiled = job.fused_loss = job.channels_last = job.clip_grad_norm = true;
  CHECK_THAT(pytorch_snippet(job),
             Catch::Contains("import torch\n\nmodel = model.to(memory_format=torch.channels_last)\n"
                             "# `model` returns the loss, which is compiled too\n"
                             "model = torch.compile(model)\n") &&
                 Catch::Contains("torch.autocast(\"cuda\", dtype=torch.bfloat16)") &&
                 Catch::Contains("clip_grad_norm_"));
  Fsdp fsdp;
  fsdp.param_dtype = Number::bf16;
  job.strategy = fsdp;
  CHECK_THAT(pytorch_snippet(job), Catch::Contains("block.compile()") && !Catch::Contains("autocast"));
}

#!/usr/bin/env python3
"""Times training steps of {model} as in the scenario {scenario}.

    bash run.sh                start it on every node; the last line is JSON
    bash check.sh              compare measured.yaml with the prediction
    python3 train.py --count   number of parameters; needs no PyTorch

Needs PyTorch 2.4 to 2.11{torchvision}. Written by 'gradway export experiment', gradway {version}.
"""
import argparse
import contextlib
import json
import os
import statistics
import sys

JOB = {
    "gpus": 4,
    "batch_per_gpu": 64,
    "accumulate": 1,
    "tokens": 1024,
    "image_size": 0,
    "classes": 50304,
    "precision": "bf16",
    "autocast": "bfloat16",
    "state_dtype": "fp32",
    "strategy": "ddp",
    "no_sync": False,
    "optimizer": "sgd",
    "zero_redundancy": False,
    "parameters_as_bucket_view": False,
    "cpu_offload": False,
    "clip_grad_norm": False,
    "zero_grad": "before_backward",
    "float_logits": True,
    "loss_in_model": False,
    "attention": None,
    "channels_last": False,
    "pin_memory": True,
}
PREDICTION = {
    "scenario": "example",
    "step_time_ms": 164.925,
    "interval_ms": [133.012, 204.574],
}
OVERRIDES = []  # keys of the scenario
from decoder import MODEL, build_model, parameter_count


def prepare(model, blocks, loss_fn, local_rank):
    """Recomputation, formats, compilation and the strategy."""
    return model, loss_fn


def batch_on_host(torch):
    """One synthetic batch, which every step copies to the GPU."""
    if JOB["tokens"]:
        whole = torch.randint(0, JOB["classes"], (JOB["batch_per_gpu"], JOB["tokens"] + 1))
        return [whole.pin_memory() if JOB["pin_memory"] else whole]
    images = torch.randn(JOB["batch_per_gpu"], 3, JOB["image_size"], JOB["image_size"])
    if JOB["channels_last"]:
        images = images.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, JOB["classes"], (JOB["batch_per_gpu"],))
    return [one.pin_memory() if JOB["pin_memory"] else one for one in (images, labels)]


def make_optimizer(torch, model):
    adam = dict(lr=1e-4, weight_decay=0.01)
    if JOB["optimizer"] == "adamw_8bit":
        import bitsandbytes

        return bitsandbytes.optim.AdamW8bit(model.parameters(), **adam)
    kind, options = {
        "sgd": (torch.optim.SGD, dict(lr=1e-3)),
        "sgd_momentum": (torch.optim.SGD, dict(lr=1e-3, momentum=0.9)),
        "adamw": (torch.optim.AdamW, adam),
        "adamw_fused": (torch.optim.AdamW, dict(fused=True, **adam)),
        "adamw_loop": (torch.optim.AdamW, dict(foreach=False, **adam)),
    }[JOB["optimizer"]]
    if JOB["zero_redundancy"]:
        from torch.distributed.optim import ZeroRedundancyOptimizer

        return ZeroRedundancyOptimizer(model.parameters(), kind,
                                       parameters_as_bucket_view=JOB["parameters_as_bucket_view"], **options)
    return kind(model.parameters(), **options)


def make_loss(torch):
    def loss_of(logits, labels):
        if JOB["float_logits"]:
            logits = logits.float()
        return torch.nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten())

    return loss_of


def name_fsdp2():
    """Gives FSDP2 its public name in PyTorch 2.4 and 2.5."""
    import torch.distributed.fsdp as fsdp

    if not hasattr(fsdp, "fully_shard"):
        import torch.distributed._composable.fsdp as before

        for name in ("fully_shard", "MixedPrecisionPolicy", "CPUOffloadPolicy"):
            setattr(fsdp, name, getattr(before, name))


def distributed_model(torch, local_rank):
    """The model as the job trains it, and its loss; None if the model returns the loss."""
    if JOB["strategy"] == "fsdp":
        name_fsdp2()
    # A model of this size is sharded before it gets memory.
    large = JOB["strategy"] == "fsdp" and parameter_count() > 4e9 and not MODEL.get("tied_output", False)
    with torch.device("meta" if large else f"cuda:{local_rank}"):
        model, blocks = build_model()
    counted = sum(p.numel() for p in model.parameters())
    assert counted == parameter_count(), f"{counted} parameters instead of {parameter_count()}"
    loss_fn = make_loss(torch)
    if JOB["loss_in_model"]:
        model, loss_fn = with_loss(torch, model, loss_fn), None
    model, loss_fn = prepare(model, blocks, loss_fn, local_rank)
    if large:
        model.to_empty(device="cpu" if JOB["cpu_offload"] else f"cuda:{local_rank}")
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.02)
    return model, loss_fn


def with_loss(torch, network, loss_fn):
    class WithLoss(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, x, labels):
            return loss_fn(self.network(x), labels)

    return WithLoss()


class Trainer:
    """The training loop."""

    def __init__(self, torch, model, loss_fn, profiled):
        self.torch, self.model, self.loss_fn = torch, model, loss_fn
        self.optimizer = make_optimizer(torch, model)
        self.host = batch_on_host(torch)
        self.range = {
            "kineto": torch.profiler.record_function,
            "nsys": torch.cuda.nvtx.range,
        }.get(profiled, lambda name: contextlib.nullcontext())

    def input_copy(self):
        parts = [part.cuda(non_blocking=JOB["pin_memory"]) for part in self.host]
        x, labels = parts if len(parts) == 2 else (parts[0][:, :-1], parts[0][:, 1:])
        if JOB["state_dtype"] != "fp32" and x.is_floating_point():
            x = x.to(getattr(self.torch, {"bf16": "bfloat16", "fp16": "float16"}[JOB["state_dtype"]]))
        return x, labels

    def synchronized(self, last):
        """Whether this micro-batch reduces gradients."""
        if JOB["strategy"] == "fsdp":
            if JOB["no_sync"]:
                self.model.set_requires_gradient_sync(last)
            return contextlib.nullcontext()
        if last or not JOB["no_sync"]:
            return contextlib.nullcontext()
        return self.model.no_sync()

    def autocast(self):
        if JOB["autocast"] is None:
            return contextlib.nullcontext()
        return self.torch.autocast("cuda", dtype=getattr(self.torch, JOB["autocast"]))

    def attention(self):
        if JOB["attention"] is None:
            return contextlib.nullcontext()
        from torch.nn.attention import SDPBackend, sdpa_kernel

        return sdpa_kernel(getattr(SDPBackend, JOB["attention"]))

    def micro_batch(self, first, last):
        with self.range("input copy"):
            x, labels = self.input_copy()
        with self.synchronized(last), self.attention():
            with self.range("forward"), self.autocast():
                if self.loss_fn is None:
                    loss = self.model(x, labels)
                else:
                    loss = self.loss_fn(self.model(x), labels)
            if JOB["zero_grad"] == "before_backward" and first:
                self.optimizer.zero_grad(set_to_none=True)
            with self.range("backward"):
                (loss / JOB["accumulate"] if JOB["accumulate"] > 1 else loss).backward()

    def step(self):
        for micro in range(JOB["accumulate"]):
            self.micro_batch(micro == 0, micro == JOB["accumulate"] - 1)
        with self.range("optimizer"):
            if JOB["clip_grad_norm"]:
                self.torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        if JOB["zero_grad"] == "after_step":
            self.optimizer.zero_grad(set_to_none=True)


def profile(torch, trainer, kind, rank):
    """Records four steps and names the file that gradway reads."""
    if kind == "kineto":
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities, record_shapes=True, profile_memory=True) as trace:
            for _ in range(4):
                trainer.step()
            torch.cuda.synchronize()
        trace.export_chrome_trace(f"kineto.{rank}.json")
        return f"gradway import kineto kineto.{rank}.json -o profile.yaml"
    torch.cuda.cudart().cudaProfilerStart()
    with torch.autograd.profiler.emit_nvtx(record_shapes=True):
        for _ in range(4):
            trainer.step()
        torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()
    return "gradway import nsys nsys.sqlite -o profile.yaml"


def timed_steps(torch, trainer, warmup, steps):
    """Milliseconds from the end of each step on the GPU to the end of the next."""
    for _ in range(warmup):
        trainer.step()
    torch.cuda.synchronize()
    if torch.distributed.is_initialized():
        torch.distributed.barrier()
        torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    ends = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    ends[0].record()
    for end in ends[1:]:
        trainer.step()
        end.record()
    torch.cuda.synchronize()
    return [before.elapsed_time(after) for before, after in zip(ends, ends[1:])]


def result_of(torch, times):
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    median = statistics.median(times)
    low, high = PREDICTION["interval_ms"]
    return {
        "scenario": PREDICTION["scenario"],
        "median_ms": round(median, 4),
        "p5_ms": round(cuts[0], 4),
        "p95_ms": round(cuts[-1], 4),
        "mean_ms": round(statistics.fmean(times), 4),
        "steps": len(times),
        "peak_memory_bytes": torch.cuda.max_memory_allocated(),
        "reserved_memory_bytes": torch.cuda.max_memory_reserved(),
        "predicted_ms": PREDICTION["step_time_ms"],
        "interval_ms": PREDICTION["interval_ms"],
        "in_interval": low <= median <= high,
        "gpus": JOB["gpus"],
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
    }


def write_cases(result):
    """A file of cases for `gradway validate`, which holds the scenario beside it to this step."""
    source = f"own measurement of {result['steps']} steps, PyTorch {result['torch']}, {result['gpu']}"
    lines = ["schema: 1", "scenario: ./scenario.yaml", "source: " + json.dumps(source), "cases:"]
    lines.append("  - name: measured")
    if OVERRIDES:
        lines.append("    set:")
        lines += [f"      {key}: {value}" for key, value in OVERRIDES]
    lines.append(f"    step_time: {result['median_ms']} ms")
    with open("measured.yaml", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def train(arguments):
    import torch

    local_rank, rank = int(os.environ.get("LOCAL_RANK", 0)), int(os.environ.get("RANK", 0))
    world = int(os.environ.get("WORLD_SIZE", 1))
    if world != JOB["gpus"]:
        sys.exit(f"the job has {JOB['gpus']} ranks, not {world}: start it with 'bash run.sh'")
    torch.cuda.set_device(local_rank)
    if world > 1 or JOB["strategy"] != "none":
        torch.distributed.init_process_group("nccl")
    if JOB["precision"] == "fp32":  # PyTorch's default is TF32 in convolutions
        torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(rank)
    trainer = Trainer(torch, *distributed_model(torch, local_rank), arguments.profile)
    times = timed_steps(torch, trainer, arguments.warmup, arguments.steps)
    result = result_of(torch, times)
    if arguments.profile:
        result["import"] = profile(torch, trainer, arguments.profile, rank)
    if rank == 0:
        write_cases(result)
        print(json.dumps(result))
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warmup", type=int, default=20, metavar="N", help="steps before the timed ones")
    parser.add_argument("--steps", type=int, default=50, metavar="N", help="timed steps, at least 2")
    parser.add_argument("--profile", choices=("kineto", "nsys"), help="record four more steps")
    parser.add_argument("--count", action="store_true", help="print the number of parameters and end")
    parser.add_argument("--cases", type=float, metavar="MS", help="write measured.yaml of this step and end")
    arguments = parser.parse_args()
    if arguments.steps < 2:
        parser.error("--steps must be at least 2")
    if arguments.count:
        print(parameter_count())
    elif arguments.cases is not None:
        write_cases({"torch": "unknown", "gpu": "unknown GPU", "steps": 1, "median_ms": arguments.cases})
    else:
        train(arguments)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's engine and Megatron-Core's wrappers, which bring a strategy with them.

Their packages need a GPU to be built or imported. DeepSpeed is replaced by a stand-in with the same interface; of Megatron-Core,
the wrappers of data parallelism are replaced when the program imports them.
"""
from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import json
import sys
import types
from pathlib import Path
from typing import Any, Callable, Iterator

from gradway.capture import _recorder
from gradway.capture._errors import CaptureError, is_imported_by_program, place_of_program
from gradway.capture._packages import changes, packages
from gradway.capture._wrapper import transparent_wrapper_of


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the program stand-ins of packages, and changes others after they were imported."""

    def __init__(self, made: dict[str, Callable[[Any], None]], changed: dict[str, Callable[[Any], None]]) -> None:
        self.made, self._changed = made, changed

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name in self._changed else None
        if spec is None and name in self.made and (name.split(".")[0] in sys.modules or is_imported_by_program()):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name not in self._changed:
            return None
        change = self._changed.pop(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def executed(module: Any) -> None:
            execute(module)
            change(module)

        setattr(spec.loader, "exec_module", executed)
        return spec

    def create_module(self, spec: Any) -> Any:
        return None

    def exec_module(self, module: Any) -> None:
        module.__path__ = []
        self.made[module.__name__](module)


def _configuration(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    if given is None:
        raise CaptureError(f"{place_of_program()}: deepspeed.initialize needs config=, or args.deepspeed_config")
    return dict(json.loads(Path(given).read_text()))


def _given(value: Any) -> Any:
    """The value of a key; None if it is absent or left to the trainer."""
    return None if value in (None, "auto") else value


def _deepspeed(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    torch = recorder.torch
    formats = {"fp32": "fp32", "fp16": "fp16", "bf16": "bf16", "bfp16": "bf16"}

    class DeepSpeedEngine(transparent_wrapper_of(torch.nn.Module)):  # type: ignore[misc]
        def __init__(self, module: Any, optimizer: Any, scheduler: Any, config: dict[str, Any]) -> None:
            super().__init__(module)
            self.optimizer, self.lr_scheduler, self.config = optimizer, scheduler, config
            self.device, self.local_rank, self.global_rank, self.world_size = torch.device("cuda", 0), 0, 0, recorder.ranks.count
            self.global_steps = self.micro_steps = 0
            batch, micro = _given(config.get("train_batch_size")), _given(config.get("train_micro_batch_size_per_gpu"))
            accumulate = _given(config.get("gradient_accumulation_steps"))
            if accumulate is None:
                accumulate = max(1, batch // (micro * self.world_size)) if batch and micro else 1
            self._accumulate, self._micro = int(accumulate), int(micro or max(1, (batch or self.world_size) // (self.world_size * int(accumulate))))
            self._clip = _given(config.get("gradient_clipping")) or 0.0

        def backward(self, loss: Any, *_: Any, **__: Any) -> Any:
            (loss / self._accumulate if self._accumulate > 1 else loss).backward()
            return loss

        def is_gradient_accumulation_boundary(self) -> bool:
            return (self.micro_steps + 1) % self._accumulate == 0

        def step(self, *_: Any, **__: Any) -> None:
            is_last = self.is_gradient_accumulation_boundary()
            self.micro_steps += 1
            if not is_last or self.optimizer is None:
                return
            if self._clip:
                torch.nn.utils.clip_grad_norm_(self.module.parameters(), self._clip)
            self.optimizer.step()
            self.optimizer.zero_grad()
            if self.lr_scheduler is not None:
                self.lr_scheduler.step()
            self.global_steps += 1

        def zero_grad(self, *_: Any, **__: Any) -> None:
            pass

        def gradient_accumulation_steps(self) -> int:
            return self._accumulate

        def train_micro_batch_size_per_gpu(self) -> int:
            return self._micro

        def train_batch_size(self) -> int:
            return self._micro * self._accumulate * self.world_size

        def get_global_grad_norm(self) -> float:
            return 1.0

        def zero_optimization_stage(self) -> int:
            return int((self.config.get("zero_optimization") or {}).get("stage", 0))

        def save_checkpoint(self, *_: Any, **__: Any) -> bool:
            return True

        save_16bit_model = save_fp16_model = save_checkpoint

        def load_checkpoint(self, *_: Any, **__: Any) -> Any:
            return None, {}

    def optimizer_of(config: dict[str, Any], parameters: Any) -> Any:
        section = config.get("optimizer")
        if not section:
            return None
        kind, settings = str(section.get("type", "AdamW")), section.get("params") or {}
        known = {"adam": torch.optim.AdamW, "adamw": torch.optim.AdamW, "fusedadam": torch.optim.AdamW, "sgd": torch.optim.SGD,
                 "adagrad": torch.optim.Adagrad}
        made = known.get(kind.lower())
        if made is None:
            recorder.warn(f"{place_of_program()}: DeepSpeed's optimizer {kind} is predicted as AdamW")
            made = torch.optim.AdamW
        lr = _given(settings.get("lr")) or 1e-3
        optimizer = made(parameters, lr=lr)
        if made is torch.optim.AdamW:  # DeepSpeed's Adam is a fused kernel
            recorder.fuses_optimizer()
        return optimizer

    def initialize(args: Any = None, model: Any = None, optimizer: Any = None, model_parameters: Any = None, training_data: Any = None,
                   lr_scheduler: Any = None, distributed_port: int = 0, mpu: Any = None, dist_init_required: Any = None, collate_fn: Any = None,
                   config: Any = None, config_params: Any = None, **_: Any) -> Any:
        settings = _configuration(config if config is not None else config_params if config_params is not None
                                  else getattr(args, "deepspeed_config", None))
        recorder.ranks.start()
        zero = settings.get("zero_optimization") or {}
        stage = int(zero.get("stage", 0))
        half = next((torch.bfloat16 if "b" in key else torch.float16 for key in ("bf16", "bfloat16", "fp16")
                     if (settings.get(key) or {}).get("enabled") is True), None)
        if half is not None:
            model.to(half)
            recorder.recording.has_masters = True
        if stage == 0:
            recorder.strategies.set("ddp")
        else:
            keys = {"reduce_bucket_size": _given(zero.get("reduce_bucket_size")), "overlap_comm": _given(zero.get("overlap_comm")),
                    "offload_optimizer": (zero.get("offload_optimizer") or {}).get("device") in ("cpu", "nvme") or None,
                    "communication_dtype": formats.get(str(settings.get("communication_dtype")))}
            if stage == 3:
                for key in ("prefetch_bucket_size", "max_live_parameters", "max_reuse_distance", "param_persistence_threshold"):
                    keys[key] = _given(zero.get(f"stage3_{key}", zero.get(key)))
                keys["reduce_scatter"] = None if zero.get("reduce_scatter") in (None, True) else False
            recorder.strategies.set("zero", stage=stage, **keys)
            if (zero.get("offload_param") or {}).get("device") in ("cpu", "nvme"):
                recorder.warn(f"{place_of_program()}: DeepSpeed's offload_param is not simulated: parameters are predicted to stay on the GPU")
        if callable(optimizer) and not isinstance(optimizer, torch.optim.Optimizer):
            optimizer = optimizer(model_parameters or model.parameters())
        made = optimizer or optimizer_of(settings, model_parameters or [one for one in model.parameters() if one.requires_grad])
        scheduler = lr_scheduler(made) if callable(lr_scheduler) and not hasattr(lr_scheduler, "step") else lr_scheduler
        engine = DeepSpeedEngine(model, made, scheduler, settings)
        loader = None if training_data is None else torch.utils.data.DataLoader(training_data, batch_size=engine.train_micro_batch_size_per_gpu(),
                                                                                collate_fn=collate_fn)
        return engine, made, loader, scheduler

    def add_config_arguments(parser: Any) -> Any:
        group = parser.add_argument_group("DeepSpeed")
        group.add_argument("--deepspeed", action="store_true")
        group.add_argument("--deepspeed_config", type=str, default=None)
        return parser

    class Init:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: Any) -> None:
            pass

    def fill_root(module: Any) -> None:
        module.__version__ = "0.0.0"
        module.initialize, module.add_config_arguments, module.DeepSpeedEngine = initialize, add_config_arguments, DeepSpeedEngine
        module.init_distributed = lambda *arguments, **named: recorder.ranks.start()
        from importlib import import_module
        for name in ("zero", "comm", "ops", "accelerator", "utils"):
            setattr(module, name, import_module(f"deepspeed.{name}"))

    def fill_zero(module: Any) -> None:
        module.Init = module.GatheredParameters = Init

    def fill_comm(module: Any) -> None:
        import torch.distributed as distributed
        for name in dir(distributed):
            if not name.startswith("__"):
                setattr(module, name, getattr(distributed, name))
        module.init_distributed = lambda *arguments, **named: recorder.ranks.start()

    def fill_adam(module: Any) -> None:
        class FusedAdam(torch.optim.AdamW):  # type: ignore[name-defined, misc]
            def __init__(self, params: Any, lr: float = 1e-3, *_: Any, **__: Any) -> None:
                super().__init__(params, lr=lr)

        module.FusedAdam = FusedAdam
        module.DeepSpeedCPUAdam = type("DeepSpeedCPUAdam", (FusedAdam,), {})

    def fill_accelerator(module: Any) -> None:
        accelerator = types.SimpleNamespace(device_name=lambda index=None: "cuda", current_device_name=lambda: "cuda:0", is_available=lambda: True,
                                            device_count=lambda: 1, current_device=lambda: 0, set_device=lambda *_: None, empty_cache=lambda: None,
                                            synchronize=lambda *_: recorder.host_reads(), communication_backend_name=lambda: "nccl")
        module.get_accelerator = lambda: accelerator

    def nothing(module: Any) -> None:
        module.logger = types.SimpleNamespace(info=print, warning=print)

    return {"deepspeed": fill_root, "deepspeed.zero": fill_zero, "deepspeed.comm": fill_comm, "deepspeed.ops": nothing, "deepspeed.ops.adam": fill_adam,
            "deepspeed.accelerator": fill_accelerator, "deepspeed.utils": nothing}


def _megatron(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    torch = recorder.torch

    class DistributedDataParallel(transparent_wrapper_of(torch.nn.Module)):  # type: ignore[misc]
        def __init__(self, config: Any = None, ddp_config: Any = None, module: Any = None, *_: Any, **__: Any) -> None:
            super().__init__(module)
            self.config, self.ddp_config = config, ddp_config

            def given(name: str, default: Any = None) -> Any:
                return getattr(ddp_config, name, default)

            recorder.recording.has_masters = True
            recorder.strategies.set(
                "distributed_optimizer", shard_optimizer=None if given("use_distributed_optimizer", False) else False,
                overlap_grad_reduce=given("overlap_grad_reduce") or None, overlap_param_gather=given("overlap_param_gather") or None,
                bucket_size=given("bucket_size"), grad_reduce_dtype=None if given("grad_reduce_in_fp32", False) else "bf16")

        def zero_grad_buffer(self) -> None:
            for parameter in self.module.parameters():
                parameter.grad = None

        def __getattr__(self, name: str) -> Any:
            if name in ("start_grad_sync", "finish_grad_sync", "scale_gradients", "broadcast_params", "disable_forward_pre_hook",
                        "enable_forward_pre_hook", "start_param_sync"):
                return lambda *arguments, **named: None
            return super().__getattr__(name)

    def sharded(name: str, **keys: Any) -> type:
        """Megatron-FSDP, and PyTorch's FSDP2 by Megatron's wrapper."""
        class FullyShardedDataParallel(transparent_wrapper_of(torch.nn.Module)):  # type: ignore[misc]
            def __init__(self, config: Any = None, ddp_config: Any = None, module: Any = None, *_: Any, **__: Any) -> None:
                super().__init__(module)
                self.config, self.ddp_config = config, ddp_config
                recorder.recording.has_masters = True
                recorder.strategies.set("fsdp", **keys)

            def zero_grad_buffer(self) -> None:
                for parameter in self.module.parameters():
                    parameter.grad = None

        return type(name, (FullyShardedDataParallel,), {})

    wrappers = {"DistributedDataParallel": DistributedDataParallel, "FullyShardedDataParallel": sharded("FullyShardedDataParallel", megatron_fsdp=True),
                "TorchFullyShardedDataParallel": sharded("TorchFullyShardedDataParallel")}

    def change(module: Any) -> None:
        for name, wrapper in wrappers.items():
            if hasattr(module, name):
                setattr(module, name, wrapper)

    return {name: change for name in ("megatron.core.distributed", "megatron.core.distributed.distributed_data_parallel",
                                      "megatron.core.distributed.fsdp.mcore_fsdp_adapter", "megatron.core.distributed.torch_fully_sharded_data_parallel")}


def _triton(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """Kernels of Triton are recorded by their names, with the tensors that they are given."""
    torch = recorder.torch

    def launched(self: Any, *arguments: Any, **named: Any) -> None:
        tensors = [value for value in (*arguments, *named.values()) if isinstance(value, torch.Tensor) and value.is_meta]
        function = self
        while not hasattr(function, "__name__") and hasattr(function, "fn"):
            function = function.fn
        if tensors:
            recorder.record(f"triton.{getattr(function, '__name__', 'kernel')}", tensors, [])

    def inner(self: Any, *arguments: Any, **named: Any) -> None:
        launched(self.fn, *arguments, **named)

    def change(module: Any) -> None:
        for name, run in (("JITFunction", launched), ("Autotuner", inner), ("Heuristics", inner)):
            if hasattr(module, name):
                getattr(module, name).run = run

    return {name: change for name in ("triton.runtime.jit", "triton.runtime.autotuner")}


@contextlib.contextmanager
def engines(recorder: "_recorder.Recorder") -> Iterator[None]:
    """While it is active, the program imports the stand-ins."""
    known = packages(recorder)
    finder = _Finder({**_deepspeed(recorder), **known}, {**_megatron(recorder), **_triton(recorder), **known, **changes(recorder),
                                                         "torch._dynamo": recorder.compiled.change_dynamo})
    stands_in = {name.split(".")[0] for name in finder.made}
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] in stands_in}
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.split(".")[0] in stands_in]:
            del sys.modules[name]
        sys.modules.update(kept)

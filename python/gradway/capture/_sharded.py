# SPDX-License-Identifier: Apache-2.0
"""Wrappers of data parallelism: DDP, FSDP1, FSDP2 and what refuses to be captured. They are recorded as the strategy of the model file.

The step is that of one rank with all of its parameters. Where a wrapper computes with parameters in another format than that of
its shards (MixedPrecision), the operations see this format: gathering them is the strategy's, so that no cast is recorded.
"""
from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any, Iterator

from gradway.capture import _recorder
from gradway.capture._errors import CaptureError, imported, place_of_program
from gradway.capture._ranks import Mesh
from gradway.capture._wrapper import transparent_wrapper_of, wrapper_of

_UNIT = "_gradway_unit"  # attribute of a module whose parameters are gathered together


def loaded_already(_: Any, model: Any, *__: Any, **___: Any) -> Any:
    """What loads the weights of a model into its shards, which are the parameters themselves."""
    return model


def unit_of(module: Any) -> "Unit | None":
    return module.__dict__.get(_UNIT)


class Unit:
    """Parameters that are gathered together, and what happens to their format."""

    def __init__(self, recorder: "_recorder.Recorder", module: Any, param_dtype: Any, output_dtype: Any, casts_inputs: bool) -> None:
        self._recorder, self._module = recorder, module
        self.param_dtype, self.output_dtype, self.casts_inputs = param_dtype, output_dtype, casts_inputs
        self._depth = 0

    def is_gathered(self) -> bool:
        return self._depth > 0

    def _own_modules(self) -> Iterator[Any]:
        """Modules whose parameters no inner unit gathers."""
        queue = [self._module]
        while queue:
            module = queue.pop()
            yield module
            queue.extend(child for child in module.children() if unit_of(child) is None)

    def cast(self, value: Any, dtype: Any) -> Any:
        torch = self._recorder.torch
        if isinstance(value, torch.Tensor):
            return value.to(dtype) if value.is_floating_point() and value.is_meta and value.dtype != dtype else value
        if isinstance(value, dict):
            return type(value)((key, self.cast(item, dtype)) for key, item in value.items()) if type(value) is dict else value
        return type(value)(self.cast(item, dtype) for item in value) if type(value) in (list, tuple) else value

    def inputs(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self.param_dtype is None or not self.casts_inputs:
            return arguments, named
        return self.cast(arguments, self.param_dtype), self.cast(named, self.param_dtype)

    def output(self, value: Any) -> Any:
        return value if self.output_dtype is None else self.cast(value, self.output_dtype)

    def run(self, function: Any, *arguments: Any, **named: Any) -> Any:
        """Calls a function of the module with its parameters gathered."""
        with self.gathered():
            arguments, named = self.inputs(arguments, named)
            return self.output(function(*arguments, **named))

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """Parameters are there in the format of the computation."""
        if self.param_dtype is None or self._depth:
            yield
            return
        kept: list[tuple[Any, str, Any]] = []
        self._depth += 1
        try:
            for module in self._own_modules():
                for name, parameter in module._parameters.items():
                    if parameter is None or not parameter.is_floating_point() or parameter.dtype == self.param_dtype:
                        continue
                    kept.append((module, name, parameter))
                    module._parameters[name] = self._recorder.gathered(parameter, self.param_dtype)
            yield
        finally:
            self._depth -= 1
            for module, name, parameter in kept:
                module._parameters[name] = parameter


def _mib(megabytes: float) -> str:
    return f"{megabytes:g} MiB"


def _number(recorder: "_recorder.Recorder", dtype: Any) -> str | None:
    return None if dtype is None else _recorder.number_format(dtype)


class Strategies:
    """What the program's wrappers say of the strategy."""

    def __init__(self, recorder: "_recorder.Recorder") -> None:
        self._recorder = recorder
        self.kind = ""
        self._keys: dict[str, str] = {}
        self.units: list[Any] = []  # modules that are gathered one by one
        self.syncs_last_only = False

    def set(self, kind: str, **keys: Any) -> None:
        """Keys whose values are None are at their defaults."""
        if self.kind and self.kind != kind:
            self._recorder.warn(f"{place_of_program()}: the program uses {kind} and {self.kind}; the model file says {kind}")
            self._keys.clear()
        self.kind = kind
        for key, value in keys.items():
            if value is not None:
                self._keys[key] = str(value).lower() if isinstance(value, bool) else f"{value:.12g}" if isinstance(value, float) else str(value)

    def set_replicas(self, mesh: Any) -> None:
        if isinstance(mesh, Mesh) and mesh.ndim == 2:
            self._recorder.recording.replicate = mesh.size(0)

    def gathered_again(self, function: Any) -> Any:
        """A function that a checkpoint runs again in the backward pass, where FSDP has gathered the parameters of the units around it."""
        around = [unit for unit in map(unit_of, self.units) if unit is not None and unit.is_gathered()]
        if not around:
            return function

        def run(*arguments: Any, **named: Any) -> Any:
            with contextlib.ExitStack() as gathered:
                for unit in around:
                    gathered.enter_context(unit.gathered())
                return function(*arguments, **named)
        return run

    def describe(self, wrapped: list[str]) -> None:
        """Writes the strategy into the recording. @param wrapped paths of the modules that are gathered one by one"""
        recording = self._recorder.recording
        if not self.kind:
            return
        keys = dict(self._keys)
        if self.kind in ("fsdp", "fsdp1"):
            blocks = set(recording.blocks)
            inner = [path for path in wrapped if path]
            of_blocks = [path for path in inner if path in blocks]
            if self.units and not (inner and blocks):
                keys["wrap"] = "whole"
            elif self.units and not of_blocks and len(inner) < len(blocks):
                keys["wrap"] = f"{-(-len(blocks) // len(inner))} blocks"
            if self.syncs_last_only and recording.accumulate > 1:
                keys["no_sync"] = "true"
        recording.strategy = {"kind": self.kind, **keys}


def replacements(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    yield from _of_whole_models(recorder)
    yield from _of_fully_shard(recorder)
    yield from _of_fsdp1(recorder)
    yield from _of_tensor_parallelism(recorder)


def _of_whole_models(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    torch, strategies = recorder.torch, recorder.strategies

    class Wrapped(wrapper_of(torch.nn.Module)):  # type: ignore[misc]
        def __init__(self, module: Any, device_ids: Any = None, *_: Any, **__: Any) -> None:
            super().__init__(module)
            self.device_ids, self.device = device_ids, torch.device("cuda", 0)
            self.require_backward_grad_sync = self.require_forward_param_sync = True

        def join(self, *_: Any, **__: Any) -> Any:
            return contextlib.nullcontext()

    class DistributedDataParallel(Wrapped):
        def __init__(self, module: Any, *arguments: Any, bucket_cap_mb: Any = None, static_graph: bool = False, gradient_as_bucket_view: bool = False,
                     find_unused_parameters: bool = False, broadcast_buffers: bool = True, **named: Any) -> None:
            super().__init__(module, *arguments, **named)
            strategies.set("ddp", bucket_cap=_mib(bucket_cap_mb) if bucket_cap_mb not in (None, 25) else None, static_graph=static_graph or None,
                           gradient_as_bucket_view=gradient_as_bucket_view or None, find_unused_parameters=find_unused_parameters or None,
                           broadcast_buffers=None if broadcast_buffers else False)

        def register_comm_hook(self, state: Any, hook: Any) -> None:
            name = getattr(hook, "__name__", str(hook))
            known = {"fp16_compress_hook": "fp16", "bf16_compress_hook": "bf16", "powerSGD_hook": "powersgd", "allreduce_hook": "none"}
            if name not in known:
                recorder.warn(f"{place_of_program()}: the communication hook {name} is unknown: gradients are reduced as without it")
            rank = getattr(state, "matrix_approximation_rank", None)
            strategies.set("ddp", comm_hook=known.get(name), powersgd_rank=rank if known.get(name) == "powersgd" else None)

        def _set_static_graph(self) -> None:
            strategies.set("ddp", static_graph=True)

    class DataParallel(Wrapped):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            strategies.set("ddp")
            recorder.warn(f"{place_of_program()}: DataParallel divides each batch among the GPUs of one process; it is recorded as one GPU with the whole "
                          "batch, and predicted as DDP, which is faster: set job.batch_per_gpu to the batch over the GPUs")

    import torch.nn.parallel.data_parallel as of_threads
    import torch.nn.parallel.distributed as of_ranks
    for owner in (torch.nn.parallel, of_ranks):
        yield owner, "DistributedDataParallel", DistributedDataParallel
    for owner in (torch.nn, torch.nn.parallel, of_threads):
        yield owner, "DataParallel", DataParallel

    def kept(module: Any, *_: Any, **__: Any) -> Any:
        recorder.warn("SyncBatchNorm is recorded as BatchNorm: its messages are not in the step")
        return module

    yield torch.nn.SyncBatchNorm, "convert_sync_batchnorm", staticmethod(kept)
    try:
        import torch.distributed.optim as optimizers
    except ImportError:
        return

    def zero_redundancy(params: Any, optimizer_class: Any, process_group: Any = None, parameters_as_bucket_view: bool = False,
                        overlap_with_ddp: bool = False, **defaults: Any) -> Any:
        strategies.set("ddp", zero_redundancy=True, parameters_as_bucket_view=parameters_as_bucket_view or None)
        made = optimizer_class(params, **defaults)
        made.consolidate_state_dict = lambda *arguments, **named: None
        return made

    if hasattr(optimizers, "ZeroRedundancyOptimizer"):
        yield optimizers, "ZeroRedundancyOptimizer", zero_redundancy


def _of_fully_shard(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    """FSDP2, torch.distributed.fsdp.fully_shard."""
    torch, strategies = recorder.torch, recorder.strategies
    owners = []
    for name in ("torch.distributed.fsdp", "torch.distributed._composable.fsdp", "torch.distributed._composable.fsdp.fully_shard",
                 "torch.distributed.fsdp._fully_shard", "torch.distributed.fsdp._fully_shard._fully_shard"):
        owners.append(imported(name))  # the places depend on the version
    owners = [owner for owner in owners if hasattr(owner, "fully_shard")]

    class FSDPModule:
        """What a sharded module can do beside its own functions."""

        def set_requires_gradient_sync(self, requires_gradient_sync: bool, *_: Any, **__: Any) -> None:
            if not requires_gradient_sync:
                strategies.syncs_last_only = True

        def set_reshard_after_forward(self, reshard_after_forward: bool, *_: Any, **__: Any) -> None:
            strategies.set("fsdp", reshard_after_forward=reshard_after_forward)

        def set_modules_to_forward_prefetch(self, modules: Any) -> None:
            strategies.set("fsdp", forward_prefetch=len(modules) or None)

        def set_modules_to_backward_prefetch(self, modules: Any) -> None:
            strategies.set("fsdp", backward_prefetch=len(modules) or None)

        def unshard(self, async_op: bool = False) -> Any:
            return contextlib.nullcontext() if async_op else None

    def nothing(*_: Any, **__: Any) -> None:
        return None

    for name in ("set_is_last_backward", "reshard", "set_requires_all_reduce", "set_reshard_after_backward", "set_reduce_scatter_divide_factor",
                 "set_gradient_divide_factor", "set_post_optim_event", "set_unshard_in_backward", "set_all_reduce_hook", "set_custom_all_gather",
                 "set_custom_reduce_scatter", "set_allocate_memory_from_process_group_for_comm", "set_force_sum_reduction_for_comms"):
        setattr(FSDPModule, name, nothing)
    classes: dict[type, type] = {}

    def sharded_class(kind: type) -> type:
        if kind not in classes:
            classes[kind] = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {"__module__": kind.__module__})
        return classes[kind]

    def fully_shard(module: Any, *, mesh: Any = None, reshard_after_forward: Any = None, shard_placement_fn: Any = None, mp_policy: Any = None,
                    offload_policy: Any = None, ignored_params: Any = None, **_: Any) -> Any:
        modules = list(module) if isinstance(module, (list, tuple)) else [module]
        param_dtype = getattr(mp_policy, "param_dtype", None)
        reduce_dtype = getattr(mp_policy, "reduce_dtype", None)
        for one in modules:
            if unit_of(one) is None:
                one.__dict__[_UNIT] = Unit(recorder, one, param_dtype, getattr(mp_policy, "output_dtype", None),
                                           getattr(mp_policy, "cast_forward_inputs", True))
                one.__class__ = sharded_class(type(one))
        strategies.units.append(modules[0])
        strategies.set_replicas(mesh)
        offloads = type(offload_policy).__name__ == "CPUOffloadPolicy"
        given = reshard_after_forward if isinstance(reshard_after_forward, (bool, int)) else None
        inner = any(unit_of(child) for one in modules for child in one.modules() if child is not one)
        # A root whose own value is that of PyTorch says nothing of the blocks.
        strategies.set("fsdp", param_dtype=_number(recorder, param_dtype), reduce_dtype=_number(recorder, reduce_dtype),
                       reshard_after_forward=None if inner or given is None else given, cpu_offload=offloads or None)
        recorder.has_sharded_tensors()
        return module

    def register_fsdp_forward_method(module: Any, method_name: str) -> None:
        unit = unit_of(module)
        if unit is None:
            return
        original = getattr(module, method_name)

        setattr(module, method_name, functools.partial(unit.run, original))

    if "accelerate.utils.fsdp_utils" in sys.modules:  # its launcher was imported
        yield sys.modules["accelerate.utils.fsdp_utils"], "fsdp2_load_full_state_dict", loaded_already
    for owner in owners:
        yield owner, "fully_shard", fully_shard
        for name, value in (("FSDPModule", FSDPModule), ("register_fsdp_forward_method", register_fsdp_forward_method)):
            if hasattr(owner, name):
                yield owner, name, value


def _of_fsdp1(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    """FSDP1, torch.distributed.fsdp.FullyShardedDataParallel."""
    torch, strategies = recorder.torch, recorder.strategies
    fsdp = imported("torch.distributed.fsdp")
    if not hasattr(fsdp, "FullyShardedDataParallel"):
        return
    prefetching = {"BACKWARD_PRE": "pre", "BACKWARD_POST": "post"}

    def wrapped_by(policy: Any, root: Any) -> list[Any]:
        """Modules that a policy wraps, without the root."""
        if policy is None:
            return []
        if hasattr(policy, "_run_policy"):
            return [module for module in policy._run_policy(root, set(), {}) if module is not root]
        chosen: list[Any] = []

        def visit(module: Any) -> int:
            """@return elements of parameters that are not wrapped yet"""
            remaining = sum(parameter.numel() for parameter in module._parameters.values() if parameter is not None)
            if policy(module=module, recurse=True, nonwrapped_numel=sum(parameter.numel() for parameter in module.parameters())):
                remaining += sum(visit(child) for child in module.children())
            else:
                remaining += sum(parameter.numel() for child in module.children() for parameter in child.parameters())
            if module is not root and policy(module=module, recurse=False, nonwrapped_numel=remaining):
                chosen.append(module)
                return 0
            return remaining

        visit(root)
        return chosen

    class FullyShardedDataParallel(transparent_wrapper_of(torch.nn.Module)):  # type: ignore[misc]
        def __init__(self, module: Any, process_group: Any = None, sharding_strategy: Any = None, cpu_offload: Any = None, auto_wrap_policy: Any = None,
                     backward_prefetch: Any = "BACKWARD_PRE", mixed_precision: Any = None, ignored_modules: Any = None, param_init_fn: Any = None,
                     device_id: Any = None, sync_module_states: bool = False, forward_prefetch: bool = False, limit_all_gathers: bool = True,
                     use_orig_params: bool = False, ignored_states: Any = None, device_mesh: Any = None) -> None:
            super().__init__(module)
            param_dtype, reduce_dtype = (getattr(mixed_precision, name, None) for name in ("param_dtype", "reduce_dtype"))
            casts_root = getattr(mixed_precision, "cast_root_forward_inputs", True)
            casts = getattr(mixed_precision, "cast_forward_inputs", False)
            inner = wrapped_by(auto_wrap_policy, module)
            for one in (*inner, module):
                if unit_of(one) is None:
                    one.__dict__[_UNIT] = Unit(recorder, one, param_dtype, None, casts_root if one is module else casts)
            strategies.units += [*inner, module]
            sharding = getattr(sharding_strategy, "name", "FULL_SHARD")
            if sharding == "NO_SHARD":
                strategies.set("ddp")
                return
            strategies.set_replicas(device_mesh)
            if sharding.startswith(("HYBRID", "_HYBRID")) and recorder.recording.replicate == 1:
                recorder.recording.replicate = max(1, recorder.ranks.count // 8)
            prefetch = prefetching.get(getattr(backward_prefetch, "name", backward_prefetch), "none")
            strategies.set("fsdp1", param_dtype=_number(recorder, param_dtype), reduce_dtype=_number(recorder, reduce_dtype or param_dtype),
                           sharding_strategy="shard_grad_op" if sharding in ("SHARD_GRAD_OP", "_HYBRID_SHARD_ZERO2") else None,
                           forward_prefetch=forward_prefetch or None, backward_prefetch=None if prefetch == "pre" else prefetch,
                           limit_all_gathers=None if limit_all_gathers else False)
            if getattr(cpu_offload, "offload_params", False):
                recorder.warn(f"{place_of_program()}: CPUOffload of FSDP1 is not simulated: parameters are predicted to stay on the GPU")

        def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Any:
            return torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)

        def no_sync(self) -> Any:
            strategies.syncs_last_only = True
            return contextlib.nullcontext()

        @staticmethod
        def state_dict_type(*_: Any, **__: Any) -> Any:
            return contextlib.nullcontext()

        summon_full_params = state_dict_type

        @staticmethod
        def set_state_dict_type(*_: Any, **__: Any) -> None:
            return None

        @staticmethod
        def fsdp_modules(module: Any, root_only: bool = False) -> list[Any]:
            return [one for one in module.modules() if isinstance(one, FullyShardedDataParallel)]

        @staticmethod
        def optim_state_dict(model: Any, optim: Any, *_: Any, **__: Any) -> Any:
            return optim.state_dict()

        optim_state_dict_to_load = full_optim_state_dict = sharded_optim_state_dict = optim_state_dict

    from importlib import import_module
    for name in ("torch.distributed.fsdp", "torch.distributed.fsdp.fully_sharded_data_parallel"):
        yield import_module(name), "FullyShardedDataParallel", FullyShardedDataParallel


def _of_tensor_parallelism(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    try:
        import torch.distributed.tensor.parallel as parallel
        import torch.distributed.tensor.parallel.api as implementation
    except (ImportError, RuntimeError):
        return

    def parallelize_module(module: Any, device_mesh: Any = None, *_: Any, **__: Any) -> Any:
        count = device_mesh.size() if isinstance(device_mesh, Mesh) else recorder.ranks.count
        if count > 1:
            raise CaptureError(f"{place_of_program()}: parallelize_module divides layers among {count} ranks (tensor parallelism), which a capture of one rank "
                               "does not have: capture the program with one rank of tensor parallelism, or describe the model by its shape "
                               "(gradway import hf config.json) and set parallel.tensor")
        return module

    for owner in (parallel, implementation):
        if hasattr(owner, "parallelize_module"):
            yield owner, "parallelize_module", parallelize_module

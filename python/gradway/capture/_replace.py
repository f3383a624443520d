# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch that are replaced during a capture: those that need a GPU, and those that differ between CUDA and meta."""
from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import types
from typing import Any, Iterator

from gradway.capture import _ranks, _recorder, _sharded
from gradway.capture._errors import CaptureError, imported


# They look at what they import, and must not see replacements.
_IMPORTED_FIRST = ("torch.distributed", "torch.distributed.device_mesh", "torch.distributed.tensor", "torch.distributed.tensor.parallel",
                   "torch.distributed.fsdp", "torch.distributed.checkpoint", "torch.distributed.checkpoint.state_dict", "torch.distributed.optim",
                   "torch.multiprocessing")


def replacements(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    for name in _IMPORTED_FIRST:
        imported(name)
    yield from _of_host(recorder)
    yield from _of_training(recorder)
    yield from _of_kernels(recorder)
    yield from _of_autocast(recorder)
    yield from recorder.compiled.replacements()
    yield from recorder.autocast.replacements()  # last: they call the functions replaced before


class _Device:
    """Result of torch.cuda.get_device_properties."""
    name, major, minor, total_memory, multi_processor_count = "NVIDIA H100 80GB HBM3", 9, 0, 80 * 2**30, 132


class _Nothing:
    """Stands for a stream or an event."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def elapsed_time(self, _: Any) -> float:
        return 1.0

    def query(self) -> bool:
        return True

    def __getattr__(self, _: str) -> Any:
        return lambda *arguments, **named: None


def _generator(torch: Any) -> Any:
    """Generators of random numbers of a GPU are those of the host."""
    original = torch.Generator

    class Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, original)

    class Generator(metaclass=Kind):
        def __new__(cls, device: Any = "cpu") -> Any:
            return original()

    return Generator


def _of_accelerator(recorder: "_recorder.Recorder", answers: dict[str, Any], synchronize: Any) -> Iterator[tuple[Any, str, Any]]:
    """torch.accelerator, which names the GPU of the machine."""
    torch = recorder.torch
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    own = {"current_accelerator": torch.device("cuda"), "current_device_index": 0, "current_device_idx": 0, "set_device_index": None,
           "set_device_idx": None, "set_stream": None, "get_memory_info": answers["mem_get_info"]}
    for name, answer in {**answers, **own}.items():
        if hasattr(accelerator, name):
            yield accelerator, name, (lambda value: lambda *arguments, **named: value)(answer)
    yield accelerator, "synchronize", synchronize
    if hasattr(accelerator, "device_index"):
        yield accelerator, "device_index", _Nothing


def _of_host(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    torch = recorder.torch
    answers: dict[str, Any] = {"is_available": True, "is_initialized": True, "device_count": min(recorder.ranks.count, 8), "current_device": 0, "set_device": None, "init": None,
               "empty_cache": None, "manual_seed": None, "manual_seed_all": None, "seed": None, "seed_all": None, "initial_seed": 0,
               "is_bf16_supported": True, "get_device_capability": (9, 0), "get_device_name": _Device.name,
               "get_device_properties": _Device, "memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0,
               "max_memory_reserved": 0, "reset_peak_memory_stats": None, "mem_get_info": (_Device.total_memory, _Device.total_memory),
               "ipc_collect": None, "set_per_process_memory_fraction": None, "_lazy_init": None, "current_stream": _Nothing(),
               "default_stream": _Nothing(), "memory_stats": {}, "is_current_stream_capturing": False}
    for name, answer in answers.items():
        if hasattr(torch.cuda, name):
            yield torch.cuda, name, (lambda value: lambda *arguments, **named: value)(answer)

    def synchronize(*_: Any, **__: Any) -> None:
        recorder.host_reads()

    yield torch.cuda, "synchronize", synchronize
    for name in ("Stream", "Event", "ExternalStream", "stream", "device", "device_of", "CUDAGraph", "graph"):
        if hasattr(torch.cuda, name):
            yield torch.cuda, name, _Nothing
    random_state = torch.zeros(16, dtype=torch.uint8)
    for name, answer in {"get_rng_state": random_state, "get_rng_state_all": [random_state], "set_rng_state": None, "set_rng_state_all": None}.items():
        for owner in (torch.cuda, torch.cuda.random):
            yield owner, name, (lambda value: lambda *arguments, **named: value)(answer)
    yield torch.cuda, "make_graphed_callables", lambda callables, *_, **__: callables
    yield from _of_accelerator(recorder, answers, synchronize)
    yield torch, "Generator", _generator(torch)

    original_parameter = torch.nn.Parameter.__new__

    def parameter(cls: Any, data: Any = None, requires_grad: bool = True, **named: Any) -> Any:
        if data is not None and not data.is_meta and data.is_floating_point():
            data = data.detach().to("meta")
        return original_parameter(cls, data, requires_grad, **named)

    yield torch.nn.Parameter, "__new__", staticmethod(parameter)

    original_loader = torch.utils.data.DataLoader.__init__

    @functools.wraps(original_loader)  # Lightning makes loaders again by the names of its arguments
    def loader(self: Any, *arguments: Any, **named: Any) -> None:
        named.update(num_workers=0, pin_memory=False)
        for key in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            named.pop(key, None)
        original_loader(self, *arguments[:5], **named)

    yield torch.utils.data.DataLoader, "__init__", loader

    # TorchScript cannot compile the functions that are replaced here; without it the same operations are called.
    yield torch.jit, "script", lambda scripted, *_, **__: scripted
    yield from _ranks.replacements(recorder)
    yield from _sharded.replacements(recorder)
    yield from _of_files(recorder)
    yield from _of_threads(recorder)


def _of_files(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    """No weights are written, and those that are read get no memory."""
    torch = recorder.torch

    def skipped(name: str) -> Any:
        def save(*_: Any, **__: Any) -> None:
            recorder.skips_saving(name)
        return save

    yield torch, "save", skipped("torch.save")
    original_load = torch.load

    def load(file: Any, map_location: Any = None, *arguments: Any, **named: Any) -> Any:
        return original_load(file, "cpu", *arguments, **named)

    yield torch, "load", load
    for module, names in (("torch.distributed.checkpoint", ("save", "async_save", "save_state_dict")), ("safetensors.torch", ("save_file", "save_model"))):
        owner = imported(module)
        for name in names:
            if hasattr(owner, name):
                yield owner, name, skipped(f"{module}.{name}")


def _of_threads(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    """PyTorch's modes belong to a thread: the program's threads get them too."""
    import threading
    from gradway.capture._modes import modes
    original_run = threading.Thread.run

    def run(self: Any) -> None:
        with contextlib.ExitStack() as stack:
            for mode in modes(recorder):
                stack.enter_context(mode)
            try:
                original_run(self)
            except CaptureError as error:
                if recorder.on_failure is None:
                    raise
                recorder.on_failure(error)

    yield threading.Thread, "run", run


def _of_training(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    torch = recorder.torch
    original_call = torch.nn.Module.__call__

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if recorder.is_finished:
            raise _recorder.Finished()
        evaluations = recorder.evaluations
        key = evaluations.key(self, arguments, named)
        for known in evaluations.known(key):
            return known
        evaluations.meets(self)
        with recorder.module(self, arguments, named):
            unit = _sharded.unit_of(self)
            with recorder.compiled.region(recorder.compiled.is_compiled(self)):
                result = (original_call if unit is None else functools.partial(unit.run, original_call))(self, *arguments, **named)
        evaluations.remember(key, self, result)
        recorder.leave_module(self, result)
        return result

    yield torch.nn.Module, "__call__", call

    for name in ("backward", "grad"):
        original = getattr(torch.autograd, name)

        def run(*arguments: Any, _original: Any = original, **named: Any) -> Any:
            with recorder.phase("backward"):
                return _original(*arguments, **named)

        yield torch.autograd, name, run

    original_to = torch.nn.Module.to

    def to(self: Any, *arguments: Any, **named: Any) -> Any:
        """A number is a GPU, which PyTorch looks for."""
        def gpu(value: Any) -> Any:
            return torch.device("cuda", value) if type(value) is int else value
        return original_to(self, *map(gpu, arguments[:1]), *arguments[1:], **{key: gpu(value) if key == "device" else value for key, value in named.items()})

    yield torch.nn.Module, "to", to

    original_init = torch.optim.Optimizer.__init__

    def init(self: Any, *arguments: Any, **named: Any) -> None:
        original_init(self, *arguments, **named)
        recorder.has_optimizer(self)
        step = type(self).step

        def of_program(closure: Any) -> Any:
            """A closure runs the passes within the optimizer's step."""
            if not callable(closure):
                return closure

            @functools.wraps(closure)
            def run(*values: Any, **others: Any) -> Any:
                with recorder.phase("forward"):
                    return closure(*values, **others)
            return run

        def stepping(self: Any, *values: Any, **others: Any) -> Any:
            if "closure" in others:
                others["closure"] = of_program(others["closure"])
            with recorder.phase("optimizer"):
                result = step(self, *map(of_program, values[:1]), *values[1:], **others)
            recorder.step_done(self)
            return result

        self.step = types.MethodType(stepping, self)

    yield torch.optim.Optimizer, "__init__", init

    def clipping(original: Any) -> Any:
        def clip(*arguments: Any, **named: Any) -> Any:
            recorder.recording.clips_gradients = True
            named.pop("foreach", None)  # device meta has no lists of tensors
            with recorder.phase("optimizer"):
                return original(*arguments, **named)
        return clip

    for name in ("clip_grad_norm_", "get_total_norm", "clip_grads_with_norm_"):  # the latter two since 2.6, also by torchtitan
        if hasattr(torch.nn.utils, name):
            yield torch.nn.utils, name, clipping(getattr(torch.nn.utils, name))

    import torch.utils.checkpoint as checkpoints
    original_checkpoint = checkpoints.checkpoint
    has_check = "determinism_check" in inspect.signature(original_checkpoint).parameters

    def checkpoint(*arguments: Any, **named: Any) -> Any:
        recorder.recording.checkpointed = True
        notes = {"reentrant": ""} if named.get("use_reentrant", True) else {}
        named["preserve_rng_state"] = False
        if has_check and named.get("use_reentrant") is False:
            named["determinism_check"] = "none"  # devices are shown otherwise within autograd
        if arguments:
            arguments = (recorder.checkpointed(recorder.strategies.gathered_again(arguments[0]), notes), *arguments[1:])
        return original_checkpoint(*arguments, **named)

    yield checkpoints, "checkpoint", checkpoint
    wrapper = imported("torch.distributed.algorithms._checkpoint.checkpoint_wrapper")
    if hasattr(wrapper, "torch_utils_checkpoint"):
        yield wrapper, "torch_utils_checkpoint", checkpoint


def _of_autocast(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    torch = recorder.torch
    from torch.amp import autocast_mode
    kind = autocast_mode.autocast
    state = recorder.autocast

    def init(self: Any, device_type: str = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        self.device, self.device_type = device_type, device_type
        self.fast_dtype = dtype or (torch.bfloat16 if device_type == "cpu" else torch.float16)
        self._enabled, self._cache_enabled = enabled, cache_enabled is not False

    def enter(self: Any) -> Any:
        on_gpu = str(self.device_type).startswith(("cuda", "meta"))
        if not on_gpu:
            state.enter(state.dtype, state.dtype is not None, state.caches)
        else:
            state.enter(self.fast_dtype, self._enabled, self._cache_enabled)
        return self

    def leave(self: Any, *_: Any) -> bool:
        state.leave()
        return False

    yield kind, "__init__", init
    yield kind, "__enter__", enter
    yield kind, "__exit__", leave
    import torch.cuda.amp.autocast_mode as of_cuda
    yield of_cuda.autocast, "__init__", \
        lambda self, enabled=True, dtype=torch.float16, cache_enabled=True: init(self, "cuda", dtype, enabled, cache_enabled)
    yield of_cuda.autocast, "__enter__", enter
    yield of_cuda.autocast, "__exit__", leave
    yield torch, "is_autocast_enabled", lambda *_: state.dtype is not None
    for name in ("get_autocast_gpu_dtype", "get_autocast_dtype"):
        if hasattr(torch, name):
            yield torch, name, lambda *_: state.dtype or torch.float16
    yield torch, "is_autocast_cache_enabled", lambda *_: state.caches or state.dtype is None
    if hasattr(autocast_mode, "is_autocast_available"):
        yield autocast_mode, "is_autocast_available", lambda *_: True
        if hasattr(torch.amp, "is_autocast_available"):
            yield torch.amp, "is_autocast_available", lambda *_: True


def _of_kernels(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    """Operations for which CUDA has kernels of its own, and meta falls back to several."""
    torch = recorder.torch
    functional = torch.nn.functional
    from gradway.capture._kernels import attention_function, ctc_function, dropout_function, math_attention, rms_norm_function

    dropped = dropout_function(recorder)
    original_dropout = functional.dropout

    def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        if not training or p == 0 or p >= 1 or not input.is_meta or input.numel() == 0:
            return original_dropout(input, p, training, inplace)
        return dropped(input)

    yield functional, "dropout", dropout
    original_tensor_dropout = torch.dropout
    yield torch, "dropout", lambda input, p, train: dropped(input) if train and 0 < p < 1 and input.is_meta \
        else original_tensor_dropout(input, p, train)

    original_ctc, ctc = functional.ctc_loss, ctc_function(recorder)
    yield functional, "ctc_loss", lambda log_probs, *arguments, **named: (ctc if log_probs.is_meta else original_ctc)(log_probs, *arguments, **named)

    original_attention: Any = getattr(functional, "scaled_dot_product_attention", None)
    if original_attention is not None:
        fused, written_out = attention_function(recorder), math_attention(recorder, dropped)

        def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
                      scale: float | None = None, enable_gqa: bool = False) -> Any:
            dtype = recorder.autocast.dtype
            if dtype is not None:
                query, key, value = (tensor.to(dtype) if tensor.is_meta and tensor.dtype == torch.float32 else tensor
                                     for tensor in (query, key, value))
                if attn_mask is not None and attn_mask.is_floating_point():
                    attn_mask = attn_mask.to(dtype)
            result = fused(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa)
            if result is not None:
                return result
            if not query.is_meta or query.dim() != 4:
                named = {"enable_gqa": True} if enable_gqa else {}
                return original_attention(query, key, value, attn_mask, dropout_p, is_causal, **({"scale": scale} if scale else {}), **named)
            state = recorder.autocast
            state.enter(None, False, False)  # the composed attention computes in fp32
            try:
                return written_out(query, key, value, attn_mask, dropout_p, is_causal, scale)
            finally:
                state.leave()

        yield functional, "scaled_dot_product_attention", attention
    original_rms: Any = getattr(functional, "rms_norm", None)
    if original_rms is not None:
        normed = rms_norm_function(recorder)

        def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
            if not input.is_meta or weight is None:
                return original_rms(input, normalized_shape, weight, eps)
            if weight.dtype != input.dtype and recorder.autocast.dtype is not None:
                input = input.to(weight.dtype)
            return normed(input, weight)

        yield functional, "rms_norm", rms_norm

# SPDX-License-Identifier: Apache-2.0
"""Records a training step of PyTorch without a GPU and without memory for its tensors.

Tensors that the program puts on its GPU live on PyTorch's device `meta`: they have shapes and types, and no data. The program
sees a GPU (`tensor.device` is `cuda:0`), so that it takes the same branches as on one. A TorchDispatchMode sees each
operation of the forward pass, of autograd and of the optimizer. What CUDA does differently from `meta` (autocast, attention,
dropout, optimizers over lists of tensors) is recorded as on CUDA.
"""
from __future__ import annotations

import contextlib
import functools
import sys
import types
import weakref
from typing import Any, Callable, Iterator

from gradway.capture._autocast import Autocast
from gradway.capture._blocks import blocks_of
from gradway.capture._compiled import Compiled
from gradway.capture._engines import engines
from gradway.capture._errors import CaptureError, imported, place_of_program
from gradway.capture._evaluation import Evaluations
from gradway.capture._optimizers import word_of_optimizer
from gradway.capture._ranks import Mesh, Ranks
from gradway.capture._recording import Operation, Parameter, Ready, Recording, Tensor, as_words
from gradway.capture._sharded import Strategies
from gradway.capture._tensors import Tensors, number_format
from gradway.capture._wrapper import within

_LARGEST_REAL = 4096  # elements: larger tensors of floating-point numbers never get data
_LARGEST_REAL_INTEGERS = 1 << 24
_LARGEST_KNOWN = 1 << 22  # elements of integers on the GPU whose data are followed


class Finished(BaseException):
    """The second optimizer step is complete. No `except Exception` of the program stops it."""


_MOST_SAMPLES = 1_000_000
# Launch no kernel and return no view.
_FREE = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view", "lift_fresh", "detach", "alias", "set_",
         "resize_", "_local_scalar_dense", "is_same_size", "detach_", "_reshape_alias", "device", "record_stream", "requires_grad_",
         "_record_function_enter_new", "_record_function_exit", "_record_function_enter", "is_pinned", "_has_compatible_shallow_copy_type",
         "as_strided_", "t_", "transpose_", "squeeze_", "unsqueeze_"}
# Their work follows from the shapes of their inputs, expanded or not.
_BY_SHAPE = {"mm", "addmm", "bmm", "baddbmm", "_scaled_mm", "convolution", "convolution_backward", "scaled_dot_product_attention",
             "scaled_dot_product_attention_backward"}
# The shapes of their results depend on data.
_DATA_DEPENDENT = {"nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "repeat_interleave", "bincount"}
_RANDOM_FACTORIES = ("rand", "randn", "randint", "normal", "randperm")
_FACTORIES = ("empty", "zeros", "ones", "full", "arange", "linspace", "eye", "empty_strided", "logspace", "tril_indices", "triu_indices",
              *_RANDOM_FACTORIES)


def _import_torch() -> Any:
    try:
        import torch
    except ImportError as missing:
        raise CaptureError("PyTorch is not installed in this Python: gradway.capture runs your program with it. "
                           "Install it (its build for CPUs is enough: pip install torch) or run in your own environment") from missing
    return torch


class Recorder(Tensors):
    """Replaces parts of PyTorch while it is active, and records one step."""

    def __init__(self, batch: int | None = None, ranks: int = 1) -> None:
        """@param ranks that the program sees, if it asks"""
        super().__init__(_import_torch())
        self.recording = Recording(framework=f"PyTorch {self.torch.__version__.split('+')[0]}")
        self.autocast = Autocast(self.torch)
        self._given_batch = batch
        self._modules: list[str] = []
        self._module_back = ""
        self._names: dict[int, str] = {}
        self._module_refs: list[Any] = []
        self._recording = True  # within the micro-step that is recorded
        self._micro_steps = 0
        self._steps = 0
        self._optimizer: Any = None
        self._hooked: dict[int, Any] = {}
        self._accumulators: list[Any] = []
        self._gradients: dict[int, tuple[str, Any]] = {}  # serial of storage: of whose gradient
        self._kept_gradients: set[int] = set()  # serial numbers of storages
        self._inputs: dict[Any, int] = {}
        self._roots: list[Any] = []
        self._warned: set[str] = set()
        self._has_root_run = False
        self._replaced: list[tuple[Any, str, Any, bool]] = []
        self._step_replacements = 0
        self._grad_functions: set[int] = set()
        self.is_sketching = False  # a tensor is created only for its shape
        self.is_finished = False
        self.on_finish: Callable[[], None] | None = None  # called with the complete recording
        self.on_failure: Callable[[BaseException], None] | None = None  # called by threads of the program: errors in them reach nobody else
        self.ranks, self.strategies = Ranks(self, ranks), Strategies(self)
        self.recording.ranks = ranks
        self.evaluations, self.compiled = Evaluations(self), Compiled(self)
        self._gathered: dict[Any, tuple[Any, Any]] = {}
        self._names_of_parameters: dict[int, str] = {}
        self._outside: set[int] = set()  # serial numbers of storages that are no activations: inputs, parameters as gathered
        self._host_bytes = 0  # copied from the host in the step
        self._trained: set[int] = set()  # parameters of optimizers
        self._places_of_reads: list[str] = []
        self._engine_is_fused = self._is_evaluating = False

    # --- records

    def warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.recording.warnings.append(text)

    def skips_saving(self, name: str) -> None:
        self.warn(f"{place_of_program()}: {name} writes nothing during a capture: there are no weights")

    def unknown_number(self, dtype: Any) -> Any:
        """What the program reads instead of a number that depends on data. 1 can be divided by, and its logarithm taken."""
        place = place_of_program()
        if dtype == self.torch.bool:
            self.warn(f"{place}: the program branches on data that a capture does not have; recorded as if it were False")
            return False
        if place not in self._places_of_reads:
            self._places_of_reads.append(place)
        return 1.0 if dtype.is_floating_point else 1

    def _warn_of_reads(self) -> None:
        if self._places_of_reads:
            more = len(self._places_of_reads) - 1
            self.warn(f"{self._places_of_reads[0]}: the program reads a number that a capture does not have" +
                      (f" (and in {more} other line{'s' if more > 1 else ''})" if more else "") +
                      "; it is taken as 1. Check that no branch of the step depends on it")

    def _module(self) -> str:
        if self._modules:
            return self._modules[-1]
        return self._module_back if self._phase == "backward" else ""

    def record(self, name: str, inputs: list[Any], outputs: list[Any], notes: dict[str, str] | None = None,
               lists: tuple[Tensor, ...] = ()) -> Operation | None:
        """An operation on the GPU."""
        keys = tuple(self.seen(tensor) for tensor in inputs)
        varies = any(key in self._varying for key in keys)
        made = tuple(self.seen(tensor, varies) for tensor in outputs)
        if not self._records():
            return None
        made_by = tuple(self._producer[key] for key in keys if key in self._producer)
        as_read = name not in _BY_SHAPE
        if not as_read and any(tensor.is_complex() for tensor in inputs):
            raise CaptureError(f"{place_of_program()}: {name} of complex numbers cannot be recorded; write it with real ones")
        operation = Operation(name, self._phase, self._module(), lists or tuple(self.describe(tensor, as_read) for tensor in inputs),
                              () if lists else tuple(map(self.describe, outputs)), notes or {}, varies, made_by=made_by)
        self.compiled.mark(operation)
        for key in made:
            self._producer[key] = len(self.recording.operations)
        self.recording.operations.append(operation)
        return operation

    def checkpointed(self, function: Callable[..., Any], notes: dict[str, str]) -> Callable[..., Any]:
        """A function that a checkpoint calls in both passes: hooks of saved tensors take the CPU time for each of its operations."""
        if self.compiled.is_inside:
            return function  # the graph has both passes

        def run(*arguments: Any, **named: Any) -> Any:
            first = len(self.recording.operations)
            try:
                return function(*arguments, **named)
            finally:
                inner = [operation for operation in self.recording.operations[first:] if isinstance(operation, Operation)]
                if inner and (made := self.record("checkpoint", [], [], {**notes, "operations": str(len(inner))})) is not None:
                    made.module = inner[-1].module
        return run

    def belongs_to_strategy(self, tensor: Any) -> None:
        """Its memory is the strategy's."""
        self._outside.add(self._alive[self.seen(tensor)][1])

    def gathered(self, parameter: Any, dtype: Any) -> Any:
        """A parameter as a sharded strategy gathers it. Neither this nor the reduction of its gradient is an operation of the step."""
        torch = self.torch
        known = self._gathered.get((id(parameter), dtype))
        if known is not None:
            return known[1]
        with torch.inference_mode(False), torch.enable_grad():
            copy = torch.nn.Parameter(torch.empty_like(parameter, dtype=dtype).detach(), parameter.requires_grad)
            self.belongs_to_strategy(copy)
            if copy.requires_grad:
                accumulator = copy.expand_as(copy).grad_fn.next_functions[0][0]
                accumulator.register_hook(functools.partial(self._reduce, parameter, copy))
                self._accumulators.append(accumulator)
        self._gathered[(id(parameter), dtype)] = (parameter, copy)
        return copy

    def _reduce(self, parameter: Any, copy: Any, *_: Any) -> None:
        """The gradient of a gathered parameter is complete: that of its shard follows."""
        gradient, copy.grad = copy.grad, None
        if gradient is None:
            return
        self.belongs_to_strategy(gradient)
        if parameter.grad is None:
            parameter.grad = self.torch.empty_like(parameter)
        made_by = self._producer.get(self.seen(gradient))
        if made_by is not None:
            self._producer[self.seen(parameter.grad)] = made_by
        self._gradient_ready(self._names_of_parameters.get(id(parameter), "?"), weakref.ref(parameter))

    def from_host(self, tensor: Any) -> None:
        """A copy of a tensor of the host: input of the step, whose micro-batches may all be copied before the first."""
        key = self.seen(tensor)
        if tensor.dim() > 0 and not self._is_evaluating and not isinstance(tensor, self.torch.nn.Parameter):
            self._outside.add(self._alive[key][1])
            if self._phase != "optimizer":
                self._host_bytes += int(self._storage(tensor).nbytes())

    @property
    def is_before_first_step(self) -> bool:
        return self._steps == 0

    @property
    def is_in_module(self) -> bool:
        return bool(self._modules)

    def trains(self, module: Any) -> bool:
        """Whether an optimizer has parameters of the module."""
        return any(id(parameter) in self._trained for parameter in module.parameters())

    def has_optimizer(self, optimizer: Any) -> None:
        self._trained.update(id(parameter) for group in optimizer.param_groups for parameter in group["params"])

    def fuses_optimizer(self) -> None:
        self._engine_is_fused = True

    def has_sharded_tensors(self) -> None:
        """The program's parameters have what those of DTensor have."""
        if hasattr(self.torch.Tensor, "full_tensor"):
            return
        shard = getattr(imported("torch.distributed.tensor"), "Shard", None)
        for name in ("full_tensor", "to_local"):
            self._replace(self.torch.Tensor, name, lambda tensor, *_, **__: tensor)
        self._replace(self.torch.Tensor, "device_mesh", Mesh("cuda", (self.ranks.count,)))
        self._replace(self.torch.Tensor, "placements", () if shard is None else (shard(0),))

    def changes(self, tensor: Any) -> None:
        """An operation changes a tensor in place."""
        if self._phase == "between" and not self._trained and any(self._key(parameter) == self._key(tensor) for parameter in self._hooked.values()):
            raise CaptureError(f"{place_of_program()}: the program changes its parameters without an optimizer of PyTorch's, so that a capture does not "
                               "see where a step ends: for the capture, use one of torch.optim, such as torch.optim.SGD")

    def starts_evaluation(self) -> None:
        """What runs from now on is no part of the step, until the model is called with gradients."""
        self._is_evaluating = True

    def _records(self) -> bool:
        return self._recording and not self._is_evaluating

    def host_reads(self) -> None:
        """Records that the program waits for a number from the GPU."""
        self.compiled.breaks("a number is read back")
        for operation in reversed(self.recording.operations):
            if isinstance(operation, Operation):
                operation.host_reads = True
                return

    # --- the program's own objects

    def name_modules(self, root: Any) -> None:
        root = within(root)
        if id(root) in self._names:
            return
        self._roots.append(root)
        for path, module in as_words(root.named_modules()):
            self._names.setdefault(id(module), path)
            self._module_refs.append(module)
        self.recording.blocks.extend(blocks_of(root, self.torch.nn))

    def _enter_root(self, module: Any, arguments: tuple[Any, ...], named: dict[str, Any], follows_backward: bool) -> None:
        """An outermost module is called with gradients, which starts a micro-step if none was called since the last backward pass."""
        torch = self.torch
        self._is_evaluating = False
        self.name_modules(module)
        self._watch_gradients(module)
        if self._has_root_run and not follows_backward:
            return
        if self._has_root_run:
            self._micro_steps += 1
        self._has_root_run = True
        if self._micro_steps > 0:
            self._recording = False
            return
        flat = [value for value in _flatten((arguments, named)) if isinstance(value, torch.Tensor) and value.is_meta]
        batches = [int(value.shape[0]) for value in flat if value.dim() > 0]
        for value in flat:
            key = self.seen(value, True)
            self._inputs[key] = int(self._storage(value).nbytes())
            self._outside.add(self._alive[key][1])
        if batches:
            self.recording.batch = self._given_batch or batches[0]
            words = [value for value in flat if value.dim() == 2 and not value.is_floating_point() and value.shape[0] == batches[0]]
            self.recording.sequence = int(words[0].shape[1]) if words else 0
        self.recording.keeps_gradients = any(parameter.grad is not None for parameter in module.parameters())

    def _watch_gradients(self, module: Any) -> None:
        for name, parameter in as_words(within(module).named_parameters()):
            self._names_of_parameters.setdefault(id(parameter), name)
            if id(parameter) in self._hooked or not parameter.requires_grad or not self.torch.is_grad_enabled():
                continue
            self._hooked[id(parameter)] = parameter
            accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            accumulator.register_hook(functools.partial(self._gradient_ready, name, weakref.ref(parameter)))
            self._accumulators.append(accumulator)

    def _gradient_ready(self, name: str, reference: Any, *_: Any) -> None:
        parameter = reference()
        if not self._recording or parameter is None or parameter.grad is None:
            return
        gradient = parameter.grad
        key = self.seen(gradient)
        self._gradients[self._alive[key][1]] = (name, key)
        self._mark_of_parameter(key, parameter.numel())
        self.recording.operations.append(Ready(name, self._module()))

    def _mark_of_parameter(self, key: Any, elements: int) -> None:
        """Operations that computed the gradient of a parameter, back to those that depend on the batch."""
        self._varying.discard(key)
        self._grows.discard(self._alive[key][1])
        queue, known = [self._producer[key]] if key in self._producer else [], set()
        while queue:
            place = queue.pop()
            if place in known:
                continue
            known.add(place)
            operation = self.recording.operations[place]
            if not isinstance(operation, Operation) or operation.phase != "backward":
                continue
            if operation.name.endswith("_backward") or len(operation.outputs) > 1:
                continue  # it also computes the gradient of its input
            operation.of_parameters = True
            same = all(tensor.elements() == elements for tensor in operation.inputs if tensor.elements() > 1)
            if same and operation.name in ("_to_copy", "clone", "add", "add_", "mul", "copy_", "contiguous", "div"):
                operation.varies = False
                queue.extend(operation.made_by)

    # --- the micro-step's end

    def start_step(self) -> None:
        """Drops everything recorded so far."""
        self.recording.operations.clear()
        self._memory.clear()
        # Gradients of the step before that the program still has: until it drops them, as zero_grad does, they are beside the new ones.
        self._kept_gradients = {serial for _, serial in self._alive.values() if serial in self._gradients}
        for size, serial in self._alive.values():
            if serial in self._kept_gradients:
                self._memory.allocate(size, serial, "between")
        self.compiled.start_step()
        self._producer.clear()
        self._gradients.clear()
        self._inputs.clear()
        self._host_bytes = 0
        self._micro_steps, self._has_root_run, self._recording, self._is_evaluating = 0, False, True, False
        self._phase, self._module_back = "forward", ""

    def finish(self) -> None:
        """The step is complete."""
        recording = self.recording
        if not any(isinstance(operation, Ready) for operation in recording.operations):
            raise CaptureError("no parameter had a gradient before the optimizer's step: call the model, the loss's backward() and "
                               "optimizer.step() within the captured step, with parameters that require gradients")
        if not 1 <= recording.batch <= _MOST_SAMPLES:
            raise CaptureError(f"a micro-batch of {recording.batch} samples, by the first dimension of the model's first argument, is not "
                               f"possible: give its samples with --batch (batch_size in Python), 1 to {_MOST_SAMPLES:,}")
        recording.accumulate = self._micro_steps + 1
        recording.input_bytes = max(sum(self._inputs.values()), self._host_bytes // recording.accumulate)
        if self.autocast.used:
            recording.autocast = sorted(self.autocast.used)[0]
        self._collect_parameters()
        recording.memory = self._memory.peaks(self._outside, self._grows, {*self._gradients, *self._kept_gradients})
        self.strategies.describe([path for unit in self.strategies.units if (path := self._names.get(id(unit))) is not None])
        self._warn_of_reads()
        self.compiled.warn_of_breaks()
        recording.channels_last = any(tensor.layout == "cl" for operation in recording.operations if isinstance(operation, Operation)
                                      for tensor in operation.outputs if operation.name == "convolution")

    def _collect_parameters(self) -> None:
        recording = self.recording
        recording.parameters.clear()
        recording.buffers.clear()
        known: set[int] = set()
        for root in self._roots:
            for name, parameter in as_words(root.named_parameters()):
                if id(parameter) not in known:
                    known.add(id(parameter))
                    shape = self.describe(parameter)
                    recording.parameters.append(Parameter(name, shape.dtype, shape.shape, bool(parameter.requires_grad)))
            for name, buffer in as_words(root.named_buffers()):
                if id(buffer) not in known:
                    known.add(id(buffer))
                    shape = self.describe(buffer)
                    recording.buffers.append(Parameter(name, shape.dtype, shape.shape, False))

    # --- the modes and replacements

    @contextlib.contextmanager
    def active(self) -> Iterator["Recorder"]:
        from gradway.capture._modes import modes
        from gradway.capture._replace import replacements
        try:
            for owner, name, value in replacements(self):
                self._replace(owner, name, value)
            with contextlib.ExitStack() as stack:
                stack.enter_context(engines(self))
                for mode in modes(self):
                    stack.enter_context(mode)
                yield self
        finally:
            while self._replaced:
                owner, name, value, own = self._replaced.pop()
                if own:
                    setattr(owner, name, value)
                else:
                    delattr(owner, name)

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        own = name in vars(owner)
        self._replaced.append((owner, name, vars(owner)[name] if own else None, own))
        setattr(owner, name, value)

    @contextlib.contextmanager
    def phase(self, phase: str) -> Iterator[None]:
        before, self._phase = self._phase, phase
        if phase == "backward":
            self._module_back, self._is_evaluating = "", False
        try:
            yield
        finally:
            self._phase = "between" if phase == "backward" and before == "forward" else before

    @contextlib.contextmanager
    def module(self, module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Iterator[None]:
        if not self._modules and self.torch.is_grad_enabled() and self._phase != "backward" and any(True for _ in module.parameters()):
            follows_backward = self._phase == "between"
            if follows_backward:
                self._phase = "forward"
            self._enter_root(module, arguments, named, follows_backward)
        name = self._names.get(id(module))
        self._modules.append(self._modules[-1] if name is None and self._modules else name or "")
        try:
            yield
        finally:
            self._modules.pop()

    def leave_module(self, module: Any, result: Any) -> None:
        """Backward operations belong to the module whose result's gradient is known."""
        name = self._names.get(id(module))
        if name is None or not self._recording or self._phase == "backward":
            return
        for value in _flatten(result):
            if not isinstance(value, self.torch.Tensor) or not value.requires_grad or value.grad_fn is None:
                continue
            function = value.grad_fn
            if id(function) in self._grad_functions:
                continue  # an inner module has the same result
            self._grad_functions.add(id(function))
            self._accumulators.append(function)  # else another could get its id
            value.register_hook(functools.partial(self._enter_backward, name))

    def _enter_backward(self, name: str, gradient: Any) -> None:
        if self._phase == "backward":
            self._module_back = name

    def step_done(self, optimizer: Any) -> None:
        if self._optimizer is None:
            self._optimizer = optimizer
        if optimizer is not self._optimizer:
            kinds = f"{type(self._optimizer).__name__} and {type(optimizer).__name__}"
            if self._has_root_run:
                raise CaptureError(f"{place_of_program()}: the program trains with two optimizers in turn ({kinds}), as GANs do; a capture "
                                   "records the step of one: let the program step one of them only")
            self.warn(f"two optimizers ({kinds}): all parameters are predicted with the first one")
            return
        if self.is_finished:
            raise Finished()
        self._steps += 1
        self._grad_functions.clear()
        self._accumulators = [known for known in self._accumulators if type(known).__name__ == "AccumulateGrad"]
        if self._steps < 2:
            self.start_step()
            return
        self._recording = True
        self.recording.optimizer = word_of_optimizer(optimizer, self._engine_is_fused, self.warn)
        self.recording.optimizer_class = type(optimizer).__name__
        self.finish()
        self.is_finished = True
        if self.on_finish is not None:
            self.on_finish()
        raise Finished()

def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flatten(item)
    elif isinstance(value, dict) or (hasattr(value, "values") and hasattr(value, "keys")):
        for item in value.values():
            yield from _flatten(item)
    else:
        yield value

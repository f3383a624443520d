# SPDX-License-Identifier: Apache-2.0
"""Modes of PyTorch that place the program's tensors on meta and record their operations."""
from __future__ import annotations

from typing import Any, NoReturn

from gradway.capture import _recorder
from gradway.capture._errors import CaptureError, place_of_program

_HOST = ("cpu", None)


def _is_gpu(device: Any) -> bool:
    return type(device) is int or (device is not None and str(device).startswith(("cuda", "meta")))


def modes(recorder: "_recorder.Recorder") -> list[Any]:
    """The modes to enter, the outermost first."""
    torch = recorder.torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten
    from torch.utils._python_dispatch import TorchDispatchMode

    factories = {getattr(torch, name): name for name in _recorder._FACTORIES if hasattr(torch, name)}
    device_of, is_cuda_of = torch.Tensor.device.__get__, torch.Tensor.is_cuda.__get__
    gpu = torch.device("cuda", 0)
    new_factories = {getattr(torch.Tensor, name) for name in ("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor")}
    like = {getattr(torch, name) for name in ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like")}

    def device_for(device: Any) -> Any:
        return torch.device("meta") if _is_gpu(device) else device

    def created(function: Any, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A tensor of the program: without data on its GPU; with data on the host, if it is small or of integers."""
        if _is_gpu(named.get("device")):
            return function(*arguments, **{**named, "device": "meta", "generator": None} if "generator" in named
                            else {**named, "device": "meta"})
        sketch = {key: value for key, value in named.items() if key not in ("out", "pin_memory", "generator")}
        if name == "normal" or named.get("out") is not None:
            return function(*arguments, **named)
        recorder.is_sketching = True
        try:
            shape = function(*arguments, **{**sketch, "device": "meta"})
        finally:
            recorder.is_sketching = False
        limit = _recorder._LARGEST_REAL if shape.is_floating_point() else _recorder._LARGEST_REAL_INTEGERS
        if shape.numel() > limit:
            recorder.seen(shape)
            return shape
        return function(*arguments, **{key: value for key, value in named.items() if key != "pin_memory"})

    def value_of(tensor: Any) -> Any:
        """Data of a tensor; None if unknown."""
        return getattr(tensor, "_gradway_value", None) if tensor.is_meta else tensor

    def is_kept(tensor: Any) -> bool:
        return tensor.numel() <= (_recorder._LARGEST_REAL if tensor.is_floating_point() else _recorder._LARGEST_KNOWN)

    def on_host(tensor: Any, dtype: Any) -> Any:
        """What the program sees of data that a capture does not have: indices of 0, and numbers of 1."""
        made = torch.ones if dtype.is_floating_point or tensor.dim() == 0 else torch.zeros
        return made(tensor.shape, dtype=dtype, device="cpu")

    def refuse_data(what: str) -> NoReturn:
        raise CaptureError(f"{place_of_program()}: the shape of the result of {what} depends on data, which a capture does not have. "
                           "For the capture, replace it by an operation of known shape, or import a profile of one GPU: "
                           "gradway import kineto")

    class Devices(TorchFunctionMode):
        """Replaces the program's GPU by the device meta."""

        def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
            named = dict(kwargs or {})
            if func == device_of:
                real = func(*args)
                return gpu if real.type == "meta" else real
            if func == is_cuda_of:
                return bool(args[0].is_meta)
            name = factories.get(func) if getattr(func, "__hash__", None) else None
            if name is not None:
                return created(func, name, args, named)
            called = getattr(func, "__name__", "")
            if called == "to":
                return self._moved(args[0], args[1:], named)
            if called == "cuda":
                return args[0].to("meta")
            if called in ("isfinite", "isnan", "isinf", "isposinf", "isneginf"):
                result = func(*args, **named)
                if isinstance(result, torch.Tensor) and result.is_meta:  # numbers of a healthy run
                    result._gradway_value = torch.full((), called == "isfinite", device="cpu").expand(result.shape)
                return result
            if called == "__format__" and args[0].is_meta:
                return format(args[0].item(), args[1]) if args[0].dim() == 0 else format(f"tensor(shape={tuple(args[0].shape)})", args[1])
            if called in ("equal", "allclose") and len(args) > 1 and any(isinstance(value, torch.Tensor) and value.is_meta for value in args[:2]):
                recorder.host_reads()
                known = [value_of(value) for value in args[:2]]
                return recorder.unknown_number(torch.bool) if any(value is None for value in known) else func(*known, *args[2:], **named)
            if called in ("cpu", "numpy", "tolist") and args and isinstance(args[0], torch.Tensor) and args[0].is_meta:
                recorder.host_reads()
                known = value_of(args[0])
                real = known if known is not None else on_host(args[0], args[0].dtype)
                return real if called == "cpu" else getattr(real, called)()
            if called == "data_ptr" and args[0].is_meta:
                return recorder.address(args[0])
            if called == "pin_memory":
                return args[0]
            if called == "is_pinned":
                return True
            if called == "tensor" and func is torch.tensor:
                target = named.pop("device", None)
                real = func(*args, **named)
                return real.to("meta") if _is_gpu(target) else real
            if "device" in named:
                named["device"] = device_for(named["device"])
            if func in like or func in new_factories:
                named.pop("pin_memory", None)
            return func(*args, **named)

        def _moved(self, tensor: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
            values = [device_for(value) if isinstance(value, (str, torch.device)) else torch.device("meta") if type(value) is int
                      else value for value in args]
            if named.get("device") is not None:
                named["device"] = device_for(named["device"])
            named.pop("non_blocking", None)
            if len(values) > 1 and values[-1] in (True, False) and not isinstance(values[-1], (torch.dtype, torch.device)):
                values = [value for value in values if value not in (True, False) or isinstance(value, (torch.dtype, torch.device))]
            other = values[0] if values and isinstance(values[0], torch.Tensor) else named.pop("other", None)
            if other is not None:
                values = [torch.device("meta") if other.is_meta else torch.device("cpu"), other.dtype]
            target = named.get("device") or next((value for value in values if isinstance(value, torch.device)), None)
            if target is not None and torch.device(target).type == "cpu" and tensor.is_meta:
                dtype = named.get("dtype") or next((value for value in values if isinstance(value, torch.dtype)), tensor.dtype)
                if isinstance(tensor, torch.nn.Parameter) or tensor.numel() > _recorder._LARGEST_REAL_INTEGERS:
                    return tensor.to(dtype)
                recorder.host_reads()
                known = value_of(tensor)
                return known.to(dtype) if known is not None else on_host(tensor, dtype)
            return tensor.to(*values, **named)

    class Operations(TorchDispatchMode):
        """Records the operations on the program's GPU."""

        def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if recorder.is_sketching:
                return func(*args, **named)
            if torch.is_inference_mode_enabled() or any(isinstance(value, torch.Tensor) and value.is_inference() for value in args):
                with self:  # operations that consist of others come whole
                    parts = func.decompose(*args, **named) if hasattr(func, "decompose") else NotImplemented
                if parts is not NotImplemented:
                    return parts
            name = func._schema.name.split("::", 1)[-1]
            flat = [value for value in tree_flatten((args, named))[0] if isinstance(value, torch.Tensor)]
            on_gpu = any(value.is_meta for value in flat)
            if name == "_local_scalar_dense" and on_gpu:
                recorder.host_reads()
                known = value_of(flat[0])
                if known is not None:
                    return known.item()
                return recorder.unknown_number(flat[0].dtype)
            if name == "is_nonzero" and on_gpu:
                recorder.host_reads()
                known = value_of(flat[0])
                return bool(known) if known is not None else recorder.unknown_number(torch.bool)
            if name == "equal" and on_gpu:
                recorder.host_reads()
                return recorder.unknown_number(torch.bool)
            if name == "_to_copy" and named.get("device") is not None and torch.device(named["device"]).type == "cpu" and on_gpu:
                recorder.host_reads()
                known = value_of(flat[0])
                return known.to(named.get("dtype") or flat[0].dtype) if known is not None else on_host(flat[0], named.get("dtype") or flat[0].dtype)
            values = self._values(func, name, flat, args, named)
            if on_gpu and values is None and name in _recorder._DATA_DEPENDENT and not (name == "repeat_interleave" and "output_size" in named):
                refuse_data(name)
            if name == "index" and on_gpu:
                args = (args[0], self._places(args[1]), *args[2:])
            copies_in = name in ("_to_copy", "copy_") and not all(value.is_meta for value in flat)
            if on_gpu and not copies_in:
                args, named = tree_map(lambda value: value.to("meta") if isinstance(value, torch.Tensor) and not value.is_meta
                                       and value.dim() > 0 else value, (args, named))
            if on_gpu and name in _recorder._DATA_DEPENDENT:
                result = tree_map(lambda value: value.to("meta") if isinstance(value, torch.Tensor) else value, values)
            else:
                result = self._run(func, name, args, named, on_gpu)
            results = [value for value in tree_flatten(result)[0] if isinstance(value, torch.Tensor) and value.is_meta]
            if any(value.is_sparse for value in results):
                raise CaptureError(f"{place_of_program()}: sparse gradients cannot be recorded. Write sparse=False for small embedding tables, "
                                   "or describe large ones in a model of kind recommender (docs/layouts.md)")
            if values is not None:
                for value, known in zip(tree_flatten(result)[0], tree_flatten(values)[0]):
                    if isinstance(value, torch.Tensor) and value.is_meta and isinstance(known, torch.Tensor):
                        value._gradway_value = known
            elif func._schema.is_mutable and not name.startswith("_amp_"):  # GradScaler finds no infinite gradient
                for value in results:
                    value._gradway_value = None
            if not on_gpu and not results:
                return result
            self._record(func, name, flat, results, named, args)
            return result

        def _values(self, func: Any, name: str, flat: list[Any], args: Any, named: Any) -> Any:
            """The result with data, if all inputs are small tensors with known data: positions, token indices, masks. Programs
            branch on them."""
            known = [value_of(value) for value in flat]
            if any(value is None for value in known) or name.startswith(("_foreach_", "_fused_", "_amp_")):
                return None
            device = named.get("device")
            if not flat and (device is None or torch.device(device).type != "meta"):
                return None
            if not flat and name.startswith(("empty", "rand", "normal")):
                return None
            largest = max((value.numel() for value in flat), default=0)
            if largest > _recorder._LARGEST_KNOWN:
                return None
            try:
                by_place = iter(known)
                real = [next(by_place) if isinstance(value, torch.Tensor) else torch.device("cpu") if isinstance(value, torch.device)
                        else value for value in tree_flatten((args, named))[0]]
                real_args, real_named = tree_unflatten(real, tree_flatten((args, named))[1])
                if not flat:
                    with_shape = func(*args, **named)
                    if not is_kept(with_shape):
                        return None
                result = func(*real_args, **real_named)
            except (RuntimeError, TypeError, NotImplementedError):
                return None
            kept = all(is_kept(value) for value in tree_flatten(result)[0] if isinstance(value, torch.Tensor))
            return result if kept else None

        def _places(self, indices: Any) -> Any:
            """Replaces boolean masks by the indices where they are true, which must be known."""
            places: list[Any] = []
            for index in indices:
                if not isinstance(index, torch.Tensor) or index.dtype not in (torch.bool, torch.uint8) or not index.is_meta:
                    places.append(index)
                    continue
                known = value_of(index)
                if known is None:
                    refuse_data("index with a mask")
                places.extend(place.to("meta") for place in known.nonzero(as_tuple=True))
            return places

        def _run(self, func: Any, name: str, args: Any, named: Any, on_gpu: bool) -> Any:
            if on_gpu and name.startswith(("_fused_", "_amp_")) and name.endswith("_"):
                return None  # in place on lists of tensors: CUDA's kernels only
            if on_gpu and name == "convolution_backward":  # PyTorch 1.13 has it on devices with data only
                gradient, tensor, weight, mask = args[0], args[1], args[2], args[10]
                made = (torch.empty_like(tensor) if mask[0] else None, torch.empty_like(weight) if mask[1] else None,
                        gradient.new_empty((gradient.shape[1],)) if mask[2] else None)
                return as_cuda_lays_out(name, args, made)
            if on_gpu and name in ("index_put", "index_put_", "_index_put_impl_"):
                return args[0] if name.endswith("_") else torch.empty_like(args[0])  # whatever the indices are
            try:
                return as_cuda_lays_out(name, args, func(*args, **named))
            except NotImplementedError as missing:
                if not func._schema.returns:
                    return None
                shapes = self._shapes_on_host(func, args, named) if on_gpu else None
                if shapes is not None:
                    return shapes
                raise CaptureError(f"{place_of_program()}: PyTorch {torch.__version__} cannot run the operation {func._schema.name} without "
                                   "data. A custom kernel needs a 'meta' implementation (torch.library.register_fake); or import a profile "
                                   "of one GPU: gradway import kineto") from missing

        def _shapes_on_host(self, func: Any, args: Any, named: Any) -> Any:
            """The results of an operation without a 'meta' implementation, from one with data of the same shapes on the host."""
            flat, shape = tree_flatten((args, named))
            tensors = [value for value in flat if isinstance(value, torch.Tensor)]
            if func._schema.is_mutable or sum(value.numel() for value in tensors) > _recorder._LARGEST_REAL_INTEGERS:
                return None
            real = [(value_of(value) if value_of(value) is not None else on_host(value, value.dtype)) if isinstance(value, torch.Tensor) else value
                    for value in flat]
            try:
                real_args, real_named = tree_unflatten(real, shape)
                result = func(*real_args, **real_named)
            except (RuntimeError, TypeError, NotImplementedError, ValueError, IndexError):
                return None
            return tree_map(lambda value: torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
                            if isinstance(value, torch.Tensor) else value, result)

        def _record(self, func: Any, name: str, flat: list[Any], results: list[Any], named: Any, args: Any) -> None:
            is_view = bool(func._schema.returns) and func._schema.returns[0].alias_info is not None and \
                not func._schema.returns[0].alias_info.is_write
            if is_view or name in _recorder._FREE:
                varies = any(value.is_meta and recorder._key(value) in recorder._varying for value in flat)
                for value in results:
                    recorder.seen(value, varies)
                return
            if name in ("_to_copy", "copy_") and flat and not flat[-1].is_meta:
                for value in results:
                    if name == "_to_copy":
                        recorder.from_host(value)
                    else:
                        recorder.seen(value)
                return  # from the host: the input's copy
            on_gpu = [value for value in flat if value.is_meta]
            if func._schema.is_mutable and on_gpu:
                recorder.changes(on_gpu[0])
            if name.startswith(("_foreach_", "_fused_", "_amp_")):
                lists = [item for item in (*args, *named.values()) if isinstance(item, (list, tuple)) and item
                         and isinstance(item[0], torch.Tensor) and item[0].is_meta]
                totals = tuple(_recorder.Tensor(_recorder.number_format(item[0].dtype),
                                                (sum(value.numel() for value in item),), "") for item in lists)
                if totals:
                    recorder.record(name, on_gpu, results, lists=totals)
                return
            library = func._schema.name.split("::", 1)[0]
            recorder.record(name if library == "aten" else f"{library}.{name}", on_gpu, results, notes_of(name, args, named))

    def as_cuda_lays_out(name: str, args: Any, result: Any) -> Any:
        """Results of cuDNN's convolutions are channels_last if an input is; on meta the layout is lost."""
        if not name.startswith("convolution"):
            return result
        is_cl = [value.dim() == 4 and value.is_meta and not value.is_contiguous() and value.is_contiguous(memory_format=torch.channels_last)
                 for value in args[:3] if isinstance(value, torch.Tensor)]
        if not any(is_cl):
            return result
        if name == "convolution":
            return torch.empty_like(result, memory_format=torch.channels_last)
        return tuple(torch.empty_like(value, memory_format=torch.channels_last) if place < 2 and value is not None and value.dim() == 4
                     else value for place, value in enumerate(result))

    def notes_of(name: str, args: Any, named: Any) -> dict[str, str]:
        notes: dict[str, str] = {}

        def sides(values: Any) -> str:
            """One value may stand for all sides, as in padding="valid"."""
            return "x".join(map(str, values if len(values) > 1 else list(values) * (args[0].dim() - 2)))

        if name in ("mm", "addmm", "bmm", "baddbmm") and torch.backends.cuda.matmul.allow_tf32 and args[-1].dtype == torch.float32:
            return {"tf32": ""}
        if name in ("convolution", "_convolution"):
            stride, padding, _, transposed, _, groups = args[3:9]
            notes = {"stride": sides(stride), "pad": sides(padding), "groups": str(groups)}
            if transposed:
                notes["transposed"] = ""
        elif name == "convolution_backward":
            stride, padding, _, transposed, _, groups, mask = args[4:11]
            notes = {"stride": sides(stride), "pad": sides(padding), "groups": str(groups)}
            if transposed:
                notes["transposed"] = ""
        if name.startswith("convolution") and torch.backends.cudnn.allow_tf32 and args[0].dtype == torch.float32:
            notes["tf32"] = ""
        return notes

    return [Operations(), Devices()]

# SPDX-License-Identifier: Apache-2.0
"""Autocast as CUDA applies it, on tensors without memory.

The device `meta` has no autocast, and the CPU's lists differ from CUDA's. So the functions that CUDA's autocast changes are
replaced during a capture by functions that first cast. The lists are those of PyTorch's documentation, "Autocast Op Reference"; of the
operations in fp32, those that the installed version does not register for autocast are left out.
"""
from __future__ import annotations

import functools
from typing import Any, Callable, Iterator

# Run in the 16-bit type.
_LOWER = {
    "functional": ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "prelu"),
    "torch": ("addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
              "conv_transpose2d", "conv_transpose3d", "einsum", "matmul", "mm", "mv", "prelu"),
    "tensor": ("__matmul__", "__rmatmul__", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "matmul", "mm", "mv"),
}
# Run in fp32: their inputs are cast.
_FP32 = {
    "functional": ("binary_cross_entropy_with_logits", "cosine_embedding_loss", "cosine_similarity", "ctc_loss", "group_norm",
                   "hinge_embedding_loss", "huber_loss", "interpolate", "kl_div", "l1_loss", "layer_norm", "margin_ranking_loss", "mse_loss",
                   "multilabel_margin_loss", "multi_margin_loss", "nll_loss", "normalize", "pdist", "poisson_nll_loss", "rms_norm", "smooth_l1_loss",
                   "soft_margin_loss", "softplus", "triplet_margin_loss"),
    "torch": ("acos", "asin", "cdist", "cosh", "dist", "erfinv", "exp", "expm1", "group_norm", "layer_norm", "log", "log10", "log1p",
              "log2", "logsumexp", "norm", "pow", "reciprocal", "renorm", "rsqrt", "sinh", "tan"),
    "tensor": ("__pow__", "__rpow__", "__rtruediv__", "__rdiv__", "acos", "asin", "cosh", "dist", "erfinv", "exp", "expm1", "log",
               "log10", "log1p", "log2", "logsumexp", "norm", "pow", "reciprocal", "renorm", "rsqrt", "sinh", "tan"),
}
# Run in fp32 by their argument dtype, if it is not given.
_FP32_BY_DTYPE = {
    "functional": ("softmax", "log_softmax", "softmin"),
    "torch": ("cumprod", "cumsum", "log_softmax", "prod", "softmax", "sum"),
    "tensor": ("cumprod", "cumsum", "log_softmax", "prod", "softmax", "sum"),
}


class Autocast:
    """The state of autocast during a capture, and the functions that apply it."""

    def __init__(self, torch: Any):
        self._torch = torch
        self._stack: list[tuple[Any, bool]] = []
        self._copies: dict[int, tuple[Any, Any]] = {}
        self.used: set[str] = set()

    @property
    def dtype(self) -> Any:
        """The 16-bit type; None if autocast is off."""
        return self._stack[-1][0] if self._stack else None

    @property
    def caches(self) -> bool:
        return bool(self._stack) and self._stack[-1][1]

    def enter(self, dtype: Any, enabled: bool, caches: bool) -> None:
        self._stack.append((dtype if enabled else None, caches))
        if enabled:
            self.used.add(str(dtype).removeprefix("torch."))

    def leave(self) -> None:
        self._stack.pop()
        if not self._stack:
            self._copies.clear()  # as the cache of weights, which lives until the outermost autocast ends

    def _is_castable(self, value: Any, dtype: Any) -> bool:
        torch = self._torch
        return (isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype not in (dtype, torch.float64)
                and value.is_meta)

    def _lowered(self, value: Any, dtype: Any) -> Any:
        if not self._is_castable(value, dtype):
            return value
        is_weight = self.caches and value.requires_grad and value.is_leaf and value.dtype == self._torch.float32
        if not is_weight or value._is_view():
            return value.to(dtype)
        known = self._copies.get(id(value))
        # A copy that was made without gradients cannot serve a pass with them.
        if known is None or (self._torch.is_grad_enabled() and not known[1].requires_grad):
            known = self._copies[id(value)] = (value, value.to(dtype))
        return known[1]

    def _map(self, cast: Callable[[Any, Any], Any], value: Any, dtype: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(self._map(cast, item, dtype) for item in value) if type(value) in (list, tuple) else value
        return cast(value, dtype)

    def _casting(self, function: Callable[..., Any], lower: bool) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            dtype = self.dtype
            if dtype is None:
                return function(*arguments, **named)
            if lower:
                cast, to = self._lowered, dtype
            else:
                cast, to = (lambda value, wanted: value.to(wanted) if self._is_castable(value, wanted) else value), self._torch.float32
            return function(*self._map(cast, arguments, to), **{key: self._map(cast, value, to) for key, value in named.items()})
        return call

    def _widening(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            first = arguments[0] if arguments else named.get("input")
            if self.dtype is None or named.get("dtype") is not None or not self._is_castable(first, self._torch.float32):
                return function(*arguments, **named)
            if any(isinstance(argument, self._torch.dtype) for argument in arguments):
                return function(*arguments, **named)
            return function(*arguments, **{**named, "dtype": self._torch.float32})
        return call

    def _is_listed(self, name: str) -> bool:
        """Whether this version of PyTorch registers the operation for autocast, or none of that name."""
        name = {"interpolate": "upsample_nearest2d"}.get(name, name)
        asked = getattr(self._torch._C, "_dispatch_has_kernel_for_dispatch_key", None)
        operation = None if name.startswith("__") else getattr(self._torch.ops.aten, name, None)
        if asked is None or operation is None or not hasattr(operation, "overloads"):
            return True
        return any(asked(f"aten::{name}" + ("" if overload == "default" else f".{overload}"), "AutocastCUDA") for overload in operation.overloads())

    def _cross_entropy(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The logits keep their format in log_softmax, whose result is cast for nll_loss.

        Source: cross_entropy_loss in aten/src/ATen/native/LossNLL.cpp of PyTorch, which gives log_softmax the type of its input."""
        torch, functional = self._torch, self._torch.nn.functional

        @functools.wraps(original)
        def call(input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
                 reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
            if self.dtype is None or not self._is_castable(input, torch.float32) or size_average is not None or reduce is not None:
                return original(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)
            dimension = 0 if input.dim() == 1 else 1
            shares = functional.log_softmax(input, dimension, dtype=input.dtype)
            if target.is_floating_point():
                loss = -torch.sum(shares * target, dimension, dtype=torch.float32)
            else:
                loss = functional.nll_loss(shares, target, weight, None, ignore_index, None, reduction)
                if label_smoothing <= 0:
                    return loss
                smooth = -torch.sum(shares, dimension, dtype=torch.float32)
                smooth = smooth.mean() if reduction == "mean" else smooth.sum() if reduction == "sum" else smooth
                return (1 - label_smoothing) * loss + smooth * (label_smoothing / input.shape[dimension])
            return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss
        return call

    def replacements(self) -> Iterator[tuple[Any, str, Any]]:
        """Replacements during a capture: owner, name, function."""
        torch = self._torch
        owners = {"functional": torch.nn.functional, "torch": torch, "tensor": torch.Tensor}
        wrappers = ((_LOWER, lambda function: self._casting(function, True)), (_FP32, lambda function: self._casting(function, False)),
                    (_FP32_BY_DTYPE, self._widening))
        for names, wrap in wrappers:
            for place, owner in owners.items():
                for name in names[place]:
                    if hasattr(owner, name) and (names is _LOWER or self._is_listed(name)):
                        yield owner, name, wrap(getattr(owner, name))
        yield torch.nn.functional, "cross_entropy", self._cross_entropy(torch.nn.functional.cross_entropy)

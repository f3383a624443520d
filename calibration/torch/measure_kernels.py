#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times kernels one by one as PyTorch issues them, and writes samples for `gradway calibrate fit`.

    python3 calibration/torch/measure_kernels.py -o kernels.json.gz
    gradway calibrate fit kernels.json.gz -o calibration/results/mine/calibration.yaml

It needs one idle NVIDIA GPU and PyTorch with CUDA. It measures the calls of eager PyTorch for the layers of
transformers and convolutional networks, forward and backward, in the shapes of common models. A call counts as one
kernel, even if PyTorch launches several.

A call is repeated in a CUDA graph, so that the CPU's speed does not matter. Products, elementwise kernels and rows
alternate between several sets of operands that together exceed the GPU's caches. The graph runs five times, and the
median is used. An optimizer's step is timed as issued, with its launches. SAMPLES.md describes the rows.

Products (plain, batched and grouped), attention and convolutions are timed at full clocks: in short bursts with rests,
so that the GPU stays below its power limit. In a step of a large model it does not, and they take up to a fifth
longer; gradway adds that from the power of the whole step (`power` in the GPU's file).
"""
import argparse
import datetime
import gzip
import json
import math
import os
import statistics
import sys
import time
from typing import Any, Callable, Iterable, NamedTuple

from kernel_grid import (BROADCAST, CAST_BY_ROWS, CLASSES, GRADIENTS, MOVED, NARROW, NORMED, OPTIMIZED, PERMUTED, ROW_SIZES,
                         SORTED, STRIDED, VOCABULARIES, activations, attentions, batched_products, convolutions, elementwise_sizes,
                         grouped_products, products)
from kernel_kinds import KINDS, text_of_kind

torch: Any = None  # imported before measuring, so that --help and --list do not need PyTorch
aten: Any = None

# ---- Timing ---------------------------------------------------------------------------------------------

Call = Callable[[], Any]
BEYOND_CACHES = 150e6  # bytes: three times the 50 MB of an H100, the 60 MB of an H200 twice and a half
MOST_COPIES = 12  # of operands
MOST_CALLS = 400  # in a graph
REST = 4  # length of a rest, in bursts: a fifth of the power of products is far below any limit
MOST_REST = 0.1  # seconds


class Effort(NamedTuple):
    """Which part of the grid is measured, and for how long."""
    every: int  # measure each n-th shape
    graph_seconds: float  # target time of all calls in a graph
    repeats: int  # repetitions of the graph
    burst_seconds: float  # target time of all calls in a burst


THOROUGH = Effort(1, 4e-3, 5, 3e-3)
QUICK = Effort(4, 1e-3, 3, 1e-3)


def event() -> Any:
    return torch.cuda.Event(enable_timing=True)


def seconds_between(start: Any, end: Any) -> float:
    return start.elapsed_time(end) / 1e3


def seconds_about(calls: list[Call]) -> float:
    """Time of one call with its launch, at least 2 us; also warms up calls that were never made."""
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    start, end = event(), event()
    start.record()
    calls[0]()
    calls[-1]()
    end.record()
    torch.cuda.synchronize()
    return max(seconds_between(start, end) / 2, 2e-6)


def graph_of(calls: list[Call], count: int) -> Any:
    """A CUDA graph of `count` calls, which alternate."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(count):
            calls[i % len(calls)]()
    return graph


def seconds_alone(calls: list[Call], effort: Effort) -> float:
    """Median time of one call; the calls do the same on different operands and alternate."""
    once = seconds_about(calls)
    count = max(1, min(MOST_CALLS, int(effort.graph_seconds / once)))
    if once * len(calls) < 0.05:
        count = max(count, len(calls))
    graph = graph_of(calls, count)
    graph.replay()
    graph.replay()
    start, end = event(), event()
    times = []
    for _ in range(effort.repeats):
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(seconds_between(start, end) / count)
    return statistics.median(times)


def seconds_at_full_clocks(calls: list[Call], effort: Effort) -> float:
    """Like `seconds_alone`, but the GPU rests between bursts, so that the power limit does not lower its clocks."""
    once = seconds_about(calls)
    count = max(2, min(MOST_CALLS, int(effort.burst_seconds / once)))
    graph = graph_of(calls, count)
    graph.replay()
    start, end = event(), event()
    times = []
    for _ in range(effort.repeats):
        torch.cuda.synchronize()
        time.sleep(min(MOST_REST, REST * once * count))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(seconds_between(start, end) / count)
    return statistics.median(times)


class Measurement:
    """Times the requested kernels and keeps the rows."""

    def __init__(self, wanted: set[str], effort: Effort, seconds: float):
        self.wanted = wanted
        self.effort = effort
        self.rows: list[dict[str, Any]] = []
        self.failed = 0
        self._end = time.monotonic() + seconds

    def is_over(self) -> bool:
        return time.monotonic() > self._end

    def add(self, kernel: str, size: Iterable[int], make: Callable[[], Call], bytes_in: float = math.inf,
            timed: Callable[[list[Call], Effort], float] = seconds_alone) -> None:
        """Times what `make` returns; each `make` creates new operands of `bytes_in` bytes."""
        self.attempt(kernel, size, lambda: {"seconds": timed(self._calls(make, bytes_in), self.effort)})

    def attempt(self, kernel: str, size: Iterable[int], measure: Callable[[], dict[str, float]]) -> None:
        """Adds a row with the result of `measure`, or a row of kind 'failed'."""
        name, *words = kernel.split()
        kind = KINDS[name]
        size = list(size)
        assert len(words) == len(kind.words) and len(size) == len(kind.size), (kernel, size)
        assert all(word in choices for word, choices in zip(words, kind.words.values())), kernel
        if name not in self.wanted or self.is_over():
            return
        try:
            row = {"kind": "kernel_time", "kernel": kernel, "size": size}
            self.rows.append({**row, **{key: float(f"{value:.6g}") for key, value in measure().items()}})
        except Exception as error:  # out of memory, or no such kernel on this GPU: the others remain valid
            self.fail(f"{kernel} {'x'.join(map(str, size))}", error)

    def fail(self, what: str, error: Exception) -> None:
        self.failed += 1
        message = " ".join(str(error).split())[:200]
        self.rows.append({"kind": "failed", "section": what, "what": f"{type(error).__name__}: {message}"})

    @staticmethod
    def _calls(make: Callable[[], Call], bytes_in: float) -> list[Call]:
        copies = max(1, min(MOST_COPIES, math.ceil(BEYOND_CACHES / bytes_in)))
        return [make() for _ in range(copies)]


def element_bytes(number: str) -> int:
    return 1 if number == "fp8" else 4 if number in ("fp32", "tf32") else 2


def random(number: str, *shape: int) -> Any:
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16}
    return torch.randn(*shape, device="cuda", dtype=kinds.get(number, torch.float32))


def allow_tf32(number: str) -> None:
    torch.backends.cuda.matmul.allow_tf32 = number == "tf32"
    torch.backends.cudnn.allow_tf32 = number == "tf32"


# ---- The kernels, one function per family: (measurement, words and sizes) ------------------------------------------

def product_fp8(m: Measurement, layout: str, rows: int, columns: int, inner: int) -> None:
    """Results in bf16; torch._scaled_mm only supports layout nt. Sums: `nt` in fp32, with one scale per tensor; `nt_fast`
    in the tensor cores' registers; `nt_rows` also, with one scale per row of both factors."""
    def make() -> Call:
        a, b = (random("bf16", side, inner).to(torch.float8_e4m3fn) for side in (rows, columns))
        scales = [torch.ones(size if layout == "nt_rows" else (), device="cuda") for size in ((rows, 1), (1, columns))]
        return lambda: torch._scaled_mm(a, b.t(), *scales, out_dtype=torch.bfloat16, use_fast_accum=layout != "nt")

    m.add(f"product fp8 {layout}", (rows, columns, inner), make, (rows + columns) * inner, seconds_at_full_clocks)


def product(m: Measurement, number: str, layout: str, rows: int, columns: int, inner: int) -> None:
    if number == "fp8":
        return product_fp8(m, layout, rows, columns, inner)
    allow_tf32(number)

    def make() -> Call:
        a = random(number, rows, inner) if layout[0] == "n" else random(number, inner, rows).t()
        b = random(number, inner, columns) if layout[1] == "n" else random(number, columns, inner).t()
        return lambda: torch.mm(a, b)

    m.add(f"product {number} {layout}", (rows, columns, inner), make,
          (rows * inner + inner * columns) * element_bytes(number), seconds_at_full_clocks)


def batched_product(m: Measurement, number: str, layout: str, batch: int, rows: int, columns: int, inner: int) -> None:
    allow_tf32(number)

    def make() -> Call:
        a = random(number, batch, rows, inner) if layout[0] == "n" else random(number, batch, inner, rows).mT
        b = random(number, batch, inner, columns) if layout[1] == "n" else random(number, batch, columns, inner).mT
        return lambda: torch.bmm(a, b)

    m.add(f"batched_product {number} {layout}", (batch, rows, columns, inner), make, timed=seconds_at_full_clocks)


def grouped_product(m: Measurement, number: str, layout: str, rows: int, columns: int, inner: int, groups: int) -> None:
    """Experts with equal numbers of tokens: the tokens (inner in tn, else rows) are divided, with one weight per part."""
    def make() -> Call:
        tokens = inner if layout == "tn" else rows
        ends = torch.arange(1, groups + 1, device="cuda", dtype=torch.int32) * (tokens // groups)
        a = random(number, inner, rows).t() if layout == "tn" else random(number, rows, inner)
        if layout == "tn":
            b = random(number, inner, columns)
        elif layout == "nt":
            b = random(number, groups, columns, inner).mT
        else:
            b = random(number, groups, inner, columns)
        return lambda: torch._grouped_mm(a, b, offs=ends)

    weights = 1 if layout == "tn" else groups
    m.add(f"grouped_product {number} {layout}", (rows, columns, inner, groups), make,
          (rows * inner + weights * inner * columns) * element_bytes(number), seconds_at_full_clocks)


def attention(m: Measurement, number: str, how: str, mask: str, batch: int, heads: int, seq: int, head: int) -> None:
    """On tensors in the format of a linear layer's result: (batch, seq, heads, head_dim) in memory."""
    allow_tf32(number)
    q, k, v, gradient = (random(number, batch, seq, heads, head).transpose(1, 2) for _ in range(4))
    causal = mask == "causal"
    if how == "flash":
        def forward() -> Any:
            return aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)

        out = forward()

        def backward() -> Any:
            return aten._scaled_dot_product_flash_attention_backward(
                gradient, q, k, v, out[0], out[1], out[2], out[3], out[4], out[5], 0.0, causal, out[6], out[7])
    elif how == "cudnn":
        def forward() -> Any:
            return aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)

        out = forward()

        def backward() -> Any:
            return aten._scaled_dot_product_cudnn_attention_backward(
                gradient, q, k, v, out[0], out[1], out[6], out[7], None, out[2], out[3], out[4], out[5], 0.0, causal)
    else:
        def forward() -> Any:
            return aten._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.0, causal)

        out = forward()

        def backward() -> Any:
            return aten._scaled_dot_product_efficient_attention_backward(
                gradient, q, k, v, None, out[0], out[1], out[2], out[3], 0.0, [True, True, True, False], causal)
    words, size = f"{number} {how} {mask}", (batch, heads, seq, head)
    m.add(f"attention_forward {words}", size, lambda: forward, timed=seconds_at_full_clocks)
    m.add(f"attention_backward {words}", size, lambda: backward, timed=seconds_at_full_clocks)


def images(number: str, layout: str, *shape: int) -> Any:
    memory_format = torch.channels_last if layout == "nhwc" else torch.contiguous_format
    return random(number, *shape).contiguous(memory_format=memory_format)


def convolution(m: Measurement, number: str, layout: str, n: int, c: int, o: int, kernel: int, stride: int, pad: int,
                hw: int, groups: int) -> None:
    allow_tf32(number)
    x = images(number, layout, n, c, hw, hw)
    weight = images(number, layout, o, c // groups, kernel, kernel)
    settings = ([stride, stride], [pad, pad], [1, 1], False, [0, 0], groups)

    def forward() -> Any:
        return aten.convolution(x, weight, None, *settings)

    gradient = torch.randn_like(forward())

    def backward(*wanted: bool) -> Call:
        return lambda: aten.convolution_backward(gradient, x, weight, None, *settings, [*wanted, False])

    words, size = f"{number} {layout}", (n, c, o, kernel, stride, pad, hw, groups)
    def add(kind: str, call: Call) -> None:
        m.add(f"{kind} {words}", size, lambda: call, timed=seconds_at_full_clocks)

    add("convolution", forward)
    if c != 3:  # the gradient of an image is not needed
        add("convolution_input", backward(True, False))
    add("convolution_weight", backward(False, True))


def batch_norm(m: Measurement, number: str, layout: str, n: int, c: int, hw: int) -> None:
    x = images(number, layout, n, c, hw, hw)
    weight, bias = torch.ones(c, device="cuda"), torch.zeros(c, device="cuda")
    mean, variance = torch.zeros(c, device="cuda"), torch.ones(c, device="cuda")

    def forward() -> Any:
        return aten._batch_norm_with_update(x, weight, bias, mean, variance, 0.1, 1e-5)

    out = forward()
    gradient = torch.randn_like(out[0])

    def backward() -> Any:
        return aten.batch_norm_backward(gradient, x, weight, mean, variance, out[1], out[2], True, 1e-5,
                                        [True, True, True], out[3])

    m.add(f"batch_norm {number} {layout}", (n, c, hw), lambda: forward)
    m.add(f"batch_norm_backward {number} {layout}", (n, c, hw), lambda: backward)


def max_pool(m: Measurement, number: str, layout: str, n: int, c: int, hw: int) -> None:
    """3 x 3, stride 2, as in a ResNet."""
    x = images(number, layout, n, c, hw, hw)
    window = ([3, 3], [2, 2], [1, 1])

    def forward() -> Any:
        return aten.max_pool2d_with_indices(x, *window)

    out = forward()
    gradient = torch.randn_like(out[0])

    def backward() -> Any:
        return aten.max_pool2d_with_indices_backward(gradient, x, *window, [1, 1], False, out[1])

    m.add(f"max_pool {number} {layout}", (n, c, hw), lambda: forward)
    m.add(f"max_pool_backward {number} {layout}", (n, c, hw), lambda: backward)


def elementwise(m: Measurement, number: str, elements: int) -> None:
    """All kernels of one number type and one size, except `permute`."""
    width = element_bytes(number)
    functional = torch.nn.functional

    def add(what: str, operands: tuple[str, ...], call: Callable[..., Any]) -> None:
        def make() -> Call:
            tensors = [random(operand, elements) for operand in operands]
            return lambda: call(*tensors)

        m.add(f"elementwise {what} {number}", (elements,), make, sum(map(element_bytes, operands)) * elements)

    one, two = (number,), (number, number)
    add("copy", one, lambda x: x.clone())
    add("add", two, lambda x, y: x + y)
    add("add_", two, lambda x, y: x.add_(y))
    add("mul", two, lambda x, y: x * y)
    add("scale", one, lambda x: x * 0.5)
    add("zero", one, lambda x: x.zero_())
    add("sum", one, lambda x: x.sum())
    add("gelu", one, functional.gelu)
    add("gelu_backward", two, aten.gelu_backward)
    add("silu", one, functional.silu)
    add("silu_backward", two, aten.silu_backward)
    add("relu_", one, lambda x: x.relu_())
    add("threshold_backward", two, lambda x, y: aten.threshold_backward(x, y, 0))
    add("hardswish", one, functional.hardswish)
    add("hardswish_backward", two, aten.hardswish_backward)
    add("tanh", one, torch.tanh)
    add("tanh_backward", two, aten.tanh_backward)
    add("random", one, lambda x: x.bernoulli_(0.9))
    if width == 4:
        add("cast_to_16", one, lambda x: x.to(torch.bfloat16))

        def complex_mul() -> Call:
            x, y = (torch.view_as_complex(random(number, elements // 2, 2)) for _ in range(2))
            return lambda: x * y

        m.add(f"elementwise complex_mul {number}", (elements,), complex_mul, 2 * elements * width)
    else:
        add("cast_to_32", one, lambda x: x.to(torch.float32))
        add("add_mixed", ("fp32", number), lambda x, y: x + y)  # as in a residual with autocast
    add("dropout", one, lambda x: aten.native_dropout(x, 0.1, True))

    def dropout_backward() -> Call:
        x, kept = random(number, elements), torch.rand(elements, device="cuda") > 0.1
        return lambda: aten.native_dropout_backward(x, kept, 1.1)

    m.add(f"elementwise dropout_backward {number}", (elements,), dropout_backward, elements * (width + 1))


def to_fp8(m: Measurement, rows: int, width: int) -> None:
    """Kernels that fp8 needs besides products: casts of bf16, the largest value, copies of transposed matrices.

    `cast_transpose` writes a plain and a transposed copy; it and `amax` are compiled, as PyTorch has no calls for them.
    """
    fp8, elements = torch.float8_e4m3fn, rows * width

    torch._dynamo.reset()  # otherwise the sizes of earlier calls make this one dynamic

    def add(what: str, number: str, call: Callable[[Any], Any]) -> None:
        def make() -> Call:
            x = random("bf16", rows, width)
            x = x.to(fp8) if number == "fp8" else x
            return lambda: call(x)

        m.add(f"elementwise {what} {number}", (elements,), make, elements * element_bytes(number))

    add("cast_to_8", "bf16", lambda x: x.to(fp8))
    add("cast_transpose", "bf16", torch.compile(lambda x: (x.to(fp8), x.to(fp8).t().contiguous()), dynamic=False))
    add("amax", "bf16", torch.compile(lambda x: x.abs().max(), dynamic=False))
    add("transpose", "fp8", lambda x: x.t().contiguous())


def to_fp8_by_rows(m: Measurement, rows: int, width: int) -> None:
    """Casts of bf16 to fp8 as in torchao's rowwise recipe, compiled separately.

    `cast_rows` has one scale per row. `cast_columns` has one per column and writes the transposed matrix, as required by
    torch._scaled_mm for the operands of the backward pass.
    """
    fp8 = torch.float8_e4m3fn
    most = torch.finfo(fp8).max

    def cast(x: Any, dim: int) -> Any:
        greatest = x.abs().amax(dim, keepdim=True).to(torch.float64)
        scale = (most / greatest.clamp(min=1e-12)).to(torch.float32)
        return (x.to(torch.float32) * scale).clamp(-most, most).to(fp8), scale

    def cast_columns(x: Any) -> Any:
        y, scale = cast(x, 0)
        return y.t().contiguous(), scale

    torch._dynamo.reset()  # otherwise the sizes of earlier calls make this one dynamic
    for what, call in (("cast_rows", lambda x: cast(x, 1)), ("cast_columns", cast_columns)):
        compiled = torch.compile(call, dynamic=False)

        def make() -> Call:
            x = random("bf16", rows, width)
            return lambda: compiled(x)

        m.add(f"rows {what} bf16", (rows, width), make, 2 * rows * width)


def permute(m: Measurement, number: str, rows: int, width: int) -> None:
    """A copy of (rows, 3, width) into (3, rows, width), as attention separates queries, keys and values."""
    def make() -> Call:
        turned = random(number, rows, 3, width).transpose(0, 1)
        return lambda: turned.contiguous()

    elements = 3 * rows * width
    m.add(f"elementwise permute {number}", (elements,), make, elements * element_bytes(number))


def strided(m: Measurement, number: str, elements: int) -> None:
    """Elementwise kernels on operands of different layouts; they write a contiguous tensor except `rotary`.

    broadcast: one number per row, as of a norm; rotary: heads of (batch, seq, heads, head_dim) times a number per position;
    strided: such heads plus a contiguous tensor; halves: the product of both halves of rows, as of a gated layer.
    """
    width = 1024
    rows = elements // width
    seq = max(8, min(1024, rows))

    def heads() -> Any:
        return random(number, rows // seq, seq, width // 64, 64).transpose(1, 2)

    def broadcast() -> Call:
        x, y = random(number, rows, width), random(number, rows, 1)
        return lambda: x * y

    def rotary() -> Call:
        q, cos = heads(), random(number, 1, 1, seq, 64)
        return lambda: q * cos

    def added() -> Call:
        q = heads()
        other = random(number, *q.shape)
        return lambda: q + other

    def halves() -> Call:
        x = random(number, rows, 2 * width)
        return lambda: x[:, :width] * x[:, width:]

    for what, make in (("broadcast", broadcast), ("rotary", rotary), ("strided", added), ("halves", halves)):
        m.add(f"elementwise {what} {number}", (elements,), make, 2 * elements * element_bytes(number))


def broadcast(m: Measurement, number: str, elements: int, dims: int) -> None:
    """The product of two tensors, each with one element along every other dimension, so that no dimensions can be merged."""
    side = round(elements ** (1 / dims))
    shape = [side] * (dims - 1) + [max(2, round(elements / side ** (dims - 1)))]

    def make() -> Call:
        x = random(number, *(length if i % 2 else 1 for i, length in enumerate(shape)))
        y = random(number, *(1 if i % 2 else length for i, length in enumerate(shape)))
        return lambda: x * y

    m.add(f"elementwise broadcast_{dims} {number}", (math.prod(shape),), make, elements * element_bytes(number))


def ordered(m: Measurement, rows: int, width: int) -> None:
    """Sorts of keys of 32 and 64 bits, and the largest 8 (bf16: 2) of each row."""
    def add(what: str, number: str, call: Callable[[Any], Any]) -> None:
        def make() -> Call:
            x = torch.randint(0, 1 << 20, (rows, width), device="cuda") if what == "sort_int64" else random(number, rows, width)
            return lambda: call(x)

        m.add(f"rows {what} {number}", (rows, width), make, 8 * rows * width)

    add("sort", "fp32", lambda x: x.sort(-1))
    add("sort_int64", "fp32", lambda x: x.sort(-1))
    add("topk", "fp32", lambda x: x.topk(8, -1))
    add("topk", "bf16", lambda x: x.topk(2, -1))


def moved(m: Measurement, number: str, rows: int, width: int) -> None:
    """As many random rows of a table as it has, read or added."""
    ids = torch.randint(0, rows, (rows,), device="cuda")

    def add(what: str, call: Callable[[Any, Any, Any], Any]) -> None:
        def make() -> Call:
            x, y = random(number, rows, width), random(number, rows, width)
            wide = ids[:, None].expand(rows, width)
            return lambda: call(x, y, wide)

        m.add(f"rows {what} {number}", (rows, width), make, 2 * rows * width * element_bytes(number))

    add("index", lambda x, y, wide: x[ids])
    add("index_put", lambda x, y, wide: aten._index_put_impl_(x, [ids], y, True, True))
    add("index_add", lambda x, y, wide: x.index_add_(0, ids, y))
    add("scatter_add", lambda x, y, wide: x.scatter_add_(0, wide, y))


def row_kernels(m: Measurement, number: str, rows: int, width: int) -> None:
    """All kernels that work by rows, of one number type and one size."""
    gain, shift = random(number, width), torch.zeros_like(random(number, width))

    def add(what: str, make_call: Callable[[Any, Any], Call]) -> None:
        m.add(f"rows {what} {number}", (rows, width),
              lambda: make_call(random(number, rows, width), random(number, rows, width)),
              2 * rows * width * element_bytes(number))

    def layer_norm_backward(x: Any, gradient: Any) -> Call:
        _, mean, deviation = aten.native_layer_norm(x, [width], gain, shift, 1e-5)
        return lambda: aten.native_layer_norm_backward(gradient, x, [width], mean, deviation, gain, shift,
                                                       [True, True, True])

    def rms_norm_backward(x: Any, gradient: Any) -> Call:
        _, deviation = aten._fused_rms_norm(x, [width], gain, 1e-5)
        return lambda: aten._fused_rms_norm_backward(gradient, x, [width], deviation, gain, [True, True])

    def softmax_backward(x: Any, gradient: Any) -> Call:
        y = torch.softmax(x, 1)
        return lambda: aten._softmax_backward_data(gradient, y, 1, x.dtype)

    def transpose(side: int) -> Callable[[Any, Any], Call]:
        """Copies the matrices that are formed by so many rows, transposed."""
        def make_call(x: Any, _: Any) -> Call:
            turned = x.view(rows // side, side, width).transpose(1, 2)
            return lambda: turned.contiguous()

        return make_call

    add("layer_norm", lambda x, _: lambda: aten.native_layer_norm(x, [width], gain, shift, 1e-5))
    add("layer_norm_backward", layer_norm_backward)
    add("rms_norm", lambda x, _: lambda: aten._fused_rms_norm(x, [width], gain, 1e-5))
    add("rms_norm_backward", rms_norm_backward)
    add("bias_sum", lambda x, _: lambda: x.sum(0))
    add("sum", lambda x, _: lambda: x.sum(1))
    add("cumsum", lambda x, _: lambda: x.cumsum(1))
    add("softmax", lambda x, _: lambda: torch.softmax(x, 1))
    add("softmax_backward", softmax_backward)
    half = width // 2
    if width % 2 == 0 and rows % 64 == 0:
        add("transpose", transpose(64))
    if rows % 256 == 0:
        add("transpose_256", transpose(256))  # an image's channels to its pixels
    if width % 2 == 0:
        add("strided", lambda x, _: lambda: x[:, :half].contiguous())  # copies half of each row
        add("cat", lambda x, y: lambda: torch.cat((x[:, :half], y[:, half:]), 1))  # writes `width`


def log_softmax(m: Measurement, number: str, rows: int, classes: int) -> None:
    x = random(number, rows, classes)
    y = torch.log_softmax(x, 1)
    size = (rows, classes)
    m.add(f"rows log_softmax {number}", size, lambda: lambda: aten._log_softmax(x, 1, False))
    m.add(f"rows log_softmax_backward {number}", size,
          lambda: lambda: aten._log_softmax_backward_data(x, y, 1, x.dtype))


def nll_loss(m: Measurement, rows: int, classes: int) -> None:
    """In fp32, as with autocast."""
    size = (rows, classes)
    target = torch.randint(0, classes, (rows,), device="cuda")
    y = torch.log_softmax(random("fp32", rows, classes), 1)
    _, total = aten.nll_loss_forward(y, target, None, 1, -100)
    one = torch.ones((), device="cuda")
    m.add("rows nll_loss fp32", size, lambda: lambda: aten.nll_loss_forward(y, target, None, 1, -100))
    m.add("rows nll_loss_backward fp32", size,
          lambda: lambda: aten.nll_loss_backward(one, y, target, None, 1, -100, total))


def embedding(m: Measurement, tokens: int, vocabulary: int, width: int) -> None:
    size = (tokens, vocabulary, width)
    ids = torch.randint(0, vocabulary, (tokens,), device="cuda")
    weight, gradient = random("fp32", vocabulary, width), random("fp32", tokens, width)
    m.add("embedding", size, lambda: lambda: torch.nn.functional.embedding(ids, weight))
    m.add("embedding_backward", size,
          lambda: lambda: aten.embedding_dense_backward(gradient, ids, vocabulary, -1, False))


def optimizer(m: Measurement, what: str, elements: int, tensors: int) -> None:
    """A step as issued: launches count, and the CPU's time is also recorded."""
    def measure() -> dict[str, float]:
        parameters = [torch.nn.Parameter(random("fp32", elements // tensors)) for _ in range(tensors)]
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        if what == "sgd":
            taken = torch.optim.SGD(parameters, lr=1e-6)
        else:
            taken = torch.optim.AdamW(parameters, lr=1e-6, fused=what == "adamw_fused" or None)
        for _ in range(3):
            taken.step()
        steps = 8
        events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for event in events[:-1]:
            event.record()
            taken.step()
        events[-1].record()
        cpu = (time.perf_counter() - begin) / steps
        torch.cuda.synchronize()
        gpu = statistics.median(a.elapsed_time(b) / 1e3 for a, b in zip(events, events[1:]))
        return {"seconds": gpu, "cpu_seconds": cpu}

    m.attempt(f"optimizer {what}", (elements, tensors), measure)


def eager_operation(m: Measurement) -> None:
    """CPU time of an operation, forward or backward: a chain so small that the CPU never waits for the GPU.

    A block is a norm, two products without biases, an activation and a sum: 5 operations forward, 7 backward (a norm,
    two products for each, an activation, and the sum of the gradients of the tensor that is read twice).
    """
    blocks, width, operations = 24, 64, 5 + 7
    layers = [torch.nn.Sequential(torch.nn.LayerNorm(width), torch.nn.Linear(width, width, bias=False), torch.nn.GELU(),
                                  torch.nn.Linear(width, width, bias=False)).cuda() for _ in range(blocks)]
    x = random("fp32", width, width)
    times = []
    for _ in range(12):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        y = x
        for layer in layers:
            y = y + layer(y)
        y.sum().backward()
        times.append((time.perf_counter() - begin) / (blocks * operations))
    torch.cuda.synchronize()
    m.rows.append({"kind": "eager_operation", "seconds": float(f"{statistics.median(times[3:]):.6g}")})


class Part(NamedTuple):
    """A function that times kernels, their kinds, and its arguments."""
    measure: Callable[..., None]
    kinds: tuple[str, ...]
    grid: list[tuple]


def parts() -> list[Part]:
    """All measurements, in order."""
    return [
        Part(product, ("product",), products()),
        Part(batched_product, ("batched_product",), batched_products()),
        Part(grouped_product, ("grouped_product",), grouped_products()),
        Part(attention, ("attention_forward", "attention_backward"), attentions()),
        Part(elementwise, ("elementwise",), elementwise_sizes()),
        Part(to_fp8, ("elementwise",), [(1 << power, 4096) for power in (10, 12, 14, 16)]),
        Part(to_fp8_by_rows, ("rows",), list(CAST_BY_ROWS)),
        Part(permute, ("elementwise",), [(number, *size) for number in ("fp32", "bf16") for size in PERMUTED]),
        Part(row_kernels, ("rows",), [(number, *size) for number in ("fp32", "bf16") for size in ROW_SIZES + NARROW]),
        Part(log_softmax, ("rows",), [(number, *size) for number in ("fp32", "bf16", "fp16") for size in CLASSES]),
        Part(nll_loss, ("rows",), list(CLASSES)),
        Part(embedding, ("embedding", "embedding_backward"), list(VOCABULARIES + GRADIENTS)),
        Part(strided, ("elementwise",), [(number, size) for number in ("fp32", "bf16") for size in STRIDED]),
        Part(broadcast, ("elementwise",), [(number, *size) for number in ("fp32", "bf16") for size in BROADCAST]),
        Part(ordered, ("rows",), list(SORTED)),
        Part(moved, ("rows",), [(number, *size) for number in ("fp32", "bf16") for size in MOVED]),
        Part(optimizer, ("optimizer",),
             [(what, *size) for size in OPTIMIZED for what in ("sgd", "adamw", "adamw_fused")]),
        Part(batch_norm, ("batch_norm", "batch_norm_backward"), activations(NORMED)),
        Part(max_pool, ("max_pool", "max_pool_backward"), activations([(64, 112)])),
        Part(convolution, ("convolution", "convolution_input", "convolution_weight"), convolutions()),
    ]


# ---- The program --------------------------------------------------------------------------------------------------

def node_row() -> dict[str, Any]:
    """The measured GPU, and versions."""
    properties = torch.cuda.get_device_properties(0)
    cudnn = torch.backends.cudnn.version()
    return {
        "kind": "node", "date": datetime.date.today().isoformat(), "torch": torch.__version__,
        "cuda_runtime": torch.version.cuda,
        "cudnn": cudnn and f"{cudnn // 10000}.{cudnn // 100 % 100}.{cudnn % 100}",
        "gpus": [{"name": torch.cuda.get_device_name(), "memory_bytes": properties.total_memory,
                  "multiprocessors": properties.multi_processor_count,
                  "compute_capability": f"{properties.major}.{properties.minor}"}],
    }


def write_rows(file: str, rows: list[dict[str, Any]]) -> None:
    """Replaces the file, so that an interruption keeps the previous rows."""
    text = "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n"
    with open(file + ".new", "wb") as new:
        new.write(gzip.compress(text.encode(), mtime=0) if file.endswith(".gz") else text.encode())
    os.replace(file + ".new", file)


def warm_up(seconds: float = 2) -> None:
    """Brings the GPU to its clocks under load."""
    x = random("bf16", 8192, 8192)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        torch.mm(x, x)
        torch.cuda.synchronize()


def measure(file: str, wanted: set[str], effort: Effort, seconds: float) -> int:
    m = Measurement(wanted, effort, seconds)
    m.rows.append(node_row())
    warm_up()
    if wanted == set(KINDS):
        eager_operation(m)
    for part in parts():
        if not wanted & set(part.kinds):
            continue
        begin, before = time.monotonic(), len(m.rows)
        for arguments in part.grid[::effort.every]:
            if m.is_over():
                break
            try:
                part.measure(m, *arguments)
            except Exception as error:  # its operands do not fit, or this version of PyTorch lacks the call
                m.fail(f"{part.measure.__name__} {' '.join(map(str, arguments))}", error)
        torch.cuda.empty_cache()
        write_rows(file, m.rows)
        print(f"{part.measure.__name__}: {len(m.rows) - before} rows in {time.monotonic() - begin:.1f} s",
              file=sys.stderr, flush=True)
    if m.is_over():
        print(f"stopped after {seconds:.0f} s: the rest of the grid was not measured", file=sys.stderr)
    if m.failed:
        print(f"{m.failed} failed: see the rows of kind 'failed' for the reasons", file=sys.stderr)
    return 0 if len(m.rows) - m.failed > 1 else 3


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="exit status: 0; 2 if nothing can be measured here; 3 if nothing was measured")
    parser.add_argument("-o", "--out", metavar="FILE", help="file for the samples, .json or .json.gz")
    parser.add_argument("--only", metavar="KIND", action="append", choices=KINDS, default=[],
                        help="measure only this kind of kernel; can be given several times (see --list)")
    parser.add_argument("--quick", action="store_true",
                        help="a quarter of the shapes, three repetitions: for a quick test")
    parser.add_argument("--seconds", type=float, metavar="S", default=math.inf,
                        help="stop after this time and keep what was measured")
    parser.add_argument("--list", action="store_true", help="print the kinds of kernels and their words, and exit")
    arguments = parser.parse_args()
    if not arguments.list and not arguments.out:
        parser.error("--out FILE is missing: the samples to write")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    if arguments.list:
        print("\n".join(map(text_of_kind, KINDS)))
        return 0
    global torch, aten
    try:
        import torch as imported
    except ImportError as error:
        print(f"error: PyTorch cannot be imported: {error}", file=sys.stderr)
        return 2
    torch, aten = imported, imported.ops.aten
    if not torch.cuda.is_available():
        print("error: PyTorch finds no GPU", file=sys.stderr)
        return 2
    effort = QUICK if arguments.quick else THOROUGH
    return measure(arguments.out, set(arguments.only or KINDS), effort, arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())

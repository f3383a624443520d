# SPDX-License-Identifier: Apache-2.0
"""Kernels that move data: elementwise, norms, rows, embeddings, optimizers; a function per family as in product_kernels."""
import math
import statistics
import time
from typing import Any, Callable

from kernel_timing import Call, Measurement, aten, element_bytes, images, random, torch


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

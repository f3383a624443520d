# SPDX-License-Identifier: Apache-2.0
"""Products, attention and convolutions, timed at full clocks: a function per family, (measurement, words and sizes)."""
from typing import Any

from kernel_timing import (Call, Measurement, allow_tf32, aten, element_bytes, images, random, seconds_at_full_clocks,
                           torch)


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

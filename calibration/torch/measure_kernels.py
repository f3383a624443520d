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
from typing import Any, Callable, NamedTuple

from kernel_grid import (BROADCAST, CAST_BY_ROWS, CLASSES, GRADIENTS, MOVED, NARROW, NORMED, OPTIMIZED, PERMUTED, ROW_SIZES,
                         SORTED, STRIDED, VOCABULARIES, activations, attentions, batched_products, convolutions, elementwise_sizes,
                         grouped_products, products)
from kernel_kinds import KINDS, text_of_kind
from kernel_timing import QUICK, THOROUGH, Effort, Measurement, random, torch
from memory_kernels import (batch_norm, broadcast, elementwise, embedding, log_softmax, max_pool, moved, nll_loss,
                            optimizer, ordered, permute, row_kernels, strided, to_fp8, to_fp8_by_rows)
from product_kernels import attention, batched_product, convolution, grouped_product, product


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
    try:
        has_gpu = torch.cuda.is_available()
    except ImportError as error:
        print(f"error: PyTorch cannot be imported: {error}", file=sys.stderr)
        return 2
    if not has_gpu:
        print("error: PyTorch finds no GPU", file=sys.stderr)
        return 2
    effort = QUICK if arguments.quick else THOROUGH
    return measure(arguments.out, set(arguments.only or KINDS), effort, arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""How long calls of PyTorch take on the GPU: at the clocks that it keeps, or at full clocks in short bursts with rests."""
import importlib
import math
import statistics
import time
from typing import Any, Callable, Iterable, NamedTuple

from kernel_kinds import KINDS


class Late:
    """A module of PyTorch that is imported when it is used first, so that --help and --list do not need it."""

    def __init__(self, *path: str):
        self._path = path

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module("torch")
        for part in self._path:
            module = getattr(module, part)
        return getattr(module, name)


torch: Any = Late()
aten: Any = Late("ops", "aten")

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


def median_of_replays(graph: Any, effort: Effort, rest: float = 0) -> float:
    """Median time of the graph in seconds. The GPU rests for `rest` seconds before each replay."""
    start, end = event(), event()
    times = []
    for _ in range(effort.repeats):
        if rest > 0:
            torch.cuda.synchronize()
            time.sleep(rest)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(seconds_between(start, end))
    return statistics.median(times)


def seconds_alone(calls: list[Call], effort: Effort) -> float:
    """Median time of one call; the calls do the same on different operands and alternate."""
    once = seconds_about(calls)
    count = max(1, min(MOST_CALLS, int(effort.graph_seconds / once)))
    if once * len(calls) < 0.05:
        count = max(count, len(calls))
    graph = graph_of(calls, count)
    graph.replay()
    graph.replay()
    return median_of_replays(graph, effort) / count


def seconds_at_full_clocks(calls: list[Call], effort: Effort) -> float:
    """Like `seconds_alone`, but the GPU rests between bursts, so that the power limit does not lower its clocks."""
    once = seconds_about(calls)
    count = max(2, min(MOST_CALLS, int(effort.burst_seconds / once)))
    graph = graph_of(calls, count)
    graph.replay()
    return median_of_replays(graph, effort, rest=min(MOST_REST, REST * once * count)) / count


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


def images(number: str, layout: str, *shape: int) -> Any:
    memory_format = torch.channels_last if layout == "nhwc" else torch.contiguous_format
    return random(number, *shape).contiguous(memory_format=memory_format)

# SPDX-License-Identifier: Apache-2.0
"""What torch.compile compiles: the graphs of the program, and where they break.

The operations themselves are recorded as eager PyTorch issues them. Each of them knows whether it is outside of all graphs (note
`eager`) or the first one of a graph (`graph`), so that gradway fuses kernels within graphs only.
"""
from __future__ import annotations

import bisect
import builtins
import contextlib
import functools
import sys
from typing import Any, Iterator

from gradway.capture import _recorder
from gradway.capture._errors import place_of_program
from gradway.capture._recording import Operation
from gradway.capture._wrapper import transparent_wrapper_of

_IS_COMPILED = "_gradway_compiled"  # attribute of a module
_NO_CODE = ("eager", "aot_eager")  # backends that do not generate kernels


class Compiled:
    """The graph that runs, and those of the autograd nodes that were made in it."""

    def __init__(self, recorder: "_recorder.Recorder") -> None:
        self._recorder = recorder
        self._depth = 0  # of compiled calls
        self._graph = self._graphs = 0  # number of the graph that runs, 0 outside of all; number of graphs
        self._first_nodes: list[int] = []  # numbers of the first autograd nodes of graphs, and of what is outside of them
        self._graphs_of_nodes: list[int] = []
        self._of_module: dict[str, int] = {}
        self._last: dict[str, int] = {}  # by pass: graph of the operation before
        self._broken: dict[str, str] = {}  # by line of the program: why

    @property
    def is_inside(self) -> bool:
        return self._depth > 0

    def start_step(self) -> None:
        self._first_nodes.clear()
        self._graphs_of_nodes.clear()
        self._of_module.clear()
        self._last.clear()

    def _next_node(self) -> int:
        count = getattr(getattr(self._recorder.torch._C, "_autograd", None), "_get_sequence_nr", None)
        return int(count()) if count is not None else 0

    def _enter(self, graph: int) -> None:
        self._graph = graph
        self._first_nodes.append(self._next_node())
        self._graphs_of_nodes.append(graph)

    def _enter_new(self) -> None:
        self._graphs += 1
        self._enter(self._graphs)

    @contextlib.contextmanager
    def region(self, is_compiled: bool = True) -> Iterator[None]:
        """Runs compiled code; what it calls becomes part of the same graph."""
        if not is_compiled:
            yield
            return
        self._depth += 1
        if self._depth == 1:
            self._enter_new()
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._enter(0)

    @contextlib.contextmanager
    def eager(self) -> Iterator[None]:
        """Runs code that is never compiled, after which another graph begins."""
        depth, self._depth = self._depth, 0
        if depth:
            self._enter(0)
        try:
            yield
        finally:
            self._depth = depth
            if depth:
                self._enter_new()

    def breaks(self, why: str) -> None:
        """A graph ends here, and another one begins."""
        if not self.is_inside:
            return
        self._broken.setdefault(place_of_program(), why)
        self._enter_new()

    def warn_of_breaks(self) -> None:
        if self._broken:
            place, more = next(iter(self._broken)), len(self._broken) - 1
            self._recorder.warn(f"{place}: the graph of torch.compile breaks here ({self._broken[place]})" +
                                (f" (and in {more} other line{'s' if more > 1 else ''})" if more else "") +
                                ": kernels before and after it are not fused")

    def _graph_of(self, operation: Operation) -> int:
        if operation.phase != "backward":
            self._of_module[operation.module] = self._graph
            return self._graph
        current = getattr(self._recorder.torch._C, "_current_autograd_node", None)
        node = current() if current is not None else None
        if node is None:  # PyTorch 1.13 does not say which node runs
            return self._of_module.get(operation.module, 0)
        number = node._sequence_nr()
        if number >= self._next_node():  # adds to a gradient
            return 0
        place = bisect.bisect_right(self._first_nodes, number)
        return self._graphs_of_nodes[place - 1] if place else 0

    def mark(self, operation: Operation) -> None:
        """Notes where an operation runs."""
        if not self._recorder.recording.compiled:
            return
        graph = self._graph_of(operation)
        if graph == 0:
            operation.notes["eager"] = ""
        elif graph != self._last.get(operation.phase):
            operation.notes["graph"] = ""
        self._last[operation.phase] = graph

    def is_compiled(self, module: Any) -> bool:
        return bool(module.__dict__.get(_IS_COMPILED))

    def compile(self, model: Any = None, **named: Any) -> Any:
        """torch.compile of a module or function; without one, a decorator."""
        if model is None:
            return lambda function: self.compile(function, **named)
        recorder = self._recorder
        if named.get("disable") or named.get("backend") in _NO_CODE:
            return model
        recorder.recording.compiled = True
        recorder.warn("torch.compile is recorded as eager PyTorch; gradway fuses the kernels of its graphs by rule")
        if named.get("mode") in ("reduce-overhead", "max-autotune") or (named.get("options") or {}).get("triton.cudagraphs"):
            recorder.warn(f"{place_of_program()}: torch.compile runs its graphs as CUDA graphs here, which need hardly any CPU time: "
                          "set job.cuda_graphs: step")
        if isinstance(model, recorder.torch.nn.Module):
            model.__dict__[_IS_COMPILED] = True
            return _optimized_module(recorder.torch)(model)

        @functools.wraps(model)
        def run(*arguments: Any, **others: Any) -> Any:
            with self.region():
                return model(*arguments, **others)
        return run

    def disable(self, function: Any = None, *_: Any, **__: Any) -> Any:
        if function is None or isinstance(function, bool):
            return self.disable
        is_a_function = not isinstance(function, type) and not hasattr(function, "named_modules")
        if not is_a_function or str(getattr(function, "__module__", "")).startswith(("torch.", "gradway.")):
            return function  # PyTorch's own functions are in the graph, or run between graphs

        @functools.wraps(function)
        def run(*arguments: Any, **named: Any) -> Any:
            if self.is_inside:
                self.breaks(f"{getattr(function, '__name__', 'a function')} is not compiled")
            with self.eager():
                return function(*arguments, **named)
        return run

    def change_dynamo(self, module: Any) -> None:
        """Functions of torch._dynamo, once the program imports it."""
        module.disable, module.graph_break = self.disable, lambda *_, **__: self.breaks("graph_break")
        module.is_compiling = lambda: self.is_inside

    def replacements(self) -> Iterator[tuple[Any, str, Any]]:
        torch = self._recorder.torch
        if not hasattr(torch, "compile"):
            return
        yield torch, "compile", lambda model=None, **named: self.compile(model, **named)
        yield torch.nn.Module, "compile", lambda module, *_, **named: self.compile(module, **named) and None
        for owner, names in ((getattr(torch, "compiler", None), ("is_compiling", "is_dynamo_compiling")), (sys.modules.get("torch._dynamo"), ("is_compiling",))):
            for name in names:
                if hasattr(owner, name):
                    yield owner, name, lambda: self.is_inside
            if hasattr(owner, "disable"):
                yield owner, "disable", self.disable
            if hasattr(owner, "graph_break"):
                yield owner, "graph_break", lambda *_, **__: self.breaks("graph_break")
        original_print = builtins.print

        def printing(*arguments: Any, **named: Any) -> None:
            self.breaks("print")
            original_print(*arguments, **named)

        yield builtins, "print", printing


@functools.cache
def _optimized_module(torch: Any) -> type:
    class OptimizedModule(transparent_wrapper_of(torch.nn.Module, "_orig_mod")):  # type: ignore[misc]
        """What torch.compile returns for a module."""

    return OptimizedModule

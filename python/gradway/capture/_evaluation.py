# SPDX-License-Identifier: Apache-2.0
"""Passes of the trained model without gradients, as evaluations run them: they are no part of the step, and equal ones run twice only."""
from __future__ import annotations

from typing import Any

from gradway.capture import _recorder
from gradway.capture._errors import place_of_program

_RUNS = 2  # of equal passes before the first step; modules set themselves up in the first


class Evaluations:
    def __init__(self, recorder: "_recorder.Recorder") -> None:
        self._recorder = recorder
        self._known: dict[Any, list[Any]] = {}  # runs, and the last result
        self._kept: list[Any] = []  # modules, so that none gets the identity of another
        self._skipped = 0

    def _shape_of(self, value: Any) -> Any:
        """Something equal for equal arguments. @throws TypeError if it is unknown"""
        if isinstance(value, self._recorder.torch.Tensor):
            return (tuple(value.shape), value.dtype, value.is_meta)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (list, tuple)):
            return tuple(map(self._shape_of, value))
        if hasattr(value, "keys") and hasattr(value, "values"):
            return tuple((key, self._shape_of(item)) for key, item in value.items())
        raise TypeError(type(value).__name__)

    def key(self, module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Of a pass that may be skipped when it was run before; None for others."""
        recorder = self._recorder
        if not recorder.is_before_first_step or recorder.is_in_module or recorder.torch.is_grad_enabled():
            return None
        try:
            return (id(module), module.training, self._shape_of(arguments), self._shape_of(named))
        except TypeError:
            return None

    def known(self, key: Any) -> list[Any]:
        """One result, if this pass was run often enough."""
        runs = self._known.get(key)
        if key is None or runs is None or runs[0] < _RUNS:
            return []
        self._skipped += 1
        return [runs[1]]

    def remember(self, key: Any, module: Any, result: Any) -> None:
        if key is None:
            return
        if key not in self._known:
            self._kept.append(module)
            self._known[key] = [0, None]
        self._known[key][0] += 1
        self._known[key][1] = result

    def meets(self, module: Any) -> None:
        """A pass of the trained model in evaluation mode, between two steps, starts an evaluation."""
        recorder = self._recorder
        if (not recorder.is_in_module and not recorder.is_before_first_step and not module.training
                and not recorder.torch.is_grad_enabled() and recorder.trains(module)):
            recorder.warn(f"{place_of_program()}: passes of the model in evaluation mode are no part of the recorded step")
            recorder.starts_evaluation()

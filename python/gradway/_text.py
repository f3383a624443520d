# SPDX-License-Identifier: Apache-2.0
"""Converts Python's values to the YAML that gradway reads."""
from __future__ import annotations

import functools
import json
import re
from numbers import Integral, Real
from typing import Any, Callable, Iterator, Mapping

# Text without quotation marks; "8" and 8 are the same for gradway, as in a file.
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+( [A-Za-z0-9_./+-]+)*")


def _raises_for_cycles(write: Callable[..., str]) -> Callable[..., str]:
    @functools.wraps(write)
    def checked(value: Any) -> str:
        try:
            return write(value)
        except RecursionError:
            raise ValueError("a dict or list contains itself, or is nested too deeply") from None

    return checked


@_raises_for_cycles
def flow(value: Any) -> str:
    """A value on one line. Raises TypeError for values that a file cannot contain, ValueError for cycles."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    if hasattr(value, "item"):  # numpy's booleans are not bool
        return flow(value.item())
    raise TypeError(f"{value!r} is not a text, number, list or dict")


def setting(value: Any) -> str:
    """A value as typed after "KEY=": text is passed as it is."""
    return value if isinstance(value, str) else flow(value)


@_raises_for_cycles
def document(values: Mapping[str, Any]) -> str:
    """A file with these keys, one per line, so that messages can show the line. Raises like `flow`."""
    return "\n".join(_lines({"schema": 1} | dict(values), "")) + "\n"


def _lines(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{flow(key)}:"
            yield from _lines(value, indent + "  ")
        elif isinstance(value, (list, tuple)) and value:
            yield f"{indent}{flow(key)}:"
            yield from (f"{indent}  - {flow(one)}" for one in value)
        else:
            yield f"{indent}{flow(key)}: {flow(value)}"

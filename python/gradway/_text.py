# SPDX-License-Identifier: Apache-2.0
"""Python's values as the YAML that gradway reads."""
from __future__ import annotations

import json
import re
from numbers import Integral, Real
from typing import Any, Iterator, Mapping

# What needs no quotation marks; "8" and 8 are the same to gradway, as in a file.
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+( [A-Za-z0-9_./+-]+)*")


def flow(value: Any) -> str:
    """A value on one line. Raises TypeError for what no file can hold."""
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
    if hasattr(value, "item"):  # numpy's booleans are no bool
        return flow(value.item())
    raise TypeError(f"{value!r} is no text, number, list or dict")


def setting(value: Any) -> str:
    """A value as it is typed behind "KEY=": text stands for itself."""
    return value if isinstance(value, str) else flow(value)


def document(values: Mapping[str, Any]) -> str:
    """A file of these keys, one a line, so that messages can show the line that is meant."""
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

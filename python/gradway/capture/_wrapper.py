# SPDX-License-Identifier: Apache-2.0
"""What the wrappers of frameworks around a program's model have in common."""
from __future__ import annotations

import contextlib
import functools
from typing import Any

_WRAPS = "_gradway_wraps"  # attribute of a wrapper: the name under which it has the module


def within(module: Any) -> Any:
    """The program's own module in wrappers of the strategy: names of modules do not depend on them."""
    while name := module.__dict__.get(_WRAPS):
        module = getattr(module, name)
    return module


@functools.cache
def wrapper_of(module_type: type, name: str = "module") -> type:
    """A module that calls another one, as `DistributedDataParallel` does. @param module_type torch.nn.Module
    @param name under which it has the other one"""

    class Wrapper(module_type):  # type: ignore[misc, valid-type]
        def __init__(self, module: Any) -> None:
            super().__init__()
            self.__dict__[_WRAPS] = name
            setattr(self, name, module)

        def forward(self, *arguments: Any, **named: Any) -> Any:
            return getattr(self, name)(*arguments, **named)

        def no_sync(self) -> Any:
            return contextlib.nullcontext()

    return Wrapper


@functools.cache
def transparent_wrapper_of(module_type: type, name: str = "module") -> type:
    """The same, with the attributes of the module that it calls."""

    class TransparentWrapper(wrapper_of(module_type, name)):  # type: ignore[misc]
        def __getattr__(self, attribute: str) -> Any:
            try:
                return super().__getattr__(attribute)
            except AttributeError:
                return getattr(super().__getattr__(name), attribute)

    return TransparentWrapper

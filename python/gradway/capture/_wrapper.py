# SPDX-License-Identifier: Apache-2.0
"""What the wrappers of frameworks around a program's model have in common."""
from __future__ import annotations

import contextlib
import functools
from typing import Any

_WRAPS = "_gradway_wraps"  # attribute of a wrapper


def within(module: Any) -> Any:
    """The program's own module in wrappers of the strategy: names of modules do not depend on them."""
    while module.__dict__.get(_WRAPS):
        module = module.module
    return module


@functools.cache
def wrapper_of(module_type: type) -> type:
    """A module that calls another one, as `DistributedDataParallel` does. @param module_type torch.nn.Module"""

    class Wrapper(module_type):  # type: ignore[misc, valid-type]
        def __init__(self, module: Any) -> None:
            super().__init__()
            self.__dict__[_WRAPS] = True
            self.module = module

        def forward(self, *arguments: Any, **named: Any) -> Any:
            return self.module(*arguments, **named)

        def no_sync(self) -> Any:
            return contextlib.nullcontext()

    return Wrapper


@functools.cache
def transparent_wrapper_of(module_type: type) -> type:
    """The same, with the attributes of the module that it calls. @param module_type torch.nn.Module"""

    class TransparentWrapper(wrapper_of(module_type)):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("module"), name)

    return TransparentWrapper

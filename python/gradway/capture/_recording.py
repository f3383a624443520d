# SPDX-License-Identifier: Apache-2.0
"""The records of a training step, as `_recorder` writes them."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator


def as_words(parts: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Parts of a model with names that are one word of a model file: other characters are written as in a URL."""
    for name, part in parts:
        name = re.sub(r"(^|\.)_orig_mod(?=\.|$)", "", name).lstrip(".")  # of torch.compile
        yield re.sub(r"[\s#%\[\]]|[^\w!-~]|^-$", lambda found: "".join(f"%{byte:02x}" for byte in found[0].encode(errors="replace")), name), part


@dataclass(frozen=True)
class Tensor:
    """The recorded properties of a tensor."""
    dtype: str
    shape: tuple[int, ...]
    layout: str = ""  # t: the last two dimensions are swapped, cl: channels_last, s: strided

    def elements(self) -> int:
        count = 1
        for side in self.shape:
            count *= side
        return count


@dataclass
class Operation:
    name: str
    phase: str
    module: str
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)
    varies: bool = False  # with the batch
    of_parameters: bool = False
    host_reads: bool = False
    made_by: tuple[int, ...] = ()  # operations whose results it reads


@dataclass
class Ready:
    """A parameter's gradient is complete."""
    parameter: str
    module: str
    phase: str = "backward"


@dataclass
class Moment:
    backward: bool
    grows: int
    fixed: int
    gradients: int


@dataclass
class Parameter:
    name: str
    dtype: str
    shape: tuple[int, ...]
    trained: bool = True


@dataclass
class Recording:
    """A recorded step."""
    framework: str = ""
    operations: list[Operation | Ready] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    buffers: list[Parameter] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)  # paths of repeated modules
    batch: int = 1
    sequence: int = 0
    input_bytes: int = 0
    optimizer: str = "sgd"
    optimizer_class: str = ""
    accumulate: int = 1
    autocast: str = ""
    clips_gradients: bool = False
    keeps_gradients: bool = False
    compiled: bool = False
    channels_last: bool = False
    checkpointed: bool = False
    has_masters: bool = False  # parameters of 16 bits have copies in fp32, which the optimizer updates
    ranks: int = 1  # that the program was started with
    strategy: dict[str, str] = field(default_factory=dict)  # keys of a scenario's `strategy`; empty: the program sets none
    replicate: int = 1  # of a sharded strategy: replicas of the sharded group
    memory: list[Moment] = field(default_factory=list)
    times: dict[str, str] = field(default_factory=dict)  # of operations by their names, as the user gives them
    warnings: list[str] = field(default_factory=list)

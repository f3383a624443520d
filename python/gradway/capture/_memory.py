# SPDX-License-Identifier: Apache-2.0
"""The memory of a recorded micro-step, from the allocations and releases of its storages."""
from __future__ import annotations

from collections.abc import Container

from gradway.capture._recording import Moment


class MemoryEvents:
    """Allocations and releases in the order of the program. Storages are known by serial numbers."""

    def __init__(self) -> None:
        self._events: list[tuple[str, int, int, str]] = []  # kind, bytes, serial number, phase

    def clear(self) -> None:
        self._events.clear()

    def allocate(self, size: int, serial: int, phase: str) -> None:
        self._events.append(("allocate", size, serial, phase))

    def release(self, size: int, serial: int) -> None:
        self._events.append(("release", size, serial, ""))

    def peaks(self, left_out: Container[int], growing: Container[int], of_gradients: Container[int]) -> list[Moment]:
        """Moments of the passes with the most memory.

        @param left_out storages that are no activations: inputs, and what the strategy holds
        @param growing storages that grow with the batch
        @param of_gradients storages of gradients of parameters"""
        live: dict[int, tuple[int, bool, bool]] = {}
        grows = fixed = gradients = 0
        moments: list[Moment] = []
        for kind, size, serial, phase in self._events:
            if kind == "allocate":
                if phase == "optimizer" or serial in left_out:
                    continue
                is_gradient, varies = serial in of_gradients, serial in growing
                live[serial] = (size, varies, is_gradient)
                if is_gradient:
                    gradients += size
                elif varies:
                    grows += size
                else:
                    fixed += size
                moments.append(Moment(phase == "backward", grows, fixed, gradients))
            elif serial in live:
                size, varies, is_gradient = live.pop(serial)
                if is_gradient:
                    gradients -= size
                elif varies:
                    grows -= size
                else:
                    fixed -= size
        return _peaks(moments)


def _peaks(moments: list[Moment]) -> list[Moment]:
    """Moments that no other exceeds in both activations and gradients, in order."""
    kept: list[Moment] = []
    best = -1
    for moment in sorted(moments, key=lambda moment: (-(moment.grows + moment.fixed), -moment.gradients)):
        if moment.gradients > best:
            best = moment.gradients
            kept.append(moment)
    return sorted(kept, key=lambda moment: (moment.backward, moment.gradients))

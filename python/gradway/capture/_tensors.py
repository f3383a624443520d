# SPDX-License-Identifier: Apache-2.0
"""What a capture knows of the tensors on the program's GPU: their formats, layouts, storages, and what depends on the batch."""
from __future__ import annotations

import weakref
from typing import Any

from gradway.capture._errors import CaptureError, place_of_program
from gradway.capture._memory import MemoryEvents
from gradway.capture._recording import Tensor

_BLOCK = 512  # bytes: PyTorch's allocator rounds up to it
_DTYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64", "int64": "int64", "int32": "int32",
           "int16": "int16", "int8": "int8", "uint8": "int8", "uint16": "int16", "uint32": "int32", "uint64": "int64", "bool": "bool",
           "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "float8_e4m3fnuz": "fp8", "float8_e5m2fnuz": "fp8", "float8_e8m0fnu": "fp8",
           "complex32": "fp32", "complex64": "fp64"}  # complex numbers move as many bytes as these


def number_format(dtype: Any) -> str:
    """The word of a model file for a type of PyTorch with as many bytes."""
    name = str(dtype).removeprefix("torch.")
    if name not in _DTYPES:
        raise CaptureError(f"{place_of_program()}: numbers of the format {name} cannot be recorded; use another one for the capture")
    return _DTYPES[name]


class Tensors:
    """Follows the storages of tensors from their allocation to their release."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self._memory = MemoryEvents()  # of the micro-step
        self._varying: set[Any] = set()
        self._grows: set[int] = set()  # serial numbers of storages that grow with the batch
        self._producer: dict[Any, int] = {}
        self._alive: dict[Any, list[Any]] = {}  # key of storage: bytes, serial number
        self._holders: dict[Any, int] = {}
        self._serial = 0
        self._phase = "forward"

    def _records(self) -> bool:
        """Whether what happens now is part of the recorded micro-step."""
        raise NotImplementedError

    def _storage(self, tensor: Any) -> Any:
        return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()._storage

    def _key(self, tensor: Any) -> Any:
        return self._storage(tensor)._cdata

    def address(self, tensor: Any) -> int:
        """Stands for the address of a tensor without memory."""
        return int(self._key(tensor)) + int(tensor.storage_offset()) * int(tensor.element_size())

    def describe(self, tensor: Any, as_read: bool = False) -> Tensor:
        """@param as_read sides over which the tensor is expanded are 1: they are read once"""
        shape, stride = tuple(int(side) for side in tensor.shape), tensor.stride()
        if as_read and 0 in stride:
            shape = tuple(1 if step == 0 else side for side, step in zip(shape, stride))
        return Tensor(number_format(tensor.dtype), shape, self._layout(tensor, shape, stride))

    def _layout(self, tensor: Any, shape: tuple[int, ...], stride: tuple[int, ...]) -> str:
        if tensor.is_contiguous():
            return ""
        if len(shape) == 4 and tensor.is_contiguous(memory_format=self.torch.channels_last):
            return "cl"
        if len(shape) >= 2 and tensor.transpose(-1, -2).is_contiguous():
            return "t"
        return "s"

    def seen(self, tensor: Any, varies: bool | None = None) -> Any:
        """Follows the storage of a tensor on the GPU. @return its key"""
        storage = self._storage(tensor)
        key = storage._cdata
        if key not in self._alive:
            self._serial += 1
            size = -(-int(storage.nbytes()) // _BLOCK) * _BLOCK
            self._alive[key] = [size, self._serial]
            self._varying.discard(key)
            self._producer.pop(key, None)
            if self._records():
                self._memory.allocate(size, self._serial, self._phase)
            if hasattr(tensor, "untyped_storage"):
                weakref.finalize(storage, self._freed, key, self._serial).atexit = False
        if not hasattr(tensor, "untyped_storage"):  # PyTorch 1.13 does not keep the Python object of a storage
            self._holders[key] = self._holders.get(key, 0) + 1
            weakref.finalize(tensor, self._dropped, key, self._alive[key][1]).atexit = False
        if varies:
            self._varying.add(key)
            self._grows.add(self._alive[key][1])
        return key

    def _dropped(self, key: Any, serial: int) -> None:
        if key in self._alive and self._alive[key][1] == serial:
            self._holders[key] -= 1
            if self._holders[key] == 0:
                del self._holders[key]
                self._freed(key, serial)

    def _freed(self, key: Any, serial: int) -> None:
        known = self._alive.get(key)
        if known is None or known[1] != serial:
            return
        del self._alive[key]
        if self._records():
            self._memory.release(known[0], serial)
        self._varying.discard(key)
        self._producer.pop(key, None)

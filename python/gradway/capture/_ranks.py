# SPDX-License-Identifier: Apache-2.0
"""Programs of several ranks: the environment of torchrun, process groups, meshes, and launchers.

A capture is rank 0 of them. Collectives send nothing: which of them run when follows from the strategy, which the wrappers of
data parallelism set (`_sharded`).
"""
from __future__ import annotations

import os
import sys
from typing import Any, Iterator

from gradway.capture import _recorder
from gradway.capture._errors import CaptureError, place_of_program

_GPUS_OF_NODE = 8


def variables(ranks: int) -> dict[str, str]:
    """What torchrun sets for the first of the ranks."""
    local = min(ranks, _GPUS_OF_NODE)
    return {"RANK": "0", "WORLD_SIZE": str(ranks), "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": str(local), "GROUP_RANK": "0",
            "GROUP_WORLD_SIZE": str(-(-ranks // local)), "ROLE_RANK": "0", "ROLE_NAME": "default", "ROLE_WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "0",
            "TORCHELASTIC_RUN_ID": "none"}


class _Environment(os._Environ):
    """Answers a program that insists on torchrun's variables (`os.environ["RANK"]`) without telling one that asks whether they are set."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            if key not in (known := variables(1)):
                raise
            return known[key]

    def __contains__(self, key: Any) -> bool:
        try:
            super().__getitem__(key)
        except KeyError:
            return False
        return True

    def get(self, key: Any, default: Any = None) -> Any:
        return super().__getitem__(key) if key in self else default

    def setdefault(self, key: Any, value: Any) -> Any:  # type: ignore[override]
        if key not in self:
            self[key] = value
        return super().__getitem__(key)


def tell_if_asked() -> None:
    """Sets the environment of torchrun for programs that do not ask whether it is there."""
    os.environ.__class__ = _Environment


class _Group:
    """Stands for a process group."""

    def __init__(self, ranks: int) -> None:
        self.ranks, self.group_name, self.group_desc = ranks, "gradway", "gradway"

    def size(self) -> int:
        return self.ranks

    def rank(self) -> int:
        return 0

    def name(self) -> str:
        return "nccl"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **named: None


class _Work:
    """Stands for a collective that was issued."""

    def wait(self, *_: Any) -> bool:
        return True

    def is_completed(self) -> bool:
        return True

    def __getattr__(self, _: str) -> Any:
        return lambda *arguments, **named: None


class Mesh:
    """Stands for a DeviceMesh: only its sides and their names are known."""

    def __init__(self, device_type: str = "cuda", mesh: Any = (1,), *, mesh_dim_names: Any = None, **_: Any) -> None:
        shape = getattr(mesh, "shape", None)
        self.device_type, self.shape = device_type, tuple(int(side) for side in (shape if shape is not None else mesh))
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def mesh(self) -> Any:
        import torch
        return torch.arange(self.size()).view(self.shape)

    def _dimension(self, of: Any) -> int:
        if isinstance(of, str):
            if self.mesh_dim_names is None or of not in self.mesh_dim_names:
                raise KeyError(of)
            return self.mesh_dim_names.index(of)
        return int(of)

    def size(self, mesh_dim: Any = None) -> int:
        if mesh_dim is not None:
            return self.shape[self._dimension(mesh_dim)]
        count = 1
        for side in self.shape:
            count *= side
        return count

    def __getitem__(self, names: Any) -> "Mesh":
        places = [self._dimension(name) for name in (names if isinstance(names, (tuple, list)) else (names,))]
        return Mesh(self.device_type, [self.shape[place] for place in places],
                    mesh_dim_names=[self.mesh_dim_names[place] for place in places] if self.mesh_dim_names else None)

    def _flatten(self, mesh_dim_name: Any = None, *_: Any, **__: Any) -> "Mesh":
        return Mesh(self.device_type, [self.size()], mesh_dim_names=[mesh_dim_name] if mesh_dim_name else None)

    def get_group(self, mesh_dim: Any = None) -> _Group:
        return _Group(self.size(mesh_dim))

    def get_all_groups(self) -> list[_Group]:
        return [_Group(side) for side in self.shape]

    def get_rank(self) -> int:
        return 0

    def get_local_rank(self, mesh_dim: Any = None) -> int:
        return 0

    def get_coordinate(self) -> list[int]:
        return [0] * self.ndim

    def __enter__(self) -> "Mesh":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class Ranks:
    """The ranks of the program."""

    def __init__(self, recorder: "_recorder.Recorder", count: int) -> None:
        self._recorder = recorder
        self.count, self.is_initialized = count, False

    def of(self, group: Any = None) -> int:
        return group.size() if isinstance(group, (_Group, Mesh)) else self.count

    def start(self, *_: Any, world_size: Any = -1, **__: Any) -> None:
        self.is_initialized = True
        if isinstance(world_size, int) and world_size > 0:
            self.count = world_size
        elif "WORLD_SIZE" in os.environ:
            self.count = int(os.environ["WORLD_SIZE"])
        self._recorder.recording.ranks = max(self.count, self._recorder.recording.ranks)

    def mesh(self, device_type: str, shape: Any, *, mesh_dim_names: Any = None, **_: Any) -> Mesh:
        sides = [int(side) for side in shape]
        if -1 in sides:
            known = 1
            for side in sides:
                known *= max(side, 1)
            sides[sides.index(-1)] = max(self.count // known, 1)
        made = Mesh(device_type, sides, mesh_dim_names=mesh_dim_names)
        if made.size() > self.count and self.count > 1:
            raise CaptureError(f"{place_of_program()}: a mesh of {' x '.join(map(str, sides))} ranks needs {made.size()}, but the program was started "
                               f"with {self.count}: write gradway capture --ranks {made.size()} before its name")
        self.count = max(self.count, made.size())
        self.is_initialized = True
        self._recorder.recording.ranks = max(self.count, self._recorder.recording.ranks)
        return made


def _fill(into: Any, value: Any) -> None:
    """The result of a collective of tensors on the host: each rank has this rank's data."""
    if into is not None and not into.is_meta and not value.is_meta:
        flat = value.detach().reshape(-1)
        into.detach().reshape(-1).copy_(flat.repeat(-(-into.numel() // max(flat.numel(), 1)))[:into.numel()])


def replacements(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    torch, ranks = recorder.torch, recorder.ranks
    import torch.distributed as distributed
    if not distributed.is_available():
        return

    def issued(function: Any) -> Any:
        def collective(*arguments: Any, async_op: bool = False, **named: Any) -> Any:
            function(*arguments, **named)
            return _Work() if async_op else None
        return collective

    def all_gather(tensor_list: Any, tensor: Any, *_: Any, **__: Any) -> None:
        for into in tensor_list:
            _fill(into, tensor)

    def all_gather_object(object_list: Any, obj: Any, *_: Any, **__: Any) -> None:
        object_list[:] = [obj] * len(object_list)

    def gather_object(obj: Any, object_gather_list: Any = None, *_: Any, **__: Any) -> None:
        if object_gather_list is not None:
            all_gather_object(object_gather_list, obj)

    def scatter_object_list(scatter_object_output_list: Any, scatter_object_input_list: Any = None, *_: Any, **__: Any) -> None:
        if scatter_object_input_list:
            scatter_object_output_list[0] = scatter_object_input_list[0]

    nothing = issued(lambda *arguments, **named: None)
    copies = issued(lambda output, given, *arguments, **named: _fill(output, given) if hasattr(given, "is_meta") else None)
    group = _Group(ranks.count)
    calls: dict[str, Any] = {
        "init_process_group": ranks.start, "is_initialized": lambda: ranks.is_initialized, "is_torchelastic_launched": lambda: "RANK" in os.environ,
        "get_rank": lambda *_, **__: 0, "get_world_size": lambda group=None: ranks.of(group), "get_backend": lambda *_, **__: "nccl",
        "get_node_local_rank": lambda *_, **__: 0, "get_process_group_ranks": lambda group=None: list(range(ranks.of(group))),
        "get_global_rank": lambda group, rank: rank, "get_group_rank": lambda group, rank: rank,
        "new_group": lambda ranks_of=None, *_, ranks=None, **__: _Group(len(ranks_of or ranks or range(recorder.ranks.count))),
        "_get_default_group": lambda: group, "destroy_process_group": lambda *_, **__: None, "is_nccl_available": lambda: True,
        "barrier": nothing, "monitored_barrier": nothing, "all_reduce": nothing, "broadcast": nothing, "reduce": nothing, "send": nothing, "recv": nothing,
        "isend": lambda *_, **__: _Work(), "irecv": lambda *_, **__: _Work(), "broadcast_object_list": nothing, "gather": nothing, "scatter": nothing,
        "all_gather": issued(all_gather), "all_gather_object": all_gather_object, "gather_object": gather_object,
        "scatter_object_list": scatter_object_list, "all_gather_into_tensor": copies, "_all_gather_base": copies, "reduce_scatter_tensor": copies,
        "_reduce_scatter_base": copies, "reduce_scatter": nothing, "all_to_all_single": copies, "all_to_all": nothing}
    import torch.distributed.distributed_c10d as implementation
    for owner in (distributed, implementation):
        for name, call in calls.items():
            if hasattr(owner, name):
                yield owner, name, call
    try:
        import torch.distributed.device_mesh as meshes
    except ImportError:  # PyTorch before 2.2
        pass
    else:
        for owner in (meshes, distributed):
            if hasattr(owner, "init_device_mesh"):
                yield owner, "init_device_mesh", ranks.mesh
            if hasattr(owner, "DeviceMesh"):
                yield owner, "DeviceMesh", Mesh
    yield from _of_launchers(recorder)


def _of_launchers(recorder: "_recorder.Recorder") -> Iterator[tuple[Any, str, Any]]:
    """Launchers of processes run the first of them here."""
    ranks = recorder.ranks
    import torch.multiprocessing as processes
    spawning = sys.modules["torch.multiprocessing.spawn"]  # the package's attribute of this name is the function

    class Context:
        def join(self, *_: Any, **__: Any) -> bool:
            return True

    def spawn(fn: Any, args: Any = (), nprocs: int = 1, join: bool = True, *_: Any, **__: Any) -> Any:
        ranks.count = max(ranks.count, nprocs)
        fn(0, *args)
        return None if join else Context()

    for owner in (processes, spawning):
        for name in ("spawn", "start_processes"):
            if callable(getattr(owner, name, None)):
                yield owner, name, spawn

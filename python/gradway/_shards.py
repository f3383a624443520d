# SPDX-License-Identifier: Apache-2.0
"""Sweeps on many machines: workers simulate shards, which are merged here."""
from __future__ import annotations

import tempfile
import zlib
from concurrent.futures import Executor, as_completed
from pathlib import Path
from typing import Any, Mapping, Sequence

from gradway._process import Answer, ask


def _simulated(command: Sequence[str], scenario: str, texts: Mapping[str, str], which: str) -> dict[str, bytes]:
    """Runs on a worker. Returns the files of a finished shard, compressed."""
    with tempfile.TemporaryDirectory() as folder:
        answer = ask([*command, f"--shard={which}", f"--out={folder}", "--", scenario], texts)
        files = [path for path in Path(folder).rglob("*.json")]
        if not any(path.name == "shard.json" for path in files):
            raise answer.error()
        return {str(path.relative_to(folder)): zlib.compress(path.read_bytes(), 1) for path in files}


def _executor(client: Any) -> Executor:
    return client.get_executor() if hasattr(client, "get_executor") else client  # a dask.distributed.Client has one


def merged(command: Sequence[str], scenario: str, texts: Mapping[str, str], client: Any, shards: int) -> Answer:
    """The answer to `command`, simulated by the workers of `client`. Shards that have arrived are kept if workers die."""
    workers = _executor(client)
    parts = [workers.submit(_simulated, command, scenario, texts, f"{number}/{shards}") for number in range(1, shards + 1)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            for part in as_completed(parts):
                for name, packed in part.result().items():
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(zlib.decompress(packed))
        finally:
            for part in parts:
                part.cancel()
        return ask(["sweep", "--merge", folder, "--json"], {})

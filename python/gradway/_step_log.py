# SPDX-License-Identifier: Apache-2.0
"""The log of step times that `gradway watch` reads."""
from __future__ import annotations

import json
import os
import time
from datetime import datetime, timezone


class StepLog:
    """Appends a line for each training step: its number, its time in seconds, and the moment at which it ended.

        log = gradway.StepLog("steps.jsonl")
        for batch in loader:
            train(batch)
            log.step()

    A step lasts from one call of `step` to the next; the first one from the construction. Lines are written at once, so
    that they survive an interrupted run. Only one rank should write. `first` continues the numbers of an earlier run.

    Raises OSError if the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], first: int = 0) -> None:
        self._file = open(path, "a", encoding="utf-8", buffering=1)
        self._number = first
        self._begin = time.perf_counter()

    def step(self) -> float:
        """Ends the step and returns its time in seconds."""
        now = time.perf_counter()
        seconds, self._begin = now - self._begin, now
        moment = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        self._file.write(json.dumps({"step": self._number, "step_time_s": round(seconds, 6), "time": moment}) + "\n")
        self._number += 1
        return seconds

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> StepLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

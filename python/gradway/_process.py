# SPDX-License-Identifier: Apache-2.0
"""The program gradway, kept running: a call costs what it simulates, not the start and not the reading of files."""
from __future__ import annotations

import atexit
import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Mapping, NamedTuple, Sequence

from gradway._errors import GradwayError, InputError, Problem, SimulationError

_HERE = Path(__file__).resolve().parent
_CHECKOUT = _HERE.parent.parent


def program() -> str:
    """The path of the program. Raises GradwayError if there is none."""
    if named := os.environ.get("GRADWAY"):
        if not os.access(named, os.X_OK):
            raise GradwayError(f"GRADWAY names '{named}', which is no program")
        return os.path.abspath(named)
    for path in (_HERE / "_program/bin/gradway", *(_CHECKOUT / f"build/{preset}/gradway" for preset in ("release", "ci"))):
        if os.access(path, os.X_OK):
            return str(path)
    raise GradwayError("gradway is not built: run scripts/demo, which builds it, or let the variable GRADWAY name it")


class Answer(NamedTuple):
    status: int  # the program's exit status
    results: str  # what it would have printed
    messages: str  # what it would have said on standard error
    problems: tuple[Problem, ...]

    def error(self) -> GradwayError:
        """What the status stands for."""
        if self.status == 2:
            return InputError(self.messages, self.problems)
        if self.status == 3:
            return SimulationError(self.messages)
        return GradwayError(self.messages, self.status)


class _Process:
    """One running program; sim/cli/shell/serve.hpp says how it is asked. Raises GradwayError if it ends."""

    def __init__(self, path: str):
        self._said = tempfile.TemporaryFile()
        # A session of its own: an interrupt from the keyboard is meant for Python, which then ends this.
        self._child = subprocess.Popen([path, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                                       start_new_session=True)
        assert self._child.stdin and self._child.stdout  # pipes, as was asked
        self._asks, self._answers = self._child.stdin, self._child.stdout

    def ask(self, arguments: Sequence[str], texts: Mapping[str, str]) -> Answer:
        words = [*arguments, *(word for pair in texts.items() for word in pair)]
        if any("\0" in word for word in words):
            raise ValueError("an argument has a NUL in it")
        question = "".join(f"{word}\0" for word in words)
        try:
            self._asks.write(f"{len(arguments)} {len(texts)}\n{question}".encode())
            self._asks.flush()
            head = self._answers.readline()
            status, *sizes = map(int, head.split())
            results, messages, problems = (self._answers.read(size).decode() for size in sizes)
            return Answer(status, results, messages, tuple(map(Problem.of, json.loads(problems))))
        except (OSError, ValueError) as broken:  # half an answer is none, too
            self._child.kill()
            status = self._child.wait()
            self._said.seek(0)
            said = self._said.read().decode(errors="replace").strip()
            raise GradwayError(f"the program ended with {status}: {said or broken}", status) from broken

    def end(self) -> None:
        self._child.kill()
        self._child.wait()
        self.let_go()

    def let_go(self) -> None:
        for stream in (self._asks, self._answers, self._said):
            try:
                stream.close()
            except OSError:  # it ended with a question unread
                pass


class _Pool:
    """Idle processes; a process answers one call at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._kind: tuple = ()
        self._of_parent: list[_Process] = []

    def ask(self, arguments: Sequence[str], texts: Mapping[str, str]) -> Answer:
        # What a process was started with decides how it looks names and paths up.
        kind = (program(), os.getcwd(), os.environ.get("GRADWAY_PATH"))
        process = self._taken(kind) or _Process(kind[0])
        try:
            answer = process.ask(arguments, texts)
        except BaseException:  # an interrupt, too: what would come is the answer to this
            process.end()
            raise
        with self._lock:
            if kind == self._kind:
                self._idle.append(process)
                return answer
        process.end()
        return answer

    def _taken(self, kind: tuple) -> _Process | None:
        with self._lock:
            old, self._idle = (self._idle, []) if kind != self._kind else ([], self._idle)
            self._kind = kind
            taken = self._idle.pop() if self._idle else None
        for process in old:
            process.end()
        return taken

    def end(self) -> None:
        while self._idle:
            self._idle.pop().end()

    def forget(self) -> None:
        """In a process that was forked: those that were started belong to its parent, which waits for their end."""
        self._lock = threading.Lock()
        for process in self._idle:
            process.let_go()
        self._of_parent += self._idle
        self._idle = []


_pool = _Pool()
atexit.register(_pool.end)
os.register_at_fork(after_in_child=_pool.forget)
ask = _pool.ask

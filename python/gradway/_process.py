# SPDX-License-Identifier: Apache-2.0
"""Keeps the program gradway running, so that calls do not pay for its start and for reading files."""
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
            raise GradwayError(f"GRADWAY is '{named}', which is not an executable program")
        return os.path.abspath(named)
    installed = (_HERE / "_program/bin/gradway", _HERE.parents[3] / "bin/gradway")  # of a wheel, of a Debian package
    for path in (*installed, *(_CHECKOUT / f"build/{preset}/gradway" for preset in ("release", "ci"))):
        if os.access(path, os.X_OK):
            return str(path)
    raise GradwayError("gradway was not found: build it with scripts/demo, or set the variable GRADWAY to its path")


class Answer(NamedTuple):
    status: int  # the program's exit status
    results: str  # what it would print on standard output
    messages: str  # what it would print on standard error
    problems: tuple[Problem, ...]

    def error(self) -> GradwayError:
        """The exception for the status."""
        if self.status == 2:
            return InputError(self.messages, self.problems)
        if self.status == 3:
            return SimulationError(self.messages)
        return GradwayError(self.messages, self.status)


def _question(arguments: Sequence[str], texts: Mapping[str, str]) -> bytes:
    """What the program is asked. Raises ValueError for text that it cannot be."""
    words = [*arguments, *(word for pair in texts.items() for word in pair)]
    if any("\0" in word for word in words):
        raise ValueError("an argument contains a NUL character")
    text = f"{len(arguments)} {len(texts)}\n" + "".join(f"{word}\0" for word in words)
    try:
        return text.encode(errors="surrogateescape")  # Python's names of files that are not UTF-8 contain such halves
    except UnicodeEncodeError as error:
        raise ValueError(f"an argument contains {text[error.start]!a}, which is half of a character") from None


class _Process:
    """A running program; cli/shell/serve.hpp describes the protocol. Raises GradwayError if the program ends."""

    def __init__(self, path: str):
        self._messages = tempfile.TemporaryFile()
        # A separate session: an interrupt from the keyboard is for Python, which then ends this process.
        self._child = subprocess.Popen([path, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._messages,
                                       start_new_session=True)
        assert self._child.stdin and self._child.stdout  # both are pipes
        self._asks, self._answers = self._child.stdin, self._child.stdout

    def ask(self, question: bytes) -> Answer:
        try:
            self._asks.write(question)
            self._asks.flush()
            head = self._answers.readline()
            status, *sizes = map(int, head.split())
            results, messages, problems = (self._answers.read(size).decode() for size in sizes)
            return Answer(status, results, messages, tuple(map(Problem.of, json.loads(problems))))
        except (OSError, ValueError) as broken:  # also raised for half an answer
            self._child.kill()
            status = self._child.wait()
            self._messages.seek(0)
            text = self._messages.read().decode(errors="replace").strip()
            raise GradwayError(f"the program ended with {status}: {text or broken}", status) from broken

    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def end(self) -> None:
        self._child.kill()
        self._child.wait()
        self.close_streams()

    def close_streams(self) -> None:
        for stream in (self._asks, self._answers, self._messages):
            try:
                stream.close()
            except OSError:  # it ended before it read the question
                pass


class _Pool:
    """Idle processes; a process answers one call at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._kind: tuple = ()
        self._of_parent: list[_Process] = []

    def ask(self, arguments: Sequence[str], texts: Mapping[str, str]) -> Answer:
        question = _question(arguments, texts)
        # The settings with which a process was started decide how it finds names and paths.
        kind = (program(), os.getcwd(), os.environ.get("GRADWAY_PATH"))
        process = self._take_idle(kind) or _Process(kind[0])
        try:
            answer = process.ask(question)
        except BaseException:  # also after an interrupt: the next answer would belong to this call
            process.end()
            raise
        with self._lock:
            if kind == self._kind:
                self._idle.append(process)
                return answer
        process.end()
        return answer

    def _take_idle(self, kind: tuple) -> _Process | None:
        with self._lock:
            alive = [process for process in self._idle if kind == self._kind and not process.has_ended()]
            old = [process for process in self._idle if process not in alive]
            self._idle, self._kind = alive, kind
            taken = self._idle.pop() if self._idle else None
        for process in old:
            process.end()
        return taken

    def end(self) -> None:
        while self._idle:
            self._idle.pop().end()

    def forget(self) -> None:
        """Called in a forked process: the programs belong to its parent, which waits for them."""
        self._lock = threading.Lock()
        for process in self._idle:
            process.close_streams()
        self._of_parent += self._idle
        self._idle = []


_pool = _Pool()
atexit.register(_pool.end)
os.register_at_fork(after_in_child=_pool.forget)
ask = _pool.ask

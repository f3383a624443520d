# SPDX-License-Identifier: Apache-2.0
"""Errors of gradway, with their places in the input."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Another place that is related to a problem. Fields as in Problem."""

    message: str
    file: str
    line: int
    column: int
    length: int
    text: str


@dataclass(frozen=True)
class Problem:
    """A problem of the input."""

    message: str  #: what is wrong, with the value
    file: str  #: as named by the caller; "scenario" and "cases" for dicts, "" for an argument
    line: int  #: from 1; 0 for the whole file
    column: int  #: from 1, in characters; 0 for the whole line
    length: int  #: number of characters; 0 for one
    text: str  #: the line itself; may be empty
    hint: str  #: what to do; may be empty
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, document: dict) -> Problem:
        notes = tuple(Note(**note) for note in document["notes"])
        return cls(notes=notes, **{key: value for key, value in document.items() if key != "notes"})


class GradwayError(Exception):
    """gradway failed, with the program's message. Raised directly if the program is missing or has a bug.

    `status` is the program's exit status, or None if it has none.
    """

    def __init__(self, text: str, status: int | None = None):
        super().__init__(text.strip())
        self.status = status


class InputError(GradwayError, ValueError):
    """The input is invalid: a file, a dict or an argument. `problems` lists all problems; place, message and hint of the
    first one are also available as `file`, `line`, `column`, `message` and `hint`."""

    def __init__(self, text: str, problems: tuple[Problem, ...] = ()):
        super().__init__(text, status=2)
        self.problems = problems
        first = problems[0] if problems else Problem(str(self), "", 0, 0, 0, "", "", ())
        self.message, self.hint = first.message, first.hint
        self.file, self.line, self.column = first.file, first.line, first.column


class SimulationError(GradwayError, RuntimeError):
    """The simulation could not finish: operations that wait for each other, or too little memory."""

    def __init__(self, text: str):
        super().__init__(text, status=3)

# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, with the places of what is wrong."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """What a problem clashes with: another place and what stands there. Fields as those of Problem."""

    message: str
    file: str
    line: int
    column: int
    length: int
    text: str


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the input."""

    message: str  #: what is wrong, with the value
    file: str  #: as it was named; "scenario" and "cases" for dicts, "" for an argument
    line: int  #: from 1; 0: the file as a whole
    column: int  #: from 1, in characters; 0: the line as a whole
    length: int  #: characters that are meant; 0: one
    text: str  #: the line itself; may be empty
    hint: str  #: what to do; "": nothing to suggest
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, document: dict) -> Problem:
        notes = tuple(Note(**note) for note in document["notes"])
        return cls(notes=notes, **{key: value for key, value in document.items() if key != "notes"})


class GradwayError(Exception):
    """gradway gave no answer; its text is what the program says. By itself: the program is not there, or has a bug.

    `status` is the program's exit status, None if it has not ended with one.
    """

    def __init__(self, text: str, status: int | None = None):
        super().__init__(text.strip())
        self.status = status


class InputError(GradwayError, ValueError):
    """The input is wrong: a file, a dict, an argument. `problems` has all that is wrong with it; the place, message and
    hint of the first are also at hand as `file`, `line`, `column`, `message` and `hint`."""

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

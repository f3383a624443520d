# SPDX-License-Identifier: Apache-2.0
"""Errors of captures."""
from __future__ import annotations

import sys
from typing import Any

from gradway._errors import GradwayError


class CaptureError(GradwayError):
    """The program does something that cannot be recorded without a GPU; the message says what, where, and what to do."""


def place_of_program() -> str:
    """The line of the user's program that is running, for messages."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if "/gradway/capture/" not in file and "/torch/" not in file and "<frozen" not in file and not file.startswith("<"):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "the program"

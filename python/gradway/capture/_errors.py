# SPDX-License-Identifier: Apache-2.0
"""Errors of captures."""
from gradway._errors import GradwayError


class CaptureError(GradwayError):
    """The program does something that cannot be recorded without a GPU; the message says what, where, and what to do."""

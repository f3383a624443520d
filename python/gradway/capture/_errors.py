# SPDX-License-Identifier: Apache-2.0
"""What cannot be captured."""
from gradway._errors import GradwayError


class CaptureError(GradwayError):
    """The program does something that cannot be recorded without a GPU; the message says what, where, and what to do."""

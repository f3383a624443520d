# SPDX-License-Identifier: Apache-2.0
"""Errors of captures, and the line of the program that they are about."""
from __future__ import annotations

import importlib
import os
import sys
import sysconfig
import traceback
from typing import Any, Iterator

from gradway._errors import GradwayError

_STAND_INS = ("apex", "deepspeed", "flash_attn", "transformer_engine", "xformers")
_PACKAGES = ("/site-packages/", "/dist-packages/")


class CaptureError(GradwayError):
    """The program does something that cannot be recorded without a GPU; the message says what, where, and what to do."""

    first: CaptureError | None = None  # of this process: frameworks replace it by an error of their own when they end

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        if CaptureError.first is None:
            CaptureError.first = self


def imported(name: str) -> Any:
    """A module; None if it is one of another version, or cannot be imported: PyTorch 1.13's FSDP with Python 3.11, Debian 12's, is a ValueError."""
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError, ValueError):
        return None


def _is_of_recorder(file: str) -> bool:
    return "/gradway/capture/" in file or file.startswith("<")


def _is_of_torch(file: str) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.__file__) and file.startswith(os.path.dirname(str(torch.__file__)) + os.sep)


def _is_of_library(file: str) -> bool:
    if any(part in file for part in _PACKAGES) or _is_of_torch(file):
        return True
    return file.startswith(sysconfig.get_paths()["stdlib"] + os.sep)


def _place(frames: Iterator[tuple[str, int]]) -> str:
    """@param frames files and lines, the innermost first"""
    library = ""
    for file, line in frames:
        if _is_of_recorder(file):
            continue
        if not _is_of_library(file):
            return f"{file}:{line}" + (f" (in {library})" if library else "")
        if not library and not _is_of_torch(file) and any(part in file for part in _PACKAGES):
            library = f"{file.split(next(part for part in _PACKAGES if part in file), 1)[1]}:{line}"
    return library or "the program"


def place_of_program() -> str:
    """The line of the user's program that is running, for messages, with the line of the library that it calls."""
    def frames() -> Iterator[tuple[str, int]]:
        frame: Any = sys._getframe(2)
        while frame is not None:
            yield frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
    return _place(frames())


def is_imported_by_program() -> bool:
    """Whether the import that is running is written in the program itself."""
    frame: Any = sys._getframe(2)
    while frame is not None and ("importlib" in frame.f_code.co_filename or _is_of_recorder(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame is not None and (not _is_of_library(frame.f_code.co_filename) or frame.f_code.co_name == "_lazy_imports")  # of transformers, on demand


def place_of(error: BaseException) -> str:
    """The line of the user's program at which it failed."""
    return _place((frame.filename, frame.lineno or 0) for frame in reversed(traceback.extract_tb(error.__traceback__)))


def traceback_of(error: BaseException) -> str:
    """The traceback as Python writes it, without the frames of the recorder."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not _is_of_recorder(frame.filename) and not frame.filename.endswith("/runpy.py")]
    return "".join(["Traceback (most recent call last):\n", *traceback.format_list(frames), *traceback.format_exception_only(type(error), error)])


def failure(error: BaseException) -> str:
    """What is said of an error of the program itself, with a remedy."""
    words = str(error).splitlines()
    what = f"{type(error).__name__}: {words[0][:300]}" if words else type(error).__name__
    package = (error.name or "").split(".")[0] if isinstance(error, ImportError) else ""
    if package in _STAND_INS:
        remedy = (f"gradway's stand-in of {package} does not have this part, which needs a GPU: leave it out for the capture, or " +
                  ("describe the model by its shape (gradway import hf config.json)" if package == "deepspeed" else f"capture where {package} is installed"))
    elif isinstance(error, ModuleNotFoundError):
        remedy = f"install {error.name or 'it'} in this Python ({sys.executable}), or start gradway in the environment in which you train"
    elif isinstance(error, FileNotFoundError):
        remedy = ("start gradway capture in the folder in which you start the program; it needs the files that the program reads, and "
                  "torch.save and its like write none during a capture")
    elif "from_pretrained" in "".join(frame.name for frame in traceback.extract_tb(error.__traceback__)):
        remedy = ("torch.save and save_pretrained write no files during a capture: if the program reads what it saves before, start it once "
                  "without gradway capture")
    elif isinstance(error, KeyError) and error.args and str(error.args[0]).replace("_", "").isupper():
        remedy = "set this variable of the environment, as the launcher of the program does"
    elif any(word in str(error).lower() for word in ("meta", "cuda", "nccl", "nvidia", "triton", "gpu")):
        remedy = ("during a capture tensors have shapes and no data, and there is no GPU: leave this part out for the capture, or import a "
                  "profile of one GPU instead (gradway import kineto)")
    else:
        remedy = "if the program runs without gradway capture, leave this part out for the capture, or import a profile of one GPU (gradway import kineto)"
    return f"{place_of(error)}: the program failed ({what}); {remedy}"

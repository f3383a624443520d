# SPDX-License-Identifier: Apache-2.0
"""`gradway capture`: records a training step of a program without a GPU."""
from __future__ import annotations

import argparse
import contextlib
import os
import re
import runpy
import shlex
import sys
import time
from pathlib import Path
from typing import NoReturn

from gradway.capture import Capture, CaptureError, _allows_tf32, write_model
from gradway.capture._errors import failure, traceback_of
from gradway.capture._file import with_second
from gradway.capture._launch import Launch, unwrapped
from gradway.capture._ranks import tell_if_asked, variables
from gradway.capture._recorder import Recorder
from gradway.capture._recording import Operation, Recording


_MOST_RANKS = 1_000_000


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gradway capture", description="Runs a training program up to its second optimizer step, without a GPU and without memory "
        "for its tensors, and writes its operations as a model file.")
    parser.add_argument("-o", "--out", dest="output", metavar="FILE", help="model file to write (default: models/PROGRAM.yaml)")
    parser.add_argument("-m", "--module", dest="module", action="store_true", help="PROGRAM is a module, as for python -m")
    parser.add_argument("--batch", type=int, metavar="N", help="samples of a micro-batch (default: the first dimension of the model's "
                        "first argument)")
    parser.add_argument("--ranks", type=int, metavar="N", help="ranks that the program sees, as torchrun would start them (default: 1, or WORLD_SIZE)")
    parser.add_argument("--add", metavar="FILE", help="adds the step to a model file of the same program at another sequence length")
    parser.add_argument("--time", dest="times", action="append", default=[], metavar="NAME=TIME", help="time of an operation that gradway does not "
                        "know, such as mylib.scan=35us, on the GPU of the scenario; may be repeated")
    parser.add_argument("program", metavar="PROGRAM", help="the training script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")
    return parser.parse_args(words)


def summary(capture: Capture, path: Path, seconds: float) -> str:
    """Summary of the capture and the next command."""
    recording = capture.recording
    trained = sum(_elements(parameter.shape) for parameter in recording.parameters if parameter.trained)
    operations = sum(isinstance(operation, Operation) for operation in recording.operations)
    shape = f"batch {recording.batch}" + (f" x {recording.sequence} tokens" if recording.sequence else "")
    lines = [f"captured in {seconds:.1f} s: {operations} operations, {trained / 1e6:,.1f} million parameters, {shape}, "
             f"{recording.optimizer_class}" + (f", autocast {recording.autocast}" if recording.autocast else "")]
    lines += [f"warning: {_shown(warning)}" for warning in (*recording.warnings, *_without_time(recording))]
    lines.append(f"written to {_shell_word(str(path))}; next: gradway show model {_shell_word(str(path))}")
    return "\n".join(lines)


def _without_time(recording: Recording) -> list[str]:
    """Custom operations and kernels of Triton whose time follows from the bytes that they move alone."""
    calls: dict[str, int] = {}
    for operation in recording.operations:
        if isinstance(operation, Operation) and "." in operation.name and operation.name not in recording.times and operation.phase in ("forward", "backward"):
            calls[operation.name] = calls.get(operation.name, 0) + 1
    if not calls:
        return []
    names = ", ".join(f"{name} ({count} call{'s' if count > 1 else ''})" for name, count in calls.items())
    return [f"gradway does not know these operations, and predicts them by the bytes that they move: {names}. If you know the time of a call, capture "
            f"with --time {next(iter(calls))}=TIME, such as 35us"]


def _times(words: list[str]) -> dict[str, str]:
    times = {}
    for word in words:
        name, _, time_of_call = word.rpartition("=")
        found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+) ?(ns|us|ms|s)", time_of_call)
        if not found or not re.fullmatch(r"[\w.]+", name) or float(found[1]) == 0:
            raise CaptureError(f"--time {word} is not NAME=TIME, such as mylib.scan=35us")
        times[name] = f"{found[1]} {found[2]}"
    return times


def _shell_word(text: str) -> str:
    """A word of a command to paste, without characters that a terminal obeys."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}" for byte in os.fsencode(text)) + "'"


def _shown(text: str) -> str:
    """Text without characters that a terminal obeys."""
    return "".join(one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in text)


def _refuse(why: str) -> int:
    print(f"gradway capture: {_shown(why)}", file=sys.stderr)
    return 2


def _elements(shape: tuple[int, ...]) -> int:
    count = 1
    for side in shape:
        count *= side
    return count


def _end(status: int) -> NoReturn:
    """Ends the process at once: no `finally`, `except BaseException` or teardown of a framework can run the program on."""
    import multiprocessing
    for child in multiprocessing.active_children():
        child.kill()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


class _Run:
    """A program that is captured."""

    def __init__(self, asked: argparse.Namespace, launch: Launch) -> None:
        self._asked, self._launch, self._started = asked, launch, time.time()
        self._process = os.getpid()
        self._told = os.pipe()  # a child process that captured the step writes a byte
        os.set_blocking(self._told[0], False)
        name = launch.program.rsplit(".", 1)[-1] if launch.is_module else Path(launch.program).stem
        self.path = Path(asked.output or f"models/{name}.yaml").absolute()
        self._shown = Path(asked.output or f"models/{name}.yaml")
        self._add = Path(asked.add).absolute() if asked.add else None
        self.recorder = Recorder(asked.batch, max(launch.ranks, 1))
        self.recorder.recording.times = _times(asked.times)
        self.recorder.on_finish, self.recorder.on_failure = self.finish, self.fail

    def finish(self) -> NoReturn:
        """Writes the recording before anything else runs."""
        recorder = self.recorder
        capture = Capture(recorder.recording, f"{os.path.basename(self._launch.program)}, captured with {recorder.recording.framework}",
                          _allows_tf32(recorder.torch))
        shown = self._shown
        try:
            if self._add is not None:
                shown = shown if self._asked.output else Path(self._asked.add)
                write_model(self.path if self._asked.output else self._add, with_second(self._add.read_text(), capture.text(), self._asked.add))
            else:
                capture.save(self.path)
        except CaptureError as error:
            _end(_refuse(str(error)))
        print(summary(capture, shown, time.time() - self._started))
        if os.getpid() != self._process:
            os.write(self._told[1], b"1")
        _end(0)

    def fail(self, error: BaseException) -> NoReturn:
        """Says why the program did not get to the end of its second step."""
        with contextlib.suppress(BlockingIOError):
            if os.read(self._told[0], 1):  # a child process did
                _end(0)
        first = CaptureError.first
        if first is not None:
            _end(_refuse(str(first)))
        if isinstance(error, SystemExit):
            ended = "" if error.code is None else f" ({error.code})"
            done = "" if self.recorder.is_before_first_step else ", after one"
            _end(_refuse(f"the program ended{ended} before its second optimizer step{done}: let it run at least two steps"))
        sys.stdout.flush()
        print(_shown(traceback_of(error)).rstrip(), file=sys.stderr)
        _end(_refuse(failure(error)))

    def run(self) -> NoReturn:
        launch = self._launch
        os.environ.update(launch.environment)
        if launch.ranks > 1:
            os.environ.update(variables(launch.ranks))
        tell_if_asked()
        sys.warnoptions.append("ignore:resource_tracker:UserWarning")  # of processes that outlive this one, which ends at once
        sys.argv = [launch.program, *launch.arguments]
        try:
            with self.recorder.active():
                if launch.is_module:
                    sys.path.insert(0, os.getcwd())
                    runpy.run_module(launch.program, run_name="__main__", alter_sys=True)
                else:
                    sys.path.insert(0, str(Path(launch.program).resolve().parent))
                    runpy.run_path(launch.program, run_name="__main__")
            raise SystemExit
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(error)


def main(words: list[str] | None = None) -> int:
    asked = _arguments(words)
    if os.environ.get("RANK", "0") != "0":
        return 0  # torchrun started several: the first one captures
    if asked.ranks is not None and not 1 <= asked.ranks <= _MOST_RANKS:
        return _refuse(f"{asked.ranks} ranks are out of range: 1 to {_MOST_RANKS:,}")
    try:
        launch = unwrapped(asked.program, asked.module, asked.arguments, asked.ranks or int(os.environ.get("WORLD_SIZE", 0)))
        if not launch.is_module and not os.path.exists(launch.program):
            return _refuse(f"file '{launch.program}' not found")
        if asked.add and not os.path.exists(asked.add):
            return _refuse(f"file '{asked.add}' not found")
        _Run(asked, launch).run()
    except CaptureError as error:
        return _refuse(str(error))


if __name__ == "__main__":
    sys.exit(main())

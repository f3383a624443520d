# SPDX-License-Identifier: Apache-2.0
"""`gradway capture`: records a training step of a program without a GPU."""
from __future__ import annotations

import argparse
import os
import runpy
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from gradway.capture import Capture, CaptureError, _allows_tf32, write_model
from gradway.capture._file import with_second
from gradway.capture._recorder import Finished, Recorder
from gradway.capture._recording import Operation


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gradway capture", description="Runs a training program up to its second optimizer step, without a GPU and without memory "
        "for its tensors, and writes its operations as a model file.")
    parser.add_argument("-o", "--out", dest="output", metavar="FILE", help="model file to write (default: models/PROGRAM.yaml)")
    parser.add_argument("-m", "--module", dest="module", action="store_true", help="PROGRAM is a module, as for python -m")
    parser.add_argument("--batch", type=int, metavar="N", help="samples of a micro-batch (default: the first dimension of the model's "
                        "first argument)")
    parser.add_argument("--add", metavar="FILE", help="adds the step to a model file of the same program at another sequence length")
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
    lines += [f"warning: {_shown(warning)}" for warning in recording.warnings]
    lines.append(f"written to {_shell_word(str(path))}; next: gradway show model {_shell_word(str(path))}")
    return "\n".join(lines)


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


def main(words: list[str] | None = None) -> int:
    asked = _arguments(words)
    started = time.time()
    name = asked.program.rsplit(".", 1)[-1] if asked.module else Path(asked.program).stem
    path = Path(asked.output or f"models/{name}.yaml")
    if not asked.module and not os.path.exists(asked.program):
        return _refuse(f"file '{asked.program}' not found")
    if asked.add and not os.path.exists(asked.add):
        return _refuse(f"file '{asked.add}' not found")
    recorder: Any = None
    argv, sys.argv = sys.argv, [asked.program, *asked.arguments]
    try:
        recorder = Recorder(asked.batch)
        with recorder.active():
            if asked.module:
                runpy.run_module(asked.program, run_name="__main__", alter_sys=True)
            else:
                sys.path.insert(0, str(Path(asked.program).resolve().parent))
                runpy.run_path(asked.program, run_name="__main__")
        raise CaptureError("the program ended before its second optimizer step: let it run at least two steps")
    except Finished:
        pass
    except CaptureError as error:
        return _refuse(str(error))
    except SystemExit as ended:
        return _refuse(f"the program ended ({ended.code}) before its second optimizer step: let it run at least two steps")
    finally:
        sys.argv = argv
    capture = Capture(recorder.recording, f"{os.path.basename(asked.program)}, captured with {recorder.recording.framework}",
                      _allows_tf32(recorder.torch))
    try:
        if asked.add:
            path = write_model(Path(asked.output or asked.add), with_second(Path(asked.add).read_text(), capture.text(), asked.add))
        else:
            capture.save(path)
    except CaptureError as error:
        return _refuse(str(error))
    print(summary(capture, path, time.time() - started))
    return 0


if __name__ == "__main__":
    sys.exit(main())

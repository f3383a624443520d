# SPDX-License-Identifier: Apache-2.0
"""What the notebooks need to call gradway: where it is, its reports as Python values, its errors as it words them.

The program is the one that the variable GRADWAY names, or that of build/release or build/ci in this repository.
Names of scenarios and paths of files are looked up from the root of the repository.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

from IPython.display import Markdown

ROOT = Path(__file__).resolve().parent.parent
STYLE = str(Path(__file__).with_name("gradway.mplstyle"))


class GradwayError(RuntimeError):
    """gradway refused, or is not there; the text is what to do about it."""


def program() -> Path:
    """gradway itself. Raises GradwayError if it was not built."""
    if named := os.environ.get("GRADWAY"):
        if not os.access(named, os.X_OK):
            raise GradwayError(f"GRADWAY names '{named}', which is no program")
        return Path(named).resolve()
    for preset in ("release", "ci"):
        built = ROOT / "build" / preset / "gradway"
        if os.access(built, os.X_OK):
            return built
    raise GradwayError("gradway is not built: run scripts/demo, which builds it, or let the variable GRADWAY name it")


def gradway(*arguments, remarks: bool = True) -> str:
    """What `gradway ARGUMENTS` prints. Its remarks go to the cell's error output, or nowhere without `remarks`.

    Raises GradwayError with gradway's own words if it fails.
    """
    command = [str(program()), *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise GradwayError(f"gradway {' '.join(command[1:])}\nended with {done.returncode}:\n{done.stderr.strip()}")
    if remarks and done.stderr:
        sys.stderr.write(done.stderr)
    return done.stdout


def report(*arguments, settings: dict | None = None) -> dict:
    """The JSON report of `gradway ARGUMENTS --set KEY=VALUE ... --json`; `settings` holds the keys and values."""
    changes = [word for key, value in (settings or {}).items() for word in ("--set", f"{key}={value}")]
    return json.loads(gradway(*arguments, *changes, "--json", remarks=False))


def table(header: list, rows: list) -> Markdown:
    """A table to show: the first column to the left, the others, numbers, to the right."""
    lines = [header, [":--"] + ["--:"] * (len(header) - 1), *rows]
    return Markdown("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))


def percent(fraction: float, digits: int = 0) -> str:
    """As gradway writes it: 3.7 %."""
    return f"{100 * fraction:.{digits}f} %"

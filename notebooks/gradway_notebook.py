# SPDX-License-Identifier: Apache-2.0
"""What the notebooks share beside the package gradway, which is taken from this checkout: where they are, how they look."""
import sys
from pathlib import Path

from IPython.display import Markdown

ROOT = Path(__file__).resolve().parent.parent
STYLE = str(Path(__file__).with_name("gradway.mplstyle"))

sys.path.insert(0, str(ROOT / "python"))


def table(header: list, rows: list) -> Markdown:
    """A table to show: the first column to the left, the others, numbers, to the right."""
    lines = [header, [":--"] + ["--:"] * (len(header) - 1), *rows]
    return Markdown("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))


def percent(fraction: float, digits: int = 0) -> str:
    """As gradway writes it: 3.7 %."""
    return f"{100 * fraction:.{digits}f} %"

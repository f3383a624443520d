# SPDX-License-Identifier: Apache-2.0
"""The command `gradway` of a wheel, and `python -m gradway`: runs the program."""
import os
import sys

from gradway._process import program


def main() -> None:
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()

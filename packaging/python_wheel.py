# SPDX-License-Identifier: Apache-2.0
"""Build backend of `pip wheel .` (PEP 517): packs python/gradway with the program and its data.

    pip wheel .                                        builds the preset release first
    pip wheel . --config-settings build=FOLDER         packs the build in FOLDER

The wheel requires the libraries of the program, so it runs on the system on which it was built; pip needs no network.
"""
from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files installed by cmake that a Python package does not need.
LEFT_OUT = ("share/doc/", "share/man/", "share/bash-completion/", "share/zsh/", "share/fish/")


def build_wheel(wheel_directory: str, config_settings: dict | None = None, metadata_directory: str | None = None) -> str:
    version = re.search(r"project\(gradway VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    tag = f"py3-none-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    name = f"gradway-{version}-{tag}.whl"
    build = (config_settings or {}).get("build")
    if not build:
        build = ROOT / "build/release"
        say("cmake", "--preset", "release", "-S", str(ROOT))
        say("cmake", "--build", str(build), "--target", "gradway", "gradway_http", "gradway_simgrid")
    info = f"gradway-{version}.dist-info"
    metadata = (f"Metadata-Version: 2.1\nName: gradway\nVersion: {version}\nSummary: simulator of distributed training steps\n"
                "License: Apache-2.0\nRequires-Python: >=3.10\n")
    with tempfile.TemporaryDirectory() as folder:
        say("cmake", "--install", str(build), "--prefix", folder, "--strip")
        with Wheel(Path(wheel_directory) / name) as wheel:
            package = ROOT / "python/gradway"
            for path in sorted(path for path in package.rglob("*") if "__pycache__" not in path.parts):
                if path.is_file():
                    wheel.add(f"gradway/{path.relative_to(package).as_posix()}", path)
            for path in sorted(Path(folder).rglob("*")):
                place = path.relative_to(folder).as_posix()
                if path.is_file() and not place.startswith(LEFT_OUT):
                    wheel.add(f"gradway/_program/{place}", path)
            for path in (ROOT / "LICENSE", ROOT / "NOTICE"):
                wheel.add(f"{info}/{path.name}", path)
            wheel.write(f"{info}/METADATA", metadata.encode())
            wheel.write(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: gradway\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
            wheel.write_record(f"{info}/RECORD")
    return name


class Wheel(zipfile.ZipFile):
    """The same files give the same bytes."""

    def __init__(self, path: Path):
        super().__init__(path, "w", zipfile.ZIP_DEFLATED)
        self.record: list[str] = []

    def add(self, name: str, path: Path) -> None:
        self.write(name, path.read_bytes(), path.stat().st_mode & 0o777)

    def write(self, name: str, content: bytes, mode: int = 0o644) -> None:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")
        entry = zipfile.ZipInfo(name)  # of 1980
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.writestr(entry, content)

    def write_record(self, name: str) -> None:
        self.writestr(zipfile.ZipInfo(name), "".join(self.record) + f"{name},,\n")


def say(*command: str) -> None:
    """Runs a command with its output in that of pip."""
    print("$", *command, flush=True)
    subprocess.run(command, check=True, cwd=ROOT, stdout=sys.stdout)

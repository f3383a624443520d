# SPDX-License-Identifier: Apache-2.0
"""Build backend of `pip wheel .` (PEP 517): packs python/gradway with the program and its data.

    pip wheel .                                        builds the preset release first
    pip wheel . --config-settings build=FOLDER         packs the build in FOLDER

The wheel has the command gradway, its manual page and completions, and all libraries but those of the C and C++ compiler, and SimGrid, which
comes with parts under the GPL. It runs where the C library is as new as that of this system; pip needs no network.
"""
from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files installed by cmake that a Python package does not need, or has in other places.
LEFT_OUT = ("share/doc/", "lib/python3/")
# They belong into the prefix of Python.
OF_PREFIX = ("share/man/", "share/bash-completion/", "share/zsh/", "share/fish/")
# Every system has these (as PEP 600 requires).
OF_SYSTEM = re.compile(r"(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s))\.so\.\d+$")


def build_wheel(wheel_directory: str, config_settings: dict | None = None, metadata_directory: str | None = None) -> str:
    version = re.search(r"project\(gradway VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    machine = re.sub("[-.]", "_", sysconfig.get_platform().removeprefix("linux-"))
    tag = f"py3-none-manylinux_{platform.libc_ver()[1].replace('.', '_')}_{machine}"
    name = f"gradway-{version}-{tag}.whl"
    build = (config_settings or {}).get("build")
    if not build:
        build = ROOT / "build/release"
        say("cmake", "--preset", "release", "-S", str(ROOT))
        say("cmake", "--build", str(build), "--target", "gradway")
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
            libraries = libraries_of([Path(folder) / "bin/gradway", *(Path(folder) / f"lib/gradway/libgradway_{module}.so" for module in ("http", "tar"))])
            for path in libraries:
                wheel.add(f"gradway/_program/lib/gradway/{path.name}", path)
            for package, path in licences_of(libraries).items():
                wheel.add(f"{info}/licenses/{package}", path)
            for path in sorted(Path(folder).rglob("*")):
                place = path.relative_to(folder).as_posix()
                if not path.is_file() or place.startswith(LEFT_OUT):
                    continue
                wheel.add(f"gradway-{version}.data/data/{place}" if place.startswith(OF_PREFIX) else f"gradway/_program/{place}", path)
            for path in (ROOT / "LICENSE", ROOT / "NOTICE"):
                wheel.add(f"{info}/{path.name}", path)
            wheel.write(f"{info}/METADATA", metadata.encode())
            wheel.write(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: gradway\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
            wheel.write(f"{info}/entry_points.txt", b"[console_scripts]\ngradway = gradway.__main__:main\n")
            wheel.write_record(f"{info}/RECORD")
    return name


def libraries_of(programs: list[Path]) -> list[Path]:
    """The libraries that the programs load, under the names by which they load them."""
    paths: dict[str, Path] = {}
    for path in programs:
        loaded = subprocess.run(["ldd", path], check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        if missing := re.findall(r"(\S+) => not found", loaded):
            raise SystemExit(f"{path.name} needs libraries that are not here: {', '.join(missing)}")
        paths |= {name: Path(place) for name, place in re.findall(r"(\S+) => (/\S+)", loaded) if not OF_SYSTEM.match(name)}
    return [paths[name].parent / name for name in sorted(paths)]


def licences_of(libraries: list[Path]) -> dict[str, Path]:
    """The files with copyright and licence, by Debian's package."""
    licences = {}
    for path in libraries:
        real = os.path.realpath(path)
        for name in (real, real.removeprefix("/usr")):  # as the package calls it
            owner = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
            if owner.returncode == 0:
                package = owner.stdout.split(":")[0]
                licences[package] = Path(f"/usr/share/doc/{package}/copyright")
                break
        else:
            raise SystemExit(f"{path} belongs to no package of Debian, so that its licence is unknown")
    return dict(sorted(licences.items()))


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

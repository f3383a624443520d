# SPDX-License-Identifier: Apache-2.0
"""Command lines of launchers: the program behind `torchrun`, `accelerate launch`, `deepspeed` and `python`, and the ranks that they start."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from gradway.capture._errors import CaptureError

_TORCHRUN = ("torch.distributed.run", "torch.distributed.launch")


@dataclass
class Launch:
    program: str
    is_module: bool
    arguments: list[str]
    ranks: int = 0  # 0: no launcher named them
    environment: dict[str, str] = field(default_factory=dict)


def _whole(text: Any, otherwise: int) -> int:
    """The last number of `8`, `1:4`; `auto`, `gpu` and the like are not known here."""
    found = re.findall(r"\d+", str(text))
    return int(found[-1]) if found else otherwise


def _of_torchrun(words: list[str], ranks: int) -> Launch:
    from torch.distributed.run import get_args_parser
    asked = get_args_parser().parse_args(words)
    count = _whole(asked.nnodes, 1) * _whole(asked.nproc_per_node, 1)
    return Launch(asked.training_script, bool(asked.module), list(asked.training_script_args), max(ranks, count))


def _of_accelerate(words: list[str], ranks: int) -> Launch:
    try:
        launcher, environments = (import_module(name) for name in ("accelerate.commands.launch", "accelerate.utils.launch"))
    except ImportError as missing:
        raise CaptureError("accelerate is not installed in this Python: give the program itself, without 'accelerate launch'") from missing
    asked = launcher.launch_command_parser().parse_args(words)
    asked, _, _ = launcher._validate_launch_command(asked)
    count = int(asked.num_processes or 1)
    _, environment = environments.prepare_simple_launcher_cmd_env(asked)
    if count > 1:
        environment = {**environment, **environments.prepare_multi_gpu_env(asked)}
    changed = {key: value for key, value in environment.items() if os.environ.get(key) != value and key != "CUDA_VISIBLE_DEVICES"}
    return Launch(asked.training_script, bool(asked.module), list(asked.training_script_args), max(ranks, count), changed)


def _of_deepspeed(words: list[str], ranks: int) -> Launch:
    nodes, gpus = 1, 1
    while words and words[0].startswith("-"):
        option, *value = words[0].split("=", 1)
        words = words[1:]
        if not value and option not in ("--no_local_rank", "--no_python", "--no_ssh", "--module", "--force_multi"):
            value, words = words[:1], words[1:]
        if option == "--num_nodes":
            nodes = _whole(value[0], 1)
        elif option == "--num_gpus":
            gpus = _whole(value[0], 1)
    return Launch(words[0] if words else "", False, words[1:], max(ranks, nodes * gpus))


def unwrapped(program: str, is_module: bool, arguments: list[str], ranks: int) -> Launch:
    """The program that a command line starts."""
    name = os.path.basename(program)
    is_launcher = name in ("torchrun", "accelerate", "deepspeed") or re.fullmatch(r"python[\d.]*", name)
    if os.path.exists(program) and not is_launcher:
        return Launch(program, is_module, arguments, ranks)
    if (is_module and program in _TORCHRUN) or (not is_module and name == "torchrun"):
        return _of_torchrun(arguments, ranks)
    if (is_module and program == "accelerate.commands.launch") or (not is_module and name == "accelerate" and arguments[:1] == ["launch"]):
        return _of_accelerate(arguments if is_module else arguments[1:], ranks)
    if not is_module and name == "deepspeed":
        return _of_deepspeed(arguments, ranks)
    if not is_module and re.fullmatch(r"python[\d.]*", name):
        words = [word for word in arguments]
        while words and words[0] in ("-u", "-B", "-O", "-s", "-E"):
            words = words[1:]
        if words[:1] == ["-m"] and len(words) > 1:
            return unwrapped(words[1], True, words[2:], ranks)
        return Launch(words[0] if words else "", False, words[1:], ranks)
    return Launch(program, is_module, arguments, ranks)

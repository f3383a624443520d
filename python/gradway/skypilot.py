# SPDX-License-Identifier: Apache-2.0
"""Lets SkyPilot choose resources by gradway's hours: `sky launch` and `sky.optimize` otherwise assume one hour on each.

    task.set_time_estimator(gradway.skypilot.time_estimator("llama3_8b", tokens="10B", num_nodes=task.num_nodes))
"""
from __future__ import annotations

import logging
import math
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Callable, Mapping

from gradway._commands import call, plan
from gradway._errors import InputError

_log = logging.getLogger("gradway")


def platform_of(resources: Any, *, platform: str | None = None) -> str:
    """The platform that stands for a node of `sky.Resources`, as in `gradway import prices`: the instance's, or a node with its GPUs.

    platform: this one instead, if it has the GPU. Raises InputError if no platform has the GPU.
    """
    accelerators = resources.accelerators or {}
    if len(accelerators) != 1:
        raise InputError(f"error: {resources} names no GPU: gradway predicts training on GPUs\n")
    (name, count), = accelerators.items()
    # The catalogue's own columns. The price is not used.
    row = ("InstanceType,AcceleratorName,AcceleratorCount,Price,Region\n"
           f'"{resources.instance_type or "any"}","{name}",{count},1,any\n')
    with tempfile.TemporaryDirectory() as folder:
        catalogue = Path(folder) / "vms.csv"
        catalogue.write_text(row)
        try:
            prices = call("import", "prices", catalogue, "--date", "2026-01-01", *(["--platform", platform] if platform else []))
        except InputError as error:
            raise InputError(f"error: no platform stands for nodes with {name}\n  hint: gradway list gpus\n") from error
    return re.findall(r"\{ platform: ([^\s,]+)", prices)[0]


def time_estimator(model: str | os.PathLike[str], *, tokens: float | str | None = None, samples: float | str | None = None,
                   num_nodes: int = 1, platforms: Mapping[str, str] | None = None, **options: Any) -> Callable[[Any], float]:
    """Returns a function for `Task.set_time_estimator`: seconds of the whole training on `sky.Resources`.

    num_nodes: that of the task, which SkyPilot does not hand over.
    platforms: a platform by accelerator, such as {"H100": "lambda-8x-h100"}, instead of the one that stands for its nodes.
    options: others of `gradway.plan`, such as global_batch, sequence, framework, failures.

    Resources on which the training does not fit take infinitely long, so that SkyPilot does not choose them; the reason goes to the
    logger "gradway". Raises InputError for resources without a known GPU.
    """
    known: dict[tuple, float] = {}

    def seconds_on(resources: Any) -> float:
        accelerators = resources.accelerators or {}
        chosen = [node for name, node in (platforms or {}).items() if name in accelerators]
        platform = platform_of(resources, platform=chosen[0] if chosen else None)
        count = next(iter(accelerators.values()))
        key = (platform, count, resources.use_spot)
        if key not in known:
            terms = "spot" if resources.use_spot else None
            try:
                cluster = plan(model, platform, int(count) * num_nodes, tokens=tokens, samples=samples, terms=terms, **options).clusters[0]
                known[key] = cluster.seconds.median if cluster.seconds else math.inf
            except InputError as error:
                _log.warning("%s with %s GPUs: %s", platform, int(count) * num_nodes, str(error).strip())
                known[key] = math.inf
        return known[key]

    return seconds_on

# SPDX-License-Identifier: Apache-2.0
"""Predicts how long a distributed training step takes, where the time goes and what it costs.

    import gradway

    run = gradway.run("article/g6e", set={"job.gpus": 4})
    run.step_time_s, run.bottleneck.why

A scenario is a name of `gradway list scenarios`, a path of a file, or a dict with the keys of such a file (`Scenario`
names them for editors and type checkers). Quantities
are text with their unit, as in files ("25 MiB"). Results are dataclasses; what is no bare number has its unit at the
end of its name (`_s`: seconds). `records()` of a result gives rows for `pandas.DataFrame`, `to_dict()` the document
that the program prints with `--json`, to the last digit.

All work is done by the program gradway, which this package brings along or finds in the build of its checkout; the
variable GRADWAY names another. It stays between calls, one process for each thread that calls at the same time, and
reads a file again only once it has changed. Only `capture` is Python's own: it needs your PyTorch.
"""
from gradway._commands import ScenarioLike, call, campaign, compare, optimize, optimize_layout, report, run, sweep, validate
from gradway._errors import GradwayError, InputError, Note, Problem, SimulationError
from gradway._results import (
    Bottleneck, Campaign, Case, Comparison, FailedPoint, Layout, LayoutOptimum, LeftOut, Link, Metrics, Optimum, Run, Setting,
    Spread, Sweep, Validation,
)
from gradway._scenario import Scenario
from gradway.capture import Capture, CaptureError, capture

__all__ = [
    "Bottleneck", "Campaign", "Capture", "CaptureError", "Case", "Comparison", "FailedPoint", "GradwayError", "InputError", "Layout", "LayoutOptimum", "LeftOut",
    "Link", "Metrics", "Note", "Optimum", "Problem", "Run", "Scenario", "ScenarioLike", "Setting", "SimulationError", "Spread", "Sweep",
    "Validation", "call", "campaign", "capture", "compare", "optimize", "optimize_layout", "report", "run", "sweep", "validate",
]

# SPDX-License-Identifier: Apache-2.0
"""Predicts how long a distributed training step takes, where the time goes and what it costs.

    import gradway

    run = gradway.run("article/g6e", set={"job.gpus": 4})
    run.step_time_s, run.bottleneck.why

A scenario is a name from `gradway list scenarios`, the path of a file, or a dict with the keys of such a file
(`Scenario` defines them for editors and type checkers). Quantities are text with their unit, as in files ("25 MiB").
Results are dataclasses; names of quantities end with their unit (`_s`: seconds). `records()` of a result returns rows
for `pandas.DataFrame`, `to_dict()` the document that the program prints with `--json`, to the last digit.

All work is done by the program gradway, which this package contains or finds in the build of its checkout; the
environment variable GRADWAY names another one. It keeps running between calls, one process per concurrent thread, and
reads a file again only after it has changed. Only `gradway.capture` (with your PyTorch) and `gradway.StepLog` run in Python
itself.
"""
from gradway._commands import ScenarioLike, call, campaign, compare, optimize, optimize_layout, plan, report, run, sweep, validate
from gradway._errors import GradwayError, InputError, Note, Problem, SimulationError
from gradway._results import (
    Bottleneck, Campaign, Case, Comparison, FailedPoint, Layout, LayoutOptimum, LeftOut, Link, Metrics, Optimum, Plan, PlannedCluster, Run,
    Setting, Spread, Sweep, Validation,
)
from gradway._scenario import Scenario
from gradway._step_log import StepLog
from gradway.capture import Capture, CaptureError, capture

__all__ = [
    "Bottleneck", "Campaign", "Capture", "CaptureError", "Case", "Comparison", "FailedPoint", "GradwayError", "InputError", "Layout", "LayoutOptimum", "LeftOut",
    "Link", "Metrics", "Note", "Optimum", "Plan", "PlannedCluster", "Problem", "Run", "Scenario", "ScenarioLike", "Setting", "SimulationError", "Spread", "StepLog", "Sweep",
    "Validation", "call", "campaign", "capture", "compare", "optimize", "optimize_layout", "plan", "report", "run", "sweep", "validate",
]

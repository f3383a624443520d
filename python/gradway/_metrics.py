# SPDX-License-Identifier: Apache-2.0
"""The figures of a step, for editors and type checkers.

Made by scripts/types from `gradway schema metrics`: change the table in sim/report/format/figures.cpp instead.
"""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metrics:
    """Figures of a step. Fractions are from 0 to 1; None if unknown or not applicable."""

    step_time_s: float
    steps_per_s: float
    samples_per_s: float
    tokens_per_s: float | None  #: of a model of text
    tokens_per_s_per_gpu: float | None
    compute_s: float
    communication_s: float  #: overlapped by kernels or not
    exposed_communication_s: float  #: not overlapped by kernels
    exposed_s: dict[str, float]  #: exposed communication by group: data, tensor, pipeline, context, expert
    input_wait_s: float
    optimizer_s: float
    launch_bound_s: float
    idle_s: float
    bubble_s: float | None  #: of a pipeline
    gpu_busy_fraction: float
    tflops_per_gpu: float  #: 10^12 FLOP per second
    mfu: float | None  #: share of the GPU's dense peak
    collectives: int  #: per step
    bytes_sent_per_gpu: float  #: per step
    peak_memory_bytes: float
    cost_usd_per_hour: float | None
    cost_usd_per_million_samples: float | None
    data_loading_s: float | None  #: from when a loader worker begins a batch until the batch is ready
    first_batch_s: float | None  #: from the start of an epoch
    epoch_steps: float | None  #: steps in which every sample occurs once
    epoch_s: float | None  #: from the start of the workers to the end of the last step
    epoch_start_s: float | None  #: time of an epoch in addition to its steps
    storage_bytes: float | None  #: read by all ranks per step
    accelerator_utilisation: float | None  #: as MLPerf Storage defines it
    bus_bandwidth_bytes_per_s: float | None  #: of a collective alone
    idle_gpus: int | None  #: of the nodes that are paid for

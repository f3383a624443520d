# SPDX-License-Identifier: Apache-2.0
"""What commands give, as dataclasses over the documents that the program prints."""
from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any


def _taken(kind: type, document: dict, **more: Any) -> Any:
    """An object with the fields that the document has; those that it lacks are None."""
    known = {one.name: document.get(one.name) for one in fields(kind) if one.init}
    if "interval_s" in known:
        known["interval_s"] = tuple(document.get("interval_s") or document["interval"])
    if "document" in known:
        known["document"] = document
    return kind(**known | more)


class _Document:
    """What stands for a whole document."""

    document: dict

    def to_dict(self) -> dict:
        """The document that the program prints with --json: full precision, units in its keys. docs/files.md describes it."""
        return self.document


def _value(text: str) -> int | float | bool | str:
    """What a sweep sets, as a number or a truth value if it is one; an amount with its unit stays a text."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


@dataclass(frozen=True)
class Metrics:
    """Figures of a step. Fractions are of 1; None is what is not known, or does not apply."""

    step_time_s: float
    steps_per_s: float
    samples_per_s: float
    tokens_per_s: float | None
    tokens_per_s_per_gpu: float | None
    compute_s: float
    communication_s: float
    exposed_communication_s: float  #: that no kernel hides
    exposed_s: dict[str, float]  #: the same by the ranks that exchange: data, tensor, pipeline, context, expert
    input_wait_s: float
    optimizer_s: float
    launch_bound_s: float
    idle_s: float
    bubble_s: float | None  #: of a pipeline
    gpu_busy_fraction: float
    tflops_per_gpu: float  #: 10^12 FLOPs a second
    mfu: float | None  #: of the GPU's dense peak
    collectives: int  #: a step
    bytes_sent_per_gpu: float
    peak_memory_bytes: float
    cost_usd_per_hour: float | None
    cost_usd_per_million_samples: float | None
    bus_bandwidth_bytes_per_s: float | None  #: of a collective alone
    data_loading_s: float | None  #: from a loader worker's begin of a batch until it can be taken
    first_batch_s: float | None  #: from the start of an epoch
    epoch_steps: float | None  #: in which every sample comes once
    epoch_s: float | None  #: from the start of its workers to the end of its last step
    epoch_start_s: float | None  #: what it takes longer than its steps
    storage_bytes: float | None  #: read by all ranks, a step
    accelerator_utilisation: float | None  #: as MLPerf Storage defines it


@dataclass(frozen=True)
class Bottleneck:
    resource: str
    why: str


@dataclass(frozen=True)
class Link:
    name: str
    busy_fraction: float  #: of the step
    bytes: float  #: a step


@dataclass(frozen=True)
class Run(_Document):
    """A predicted step."""

    scenario: dict  #: as resolved, defaults included
    engine: str
    metrics: Metrics
    #: holds what is real in nine of ten cases: `step_time_s`, `memory_bytes`; in comparisons `run_hours`, `run_usd`, `usd_per_million_samples`, too
    interval: dict[str, tuple[float, float]]
    fits: bool | None  #: into the GPU's memory; None: its size is not known
    does_not_fit: str | None  #: why
    gpu_memory_bytes: float | None
    memory_verdict: str | None  #: fits, tight, may not fit or does not fit; None: not all activations are known
    memory_largest_part: str | None  #: parameters, gradients, optimizer, activations, buffers or framework
    memory: dict[str, float]  #: bytes, by what holds them
    bottleneck: Bottleneck
    links: tuple[Link, ...]
    basis: tuple[str, ...]  #: what the prediction is based on
    warnings: tuple[str, ...]
    warning_codes: tuple[str, ...]  #: of each warning; `gradway help CODE` explains it
    price: dict | None  #: USD a node and hour, with its region and date; None: not known
    costs: dict | None  #: of a comparison: `run_hours` and `run_usd` of the samples that were asked for, and more
    training: dict | None  #: time and cost of a whole training, if it was asked for
    largest_batch: dict | None  #: if it was asked for
    set: dict[str, str]  #: what a sweep varied
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Run:
        return _taken(cls, document, metrics=_taken(Metrics, document["metrics"]), set=document.get("set", {}),
                      interval={what: ends and tuple(ends) for what, ends in document["interval"].items()}, bottleneck=Bottleneck(**document["bottleneck"]),
                      links=tuple(_taken(Link, link) for link in document["links"]), basis=tuple(document["basis"]),
                      warnings=tuple(document["warnings"]),
                      warning_codes=tuple(document["warning_codes"]))

    @property
    def model(self) -> str:
        """Name of the model. With changed keys: the name of the model that it is based on, and the keys."""
        model = self.scenario["model"]
        if isinstance(model, str):
            return model
        changes = ", ".join(f"{key}: {value}" for key, value in model.items() if key != "based_on")
        return f"{model['based_on']} {{{changes}}}"

    @property
    def platform(self) -> str:
        return self.scenario["platform"]

    @property
    def gpus(self) -> int:
        return self.scenario["job"]["gpus"]

    @property
    def step_time_s(self) -> float:
        return self.metrics.step_time_s

    def records(self) -> list[dict]:
        """One row: model, platform, gpus, what a sweep varied (numbers as numbers), the metrics, interval_low_s and _high_s, fits, bottleneck."""
        metrics = asdict(self.metrics)
        exposed = {f"exposed_{group}_s": seconds for group, seconds in metrics.pop("exposed_s").items()}
        low, high = self.interval["step_time_s"]
        return [{"model": self.model, "platform": self.platform, "gpus": self.gpus, **{key: _value(text) for key, text in self.set.items()}, **metrics, **exposed,
                 "interval_low_s": low, "interval_high_s": high, "fits": self.fits, "bottleneck": self.bottleneck.resource}]


@dataclass(frozen=True)
class FailedPoint:
    """A point of a sweep that cannot run."""

    set: dict[str, str]
    error: str  #: as the program says it, with its place and hint


@dataclass(frozen=True)
class _Runs(_Document):
    """Several runs, and which come first; None where several are tied."""

    runs: tuple[Run, ...]
    fastest: Run | None  #: most samples a second
    cheapest: Run | None
    shortest_step: Run | None
    document: dict = field(repr=False)

    def records(self) -> list[dict]:
        """A row a run, in their order; see Run.records."""
        return [row for run in self.runs for row in run.records()]


@dataclass(frozen=True)
class Sweep(_Runs):
    """The points of a sweep in their order."""

    vary: dict[str, list[str]]
    failed: tuple[FailedPoint, ...]

    @classmethod
    def of(cls, document: dict) -> Sweep:
        points = [None if "error" in one else Run.of(one) for one in document["runs"]]
        return _taken(cls, document, vary={axis["key"]: axis["values"] for axis in document["vary"]},
                      runs=tuple(point for point in points if point), **_leaders(document, points),
                      failed=tuple(_taken(FailedPoint, one) for one in document["runs"] if "error" in one))


@dataclass(frozen=True)
class LeftOut:
    """A combination of a comparison that cannot run, or misses a limit."""

    platform: str
    gpus: str  #: "": those of the scenario
    reason: str
    training: dict | None


@dataclass(frozen=True)
class Comparison(_Runs):
    """Platforms in the order of their cost."""

    left_out: tuple[LeftOut, ...]

    @classmethod
    def of(cls, document: dict) -> Comparison:
        runs = tuple(map(Run.of, document["runs"]))
        return _taken(cls, document, runs=runs, left_out=tuple(_taken(LeftOut, one) for one in document["left_out"]),
                      **_leaders(document, runs))


def _leaders(document: dict, runs: Any) -> dict:
    places = {name: document[name] for name in ("fastest", "cheapest", "shortest_step")}
    return {name: None if place is None else runs[place] for name, place in places.items()}


@dataclass(frozen=True)
class Case:
    """A measured step and its prediction."""

    name: str
    measured_s: float
    predicted_s: float
    interval_s: tuple[float, float]
    in_interval: bool  #: the measured one
    error: float  #: a fraction of the measured time, with its sign
    group: str  #: what it rests on, and over what ranks exchange
    is_given: bool | None  #: the very step that the prediction was given, which counts nowhere


@dataclass(frozen=True)
class Validation(_Document):
    """Predicted against measured. Errors are fractions of the measured times, over the cases that were not given."""

    source: str  #: of the measurements
    cases: tuple[Case, ...]
    mean_abs_error: float
    median_abs_error: float
    max_abs_error: float
    bias: float  #: mean of the errors with their signs
    in_interval: int  #: how many cases
    counted: int  #: of so many
    coverage: list[dict]  #: the same by group
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Validation:
        return _taken(cls, document, cases=tuple(_taken(Case, case) for case in document["cases"]))

    def records(self) -> list[dict]:
        """A row a case."""
        return [_row(case) for case in self.cases]


@dataclass(frozen=True)
class Setting:
    """Settings that a search tried."""

    set: dict[str, Any]  #: ready for `set` of `run`
    fits: bool
    cannot_run: str | None  #: why
    step_time_s: float | None
    interval_s: tuple[float, float]
    samples_per_s: float | None
    exposed_communication_s: float | None
    collectives: int | None  #: a step
    memory_needed_bytes: float
    cost_usd_per_million_samples: float | None


@dataclass(frozen=True)
class Spread:
    """A figure of many runs of a campaign."""

    median: float
    low: float  #: nine of ten runs lie between low and high
    high: float


@dataclass(frozen=True)
class Campaign(_Document):
    """A whole training, played many times."""

    seconds: Spread
    usd: Spread | None  #: None without a price
    kg_co2: Spread | None  #: None unless the scenario tells of its electricity
    goodput: Spread  #: shares of the time, as `definitions` says
    effective_training_time: Spread
    ettr: Spread
    interruptions: Spread
    mean_s: float
    mean_usd: float | None
    mean_buckets_s: dict[str, float]  #: parts of the time, which add up to mean_s
    best_interval_s: float  #: of training between checkpoints
    in_time: float | None  #: share of the runs that keep the deadline
    in_budget: float | None
    definitions: dict[str, str]
    basis: tuple[str, ...]
    warnings: tuple[str, ...]
    warning_codes: tuple[str, ...]  #: of each warning; `gradway help CODE` explains it
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Campaign:
        estimate = document["estimate"]
        names = ("seconds", "usd", "kg_co2", "goodput", "effective_training_time", "ettr", "interruptions")
        spreads = {name: estimate[name] and _taken(Spread, estimate[name]) for name in names}
        means = {name: estimate[name] for name in ("mean_s", "mean_usd", "mean_buckets_s")}
        return _taken(cls, document, **spreads, **means, best_interval_s=document["interval"]["best_s"],
                      in_time=document["limits"]["deadline_kept"], in_budget=document["limits"]["budget_kept"],
                      basis=tuple(document["basis"]), warnings=tuple(document["warnings"]),
                      warning_codes=tuple(document["warning_codes"]))

    def records(self) -> list[dict]:
        """A row for each change that was tried: what it saves on average."""
        return [{name: one[name] for name in ("change", "saves_s", "saves_usd")} | {"goodput": one["estimate"]["goodput"]["median"]}
                for one in self.document["what_ifs"]]


@dataclass(frozen=True)
class Optimum(_Document):
    """The best settings that a search found."""

    best: Setting  #: tied with the fastest, and nearest to the framework's defaults
    fastest: Setting
    defaults: Setting  #: of the framework
    as_written: Setting
    gain_over_defaults: float  #: fraction of the time
    gain_over_as_written: float
    verdict: str
    code: str  #: Python for DDP and FSDP, DeepSpeed's settings as JSON for ZeRO
    settings: float  #: how many there are
    simulated: int
    basis: tuple[str, ...]
    warnings: tuple[str, ...]
    warning_codes: tuple[str, ...]  #: of each warning; `gradway help CODE` explains it
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Optimum:
        settings = {name: _taken(Setting, document[name]) for name in ("best", "fastest", "defaults", "as_written")}
        return _taken(cls, document, **settings, code=document.get("pytorch") or document.get("deepspeed"),
                      basis=tuple(document["basis"]), warnings=tuple(document["warnings"]),
                      warning_codes=tuple(document["warning_codes"]))

    def records(self) -> list[dict]:
        """Four rows, which `setting` names."""
        return [{"setting": name} | _row(getattr(self, name)) for name in ("best", "fastest", "defaults", "as_written")]


@dataclass(frozen=True)
class Layout:
    """A way in which ranks can share a model."""

    set: dict[str, str]  #: ready for `set` of `run`
    step_time_s: float
    interval_s: tuple[float, float]
    samples_per_s: float
    tokens_per_s_per_gpu: float | None
    mfu: float | None
    bubble_s: float | None
    memory_needed_bytes: float
    memory_verdict: str  #: fits, tight, may not fit
    cost_usd_per_million_samples: float | None
    tied_with_fastest: bool  #: the difference is within what is not known
    on_front: bool  #: none is faster with less memory


@dataclass(frozen=True)
class LayoutOptimum(_Document):
    """Layouts, the fastest first."""

    layouts: tuple[Layout, ...]
    global_batch: int
    candidates: int
    simulated: int
    code: str  #: arguments for Megatron-LM, or keys of torchtitan
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> LayoutOptimum:
        return _taken(cls, document, layouts=tuple(_taken(Layout, one) for one in document["layouts"]),
                      code=document.get("megatron") or document.get("torchtitan"))

    def records(self) -> list[dict]:
        """A row a layout."""
        return [_row(layout) for layout in self.layouts]


def _row(one: Any) -> dict:
    """The fields, what was set by its keys, the ends of the interval on their own."""
    row = asdict(one)
    low, high = row.pop("interval_s")
    return {**row.pop("set", {}), **row, "interval_low_s": low, "interval_high_s": high}

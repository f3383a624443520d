# SPDX-License-Identifier: Apache-2.0
"""Results of commands, as dataclasses over the documents that the program prints."""
from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Any

from gradway._metrics import Metrics


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Names of the fields that the constructor takes."""
    return tuple(one.name for one in fields(kind) if one.init)


def _make(kind: type, document: dict, **more: Any) -> Any:
    """An object with the fields of the document; missing fields are None."""
    known = {name: document.get(name) for name in _names(kind)}
    if "interval_s" in known:
        known["interval_s"] = tuple(document.get("interval_s") or document["interval"])
    if "document" in known:
        known["document"] = document
    return kind(**known | more)


class _Document:
    """Base of results that represent a whole document."""

    document: dict

    def to_dict(self) -> dict:
        """The document that the program prints with --json, with full precision and units in its keys (see docs/files.md)."""
        return self.document


def _value(text: str) -> int | float | bool | str:
    """A value set by a sweep, as a number or a boolean if it is one; an amount with a unit is a text."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


@dataclass(frozen=True)
class Bottleneck:
    resource: str
    why: str


@dataclass(frozen=True)
class Link:
    name: str
    busy_fraction: float  #: of the step
    bytes: float  #: per step


@dataclass(frozen=True)
class Run(_Document):
    """A predicted step."""

    scenario: dict  #: as resolved, defaults included
    engine: str
    metrics: Metrics
    #: 90 % prediction intervals: `step_time_s`, `memory_bytes`; in comparisons also `run_hours`, `run_usd`, `usd_per_million_samples`
    interval: dict[str, tuple[float, float]]
    fits: bool | None  #: into the GPU's memory; None if it may not fit
    does_not_fit: str | None  #: why
    gpu_memory_bytes: float | None
    memory_verdict: str | None  #: fits, tight, may not fit or does not fit; None if not all activations are known
    #: peaks over the run: allocated_bytes, its part, decided_by, step (None: no single one), allocated_bytes_by_part; reserved_bytes of
    #: PyTorch's allocator and nvidia_smi_bytes, with reserved_interval_bytes and nvidia_smi_interval_bytes
    peak_of_run: dict
    memory_largest_part: str | None  #: parameters, gradients, optimizer, activations, buffers or framework
    memory: dict[str, float]  #: bytes by purpose
    bottleneck: Bottleneck
    links: tuple[Link, ...]
    basis: tuple[str, ...]  #: provenance of the prediction
    warnings: tuple[str, ...]
    warning_codes: tuple[str, ...]  #: one per warning; `gradway help CODE` explains it
    price: dict | None  #: USD per node and hour, with region and date; None if unknown
    costs: dict | None  #: in comparisons: `run_hours` and `run_usd` for the requested samples, and more
    training: dict | None  #: time and cost of a whole training, if requested
    largest_batch: dict | None  #: if requested
    changes_to_fit: list[dict] | None  #: with `fit`, of a job that does not fit as written
    set: dict[str, str]  #: keys varied by a sweep
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Run:
        return _make(cls, document, metrics=_make(Metrics, document["metrics"]), set=document.get("set", {}),
                     interval={what: ends and tuple(ends) for what, ends in document["interval"].items()}, bottleneck=Bottleneck(**document["bottleneck"]),
                     links=tuple(Link(one["name"], one["busy_fraction"], one["bytes"]) for one in document["links"]), basis=tuple(document["basis"]),
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
        """One row: model, platform, gpus, keys varied by a sweep (numbers as numbers), the metrics, interval_low_s and _high_s, fits, bottleneck."""
        metrics = asdict(self.metrics)
        exposed = {f"exposed_{group}_s": seconds for group, seconds in metrics.pop("exposed_s").items()}
        low, high = self.interval["step_time_s"]
        return [{"model": self.model, "platform": self.platform, "gpus": self.gpus, **{key: _value(text) for key, text in self.set.items()}, **metrics, **exposed,
                 "interval_low_s": low, "interval_high_s": high, "fits": self.fits, "bottleneck": self.bottleneck.resource}]


@dataclass(frozen=True)
class FailedPoint:
    """A point of a sweep that cannot run."""

    set: dict[str, str]
    error: str  #: the program's message, with its place and hint


@dataclass(frozen=True)
class _Runs(_Document):
    """Several runs and the best of them, of several tied runs the first; None if there is none, such as without prices."""

    runs: tuple[Run, ...]
    fastest: Run | None  #: most samples per second
    cheapest: Run | None
    shortest_step: Run | None
    tied: dict[str, tuple[Run, ...]]  #: the runs that share the first place, by "fastest", "cheapest", "shortest_step"; none: one is best alone
    document: dict = field(repr=False)

    def records(self) -> list[dict]:
        """One row per run, in their order; see Run.records."""
        return [row for run in self.runs for row in run.records()]


@dataclass(frozen=True)
class Sweep(_Runs):
    """The points of a sweep in their order."""

    vary: dict[str, list[str]]
    failed: tuple[FailedPoint, ...]

    @classmethod
    def of(cls, document: dict) -> Sweep:
        points = [None if "error" in one else Run.of(one) for one in document["runs"]]
        return _make(cls, document, vary={axis["key"]: axis["values"] for axis in document["vary"]},
                     runs=tuple(point for point in points if point), **_leaders(document, points),
                     failed=tuple(_make(FailedPoint, one) for one in document["runs"] if "error" in one))


@dataclass(frozen=True)
class LeftOut:
    """A combination of a comparison that cannot run, or misses a limit."""

    platform: str
    gpus: str  #: empty if those of the scenario
    reason: str
    training: dict | None


@dataclass(frozen=True)
class Comparison(_Runs):
    """Platforms in the order of their cost."""

    left_out: tuple[LeftOut, ...]

    @classmethod
    def of(cls, document: dict) -> Comparison:
        runs = tuple(map(Run.of, document["runs"]))
        return _make(cls, document, runs=runs, left_out=tuple(_make(LeftOut, one) for one in document["left_out"]),
                     **_leaders(document, runs))


def _leaders(document: dict, runs: Any) -> dict:
    tied = {name: tuple(runs[place] for place in tie["runs"]) for name, tie in document["tied"].items() if tie}
    first = {name: tied[name][0] if name in tied else None if document[name] is None else runs[document[name]] for name in document["tied"]}
    return {**first, "tied": tied}


@dataclass(frozen=True)
class Case:
    """A measured step and its prediction."""

    name: str
    measured_s: float
    predicted_s: float
    interval_s: tuple[float, float]
    in_interval: bool  #: whether the measured time is in the interval
    error: float  #: fraction of the measured time, with its sign
    group: str  #: provenance, and the network over which ranks communicate
    is_given: bool | None  #: whether this step was given to the prediction, so that it is not counted
    model: str
    gpu: str
    gpus: int
    strategy: str  #: its kind
    parameters: int  #: of the model


@dataclass(frozen=True)
class Validation(_Document):
    """Predicted against measured step times. Errors are fractions of the measured times, over the counted cases."""

    source: str  #: of the measurements
    cases: tuple[Case, ...]
    mean_abs_error: float
    median_abs_error: float
    max_abs_error: float
    bias: float  #: mean of the errors with their signs
    in_interval: int  #: number of cases
    counted: int  #: number of counted cases
    coverage: list[dict]  #: `in_interval` and `counted` by group
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Validation:
        return _make(cls, document, cases=tuple(_make(Case, case) for case in document["cases"]))

    def records(self) -> list[dict]:
        """One row per case."""
        return [_row(case) for case in self.cases]


@dataclass(frozen=True)
class Setting:
    """Settings tried by a search."""

    set: dict[str, Any]  #: for the argument `set` of `run`
    fits: bool | None  #: into the GPU's memory; None if it may not fit
    cannot_run: str | None  #: why
    step_time_s: float | None
    interval_s: tuple[float, float]
    samples_per_s: float | None
    exposed_communication_s: float | None
    collectives: int | None  #: per step
    memory_needed_bytes: float
    memory_verdict: str  #: fits, tight, may not fit or does not fit
    cost_usd_per_million_samples: float | None


@dataclass(frozen=True)
class Spread:
    """Distribution of a figure over the runs of a campaign."""

    median: float
    low: float  #: 90 % of the runs are between low and high
    high: float


@dataclass(frozen=True)
class Campaign(_Document):
    """A whole training, simulated many times."""

    seconds: Spread
    usd: Spread | None  #: None without a price
    kg_co2: Spread | None  #: None unless the scenario describes its electricity
    goodput: Spread  #: shares of the time; see `definitions`
    effective_training_time: Spread
    ettr: Spread
    interruptions: Spread
    mean_s: float
    mean_usd: float | None
    mean_buckets_s: dict[str, float]  #: parts of the time, which add up to mean_s
    best_interval_s: float  #: between checkpoints
    in_time: float | None  #: share of the runs that meet the deadline
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
        spreads = {name: estimate[name] and _make(Spread, estimate[name]) for name in names}
        means = {name: estimate[name] for name in ("mean_s", "mean_usd", "mean_buckets_s")}
        return _make(cls, document, **spreads, **means, best_interval_s=document["interval"]["best_s"],
                     in_time=document["limits"]["deadline_kept"], in_budget=document["limits"]["budget_kept"],
                     basis=tuple(document["basis"]), warnings=tuple(document["warnings"]),
                     warning_codes=tuple(document["warning_codes"]))

    def records(self) -> list[dict]:
        """One row per what-if: its mean savings."""
        return [{name: one[name] for name in ("change", "saves_s", "saves_usd")} | {"goodput": one["estimate"]["goodput"]["median"]}
                for one in self.document["what_ifs"]]


@dataclass(frozen=True)
class PlannedCluster:
    """A training on a number of GPUs of a platform, with the layout that is fastest there."""

    set: dict[str, Any]  #: platform, job.gpus and the layout, for the argument `set` of `run`
    layout: str | None
    error: str | None  #: why it cannot run; the other fields are then None
    seconds: Spread | None
    usd: Spread | None  #: None without a price
    in_time: float | None  #: share of the runs that meet the deadline
    in_budget: float | None


@dataclass(frozen=True)
class Plan(_Document):
    """A training planned on several clusters: those that meet the limits first, the cheapest first."""

    clusters: tuple[PlannedCluster, ...]
    best: PlannedCluster | None  #: the cheapest that meets all limits
    fastest: PlannedCluster | None  #: of several tied clusters the first
    cheapest: PlannedCluster | None
    tied: dict[str, tuple[PlannedCluster, ...]]  #: the clusters that share the first place, by "fastest" and "cheapest"
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Plan:
        def planned(one: dict) -> PlannedCluster:
            estimate, limits = one.get("estimate") or {}, one.get("limits") or {}
            spreads = {name: estimate.get(name) and _make(Spread, estimate[name]) for name in ("seconds", "usd")}
            return _make(PlannedCluster, one, **spreads, in_time=limits.get("deadline_kept"), in_budget=limits.get("budget_kept"))

        clusters = tuple(map(planned, document["runs"]))
        best = document["best"]
        return _make(cls, document, clusters=clusters, best=None if best is None else clusters[best], **_leaders(document, clusters))

    def records(self) -> list[dict]:
        """One row per cluster."""
        return [{"platform": one.set["platform"], "gpus": _value(one.set["job.gpus"]), "layout": one.layout, "error": one.error,
                 "days": one.seconds and one.seconds.median / 86400, "usd": one.usd and one.usd.median, "in_time": one.in_time,
                 "in_budget": one.in_budget} for one in self.clusters]


@dataclass(frozen=True)
class Optimum(_Document):
    """The best settings found by a search."""

    best: Setting  #: tied with the fastest, and closest to the framework's defaults
    fastest: Setting
    defaults: Setting  #: of the framework
    as_written: Setting
    gain_over_defaults: float  #: fraction of the time
    gain_over_as_written: float
    verdict: str
    code: str  #: Python for DDP and FSDP, DeepSpeed's settings as JSON for ZeRO
    settings: float  #: number of possible settings
    simulated: int
    basis: tuple[str, ...]
    warnings: tuple[str, ...]
    warning_codes: tuple[str, ...]  #: of each warning; `gradway help CODE` explains it
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> Optimum:
        settings = {name: _make(Setting, document[name]) for name in ("best", "fastest", "defaults", "as_written")}
        return _make(cls, document, **settings, code=document.get("pytorch") or document.get("deepspeed"),
                     basis=tuple(document["basis"]), warnings=tuple(document["warnings"]),
                     warning_codes=tuple(document["warning_codes"]))

    def records(self) -> list[dict]:
        """Four rows, named by `setting`."""
        return [{"setting": name} | _row(getattr(self, name)) for name in ("best", "fastest", "defaults", "as_written")]


@dataclass(frozen=True)
class Layout:
    """A layout of a model."""

    set: dict[str, str]  #: for the argument `set` of `run`
    step_time_s: float
    interval_s: tuple[float, float]
    samples_per_s: float
    tokens_per_s_per_gpu: float | None
    mfu: float | None
    bubble_s: float | None
    memory_needed_bytes: float
    memory_verdict: str  #: fits, tight, may not fit
    cost_usd_per_million_samples: float | None
    tied_with_fastest: bool  #: the difference is within the prediction intervals
    on_front: bool  #: no other layout is faster with less memory


@dataclass(frozen=True)
class LayoutOptimum(_Document):
    """Layouts, the fastest first."""

    layouts: tuple[Layout, ...]
    recommended: int  #: index of the layout that `code` sets up: the fastest, or one tied with it that certainly fits
    global_batch: int
    candidates: int
    simulated: int
    code: str  #: arguments for Megatron-LM, or keys of torchtitan
    document: dict = field(repr=False)

    @classmethod
    def of(cls, document: dict) -> LayoutOptimum:
        return _make(cls, document, layouts=tuple(_make(Layout, one) for one in document["layouts"]),
                     code=document.get("megatron") or document.get("torchtitan"))

    def records(self) -> list[dict]:
        """One row per layout."""
        return [_row(layout) for layout in self.layouts]


def _row(one: Any) -> dict:
    """The fields, with settings and the ends of the interval as separate columns."""
    row = asdict(one)
    low, high = row.pop("interval_s")
    return {**row.pop("set", {}), **row, "interval_low_s": low, "interval_high_s": high}

# SPDX-License-Identifier: Apache-2.0
"""The commands of gradway as functions."""
from __future__ import annotations

import json
import logging
import os
from typing import Any, Iterable, Mapping, Sequence, Union

from gradway._process import Answer, ask
from gradway._results import Campaign, Comparison, LayoutOptimum, Optimum, Plan, Run, Sweep, Validation
from gradway._scenario import Scenario
from gradway._shards import merged
from gradway._text import document, setting

#: A name from `gradway list scenarios`, a path, or the keys of a scenario. A model or a platform named in a dict is searched
#: in the working folder, in the folders of GRADWAY_PATH, then in the data of gradway.
ScenarioLike = Union[str, "os.PathLike[str]", Scenario, Mapping[str, Any]]
#: The same for a file of cases.
CasesLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]

_log = logging.getLogger("gradway")


def call(*arguments: object, set: Mapping[str, Any] | None = None) -> str:
    """Returns what `gradway ARGUMENTS` prints, for commands without a function here; `set` adds `--set KEY=VALUE`.

    Warnings of the program go to the logger "gradway". Raises GradwayError, InputError or SimulationError.
    """
    return _printed([*map(str, arguments), *_set(set)], {})


def report(*arguments: object, set: Mapping[str, Any] | None = None) -> dict:
    """Returns the parsed output of `gradway ARGUMENTS --json`. Otherwise like `call`."""
    return json.loads(call(*arguments, "--json", set=set))


def run(scenario: ScenarioLike, *, set: Mapping[str, Any] | None = None, engine: str = "auto", fit: bool = False,
        folding: bool = True, tokens: float | str | None = None, samples: float | str | None = None, deadline: str | None = None,
        budget: str | None = None, prices: str | os.PathLike[str] | None = None, price_date: str | None = None,
        region: str | None = None, terms: str | None = None) -> Run:
    """Predicts the step time of a scenario, where the time goes and what it costs, as `gradway run`.

    set: keys to override, such as {"job.gpus": 4, "strategy.bucket_cap": "100 MiB"}.
    engine: auto, fluid or simgrid.
    fit: use the largest batch that fits into the GPU's memory, which is `largest_batch` of the result.
    folding: False simulates every rank, including those with equal work.
    tokens, samples, deadline, budget: size and limits of a whole training, such as 300e9, 90e6, "14 days", "100k USD"; for `training`.
    prices, price_date, region, terms: a file of prices, and the day, the region and the payment terms of the prices.

    Raises InputError with the places of invalid input, SimulationError if the simulation cannot finish.
    """
    options = _options(engine=engine, tokens=tokens, samples=samples, deadline=deadline, budget=budget, prices=prices,
                       price_date=price_date, region=region, terms=terms)
    flags = [*["--fit"] * fit, *["--no-folding"] * (not folding)]
    return Run.of(_document("run", scenario, set, [*options, *flags]))


def sweep(scenario: ScenarioLike, vary: Mapping[str, str | Iterable[Any]], *, set: Mapping[str, Any] | None = None,
          engine: str = "fluid", jobs: int | None = None, folding: bool = True, prices: str | os.PathLike[str] | None = None,
          price_date: str | None = None, region: str | None = None, terms: str | None = None, client: Any = None, shards: int = 64) -> Sweep:
    """Runs the cross product of settings on several cores, as `gradway sweep`, or on many machines.

    vary: the values of each key, such as {"job.gpus": [1, 2, 4], "job.batch_per_gpu": "8..16"}.
    jobs: number of points simulated at the same time; all cores if None, or one per task with a client. Otherwise as in `run`.
    client: a dask.distributed.Client, or an Executor of concurrent.futures, whose workers have the same gradway and can read the
        files that the scenario names (a dict is sent to them). If a worker dies, the others take over its shards.
    shards: number of parts that are distributed to the workers; it does not influence the result.

    Points that cannot run are in `failed`. Raises InputError if no point can run; otherwise as `run`.
    """
    options = _options(engine=engine, jobs=jobs if client is None else jobs or 1, prices=prices, price_date=price_date, region=region, terms=terms)
    axes = [f"--vary={key}={_list(values)}" for key, values in vary.items()]
    options = [*axes, *options, *["--no-folding"] * (not folding)]
    if client is None:
        return Sweep.of(_document("sweep", scenario, set, options))
    name, texts = _named(scenario, "scenario")
    return Sweep.of(json.loads(_results(merged(["sweep", *_set(set), *options], name, texts, client, shards))))


def validate(cases: CasesLike, *, set: Mapping[str, Any] | None = None) -> Validation:
    """Compares predictions with measured step times, as `gradway validate`.

    cases: a path or a name of a file of cases, or its keys; the `scenario` of a dict may be a dict.
    set: keys to override in all cases; no case may set them itself.

    Raises InputError, SimulationError.
    """
    texts = {}
    if isinstance(cases, Mapping) and isinstance(cases.get("scenario"), Mapping):
        texts["scenario"] = document(cases["scenario"])
        cases = {**cases, "scenario": "scenario"}
    return Validation.of(_document("validate", cases, set, [], name="cases", texts=texts))


def compare(scenario: ScenarioLike, platforms: str | Iterable[str] | None = None, *, gpu: str | Iterable[str] | None = None, gpus: int | str | Iterable[int] | None = None,
            set: Mapping[str, Any] | None = None, engine: str = "fluid", jobs: int | None = None,
            tokens: float | str | None = None, samples: float | str | None = None, deadline: str | None = None,
            budget: str | None = None, prices: str | os.PathLike[str] | None = None, price_date: str | None = None,
            region: str | None = None, terms: str | None = None) -> Comparison:
    """Compares platforms, the cheapest first, as `gradway compare`.

    platforms: names from `gradway list platforms`, or patterns such as "aws-*" of names and GPUs; all if None.
    gpu: only platforms with these GPUs, such as "h100".
    gpus: numbers of GPUs to use on each platform; that of the scenario if None. Otherwise as in `sweep` and `run`.

    Combinations that cannot run, or miss the deadline or the budget, are in `left_out`. Raises InputError if none can run.
    """
    options = _options(platforms=_list(platforms), gpu=_list(gpu), gpus=_list(gpus), engine=engine, jobs=jobs,
                       tokens=tokens, samples=samples, deadline=deadline, budget=budget, prices=prices, price_date=price_date,
                       region=region, terms=terms)
    return Comparison.of(_document("compare", scenario, set, options))


def plan(model: str | os.PathLike[str], platforms: str | Iterable[str], gpus: int | str | Iterable[int], *, tokens: float | str | None = None,
         samples: float | str | None = None, sequence: int | None = None, global_batch: int | None = None, framework: str | None = None,
         deadline: str | None = None, budget: str | None = None, terms: str | None = None, failures: str | None = None,
         set: Mapping[str, Any] | None = None, seeds: int | None = None, jobs: int | None = None,
         prices: str | os.PathLike[str] | None = None, price_date: str | None = None, region: str | None = None) -> Plan:
    """Plans a whole training, with layouts, failures, days and dollars, as `gradway plan`.

    model: a name from `gradway list models`, a YAML file, or a config.json of Hugging Face.
    platforms, gpus: as in `compare`; every platform is planned with every number of GPUs.
    tokens or samples: the amount of data, such as 300e9. Others have the command's defaults if None.

    Raises InputError if no cluster can run the training.
    """
    options = _options(model=model, platforms=_list(platforms), gpus=_list(gpus), tokens=tokens, samples=samples, sequence=sequence,
                       global_batch=global_batch, framework=framework, deadline=deadline, budget=budget, terms=terms, failures=failures,
                       seeds=seeds, jobs=jobs, prices=prices, price_date=price_date, region=region)
    return Plan.of(report("plan", *options, set=set))


def campaign(scenario: ScenarioLike, *, set: Mapping[str, Any] | None = None, engine: str = "auto", seeds: int | None = None,
             jobs: int | None = None, deadline: str | None = None, budget: str | None = None,
             prices: str | os.PathLike[str] | None = None, price_date: str | None = None, region: str | None = None) -> Campaign:
    """Simulates the whole training described by the key `campaign` of a scenario, as `gradway campaign`.

    seeds: number of simulated runs; 1,000 if None.
    deadline, budget: limits such as "14 days", "100k USD", for the shares `in_time` and `in_budget`. Otherwise as in `run`.

    Raises InputError if the input is invalid, or the campaign makes no progress.
    """
    options = _options(engine=engine, seeds=seeds, jobs=jobs, deadline=deadline, budget=budget, prices=prices,
                       price_date=price_date, region=region)
    return Campaign.of(_document("campaign", scenario, set, options))


def optimize(scenario: ScenarioLike, *, over: str | Iterable[str] | Mapping[str, str | Iterable[Any]] = (), lossy: bool = False,
             set: Mapping[str, Any] | None = None, engine: str = "fluid", jobs: int | None = None, tokens: float | str | None = None,
             samples: float | str | None = None, deadline: str | None = None, budget: str | None = None,
             prices: str | os.PathLike[str] | None = None, price_date: str | None = None, region: str | None = None, terms: str | None = None) -> Optimum:
    """Finds the settings of DDP, FSDP or ZeRO with which a scenario is fastest, and the code for them, as `gradway optimize`.

    over: names of settings to search, or keys and their values; see `gradway optimize --help`.
    lossy: also search hooks that change the values of gradients. Otherwise as in `sweep` and `run`.

    Raises InputError if nothing can run.
    """
    searched = [f"{key}={_list(values)}" for key, values in over.items()] if isinstance(over, Mapping) else over
    searched = [searched] if isinstance(searched, str) else searched
    options = _options(engine=engine, jobs=jobs, tokens=tokens, samples=samples, deadline=deadline, budget=budget, prices=prices,
                       price_date=price_date, region=region, terms=terms)
    return Optimum.of(_document("optimize", scenario, set, [*(f"--over={one}" for one in searched), *options, *["--lossy"] * lossy]))


def optimize_layout(scenario: ScenarioLike, *, global_batch: int | None = None, set: Mapping[str, Any] | None = None,
                    engine: str = "fluid", jobs: int | None = None, prices: str | os.PathLike[str] | None = None,
                    price_date: str | None = None, region: str | None = None, terms: str | None = None) -> LayoutOptimum:
    """Finds the fastest layout of a large model, as `gradway optimize --layout`: tensor, pipeline, data, micro-batches, recompute.

    global_batch: samples per step; those of the scenario if None. Otherwise as in `sweep` and `run`.
    """
    options = _options(global_batch=global_batch, engine=engine, jobs=jobs, prices=prices, price_date=price_date, region=region, terms=terms)
    return LayoutOptimum.of(_document("optimize", scenario, set, ["--layout", *options]))


def _list(values: Any) -> str:
    """Values separated by commas; text is passed as it is, as in "1..8"."""
    return values if isinstance(values, str) or not isinstance(values, Iterable) else ",".join(map(setting, values))


def _options(**values: Any) -> list[str]:
    """`--price-date=...` for price_date, and so on; nothing for None."""
    return [f"--{name.replace('_', '-')}={setting(value) if not isinstance(value, os.PathLike) else os.fspath(value)}"
            for name, value in values.items() if value is not None]


def _set(values: Mapping[str, Any] | None) -> list[str]:
    return [f"--set={key}={setting(value)}" for key, value in (values or {}).items()]


def _document(command: str, scenario: ScenarioLike, set: Mapping[str, Any] | None, options: Sequence[str], name: str = "scenario",
              texts: Mapping[str, str] = {}) -> dict:
    """The document that a command prints for a scenario or a file of cases."""
    scenario, text = _named(scenario, name)
    return json.loads(_printed([command, *_set(set), *options, "--json", "--", scenario], {**texts, **text}))


def _named(scenario: ScenarioLike, name: str) -> tuple[str, dict[str, str]]:
    """The name of a scenario, and the text for that name if it is a dict."""
    return (name, {name: document(scenario)}) if isinstance(scenario, Mapping) else (os.fspath(scenario), {})


def _printed(arguments: Sequence[str], texts: Mapping[str, str]) -> str:
    return _results(ask(arguments, texts))


def _results(answer: Answer) -> str:
    if answer.status != 0 and not (answer.status == 2 and answer.results):  # Some points of a sweep failed, which the results list.
        raise answer.error()
    for message in answer.messages.splitlines():
        _log.warning("%s", message)
    return answer.results

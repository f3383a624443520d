# SPDX-License-Identifier: Apache-2.0
"""Writes a recording as a readable model file, in which repeated blocks are written once."""
from __future__ import annotations

import re
from dataclasses import dataclass, field

from gradway.capture._errors import CaptureError
from gradway.capture._recording import Operation, Ready, Recording, Tensor

_NOT_RECORDED = {"between": "optimizer"}


@dataclass
class Section:
    """Operations of one pass in one block, or between blocks."""
    phase: str
    block: str  # empty: between blocks
    rows: list[str] = field(default_factory=list)
    first: int | None = None  # of the block's number
    last: int | None = None
    last_block: str = ""


def tensor_text(tensor: Tensor) -> str:
    text = f"{tensor.dtype}[{'x'.join(map(str, tensor.shape))}]"
    return f"{text}:{tensor.layout}" if tensor.layout else text


def _block_of(path: str, blocks: set[str]) -> str:
    parts = path.split(".")
    for count in range(1, len(parts) + 1):
        if (prefix := ".".join(parts[:count])) in blocks:
            return prefix
    return ""


def _row(operation: Operation | Ready, block: str) -> str:
    module = operation.module[len(block):].lstrip(".") if block else operation.module
    if isinstance(operation, Ready):
        name = operation.parameter
        if block and name.startswith(block + "."):
            name = name[len(block):]
        return f"{module or '-'} gradient {name}"
    words = [module or "-", operation.name, *map(tensor_text, operation.inputs)]
    if operation.outputs:
        words += ["->", *map(tensor_text, operation.outputs)]
    words += [f"{key}={value}" if value else key for key, value in sorted(operation.notes.items())]
    if operation.of_parameters:
        words.append("weight")
    if not operation.varies:
        words.append("fixed")
    if operation.host_reads:
        words.append("waits")
    return " ".join(words)


def _numbered(block: str) -> tuple[str, int, str] | None:
    """The parts before, of and after the last number in a block's path."""
    found = list(re.finditer(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])|(?<=_)\d+", block))
    if not found:
        return None
    last = found[-1]
    return block[:last.start()], int(last.group()), block[last.end():]


def sections_of(recording: Recording) -> list[Section]:
    """Sections in the order of issue, with repeated blocks folded."""
    blocks = set(recording.blocks)
    plain: list[Section] = []
    for operation in recording.operations:
        phase = _NOT_RECORDED.get(operation.phase, operation.phase)
        block = _block_of(operation.module, blocks)
        if not plain or plain[-1].block != block or plain[-1].phase != phase:
            plain.append(Section(phase, block))
        plain[-1].rows.append(_row(operation, block))
    for section in plain:
        section.rows = _counted(section.rows)
    folded: list[Section] = []
    for section in plain:
        numbered = _numbered(section.block)
        before = folded[-1] if folded else None
        if numbered:
            section.first = section.last = numbered[1]
        if before and numbered and before.phase == section.phase and before.rows == section.rows and before.last is not None:
            other = _numbered(before.block)
            step = numbered[1] - before.last
            steps = {1, -1} if before.first == before.last else {1 if before.last > (before.first or 0) else -1}
            if other and (other[0], other[2]) == (numbered[0], numbered[2]) and step in steps:
                before.last = section.last
                continue
        folded.append(section)
    return folded


def _counted(rows: list[str]) -> list[str]:
    """Writes consecutive equal rows once, with their number."""
    result: list[tuple[str, int]] = []
    for row in rows:
        if result and result[-1][0] == row and " gradient " not in row:
            result[-1] = (row, result[-1][1] + 1)
        else:
            result.append((row, 1))
    return [row if count == 1 else f"{row} times={count}" for row, count in result]


def _range(section: Section) -> str:
    numbered = _numbered(section.block)
    if numbered is None or section.first == section.last:
        return section.block
    return f"{numbered[0]}[{section.first}..{section.last}]{numbered[2]}"


def _folded_parameters(recording: Recording) -> list[str]:
    """Rows of parameters; those of repeated blocks with the same shape share one."""
    rows: list[list] = []
    index: dict[tuple, int] = {}
    for parameter in recording.parameters:
        shape = "x".join(map(str, parameter.shape)) or "scalar"
        words = [parameter.dtype, *([] if parameter.trained else ["frozen"]), shape]
        block = _block_of(parameter.name, set(recording.blocks))
        numbered = _numbered(block)
        if numbered is None:
            rows.append([words, parameter.name, None, None])
            continue
        key = (*words, numbered[0], numbered[2], parameter.name[len(block):])
        place = index.get(key)
        if place is not None and rows[place][3] == numbered[1] - 1:
            rows[place][3] = numbered[1]
            continue
        index[key] = len(rows)
        rows.append([words, (numbered[0], numbered[2] + parameter.name[len(block):]), numbered[1], numbered[1]])
    lines = []
    for words, name, first, last in rows:
        if isinstance(name, tuple):
            name = f"{name[0]}{first if first == last else f'[{first}..{last}]'}{name[1]}"
        lines.append(" ".join([*words, name]))
    return lines


def precision_of(recording: Recording, tf32: bool) -> str:
    """Precision of most of the products, attention and convolutions."""
    work: dict[str, float] = {}
    for operation in recording.operations:
        if isinstance(operation, Operation) and operation.inputs and operation.name in (
                "mm", "addmm", "bmm", "baddbmm", "convolution", "scaled_dot_product_attention", "linear"):
            dtype = operation.inputs[-1].dtype
            work[dtype] = work.get(dtype, 0) + sum(float(tensor.elements()) for tensor in operation.outputs)
    most = max(work, key=lambda dtype: work[dtype]) if work else "fp32"
    return "tf32" if most == "fp32" and tf32 else most if most in ("bf16", "fp16") else "fp32"


def text_of(recording: Recording, source: str, tf32: bool = False) -> str:
    """The model file."""
    state: dict[str, int] = {}
    for parameter in recording.parameters:
        if parameter.trained:
            elements = Tensor(parameter.dtype, parameter.shape).elements()
            state[parameter.dtype] = state.get(parameter.dtype, 0) + elements
    states = max(state, key=lambda dtype: state[dtype]) if state else "fp32"
    head = [
        "# Written by gradway capture. It contains no times: gradway predicts them for the scenario's GPU.",
        "schema: 1", "kind: captured", f"source: {_quoted(source)}", f"framework: {_quoted(recording.framework)}",
        f"precision: {precision_of(recording, tf32)}", f"state_dtype: {states if states in ('bf16', 'fp16') and not recording.has_masters else 'fp32'}",
        f"batch: {recording.batch}"]
    if recording.sequence:
        head.append(f"sequence: {recording.sequence}")
    head += [f"optimizer: {recording.optimizer}", f"accumulate: {recording.accumulate}",
             f"input_per_sample: {recording.input_bytes / max(recording.batch, 1):.0f} B"]
    for key, value in (("clip_grad_norm", recording.clips_gradients), ("channels_last", recording.channels_last),
                       ("checkpointing", recording.checkpointed), ("compiled", recording.compiled)):
        if value:
            head.append(f"{key}: true")
    if recording.ranks > 1:
        head.append(f"ranks: {recording.ranks}")
    if recording.strategy:
        head.append("strategy: {" + ", ".join(f"{key}: {value}" for key, value in recording.strategy.items()) + "}")
    if recording.replicate > 1:
        head.append(f"parallel: {{replicate: {recording.replicate}}}")
    if recording.times:
        head.append("times: {" + ", ".join(f"{name}: {time}" for name, time in recording.times.items()) + "}")
    lines = [*head, "parameters: |", "  # dtype shape name"]
    lines += [f"  {row}" for row in _folded_parameters(recording)]
    lines.append("operations:")
    for section in sections_of(recording):
        if section.phase == "optimizer":
            continue
        lines.append(f"  - pass: {section.phase}")
        if section.block:
            lines.append(f"    blocks: {_quoted(_range(section))}")
        lines += ["    list: |", *(f"      {row}" for row in section.rows)]
    if recording.memory:
        lines += ["memory: |", "  # phase grows fixed gradients, in MB: moments that can be the peak"]
        for moment in recording.memory:
            numbers = " ".join(f"{value / 1e6:.6g}" for value in (moment.grows, moment.fixed, moment.gradients))
            lines.append(f"  {'backward' if moment.backward else 'forward'} {numbers}")
    return "\n".join(lines) + "\n"


def _parts_of(text: str) -> dict[str, list[str]]:
    """Lines of a model file by its top-level keys."""
    parts: dict[str, list[str]] = {}
    key = ""
    for line in text.splitlines():
        if found := re.match(r"(\w+):", line):
            key = found[1]
        parts.setdefault(key, []).append(line)
    return parts


def with_second(first: str, second: str, name: str) -> str:
    """The model file `first`, called `name`, with the same step at the sequence length of `second`."""
    one, other = _parts_of(first), _parts_of(second)
    if "sequence" not in one or "sequence" not in other:
        raise CaptureError(f"a step without a sequence length cannot be added to {name}: no input has token indices")
    for key, words in (("batch", "batches"), ("precision", "precisions"), ("optimizer", "optimizers")):
        if one.get(key) != other.get(key):
            raise CaptureError(f"{name} has other {words} ({one[key][0]}; now {other[key][0]}): capture both with the same settings")
    if one["sequence"] == other["sequence"]:
        raise CaptureError(f"{name} has the same sequence length ({other['sequence'][0]}): capture another one")
    lines = [line for key, part in one.items() if key != "second" for line in part]
    lines.append("second:")
    lines += [f"  {line}" for key in ("sequence", "operations", "memory") for line in other.get(key, [])]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + "".join(one if one.isprintable() else "\ufffd" for one in text).replace("'", "''") + "'"

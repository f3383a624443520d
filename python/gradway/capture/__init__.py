# SPDX-License-Identifier: Apache-2.0
"""Captures a training step of your own PyTorch program, without a GPU.

    import gradway

    model_file = gradway.capture(model, loss, batch, optimizer).save("models/mine.yaml")

`gradway capture train.py [ARGS]` (or `python -m gradway.capture`) does the same with an unchanged program: it runs it up
to its second optimizer step. It uses your installation of PyTorch; this package does not depend on it.
"""
from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Callable, Iterator

from gradway._errors import GradwayError
from gradway._process import ask
from gradway.capture._errors import CaptureError
from gradway.capture._file import text_of
from gradway.capture._recorder import Finished, Recorder
from gradway.capture._recording import Recording

__all__ = ["Capture", "CaptureError", "Recording", "capture", "recorder"]


class Capture:
    """A recorded step."""

    def __init__(self, recording: Recording, source: str, tf32: bool = False):
        self.recording = recording
        self._source, self._tf32 = source, tf32

    @property
    def warnings(self) -> list[str]:
        """Differences between the recorded step and the program on a GPU."""
        return self.recording.warnings

    def text(self) -> str:
        """The model file."""
        return text_of(self.recording, self._source, self._tf32)

    def save(self, path: str | Path) -> Path:
        """Writes the model file; `model: NAME` of a scenario names it."""
        return write_model(Path(path), self.text())


def write_model(path: Path, text: str) -> Path:
    """Writes a model file that gradway can read, if it is there to be asked."""
    try:
        answer = ask(["show", "model", "captured.yaml"], {"captured.yaml": text})
    except GradwayError:  # captures need no program
        answer = None
    if answer and answer.status != 0:
        raise CaptureError(f"gradway cannot read the captured step, and nothing was written:\n{answer.messages.rstrip()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _allows_tf32(torch: Any) -> bool:
    return bool(torch.backends.cuda.matmul.allow_tf32)


@contextlib.contextmanager
def recorder(batch: int | None = None) -> Iterator[Recorder]:
    """While it is active, PyTorch records instead of computing; build the model and the optimizer within.

        with gradway.capture.recorder() as recorder:
            model = Model().cuda()
            ...
    """
    with Recorder(batch).active() as active:
        yield active


def capture(step: Any, loss: Callable[..., Any] | None = None, batch: Any = None, optimizer: Any = None, *, batch_size: int | None = None,
            source: str = "gradway.capture", times: dict[str, str] | None = None) -> Capture:
    """Records one training step.

    `capture(step)`: a function without arguments that builds the model, its optimizer and a batch, and returns a function that does one
    training step (forward, backward, `optimizer.step()`). It is called while tensors use no memory, so models of any size can be
    captured.

    `capture(model, loss, batch, optimizer)`: the same from its parts. `loss(model, batch)` returns the loss; `optimizer(parameters)`
    returns the optimizer; `model` is a function that builds the model, or a module, whose weights are not changed.

    `times` has the time of a call of operations that gradway does not know: {"mylib.scan": "35 us"}.
    """
    active = Recorder(batch_size)
    active.recording.times = times or {}
    torch = active.torch
    CaptureError.first = None
    try:
        with active.active():
            if loss is None:
                run = step()
                run = run if callable(run) else step
            else:
                model = step() if not isinstance(step, torch.nn.Module) else _without_data(torch, step)
                made: Any = optimizer(model.parameters()) if callable(optimizer) else optimizer
                loss_of: Any = loss
                feed = _without_data_in(torch, batch)

                def run() -> None:
                    loss_of(model, feed).backward()
                    made.step()
                    made.zero_grad(set_to_none=True)
            for _ in range(2):
                run()
    except Finished:
        pass
    if active.is_finished:
        return Capture(active.recording, source, _allows_tf32(torch))
    raise CaptureError("no optimizer made two steps: the function must call optimizer.step()")


def _without_data(torch: Any, module: Any) -> Any:
    import copy
    known: dict[int, Any] = {}
    for tensor in (*module.parameters(), *module.buffers()):
        bare = tensor.detach().to("meta")
        known[id(tensor)] = torch.nn.Parameter(bare, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else bare
    return copy.deepcopy(module, known)


def _without_data_in(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    if isinstance(value, dict):
        return {key: _without_data_in(torch, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_without_data_in(torch, item) for item in value)
    return value

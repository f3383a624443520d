# SPDX-License-Identifier: Apache-2.0
"""Programs as text, and what `gradway capture` makes of them: for the tests of captured programs."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
PACKAGE = Path(__file__).resolve().parent.parent.parent / "python"
sys.path.insert(0, str(PACKAGE))

try:
    import torch
except ImportError:
    sys.exit(77)  # Debian has it: apt-get install python3-torch

from gradway import _process

PROGRAM = _process.program()
try:
    HAS_FULLY_SHARD = hasattr(__import__("torch.distributed.fsdp", fromlist=["x"]), "fully_shard")
except ValueError:  # PyTorch 1.13's module cannot be imported with Python 3.11
    HAS_FULLY_SHARD = False
of_pytorch_2 = unittest.skipIf(torch.__version__.startswith("1."), "gradients are zeroed, not dropped, FSDP1 cannot be imported, or another torchrun")

MODEL = """
import os, sys, torch, torch.nn as nn, torch.distributed as dist
from torch.nn import functional as F
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)
    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.blocks, self.head = nn.Embedding(100, 16), nn.ModuleList(Block() for _ in range(4)), nn.Linear(16, 100)
    def forward(self, x):
        y = self.words(x)
        for block in self.blocks:
            y = block(y)
        return self.head(y)
def loss_of(model, x):
    return F.cross_entropy(model(x).float().view(-1, 100), x.view(-1))
"""
LOOP = """
optimizer = torch.optim.AdamW(model.parameters())
for step in range(5):
    x = torch.randint(0, 100, (4, 8)).cuda()
    loss = loss_of(model, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("step", step)
"""


class Captured:
    """What `gradway capture` made of a program."""

    def __init__(self, script: str, *arguments: str, options: tuple = (), environment: dict | None = None, with_model: bool = True):
        with tempfile.TemporaryDirectory() as folder:
            self.script = (MODEL if with_model else "") + textwrap.dedent(script)
            Path(folder, "train.py").write_text(self.script)
            Path(folder, "kept.pt").write_text("precious")
            words = [*arguments] if arguments[:1] and arguments[0].endswith("run") else ["train.py", *arguments]
            ran = subprocess.run([sys.executable, "-m", "gradway.capture", *options, "-o", "it.yaml", *words], capture_output=True, text=True, cwd=folder,
                                 env={**os.environ, "PYTHONPATH": str(PACKAGE), **(environment or {})})
            self.status, self.out, self.messages = ran.returncode, ran.stdout, ran.stderr
            made = Path(folder, "it.yaml")
            self.model = made.read_text() if made.exists() else ""
            self.kept = Path(folder, "kept.pt").read_text()

    def line(self, words: str) -> int:
        return next(number for number, line in enumerate(self.script.splitlines(), 1) if words in line)

    def key(self, name: str) -> str:
        found = re.search(rf"^{name}: (.*)$", self.model, re.MULTILINE)
        return found[1] if found else ""


class Programs(unittest.TestCase):
    def captured(self, *words, **named) -> Captured:
        it = Captured(*words, **named)
        self.assertEqual(it.status, 0, it.messages + it.out)
        return it

    def refused(self, *words, **named) -> Captured:
        it = Captured(*words, **named)
        self.assertEqual((it.status, it.model), (2, ""), it.messages + it.out)
        return it

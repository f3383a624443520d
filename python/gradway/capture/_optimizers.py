# SPDX-License-Identifier: Apache-2.0
"""Optimizers of PyTorch and of other packages, in the words of model files."""
from __future__ import annotations

from typing import Any, Callable

_OPTIMIZERS = {"SGD": "sgd", "Adam": "adamw", "AdamW": "adamw", "NAdam": "adamw", "RAdam": "adamw", "Adam8bit": "adamw_8bit",
               "AdamW8bit": "adamw_8bit", "PagedAdamW8bit": "paged_adamw_8bit", "Adafactor": "adafactor", "Lion": "lion", "LAMB": "lamb", "FusedLAMB": "lamb",
               "FusedAdam": "adamw_fused", "Muon": "muon"}


def word_of_optimizer(optimizer: Any, engine_is_fused: bool, warn: Callable[[str], None]) -> str:
    """@param engine_is_fused the engine that steps it has a fused kernel of its own"""
    kind = type(optimizer).__name__
    first = optimizer.param_groups[0]
    word = _OPTIMIZERS.get(kind)
    if word is None:
        word = "adamw"
        warn(f"unknown optimizer {kind}: its step is predicted as AdamW's")
    if word == "sgd" and first.get("momentum", 0):
        word = "sgd_momentum"
    if word == "adamw" and (first.get("fused") or engine_is_fused):
        word = "adamw_fused"
    if word == "adamw" and first.get("foreach") is False:
        word = "adamw_loop"
    elif first.get("foreach") is False and not first.get("fused"):
        warn(f"{kind}(foreach=False) launches kernels for each tensor: its step takes longer than predicted")
    return word

# SPDX-License-Identifier: Apache-2.0
"""The repeated parts of a model, which strategies wrap and pipelines divide."""
from __future__ import annotations

from typing import Any

from gradway.capture._recording import as_words


def blocks_of(root: Any, nn: Any) -> list[str]:
    """Paths of the outermost modules of which a list, a sequence or a dictionary of modules has several of a kind.

    @param nn torch.nn"""
    containers = (nn.ModuleList, nn.Sequential, nn.ModuleDict)
    paths: list[str] = []
    for path, module in as_words(root.named_modules()):
        if not isinstance(module, containers) or any(path == block or path.startswith(block + ".") for block in paths):
            continue
        own = [(name, child) for name, child in as_words(module.named_children()) if not type(child).__module__.startswith("torch.nn.modules")
               or type(child).__name__.startswith("Transformer")]
        kinds: dict[type, int] = {}
        for _, child in own:
            kinds[type(child)] = kinds.get(type(child), 0) + 1
        paths.extend(f"{path}.{name}" if path else name for name, child in own if kinds[type(child)] > 1)
    return paths

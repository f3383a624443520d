# SPDX-License-Identifier: Apache-2.0
"""DLRM on Criteo's 26 features with one GPU: embedding bags with sparse gradients, MLPs, dot interactions, SGD, TF32.

The lookups per sample are those of MLPerf's multi-hot data. Tables are cut to ROWS rows, so that they fit on one GPU.
"""
import torch
from torch import nn
from torch.nn import functional as F

BATCH, DENSE, DIM, ROWS = 8192, 13, 128, 1_000_000
LOOKUPS = [3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1]


def mlp(widths):
    layers = []
    for inside, outside in zip(widths, widths[1:]):
        layers += [nn.Linear(inside, outside), nn.ReLU()]
    return nn.Sequential(*layers)


class DLRM(nn.Module):
    def __init__(self):
        super().__init__()
        self.bottom = mlp([DENSE, 512, 256, DIM])
        self.tables = nn.ModuleList(nn.EmbeddingBag(ROWS, DIM, mode="sum", sparse=True, include_last_offset=True) for _ in LOOKUPS)
        features = len(LOOKUPS) + 1
        rows, columns = torch.tril_indices(features, features, offset=-1)
        self.register_buffer("pairs", rows * features + columns)
        self.top = nn.Sequential(mlp([DIM + features * (features - 1) // 2, 1024, 1024, 512, 256]), nn.Linear(256, 1))

    def forward(self, dense, indices, offsets):
        x = self.bottom(dense)
        pooled = [table(rows, starts) for table, rows, starts in zip(self.tables, indices, offsets)]
        features = torch.stack([x, *pooled], dim=1)
        products = torch.bmm(features, features.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([x, products[:, self.pairs]], dim=1)).squeeze(1)


def make_step():
    torch.backends.cuda.matmul.allow_tf32 = True
    with torch.device("cuda"):
        model = DLRM().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    dense = torch.randn(BATCH, DENSE, device="cuda")
    indices = [torch.randint(0, ROWS, (BATCH * lookups,), device="cuda") for lookups in LOOKUPS]
    offsets = [torch.arange(0, BATCH * lookups + 1, lookups, device="cuda") for lookups in LOOKUPS]
    clicks = torch.randint(0, 2, (BATCH,), device="cuda").float()

    def step():
        loss = F.binary_cross_entropy_with_logits(model(dense, indices, offsets), clicks)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step()
    for _ in range(100):
        step()

# SPDX-License-Identifier: Apache-2.0
"""DiT-XL/2 (a diffusion transformer) on latents of 256 x 256 images: bf16 autocast, AdamW."""
import math

import torch
from torch import nn
from torch.nn import functional as F

BATCH, SIDE, PATCH, WIDTH, DEPTH, HEADS = 64, 32, 2, 1152, 28, 16


def timestep_embedding(steps, width):
    half = width // 2
    frequencies = torch.exp(-math.log(10000) * torch.arange(half, device=steps.device) / half)
    angles = steps[:, None].float() * frequencies[None]
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def modulate(x, shift, scale):
    return x * (1 + scale[:, None]) + shift[:, None]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    """A transformer block whose norms are shifted, scaled and gated by the time and the class."""

    def __init__(self):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(WIDTH, elementwise_affine=False, eps=1e-6), Attention()
        self.norm2 = nn.LayerNorm(WIDTH, elementwise_affine=False, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH))
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(WIDTH, 6 * WIDTH))

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(condition).chunk(6, dim=1)
        x = x + gate1[:, None] * self.attn(modulate(self.norm1(x), shift1, scale1))
        return x + gate2[:, None] * self.mlp(modulate(self.norm2(x), shift2, scale2))


class DiT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(4, WIDTH, PATCH, stride=PATCH)
        self.position = nn.Parameter(torch.zeros(1, (SIDE // PATCH) ** 2, WIDTH), requires_grad=False)
        self.time = nn.Sequential(nn.Linear(256, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.label = nn.Embedding(1001, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.norm, self.modulation = nn.LayerNorm(WIDTH, elementwise_affine=False, eps=1e-6), nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, PATCH * PATCH * 8)

    def forward(self, x, steps, labels):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        condition = self.time(timestep_embedding(steps, 256)) + self.label(labels)
        for block in self.blocks:
            x = block(x, condition)
        shift, scale = self.modulation(F.silu(condition)).chunk(2, dim=1)
        x = self.out(modulate(self.norm(x), shift, scale))
        side = SIDE // PATCH
        return x.view(-1, side, side, PATCH, PATCH, 8).permute(0, 5, 1, 3, 2, 4).reshape(-1, 8, SIDE, SIDE)


def make_step():
    model = DiT().cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0)
    kept_signal = torch.cumprod(1 - torch.linspace(1e-4, 2e-2, 1000), dim=0).cuda()
    latents = torch.randn(BATCH, 4, SIDE, SIDE, device="cuda")
    labels = torch.randint(0, 1000, (BATCH,), device="cuda")

    def step():
        steps = torch.randint(0, 1000, (BATCH,), device="cuda")
        noise = torch.randn_like(latents)
        signal = kept_signal[steps][:, None, None, None]
        noisy = signal.sqrt() * latents + (1 - signal).sqrt() * noise
        with torch.autocast("cuda", dtype=torch.bfloat16):
            predicted, _ = model(noisy, steps, labels).chunk(2, dim=1)
            loss = F.mse_loss(predicted.float(), noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step()
    for _ in range(100):
        step()

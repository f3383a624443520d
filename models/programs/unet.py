# SPDX-License-Identifier: Apache-2.0
"""A latent diffusion UNet of 860 million parameters, conditioned on text (the shape of Stable Diffusion 1.5): bf16 autocast, AdamW."""
import math

import torch
from torch import nn
from torch.nn import functional as F

BATCH, SIDE, TEXT, TEXT_WIDTH = 16, 64, 77, 768
CHANNELS, HEADS = (320, 640, 1280, 1280), 8


def timestep_embedding(steps, width):
    half = width // 2
    frequencies = torch.exp(-math.log(10000) * torch.arange(half, device=steps.device) / half)
    angles = steps[:, None].float() * frequencies[None]
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, inside, outside, time_width):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, inside), nn.Conv2d(inside, outside, 3, padding=1)
        self.time = nn.Linear(time_width, outside)
        self.norm2, self.conv2 = nn.GroupNorm(32, outside), nn.Conv2d(outside, outside, 3, padding=1)
        self.skip = nn.Conv2d(inside, outside, 1) if inside != outside else nn.Identity()

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(time))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return self.skip(x) + h


class Attention(nn.Module):
    def __init__(self, width, context_width):
        super().__init__()
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(context_width, width, bias=False)
        self.v = nn.Linear(context_width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, context):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, -1, HEADS, width // HEADS).transpose(1, 2) for t in (self.q(x), self.k(context), self.v(context)))
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, width))


class TransformerBlock(nn.Module):
    """Self-attention, attention to the text and a gated feed-forward layer over the pixels of an image."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.proj_in, self.proj_out = nn.GroupNorm(32, width), nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norm1, self.attn1 = nn.LayerNorm(width), Attention(width, width)
        self.norm2, self.attn2 = nn.LayerNorm(width), Attention(width, TEXT_WIDTH)
        self.norm3, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x, text):
        batch, width, height, length = x.shape
        h = self.proj_in(self.norm(x)).permute(0, 2, 3, 1).reshape(batch, height * length, width)
        normed = self.norm1(h)
        h = h + self.attn1(normed, normed)
        h = h + self.attn2(self.norm2(h), text)
        value, gate = self.up(self.norm3(h)).chunk(2, dim=-1)
        h = h + self.down(value * F.gelu(gate))
        return x + self.proj_out(h.reshape(batch, height, length, width).permute(0, 3, 1, 2))


class Stage(nn.Module):
    """A residual block, and a transformer block where the images are small enough."""

    def __init__(self, inside, outside, time_width, attends):
        super().__init__()
        self.res = ResBlock(inside, outside, time_width)
        self.attn = TransformerBlock(outside) if attends else None

    def forward(self, x, time, text):
        x = self.res(x, time)
        return x if self.attn is None else self.attn(x, text)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        first, time_width = CHANNELS[0], 4 * CHANNELS[0]
        self.time = nn.Sequential(nn.Linear(first, time_width), nn.SiLU(), nn.Linear(time_width, time_width))
        self.conv_in = nn.Conv2d(4, first, 3, padding=1)
        self.down, self.downsample, widths, width = nn.ModuleList(), nn.ModuleList(), [first], first
        for level, channels in enumerate(CHANNELS):
            attends = level < 3
            for _ in range(2):
                self.down.append(Stage(width, channels, time_width, attends))
                width = channels
                widths.append(width)
            if level < 3:
                self.downsample.append(nn.Conv2d(width, width, 3, stride=2, padding=1))
                widths.append(width)
        self.mid1, self.mid2 = Stage(width, width, time_width, True), ResBlock(width, width, time_width)
        self.up, self.upsample = nn.ModuleList(), nn.ModuleList()
        for level, channels in reversed(list(enumerate(CHANNELS))):
            for _ in range(3):
                self.up.append(Stage(width + widths.pop(), channels, time_width, level < 3))
                width = channels
            if level > 0:
                self.upsample.append(nn.Conv2d(width, width, 3, padding=1))
        self.norm_out, self.conv_out = nn.GroupNorm(32, width), nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x, steps, text):
        time = self.time(timestep_embedding(steps, CHANNELS[0]))
        x = self.conv_in(x)
        kept = [x]
        for place, stage in enumerate(self.down):
            x = stage(x, time, text)
            kept.append(x)
            if place % 2 == 1 and place // 2 < len(self.downsample):
                x = self.downsample[place // 2](x)
                kept.append(x)
        x = self.mid2(self.mid1(x, time, text), time)
        for place, stage in enumerate(self.up):
            x = stage(torch.cat([x, kept.pop()], dim=1), time, text)
            if place % 3 == 2 and place // 3 < len(self.upsample):
                x = self.upsample[place // 3](F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.conv_out(F.silu(self.norm_out(x)))


def make_step():
    model = UNet().cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-2)
    kept_signal = torch.cumprod(1 - torch.linspace(1e-4, 2e-2, 1000), dim=0).cuda()
    latents = torch.randn(BATCH, 4, SIDE, SIDE, device="cuda")
    text = torch.randn(BATCH, TEXT, TEXT_WIDTH, device="cuda")

    def step():
        steps = torch.randint(0, 1000, (BATCH,), device="cuda")
        noise = torch.randn_like(latents)
        signal = kept_signal[steps][:, None, None, None]
        noisy = signal.sqrt() * latents + (1 - signal).sqrt() * noise
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.mse_loss(model(noisy, steps, text).float(), noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step()
    for _ in range(100):
        step()

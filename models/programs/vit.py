# SPDX-License-Identifier: Apache-2.0
"""ViT-L/16 on ImageNet: bf16 autocast, fused AdamW, label smoothing, gradients clipped."""
import torch
from torchvision.models import vit_l_16

BATCH = 64


def make_step():
    model = vit_l_16().cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.3, fused=True)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.11)
    images = torch.randn(BATCH, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (BATCH,), device="cuda")

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(model(images), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step()
    for _ in range(100):
        step()

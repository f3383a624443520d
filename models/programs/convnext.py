# SPDX-License-Identifier: Apache-2.0
"""ConvNeXt-B on ImageNet: channels_last, bf16 autocast, AdamW, label smoothing."""
import torch
from torchvision.models import convnext_base

BATCH = 128


def make_step():
    model = convnext_base().cuda().train().to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    images = torch.randn(BATCH, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (BATCH,), device="cuda")

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step()
    for _ in range(100):
        step()

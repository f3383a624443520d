# SPDX-License-Identifier: Apache-2.0
"""RetinaNet on ResNeXt-50 32x4d with a feature pyramid, as MLPerf trains it: 800 x 800 images, 264 classes, fp16, channels_last.

Frozen are the batch norms, the first convolution and the first of four groups of layers. Anchors are matched to boxes by the loader, whose
targets are padded to a fixed number of boxes, so that all shapes are known and the step can become a CUDA graph. As in submissions, each
frozen batch norm is one kernel with what follows it, and so is the focal loss: operations of their own, with Triton's kernels on a GPU.
"""
import math
import sys
from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models.resnet import resnext50_32x4d
from torchvision.ops.feature_pyramid_network import FeaturePyramidNetwork, LastLevelP6P7

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

BATCH, SIDE, CLASSES, ANCHORS, BOXES = 32, 800, 264, 9, 1000

if triton is not None:
    @triton.jit
    def _affine(x, scale, bias, rest, rest_scale, rest_bias, out, mask, count,
                CHANNELS: tl.constexpr, HAS_REST: tl.constexpr, SCALES_REST: tl.constexpr, BLOCK: tl.constexpr):
        place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = place < count
        channel = place % CHANNELS
        value = tl.load(x + place, mask=inside, other=0.0).to(tl.float32) * tl.load(scale + channel).to(tl.float32)
        value += tl.load(bias + channel).to(tl.float32)
        if HAS_REST:
            other = tl.load(rest + place, mask=inside, other=0.0).to(tl.float32)
            if SCALES_REST:
                other = other * tl.load(rest_scale + channel).to(tl.float32) + tl.load(rest_bias + channel).to(tl.float32)
            value += other
        tl.store(out + place, tl.maximum(value, 0.0).to(tl.float16), mask=inside)
        tl.store(mask + place, (value > 0.0).to(tl.int8), mask=inside)

    @triton.jit
    def _affine_backward(gradient, mask, scale, rest_scale, out, rest_out, count,
                         CHANNELS: tl.constexpr, HAS_REST: tl.constexpr, SCALES_REST: tl.constexpr, BLOCK: tl.constexpr):
        place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = place < count
        channel = place % CHANNELS
        value = tl.load(gradient + place, mask=inside, other=0.0).to(tl.float32) * tl.load(mask + place, mask=inside, other=0).to(tl.float32)
        tl.store(out + place, (value * tl.load(scale + channel).to(tl.float32)).to(tl.float16), mask=inside)
        if HAS_REST:
            if SCALES_REST:
                value = value * tl.load(rest_scale + channel).to(tl.float32)
            tl.store(rest_out + place, value.to(tl.float16), mask=inside)

    @triton.jit
    def _focal(logits, classes, weights, loss, gradient, count, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
        place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = place < count
        row = place // WIDTH
        x = tl.load(logits + place, mask=inside, other=0.0).to(tl.float32)
        hit = tl.load(classes + row, mask=inside, other=-1) == place % WIDTH
        weight = tl.load(weights + row, mask=inside, other=0.0)
        p = tl.sigmoid(x)
        log_p, log_q = tl.log(p + 1e-12), tl.log(1 - p + 1e-12)
        value = tl.where(hit, -0.25 * (1 - p) * (1 - p) * log_p, -0.75 * p * p * log_q)
        slope = tl.where(hit, 0.25 * (1 - p) * (1 - p) * (2 * p * log_p + p - 1), 0.75 * p * p * (p - 2 * (1 - p) * log_q))
        tl.atomic_add(loss, tl.sum(value * weight, axis=0))
        tl.store(gradient + place, (slope * weight).to(tl.float16), mask=inside)


def _grid(tensor):
    return (triton.cdiv(tensor.numel(), 1024),)


@torch.library.custom_op("retinanet::affine_relu", mutates_args=())
def affine_relu(x: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    out, mask = torch.empty_like(x), torch.empty_like(x, dtype=torch.int8)
    _affine[_grid(x)](x, scale, bias, x, scale, bias, out, mask, x.numel(), x.shape[1], False, False, BLOCK=1024)
    return out, mask


@affine_relu.register_fake
def _(x, scale, bias):
    return torch.empty_like(x), torch.empty_like(x, dtype=torch.int8)


@torch.library.custom_op("retinanet::affine_relu_backward", mutates_args=())
def affine_relu_backward(gradient: torch.Tensor, mask: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(mask, dtype=torch.half)
    _affine_backward[_grid(out)](gradient, mask, scale, scale, out, out, out.numel(), out.shape[1], False, False, BLOCK=1024)
    return out


@affine_relu_backward.register_fake
def _(gradient, mask, scale):
    return torch.empty_like(mask, dtype=torch.half)


@torch.library.custom_op("retinanet::affine_add_relu", mutates_args=())
def affine_add_relu(x: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor, rest: torch.Tensor, rest_scale: torch.Tensor,
                    rest_bias: torch.Tensor, scales_rest: bool) -> tuple[torch.Tensor, torch.Tensor]:
    out, mask = torch.empty_like(x), torch.empty_like(x, dtype=torch.int8)
    _affine[_grid(x)](x, scale, bias, rest, rest_scale, rest_bias, out, mask, x.numel(), x.shape[1], True, scales_rest, BLOCK=1024)
    return out, mask


@affine_add_relu.register_fake
def _(x, scale, bias, rest, rest_scale, rest_bias, scales_rest):
    return torch.empty_like(x), torch.empty_like(x, dtype=torch.int8)


@torch.library.custom_op("retinanet::affine_add_relu_backward", mutates_args=())
def affine_add_relu_backward(gradient: torch.Tensor, mask: torch.Tensor, scale: torch.Tensor, rest_scale: torch.Tensor,
                             scales_rest: bool) -> tuple[torch.Tensor, torch.Tensor]:
    out, rest_out = torch.empty_like(mask, dtype=torch.half), torch.empty_like(mask, dtype=torch.half)
    _affine_backward[_grid(out)](gradient, mask, scale, rest_scale, out, rest_out, out.numel(), out.shape[1], True, scales_rest, BLOCK=1024)
    return out, rest_out


@affine_add_relu_backward.register_fake
def _(gradient, mask, scale, rest_scale, scales_rest):
    return torch.empty_like(mask, dtype=torch.half), torch.empty_like(mask, dtype=torch.half)


@torch.library.custom_op("retinanet::focal_loss", mutates_args=())
def focal_loss(logits: torch.Tensor, classes: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    loss, gradient = torch.zeros((), device=logits.device), torch.empty_like(logits)
    _focal[_grid(logits)](logits, classes, weights, loss, gradient, logits.numel(), logits.shape[2], BLOCK=1024)
    return loss, gradient


@focal_loss.register_fake
def _(logits, classes, weights):
    return logits.new_empty((), dtype=torch.float32), torch.empty_like(logits)


class AffineReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, bias):
        out, mask = affine_relu(x, scale, bias)
        ctx.save_for_backward(mask, scale)
        return out

    @staticmethod
    def backward(ctx, gradient):
        mask, scale = ctx.saved_tensors
        return affine_relu_backward(gradient.contiguous(memory_format=torch.channels_last), mask, scale), None, None


class AffineAddReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, bias, rest, rest_scale, rest_bias):
        ctx.scales_rest = rest_scale is not None
        rest_scale, rest_bias = (rest_scale, rest_bias) if ctx.scales_rest else (scale, bias)
        out, mask = affine_add_relu(x, scale, bias, rest, rest_scale, rest_bias, ctx.scales_rest)
        ctx.save_for_backward(mask, scale, rest_scale)
        return out

    @staticmethod
    def backward(ctx, gradient):
        mask, scale, rest_scale = ctx.saved_tensors
        gradient = gradient.contiguous(memory_format=torch.channels_last)
        mine, others = affine_add_relu_backward(gradient, mask, scale, rest_scale, ctx.scales_rest)
        return mine, None, None, others, None, None


class FocalLoss(torch.autograd.Function):
    """Computes the gradient with the loss."""

    @staticmethod
    def forward(ctx, logits, classes, weights):
        loss, gradient = focal_loss(logits, classes, weights)
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx, gradient):
        (kept,) = ctx.saved_tensors
        return kept.mul_(gradient), None, None


class FrozenNorm(nn.Module):
    """A batch norm whose statistics and parameters do not change: a scale and a bias."""

    def __init__(self, channels):
        super().__init__()
        self.register_buffer("scale", torch.ones(channels, dtype=torch.half))
        self.register_buffer("bias", torch.zeros(channels, dtype=torch.half))


def forward_of(block, x):
    out = AffineReLU.apply(block.conv1(x), block.bn1.scale, block.bn1.bias)
    out = AffineReLU.apply(block.conv2(out), block.bn2.scale, block.bn2.bias)
    out = block.conv3(out)
    if block.downsample is None:
        return AffineAddReLU.apply(out, block.bn3.scale, block.bn3.bias, x, None, None)
    rest, norm = block.downsample[0](x), block.downsample[1]
    return AffineAddReLU.apply(out, block.bn3.scale, block.bn3.bias, rest, norm.scale, norm.bias)


class Backbone(nn.Module):
    """The outputs of the last three groups of layers, and the pyramid above them."""

    def __init__(self):
        super().__init__()
        self.body = resnext50_32x4d(norm_layer=FrozenNorm)
        del self.body.fc
        for name, parameter in self.body.named_parameters():
            parameter.requires_grad_(name.startswith(("layer2", "layer3", "layer4")))
        self.fpn = FeaturePyramidNetwork([512, 1024, 2048], 256, LastLevelP6P7(256, 256))

    def forward(self, x):
        body = self.body
        x = body.maxpool(AffineReLU.apply(body.conv1(x), body.bn1.scale, body.bn1.bias))
        features = OrderedDict()
        for name in ("layer1", "layer2", "layer3", "layer4"):
            for block in getattr(body, name):
                x = forward_of(block, x)
            if name != "layer1":
                features[name] = x
        return list(self.fpn(features).values())


class Head(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.conv = nn.ModuleList(nn.Conv2d(256, 256, 3, padding=1) for _ in range(4))
        self.last, self.outputs = nn.Conv2d(256, ANCHORS * outputs, 3, padding=1), outputs

    def forward(self, features):
        every = []
        for x in features:
            for conv in self.conv:
                x = F.relu_(conv(x))
            x = self.last(x)
            every.append(x.permute(0, 2, 3, 1).reshape(x.shape[0], -1, self.outputs))
        return torch.cat(every, dim=1)


class RetinaNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.classification, self.regression = Backbone(), Head(CLASSES), Head(4)

    def forward(self, images):
        features = self.backbone(images)
        return self.classification(features), self.regression(features)


def targets_of(matches, labels, boxes, anchors):
    """Classes and regressions of all anchors: @param matches a box of the image, -1: background, -2: between the thresholds"""
    is_object = matches >= 0
    objects = is_object.sum(dim=1).clamp(min=1)
    place = torch.where(is_object, matches, BOXES)
    classes = torch.gather(labels, 1, place)
    matched = torch.gather(boxes, 1, place[:, :, None].expand(-1, -1, 4))
    sides = anchors[:, 2:] - anchors[:, :2]
    centers = anchors[:, :2] + sides / 2
    matched_sides = matched[:, :, 2:] - matched[:, :, :2]
    shifts = ((matched[:, :, :2] + matched_sides / 2) - centers) / sides
    weights = (matches != -2).float() / (objects[:, None] * matches.shape[0])
    return is_object, objects, classes, torch.cat([shifts, torch.log(matched_sides / sides)], dim=2), weights


def make_step(batch=BATCH):
    model = RetinaNet().cuda().train().half().to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-4, fused=True, capturable=True)
    count = ANCHORS * sum(math.ceil(SIDE / stride) ** 2 for stride in (8, 16, 32, 64, 128))
    images = torch.randn(batch, 3, SIDE, SIDE, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
    corners = torch.rand(count, 2, device="cuda") * SIDE
    anchors = torch.cat([corners, corners + 32], dim=1)
    matches = torch.randint(-2, 8, (batch, count), device="cuda") - 8 * (torch.rand(batch, count, device="cuda") > 0.01).long()
    matches = matches.clamp(min=-1)
    labels = torch.randint(0, CLASSES, (batch, BOXES + 1), device="cuda")
    boxes = torch.tensor([10.0, 20.0, 60.0, 80.0], device="cuda").repeat(batch, BOXES + 1, 1)

    def step():
        is_object, objects, classes, shifts, weights = targets_of(matches, labels, boxes, anchors)
        classes = torch.where(is_object, classes, -1)
        logits, regression = model(images)
        loss = FocalLoss.apply(logits, classes, weights)
        distance = (regression.float() - shifts).abs().sum(dim=2) * is_object
        loss = loss + (distance.sum(dim=1) / objects).mean()
        (loss * 1024).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step(int(sys.argv[1]) if len(sys.argv) > 1 else BATCH)
    for _ in range(100):
        step()

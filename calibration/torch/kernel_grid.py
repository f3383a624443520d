# SPDX-License-Identifier: Apache-2.0
"""The shapes that measure_kernels.py times."""
from typing import Iterable

from kernel_kinds import FP8_PRODUCT_LAYOUTS, IMAGE_LAYOUTS

def linear_layers(widths: Iterable[int], tokens: tuple[int, ...], extra: Iterable[tuple[int, int, int]]
                  ) -> list[tuple[str, int, int, int]]:
    """(layout, m, n, k) of the products of linear layers: forward (nt), the input's gradient (nn), the weight's (tn).

    For each width the four layers of a transformer's block, at each number of tokens (for the first of several only
    forward); and `extra` as (tokens, out, in).
    """
    found = set()
    for tokens_out_in in extra:
        t, out, inner = tokens_out_in
        found |= {("nt", t, out, inner), ("nn", t, inner, out), ("tn", out, inner, t)}
    for width in widths:
        for t in tokens:
            for out, inner in ((3 * width, width), (width, width), (4 * width, width), (width, 4 * width)):
                found.add(("nt", t, out, inner))
                if t != tokens[0] or len(tokens) == 1:
                    found |= {("nn", t, inner, out), ("tn", out, inner, t)}
    return sorted(found)


# (c, o, kernel, stride, pad, hw) of a ResNet's convolutions
RESNET = ((3, 64, 7, 2, 3, 224), (64, 64, 1, 1, 0, 56), (64, 64, 3, 1, 1, 56), (64, 256, 1, 1, 0, 56),
          (256, 64, 1, 1, 0, 56), (256, 128, 1, 1, 0, 56), (128, 128, 3, 2, 1, 56), (128, 512, 1, 1, 0, 28),
          (256, 512, 1, 2, 0, 56), (512, 128, 1, 1, 0, 28), (128, 128, 3, 1, 1, 28), (512, 256, 1, 1, 0, 28),
          (256, 256, 3, 2, 1, 28), (256, 1024, 1, 1, 0, 14), (512, 1024, 1, 2, 0, 28), (1024, 256, 1, 1, 0, 14),
          (256, 256, 3, 1, 1, 14), (1024, 512, 1, 1, 0, 14), (512, 512, 3, 2, 1, 14), (512, 2048, 1, 1, 0, 7),
          (1024, 2048, 1, 2, 0, 14), (2048, 512, 1, 1, 0, 7), (512, 512, 3, 1, 1, 7))
# (hidden, kernel) of convolutions that divide images into patches
PATCHES = ((768, 16), (1024, 16), (1024, 32), (128, 4))
# (c, kernel, stride, hw) of depthwise convolutions of ConvNeXt and MobileNet
DEPTHWISE = ((128, 7, 1, 56), (256, 7, 1, 28), (512, 7, 1, 14), (1024, 7, 1, 7), (64, 3, 2, 112), (72, 3, 1, 56),
             (120, 5, 1, 28), (240, 3, 2, 28), (480, 3, 1, 14), (672, 5, 1, 14), (960, 5, 1, 7))
# (c, hw) of depthwise convolutions of ConvNeXt tiny and base: 7 x 7
CONVNEXT = ((96, 56), (192, 28), (384, 14), (768, 7), (128, 56), (256, 28), (512, 14), (1024, 7))
# The same of MobileNet, EfficientNet, MNASNet and ShuffleNet
MOBILE = ((16, 3, 1, 112), (32, 3, 1, 112), (96, 3, 2, 112), (144, 3, 1, 56), (144, 5, 2, 56), (240, 5, 1, 28),
          (480, 5, 1, 14), (672, 5, 2, 14), (1152, 5, 1, 7), (1152, 3, 1, 7), (58, 3, 1, 28), (116, 3, 1, 14),
          (232, 3, 1, 7), (24, 3, 2, 56), (200, 3, 1, 14), (184, 3, 1, 14), (384, 3, 1, 14), (64, 3, 1, 56),
          (128, 3, 1, 56), (256, 3, 1, 28), (512, 3, 1, 14))
# (c, groups, stride, hw) of convolutions of 3 x 3 in groups of 24, 48, 56, 64 and 112 channels (RegNet), and of 8 to 64
# (ResNeXt)
REGNET = ((120, 5, 1, 28), (336, 14, 1, 14), (888, 37, 1, 7), (48, 2, 2, 112), (336, 14, 2, 28), (192, 4, 1, 28),
          (432, 9, 1, 14), (1008, 21, 1, 7), (96, 2, 2, 112), (432, 9, 2, 28), (224, 4, 2, 112), (224, 4, 1, 56),
          (448, 8, 2, 56), (448, 8, 1, 28), (896, 16, 2, 28), (896, 16, 1, 14), (2016, 36, 2, 14), (2016, 36, 1, 7),
          (128, 2, 1, 56), (256, 4, 1, 28), (512, 8, 1, 14), (224, 2, 1, 56), (448, 4, 1, 28), (1232, 11, 1, 14),
          (3024, 27, 1, 7), (256, 32, 1, 56), (512, 32, 1, 28), (1024, 32, 1, 14), (2048, 32, 1, 7), (512, 32, 2, 56),
          (1024, 32, 2, 28))
# (c, o, kernel, hw) between ConvNeXt's stages, and (c, hw) of ResNeXt's convolutions in 32 groups
DOWNSAMPLING = ((128, 256, 2, 56), (256, 512, 2, 28), (512, 1024, 2, 14))
GROUPED = ((128, 56), (256, 28), (512, 14), (1024, 7))
# (c, o, kernel, stride, pad, hw) of detection and segmentation in images of 800 pixels: a pyramid of features, its heads,
# and the convolutions of 1 x 1 of the ResNet below it
PYRAMID = (*((256, o, 3, 1, 1, hw) for hw in (100, 50, 25, 13, 7) for o in (256, 720, 2376)),
           (256, 36, 3, 1, 1, 100), (256, 36, 3, 1, 1, 25), (256, 256, 3, 1, 1, 200), (256, 256, 3, 2, 1, 25),
           (512, 256, 1, 1, 0, 100), (1024, 256, 1, 1, 0, 50), (2048, 256, 1, 1, 0, 25), (3, 64, 7, 2, 3, 800),
           (64, 256, 1, 1, 0, 200), (256, 128, 1, 1, 0, 200), (256, 512, 1, 1, 0, 100), (512, 512, 1, 1, 0, 100),
           (512, 1024, 1, 1, 0, 50), (1024, 512, 1, 1, 0, 50), (1024, 2048, 1, 1, 0, 25), (2048, 1024, 1, 1, 0, 25),
           (256, 512, 1, 2, 0, 200), (512, 1024, 1, 2, 0, 100), (1024, 2048, 1, 2, 0, 50))
# (c, stride, hw) of a ResNeXt's convolutions in 32 groups in such images
PYRAMID_GROUPED = ((128, 1, 200), (256, 2, 200), (256, 1, 100), (512, 2, 100), (512, 1, 50), (1024, 2, 50), (1024, 1, 25))
# (c, o, kernel, stride, pad, hw) of diffusion's UNets, and of the encoders of their images
UNET = ((320, 320, 3, 1, 1, 64), (640, 640, 3, 1, 1, 32), (1280, 1280, 3, 1, 1, 16), (1280, 1280, 3, 1, 1, 8),
        (960, 320, 3, 1, 1, 64), (1920, 640, 3, 1, 1, 32), (2560, 1280, 3, 1, 1, 16), (320, 320, 3, 2, 1, 64))
AUTOENCODER = ((128, 128, 3, 1, 1, 256), (256, 256, 3, 1, 1, 128), (512, 512, 3, 1, 1, 64))
# (c, hw) of a ResNet's activations
NORMED = ((64, 112), (64, 56), (256, 56), (128, 28), (512, 28), (256, 14), (1024, 14), (512, 7), (2048, 7))
# (batch, heads, seq, head_dim)
FUSED_ATTENTION = ((64, 12, 128, 64), (64, 12, 197, 64), (32, 16, 50, 64), (8, 16, 384, 64), (16, 12, 512, 64),
                   (8, 12, 1024, 64), (32, 16, 1024, 64), (4, 16, 1024, 128), (8, 16, 2048, 96), (2, 32, 2048, 80),
                   (4, 32, 2048, 64), (4, 16, 2048, 128), (1, 32, 4096, 128), (1, 8, 4096, 128), (1, 2, 4096, 128),
                   (1, 16, 8192, 64), (1, 16, 8192, 128), (1, 8, 16384, 128))
# Heads of other sizes: of diffusion's UNets and transformers, of large ViTs and of Gemma
OTHER_HEADS = ((16, 8, 4096, 40), (16, 8, 1024, 80), (16, 8, 256, 160), (4, 16, 1024, 72), (16, 16, 256, 72),
               (32, 16, 257, 80), (4, 32, 1024, 96), (2, 32, 2048, 112), (4, 8, 2048, 256), (2, 16, 4096, 192))
# Few heads: small micro-batches, and heads divided by tensor parallelism
FEW_HEADS = ((1, 12, 1024, 64), (2, 12, 1024, 64), (4, 12, 1024, 64), (2, 16, 1024, 64), (16, 6, 1024, 64), (1, 16, 2048, 64),
             (4, 8, 2048, 64), (1, 16, 2048, 128), (1, 32, 2048, 128), (4, 4, 2048, 128), (1, 8, 8192, 128), (1, 4, 8192, 128),
             (1, 16, 1024, 128), (2, 16, 1024, 128), (16, 8, 1024, 128), (16, 16, 1024, 128))
# Long sequences
LONG_ATTENTION = ((1, 16, 16384, 96), (1, 16, 32768, 96), (1, 20, 16384, 128), (1, 20, 32768, 128), (1, 10, 65536, 128))
EFFICIENT_ATTENTION = ((64, 12, 197, 64), (32, 16, 50, 64), (8, 16, 384, 64), (4, 16, 1024, 64), (2, 16, 2048, 128))
# The same with a single mask, as in models
MASKED_FUSED_ATTENTION = {
    "causal": ((32, 12, 1024, 64), (16, 16, 1024, 64), (8, 16, 2048, 128), (12, 16, 1024, 128), (1, 32, 8192, 128),
               (2, 16, 8192, 64), (1, 64, 4096, 128), (2, 8, 2048, 128)),
    "full": ((64, 16, 197, 64), (128, 12, 197, 64), (8, 16, 512, 64), (128, 12, 128, 64)),
}
MASKED_EFFICIENT_ATTENTION = {
    "causal": ((8, 12, 1024, 64), (4, 12, 2048, 64), (4, 16, 2048, 128)),
    "full": ((128, 12, 197, 64), (16, 16, 384, 64), (8, 12, 512, 64)),
}
# (batch, heads, seq, head_dim) of several sequences, of which each multiprocessor has many blocks
MANY_SEQUENCES = ((2, 32, 2048, 128), (4, 32, 2048, 128), (8, 32, 2048, 128), (2, 32, 4096, 128), (4, 32, 4096, 128),
                  (8, 16, 4096, 128), (2, 16, 8192, 128), (2, 32, 8192, 128), (4, 32, 8192, 128), (8, 16, 1024, 128),
                  (16, 32, 1024, 128), (32, 32, 512, 128), (16, 40, 2048, 128), (4, 16, 4096, 64),
                  (32, 16, 512, 64), (8, 32, 2048, 64))
# (batch, seq, head_dim) of attention by matrix products
PRODUCT_ATTENTION = ((96, 1024, 64), (64, 2048, 128), (192, 384, 64), (768, 197, 64),
                     (768, 512, 64), (192, 512, 64), (1536, 128, 64), (384, 256, 64), (32, 1024, 128), (32, 4096, 128), (16, 2048, 128), (24, 2048, 64),
                     # heads whose size is not a multiple of 8, and one that is
                     (16, 2048, 96), (16, 2048, 108), (16, 2048, 150), (16, 2048, 75), (96, 1024, 72), (96, 1024, 80),
                     (96, 1024, 100), (96, 1024, 90), (96, 1024, 125))
MASKS = ("causal", "full")
# Experts: number per GPU, their width, the model's width, and tokens for all of them
EXPERTS = ((8, 14336, 4096, (4096, 16384, 65536)), (8, 2048, 1024, (8192, 32768)), (4, 4096, 4096, (16384,)),
           (128, 768, 2048, (8192, 32768, 131072)), (16, 1536, 4096, (8192, 32768)),
           (64, 1408, 2048, (6144, 24576, 98304)), (20, 1536, 5120, (12320, 24640)), (32, 2048, 7168, (8192, 65536)), (64, 1024, 2048, (16384, 65536)),
           (8, 16384, 6144, (16384,)), (256, 2048, 7168, (65536,)))
# Of linear layers: (tokens, out, in). Llama 3 70B and 8B on 8 tensor-parallel ranks, 16 (of the widest layers 4) and 12
# sequences of 8192; larger ones throttle the GPU while they run
TENSOR_PARALLEL = ((131072, 1024, 8192), (131072, 128, 8192), (131072, 8192, 1024), (32768, 3584, 8192),
                   (32768, 8192, 3584), (98304, 512, 4096), (98304, 128, 4096), (98304, 4096, 512),
                   (98304, 1792, 4096), (98304, 4096, 1792))
# ... with output layers, tensor-parallel shards and other widths
EXTRA = {
    "bf16": ((8192, 50304, 768), (4096, 50304, 2048), (16384, 50304, 1024), (8192, 50257, 768), (4096, 50257, 2048),
             (8192, 32000, 2048), (4096, 128256, 3072), (12608, 2304, 768), (12608, 768, 3072), (12608, 768, 768),
             (12608, 3072, 768), (1600, 3072, 1024), (1600, 4096, 1024), (1600, 1024, 4096), (1600, 1024, 1024),
             (12288, 5632, 2048), (8192, 2048, 5632), (8192, 5632, 2048), (8192, 256, 2048), (8192, 2048, 2048),
             (8192, 6144, 2048), (8192, 8192, 2048), (2048, 8192, 2048), (2048, 2048, 8192), (4096, 1024, 3072),
             (4096, 8192, 3072), (4096, 3072, 3072), (4096, 28672, 8192), (4096, 3584, 8192), (2048, 1536, 12288),
             (2048, 6144, 12288), (2048, 3584, 4096), (8192, 1280, 8192), (64, 1000, 2048), (256, 1000, 2048),
             (64, 1000, 768), (4096, 2, 768), (128, 4096, 4096), (512, 4096, 4096), (2048, 8192, 8192),
             (8192, 8192, 8192), (32768, 3072, 768), (2048, 2048, 2048), (6144, 4096, 1024), (6144, 1024, 1024),
             (3072, 1024, 1024), (8192, 14336, 4096), (8192, 4096, 14336), (8192, 11008, 4096), (200704, 512, 128),
             (50176, 1024, 256), (12544, 2048, 512), (3136, 4096, 1024), (16384, 128, 2048), (8192, 640, 5120),
             (4096, 53248, 16384), (16384, 14336, 4096), (16384, 4096, 14336), (16384, 28672, 8192),
             (16384, 8192, 28672), (16384, 8192, 8192), (16384, 1024, 8192), (8192, 3584, 8192), (8192, 8192, 3584),
             (16384, 13824, 5120), (16384, 5120, 13824), (8192, 6656, 16384), (8192, 16384, 6656), (4096, 12288, 3072),
             (4096, 3072, 12288), (2048, 12288, 12288), (2048, 49152, 12288), (2048, 12288, 49152),
             (16384, 32000, 4096), (8192, 128256, 4096), (8192, 16032, 8192)) + TENSOR_PARALLEL,
    "tf32": ((1600, 3072, 1024), (1600, 1024, 1024), (1600, 4096, 1024), (1600, 1024, 4096), (25216, 3072, 768),
             (25216, 768, 3072), (25216, 2304, 768), (25216, 768, 768), (4096, 50304, 1024), (64, 1000, 2048),
             (6144, 4096, 1024), (6144, 1024, 4096), (6144, 1024, 1024), (100352, 512, 128), (25088, 1024, 256),
             (6272, 2048, 512), (8192, 50304, 2048), (12608, 3072, 768)),
    "fp32": ((1600, 3072, 1024), (1600, 1024, 1024), (1600, 1024, 4096), (1600, 4096, 1024), (4096, 50304, 1024),
             (6304, 3072, 768), (6304, 768, 3072), (12608, 768, 768), (64, 1000, 2048), (4096, 4096, 4096),
             (8192, 4096, 1024)),
    "fp16": ((8192, 50304, 768), (6144, 4096, 1024), (4096, 3072, 1024), (4096, 1024, 1024), (4096, 4096, 1024),
             (4096, 1024, 4096), (4096, 12288, 4096), (4096, 4096, 4096), (4096, 16384, 4096), (4096, 4096, 16384)),
    "fp8": ((16384, 1024, 4096), (16384, 14336, 4096), (16384, 4096, 14336), (16384, 1024, 8192), (16384, 28672, 8192),
            (16384, 8192, 28672), (16384, 128, 4096), (16384, 256, 8192), (32768, 128, 8192)) + TENSOR_PARALLEL,
}
BLOCKS = {  # widths and numbers of tokens
    "bf16": ((768, 1024, 1536, 2048, 2560, 4096, 5120), (1024, 4096, 16384)),
    "tf32": ((768, 1024, 2048, 4096), (2048, 4096, 8192)),
    "fp32": ((768, 1024, 2048), (1024, 2048, 4096)),
    "fp16": ((768, 1024, 2048, 4096), (4096, 16384)),
    "fp8": ((1024, 2048, 4096, 8192, 12288), (2048, 8192)),
}
ROW_SIZES = ((512, 1024), (4096, 768), (8192, 1024), (32768, 1024), (12608, 768), (4096, 2048), (16384, 2048),
             (4096, 4096), (8192, 8192), (98304, 197), (65536, 1024), (200704, 128), (50176, 512),
             (65536, 320), (16384, 640), (401408, 96), (100352, 192), (25088, 384), (16384, 1152))
# (rows, width) that torchao's rowwise recipe casts: activations, their shards, weights
CAST_BY_ROWS = ((131072, 8192), (131072, 3584), (131072, 1024), (131072, 128), (98304, 4096), (98304, 512), (16384, 14336),
                (16384, 4096), (8192, 8192), (4096, 4096), (1024, 8192), (8192, 1024), (2048, 2048))
CLASSES = ((64, 1000), (256, 1000), (2048, 50304), (8192, 50304), (4096, 32000), (4096, 128256), (16384, 50304),
           (8192, 50257))
# (rows, width), width that of one of three
PERMUTED = ((1600, 1024), (12608, 768), (12608, 1024), (25216, 768), (65536, 768))
VOCABULARIES = ((1024, 50304, 768), (8192, 50304, 768), (16384, 50304, 1024), (4096, 50304, 2048),
                (8192, 32000, 2048), (4096, 128256, 3072), (4096, 30522, 768), (4096, 2, 768), (4096, 512, 768))
# (tokens, vocabulary, width) of gradients of embeddings: large vocabularies, positions, types
GRADIENTS = ((4096, 151936, 896), (8192, 128256, 2048), (4096, 256000, 2304), (2048, 32064, 3072), (8192, 30522, 1024),
             (8192, 2, 1024), (8192, 512, 1024), (1024, 1024, 1024), (8192, 1024, 1024), (4096, 50272, 2048),
             (16384, 50368, 768), (8192, 49152, 2048), (4096, 32, 12), (65536, 512, 64), (2048, 49152, 3072),
             (8192, 32768, 2048), (32768, 8192, 16), (65536, 100000, 64))
# (rows, width) of rows that are read or added by their indices, and of what is sorted
MOVED = ((4096, 1024), (16384, 2048), (65536, 256), (65536, 64))
SORTED = ((1, 4096), (1, 32768), (1, 262144), (4096, 32), (16384, 64), (16384, 128), (1024, 4096), (64, 50304))
# (rows, width) of narrow rows, by which few layers are normalised but many are summed
NARROW = ((1 << 20, 4), (1 << 24, 4), (1 << 16, 16), (1 << 20, 16), (1 << 24, 16), (4096, 64), (200704, 64), (1 << 20, 64),
          (1 << 24, 64), (50176, 128), (1 << 18, 128), (1 << 22, 128), (16384, 256), (1 << 20, 256), (4096, 512))
# elements and dimensions of operands that are broadcast over every other dimension
BROADCAST = tuple((1 << power, dims) for dims in (3, 4, 5, 6) for power in (18, 21, 24, 27, 30))
STRIDED = (1 << 16, 1 << 19, 1 << 22, 1 << 25, 1 << 26, 1 << 28)
OPTIMIZED = ((1 << 20, 64), (1 << 24, 160), (1 << 26, 148), (1 << 28, 296), (1 << 30, 292))


def products() -> list[tuple]:
    found = [(number, *layer) for number, (widths, tokens) in BLOCKS.items()
             for layer in linear_layers(widths, tokens, EXTRA.get(number, ()))]
    # All three products of a layer in fp8 are nt: the operands of the others are transposed before.
    return list(dict.fromkeys((number, layout, *size) for number, given, *size in found
                              for layout in (FP8_PRODUCT_LAYOUTS if number == "fp8" else (given,))))


def batched_products() -> list[tuple]:
    shapes = [shape for b, s, d in PRODUCT_ATTENTION for shape in (("nt", b, s, s, d), ("nn", b, s, d, s))]
    return [(number, *shape) for number in ("bf16", "tf32", "fp32") for shape in shapes]


def grouped_products() -> list[tuple]:
    """Into the experts and out of them."""
    layers = [(tokens, *sides, groups) for groups, mlp, hidden, some in EXPERTS for tokens in some
              for sides in ((mlp, hidden), (hidden, mlp))]
    return [("bf16", *shape) for tokens, outputs, inputs, groups in dict.fromkeys(layers)
            for shape in (("nt", tokens, outputs, inputs, groups), ("nn", tokens, inputs, outputs, groups),
                          ("tn", outputs, inputs, tokens, groups))]


def attentions() -> list[tuple]:
    fused = [("bf16", how, mask, *shape) for how in ("flash", "cudnn") for mask in MASKS
             for shape in FUSED_ATTENTION + OTHER_HEADS + FEW_HEADS + LONG_ATTENTION + MANY_SEQUENCES]
    fused += [("bf16", "cudnn", mask, *shape) for mask in MASKS for shape in MASKED_FUSED_ATTENTION[mask]]
    efficient = [(number, "efficient", mask, *shape) for number in ("fp32", "tf32", "bf16") for mask in MASKS
                 for shape in EFFICIENT_ATTENTION]
    efficient += [(number, "efficient", mask, *shape) for number in ("fp32", "tf32") for mask in MASKS
                  for shape in MASKED_EFFICIENT_ATTENTION[mask]]
    return fused + efficient


def convolutions() -> list[tuple]:
    found = []
    for number, layouts, batches in (("bf16", IMAGE_LAYOUTS, (64, 256)), ("tf32", IMAGE_LAYOUTS, (64,)),
                                     ("fp32", ("nchw",), (64,))):
        found += [(number, layout, n, *shape, 1) for layout in layouts for n in batches for shape in RESNET]
    for layout in IMAGE_LAYOUTS:
        for number in ("bf16", "tf32"):
            found += [(number, layout, 64, 3, o, kernel, kernel, 0, 224, 1) for o, kernel in PATCHES]
            found += [(number, layout, 64, c, c, kernel, stride, kernel // 2, hw, c)
                      for c, kernel, stride, hw in DEPTHWISE]
        found += [("bf16", layout, 64, c, o, kernel, kernel, 0, hw, 1) for c, o, kernel, hw in DOWNSAMPLING]
        found += [("bf16", layout, 64, c, c, 3, 1, 1, hw, 32) for c, hw in GROUPED]
    for number, batches in (("bf16", (32, 128)), ("tf32", (32, 128)), ("fp32", (32,))):
        found += [(number, "nhwc", n, c, c, 7, 1, 3, hw, c) for n in batches for c, hw in CONVNEXT]
    found += [("bf16", "nchw", n, c, c, kernel, stride, kernel // 2, hw, c) for n in (64, 128) for c, kernel, stride, hw in MOBILE]
    found += [("bf16", "nhwc", 64, c, c, kernel, stride, kernel // 2, hw, c) for c, kernel, stride, hw in MOBILE[::2]]
    for layout in IMAGE_LAYOUTS:
        found += [("bf16", layout, n, *shape, 1) for n in (8, 32) for shape in PYRAMID]
        found += [("bf16", layout, n, c, c, 3, stride, 1, hw, 32) for n in (8, 32) for c, stride, hw in PYRAMID_GROUPED]
        found += [("bf16", layout, n, *shape, 1) for n in (4, 16) for shape in UNET + AUTOENCODER]
    for number, layout, every in (("bf16", "nchw", 1), ("bf16", "nhwc", 2), ("tf32", "nchw", 3)):
        found += [(number, layout, 64, c, c, 3, stride, 1, hw, groups) for c, groups, stride, hw in REGNET[::every]]
    for n in (32, 128):
        found += [(number, "nchw", n, 3, o, kernel, kernel, 0, 224, 1) for number in ("bf16", "tf32", "fp32")
                  for o, kernel in PATCHES]
        found += [(number, "nhwc", n, c, o, kernel, kernel, 0, hw, 1) for number in ("bf16", "tf32")
                  for c, o, kernel, hw in DOWNSAMPLING]
    return found


def elementwise_sizes() -> list[tuple]:
    return ([(number, 1 << power) for number in ("fp32", "bf16") for power in range(16, 29, 2)] +
            [("fp16", 1 << power) for power in (18, 22, 26)])


def activations(shapes: Iterable[tuple[int, int]]) -> list[tuple]:
    return [(number, layout, n, *shape) for layout in IMAGE_LAYOUTS for number in ("bf16", "fp32")
            for n in (64, 256) for shape in shapes]

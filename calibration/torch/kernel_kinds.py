# SPDX-License-Identifier: Apache-2.0
"""The kinds of kernels that measure_kernels.py times: their words, and the numbers of their sizes."""
from typing import NamedTuple

NUMBERS = ("fp32", "tf32", "bf16", "fp16", "fp8", "nvfp4")
PRODUCT_LAYOUTS = ("nt", "nn", "tn")  # one letter per factor: n as in memory, t transposed
FP8_PRODUCT_LAYOUTS = ("nt", "nt_fast", "nt_rows")
IMAGE_LAYOUTS = ("nchw", "nhwc")
ATTENTION = {"number": NUMBERS, "how": ("cudnn", "flash", "efficient"), "mask": ("causal", "full")}
ATTENTION_SIZE = ("batch", "heads", "seq", "head_dim")
IMAGES = {"number": NUMBERS, "layout": IMAGE_LAYOUTS}
CONVOLUTION_SIZE = ("n", "c", "o", "kernel", "stride", "pad", "hw", "groups")
ELEMENTWISE = ("copy", "permute", "add", "add_", "add_mixed", "complex_mul", "mul", "scale", "zero", "sum", "random",
               "count", "gelu", "gelu_backward", "silu", "silu_backward", "tanh", "tanh_backward", "hardswish",
               "hardswish_backward", "relu_", "threshold_backward", "dropout", "dropout_backward", "cast_to_16",
               "cast_to_32", "cast_to_8", "cast_transpose", "cast_nvfp4", "cast_nvfp4_rows", "amax", "transpose", "broadcast",
               "broadcast_3", "broadcast_4", "broadcast_5", "broadcast_6", "rotary", "strided", "halves")
ROWS = ("layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_backward", "bias_sum", "sum", "cumsum", "softmax", "softmax_backward",
        "cat", "transpose", "transpose_256", "strided", "log_softmax", "log_softmax_backward", "nll_loss", "nll_loss_backward",
        "cast_rows", "cast_columns", "sort", "sort_int64", "topk", "index", "index_put", "index_add", "scatter_add")
NEVER_TIMED = ("count", "cast_nvfp4", "cast_nvfp4_rows")  # words of `elementwise` in gradway


class Kind(NamedTuple):
    """A kind of kernel, its first word: meaning and choices of its other words, and the numbers of its size."""
    words: dict[str, tuple[str, ...]]
    size: tuple[str, ...]


# The same as `timed_kinds` in sim/cost/kernel_times.hpp, in its order, with the words of `elementwise` and `rows` in
# sim/workload/operation.cpp; a test compares them.
KINDS = {
    "product": Kind({"number": NUMBERS, "layout": (*PRODUCT_LAYOUTS, *FP8_PRODUCT_LAYOUTS[1:])}, ("m", "n", "k")),
    "batched_product": Kind({"number": NUMBERS, "layout": PRODUCT_LAYOUTS}, ("batch", "m", "n", "k")),
    "grouped_product": Kind({"number": NUMBERS, "layout": PRODUCT_LAYOUTS}, ("m", "n", "k", "groups")),
    "attention_forward": Kind(ATTENTION, ATTENTION_SIZE),
    "attention_backward": Kind(ATTENTION, ATTENTION_SIZE),
    "convolution": Kind(IMAGES, CONVOLUTION_SIZE),
    "convolution_input": Kind(IMAGES, CONVOLUTION_SIZE),
    "convolution_weight": Kind(IMAGES, CONVOLUTION_SIZE),
    "batch_norm": Kind(IMAGES, ("n", "c", "hw")),
    "batch_norm_backward": Kind(IMAGES, ("n", "c", "hw")),
    "max_pool": Kind(IMAGES, ("n", "c", "hw")),
    "max_pool_backward": Kind(IMAGES, ("n", "c", "hw")),
    "elementwise": Kind({"what": ELEMENTWISE, "number": NUMBERS}, ("elements",)),
    "rows": Kind({"what": ROWS, "number": NUMBERS}, ("rows", "width")),
    "embedding": Kind({}, ("rows", "vocabulary", "width")),
    "embedding_backward": Kind({}, ("rows", "vocabulary", "width")),
    "optimizer": Kind({"what": ("sgd", "adamw", "adamw_fused")}, ("elements", "tensors")),
}


def text_of_kind(name: str) -> str:
    """A line of --list: `product number=fp32|tf32 layout=nt|nn size=mxnxk`."""
    kind = KINDS[name]
    words = [f"{word}={'|'.join(choices)}" for word, choices in kind.words.items()]
    return " ".join([name, *words, f"size={'x'.join(kind.size)}"])

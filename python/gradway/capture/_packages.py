# SPDX-License-Identifier: Apache-2.0
"""Operations of packages with kernels of their own: flash-attn, xformers, apex, Transformer Engine and Liger.

Where a package is installed, its functions are replaced after it was imported; flash-attn, xformers, apex and Transformer Engine, which
need a GPU or its compiler to be installed, have stand-ins with the same interface for programs that import them.
"""
from __future__ import annotations

import contextlib
import math
import types
from pathlib import Path
from typing import Any, Callable, Iterator

from gradway.capture import _recorder, _sharded
from gradway.capture._errors import CaptureError, place_of_program
from gradway.capture._kernels import attention_function, rms_norm_function

_FUSED = "compiled"  # a kernel that reads and writes each of its tensors once, in model files


def packages(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """By module: what fills it, or changes it after it was imported."""
    return {**_flash_attention(recorder), **_xformers(recorder), **_apex(recorder), **_transformer_engine(recorder)}


def changes(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """By module of packages without stand-ins: what changes it after it was imported."""
    return {**_liger(recorder), **_of_transformers(recorder)}


def _setting(**functions: Any) -> Callable[[Any], None]:
    def fill(module: Any) -> None:
        for name, function in functions.items():
            setattr(module, name, function)
        if not hasattr(module, "__version__"):
            module.__version__ = "0.0.0"
    return fill


def _attention_of_rows(recorder: "_recorder.Recorder", is_flash: bool) -> Callable[..., Any]:
    """Attention on batch x tokens x heads x width in one kernel. @param is_flash in that of FlashAttention 2"""
    fused = attention_function(recorder, is_flash)

    def attention(query: Any, key: Any, value: Any, dropout: float = 0.0, causal: bool = False, mask: Any = None) -> Any:
        made = fused(*(tensor.transpose(1, 2) for tensor in (query, key, value)), mask, dropout, causal, True)
        if made is None:
            raise CaptureError(f"{place_of_program()}: attention of {str(query.dtype).removeprefix('torch.')} in this form is not known to gradway: "
                               "use torch.nn.functional.scaled_dot_product_attention for the capture")
        return made.transpose(1, 2)

    return attention


def _packed(attention: Callable[..., Any], query: Any, key: Any, value: Any, sequences: int, *settings: Any) -> Any:
    """Attention within sequences of one row of tokens, which are taken as equally long: the largest number, up to theirs, that divides the tokens."""
    def cut(tensor: Any, number: int) -> Any:
        return tensor.reshape(number, tensor.shape[0] // number, *tensor.shape[1:])
    number = next(count for count in range(max(1, sequences), 0, -1) if query.shape[0] % count == 0 and key.shape[0] % count == 0)
    return attention(cut(query, number), cut(key, number), cut(value, number), *settings).reshape(query.shape)


def _flash_attention(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """Source of the interface: flash_attn/flash_attn_interface.py of github.com/Dao-AILab/flash-attention, versions 2.3 to 2.8."""
    attention = _attention_of_rows(recorder, is_flash=True)

    def known(window_size: Any, alibi_slopes: Any) -> None:
        if tuple(window_size or (-1, -1))[0] not in (-1, None):
            recorder.warn(f"{place_of_program()}: attention with window_size is recorded as attention to all tokens, which takes longer")
        if alibi_slopes is not None:
            recorder.warn(f"{place_of_program()}: alibi_slopes of flash_attn are not in the recorded attention")

    def func(q: Any, k: Any, v: Any, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False, window_size: Any = (-1, -1),
             softcap: float = 0.0, alibi_slopes: Any = None, deterministic: bool = False, return_attn_probs: bool = False, **_: Any) -> Any:
        known(window_size, alibi_slopes)
        return attention(q, k, v, dropout_p, causal)

    def qkvpacked(qkv: Any, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False, *others: Any, **named: Any) -> Any:
        q, k, v = qkv.unbind(2)
        return func(q, k, v, dropout_p, softmax_scale, causal, *others, **named)

    def kvpacked(q: Any, kv: Any, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False, *others: Any, **named: Any) -> Any:
        k, v = kv.unbind(2)
        return func(q, k, v, dropout_p, softmax_scale, causal, *others, **named)

    def varlen(q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int, max_seqlen_k: int, dropout_p: float = 0.0,
               softmax_scale: Any = None, causal: bool = False, window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Any = None, **_: Any) -> Any:
        known(window_size, alibi_slopes)
        return _packed(attention, q, k, v, cu_seqlens_q.shape[0] - 1, dropout_p, causal)

    def varlen_qkvpacked(qkv: Any, cu_seqlens: Any, max_seqlen: int, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False, **named: Any) -> Any:
        q, k, v = qkv.unbind(1)
        return varlen(q, k, v, cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, dropout_p, softmax_scale, causal, **named)

    def with_cache(*_: Any, **__: Any) -> Any:
        raise CaptureError(f"{place_of_program()}: flash_attn_with_kvcache generates tokens, which is no part of a training step")

    functions = dict(flash_attn_with_kvcache=with_cache, flash_attn_func=func, flash_attn_qkvpacked_func=qkvpacked, flash_attn_kvpacked_func=kvpacked, flash_attn_varlen_func=varlen,
                     flash_attn_varlen_qkvpacked_func=varlen_qkvpacked)
    fill = _setting(**functions)

    def padding(*_: Any, **__: Any) -> Any:
        raise CaptureError(f"{place_of_program()}: flash_attn drops padded tokens here, whose number depends on data: give the capture a batch without padding")

    return {"flash_attn": fill, "flash_attn.flash_attn_interface": fill,
            "flash_attn.bert_padding": _setting(pad_input=padding, unpad_input=padding, index_first_axis=padding)}


def _xformers(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """Source of the interface: xformers/ops/fmha/__init__.py of github.com/facebookresearch/xformers, version 0.0.32."""
    attention = _attention_of_rows(recorder, is_flash=True)

    class LowerTriangularMask:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

    class BlockDiagonalMask:
        """Several sequences in one row of tokens."""

        def __init__(self, sequences: int, causal: bool = False) -> None:
            self.sequences, self.causal = sequences, causal

        @classmethod
        def from_seqlens(cls, q_seqlen: Any, *_: Any, **__: Any) -> Any:
            return cls(len(q_seqlen))

        def make_causal(self) -> Any:
            return BlockDiagonalMask(self.sequences, True)

    def memory_efficient_attention(query: Any, key: Any, value: Any, attn_bias: Any = None, p: float = 0.0, scale: Any = None, *, op: Any = None,
                                   output_dtype: Any = None) -> Any:
        kind = type(attn_bias).__name__
        if query.dim() == 3:  # batch x tokens x width: one head
            q, k, v = (tensor.unsqueeze(2) for tensor in (query, key, value))
            return memory_efficient_attention(q, k, v, attn_bias, p).squeeze(2)
        if query.dim() == 5:  # heads in groups
            q, k, v = (tensor.flatten(2, 3) for tensor in (query, key, value))
            return memory_efficient_attention(q, k, v, attn_bias, p).reshape(query.shape)
        if "BlockDiagonal" in kind:
            sequences = getattr(attn_bias, "sequences", None) or len(attn_bias.q_seqinfo.seqstart_py) - 1
            causal = getattr(attn_bias, "causal", False) or "Causal" in kind
            rows = _packed(attention, query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1), sequences, p, causal)
            return rows.reshape(query.shape)
        mask = attn_bias if isinstance(attn_bias, recorder.torch.Tensor) else None
        return attention(query, key, value, p, "LowerTriangular" in kind, mask.detach() if mask is not None else None)

    biases = types.SimpleNamespace(LowerTriangularMask=LowerTriangularMask, BlockDiagonalMask=BlockDiagonalMask)

    def fill(module: Any) -> None:
        module.memory_efficient_attention = memory_efficient_attention
        if not hasattr(module, "LowerTriangularMask"):
            module.LowerTriangularMask, module.fmha = LowerTriangularMask, types.SimpleNamespace(attn_bias=biases, BlockDiagonalMask=BlockDiagonalMask)

    return {"xformers": _setting(), "xformers.ops": fill}


def _norms(recorder: "_recorder.Recorder") -> tuple[type, type]:
    """Layer norm and RMS norm in one kernel each."""
    torch = recorder.torch
    normed = rms_norm_function(recorder)

    class FusedLayerNorm(torch.nn.LayerNorm):  # type: ignore[name-defined, misc]
        def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, **_: Any) -> None:
            super().__init__(normalized_shape, eps, elementwise_affine)

    class FusedRMSNorm(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, normalized_shape: Any, eps: float = 1e-5, *_: Any, **__: Any) -> None:
            super().__init__()
            sides = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
            self.weight, self.eps = torch.nn.Parameter(torch.ones(sides)), eps

        def forward(self, tensor: Any) -> Any:
            return normed(tensor, self.weight)

    return FusedLayerNorm, FusedRMSNorm


def _apex(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """Source of the interface: apex/normalization/fused_layer_norm.py and apex/optimizers of github.com/NVIDIA/apex."""
    optim = recorder.torch.optim
    layer_norm, rms_norm = _norms(recorder)

    class FusedAdam(optim.AdamW):  # type: ignore[name-defined, misc]
        def __init__(self, params: Any, lr: float = 1e-3, *_: Any, **__: Any) -> None:
            super().__init__(params, lr=lr)

    class FusedLAMB(FusedAdam):
        pass

    class FusedSGD(optim.SGD):  # type: ignore[name-defined, misc]
        def __init__(self, params: Any, lr: float = 1e-3, momentum: float = 0.0, *_: Any, **__: Any) -> None:
            super().__init__(params, lr=lr, momentum=momentum)

    def initialize(*_: Any, **__: Any) -> Any:
        raise CaptureError(f"{place_of_program()}: apex.amp was replaced by torch.autocast in 2020 and is not captured: use torch.autocast and "
                           "torch.amp.GradScaler, which compute the same")

    def fill_root(module: Any) -> None:
        if not hasattr(module, "amp"):
            module.amp = types.SimpleNamespace(initialize=initialize)

    norms = _setting(FusedLayerNorm=layer_norm, MixedFusedLayerNorm=layer_norm, FusedRMSNorm=rms_norm, MixedFusedRMSNorm=rms_norm)
    return {"apex": fill_root, "apex.normalization": norms, "apex.normalization.fused_layer_norm": norms,
            "apex.optimizers": _setting(FusedAdam=FusedAdam, FusedLAMB=FusedLAMB, FusedSGD=FusedSGD)}


def _transformer_engine(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """Source of the interface: transformer_engine/pytorch/module of github.com/NVIDIA/TransformerEngine, versions 1.0 to 2.8."""
    torch, functional = recorder.torch, recorder.torch.nn.functional
    nn = torch.nn
    layer_norm, rms_norm = _norms(recorder)
    attention = _attention_of_rows(recorder, is_flash=False)
    gates, fused = ("geglu", "swiglu", "reglu"), _fused_function(recorder)

    def linear(inputs: int, outputs: int, bias: bool, dtype: Any) -> Any:
        return nn.Linear(inputs, outputs, bias=bias, dtype=dtype)

    def norm_of(kind: str, width: int, eps: float, dtype: Any) -> Any:
        return (rms_norm if kind == "RMSNorm" else layer_norm)(width, eps=eps).to(dtype or torch.float32)

    class Linear(nn.Linear):  # type: ignore[name-defined, misc]
        def __init__(self, in_features: int, out_features: int, bias: bool = True, params_dtype: Any = None, **_: Any) -> None:
            super().__init__(in_features, out_features, bias=bias, dtype=params_dtype)

        def forward(self, inp: Any, **_: Any) -> Any:
            return super().forward(inp)

    class LayerNormLinear(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, in_features: int, out_features: int, eps: float = 1e-5, bias: bool = True, normalization: str = "LayerNorm",
                     params_dtype: Any = None, **_: Any) -> None:
            super().__init__()
            self.norm, self.linear = norm_of(normalization, in_features, eps, params_dtype), linear(in_features, out_features, bias, params_dtype)

        def forward(self, inp: Any, **_: Any) -> Any:
            return self.linear(self.norm(inp))

    class LayerNormMLP(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, hidden_size: int, ffn_hidden_size: int, eps: float = 1e-5, bias: bool = True, normalization: str = "LayerNorm",
                     activation: str = "gelu", params_dtype: Any = None, **_: Any) -> None:
            super().__init__()
            self.norm, self.activation = norm_of(normalization, hidden_size, eps, params_dtype), activation
            self.fc1 = linear(hidden_size, ffn_hidden_size * (2 if activation in gates else 1), bias, params_dtype)
            self.fc2 = linear(ffn_hidden_size, hidden_size, bias, params_dtype)

        def forward(self, inp: Any, **_: Any) -> Any:
            made = self.fc1(self.norm(inp))
            if self.activation in gates:
                return self.fc2(fused(*made.chunk(2, -1)))
            return self.fc2(getattr(functional, self.activation, functional.gelu)(made))

    class DotProductAttention(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, num_attention_heads: int, kv_channels: Any, num_gqa_groups: Any = None, attention_dropout: float = 0.1,
                     qkv_format: str = "sbhd", attn_mask_type: str = "causal", **_: Any) -> None:
            super().__init__()
            self.dropout, self.layout, self.mask = attention_dropout, qkv_format, attn_mask_type

        def forward(self, query_layer: Any, key_layer: Any, value_layer: Any, attention_mask: Any = None, qkv_format: Any = None,
                    cu_seqlens_q: Any = None, attn_mask_type: Any = None, **_: Any) -> Any:
            layout, rows = qkv_format or self.layout, (query_layer, key_layer, value_layer)
            causal, dropout = "causal" in (attn_mask_type or self.mask), self.dropout if self.training else 0.0
            if layout == "thd":
                made = _packed(attention, *rows, cu_seqlens_q.shape[0] - 1 if cu_seqlens_q is not None else 1, dropout, causal)
                return made.flatten(1)
            if layout == "sbhd":
                return attention(*(tensor.transpose(0, 1) for tensor in rows), dropout, causal).transpose(0, 1).flatten(2)
            return attention(*rows, dropout, causal).flatten(2)

    @contextlib.contextmanager
    def autocast(enabled: bool = True, *_: Any, **__: Any) -> Iterator[None]:
        if enabled:
            recorder.warn(f"{place_of_program()}: products in fp8 are recorded in the format of their inputs: for fp8 describe the model by its shape "
                          "(gradway import hf config.json) and set job.precision: fp8")
        yield

    def whole(*_: Any, **__: Any) -> Any:
        raise CaptureError(f"{place_of_program()}: Transformer Engine's MultiheadAttention and TransformerLayer cannot be captured: build the layer of "
                           "LayerNormLinear, DotProductAttention, Linear and LayerNormMLP, or describe the model by its shape (gradway import hf config.json)")

    fill = _setting(Linear=Linear, LayerNorm=layer_norm, RMSNorm=rms_norm, LayerNormLinear=LayerNormLinear, LayerNormMLP=LayerNormMLP,
                    DotProductAttention=DotProductAttention, MultiheadAttention=whole, TransformerLayer=whole, fp8_autocast=autocast, autocast=autocast,
                    fp8_model_init=lambda *arguments, **named: contextlib.nullcontext())

    class Recipe:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

    recipes = _setting(Format=types.SimpleNamespace(E4M3="E4M3", E5M2="E5M2", HYBRID="HYBRID"), **{
        name: Recipe for name in ("DelayedScaling", "Float8CurrentScaling", "Float8BlockScaling", "MXFP8BlockScaling", "NVFP4BlockScaling")})
    return {"transformer_engine": _setting(), "transformer_engine.pytorch": fill, "transformer_engine.common": _setting(),
            "transformer_engine.common.recipe": recipes}


def _fused_function(recorder: "_recorder.Recorder") -> Callable[..., Any]:
    """A kernel that computes one tensor like the first from all of its inputs, and in the backward pass their gradients."""
    torch = recorder.torch

    class Fused(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(context: Any, *tensors: Any) -> Any:
            result = torch.empty_like(tensors[0])
            recorder.record(_FUSED, list(tensors), [result])
            context.save_for_backward(*tensors)
            return result

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            tensors = context.saved_tensors
            wanted = [torch.empty_like(tensor) if is_wanted else None for tensor, is_wanted in zip(tensors, context.needs_input_grad)]
            recorder.record(_FUSED, [gradient, *tensors], [tensor for tensor in wanted if tensor is not None])
            return tuple(wanted)

    return Fused.apply


def _liger(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """Source of the functions and of the chunks of the loss: src/liger_kernel/ops of github.com/linkedin/Liger-Kernel, version 0.6."""
    torch = recorder.torch
    fused, normed = _fused_function(recorder), rms_norm_function(recorder)

    def function(apply: Callable[..., Any]) -> Any:
        return type("Function", (), {"apply": staticmethod(apply)})

    class LossOfChunk:
        """The loss of logits and its gradient, which replaces them."""

        @staticmethod
        def record(logits: Any) -> Any:
            loss = torch.empty(logits.shape[:1], dtype=torch.float32, device="meta")
            recorder.record(_FUSED, [logits], [loss])
            recorder.record(_FUSED, [logits], [logits])
            return loss

    class CrossEntropy(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(context: Any, logits: Any) -> Any:
            context.save_for_backward(logits)
            return LossOfChunk.record(logits).sum()

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            return context.saved_tensors[0]

    class FusedLinearCrossEntropy(torch.autograd.Function):  # type: ignore[name-defined, misc]
        """All gradients are computed in the forward pass, in chunks of tokens as large as one chunk's logits are as the input."""

        @staticmethod
        def forward(context: Any, rows: Any, weight: Any) -> Any:
            tokens, width, words = int(rows.shape[0]), int(rows.shape[1]), int(weight.shape[0])
            chunk = 2 ** math.ceil(math.log2(math.ceil(tokens / math.ceil(words / width))))
            of_rows, of_weight, losses = torch.zeros_like(rows), torch.zeros_like(weight) if weight.requires_grad else None, []
            for first in range(0, tokens, chunk):
                part = rows[first:first + chunk]
                logits = part @ weight.t()
                losses.append(LossOfChunk.record(logits))
                of_rows[first:first + chunk] = logits @ weight
                if of_weight is not None:
                    of_weight += logits.t() @ part
            context.save_for_backward(of_rows, of_weight)
            return torch.cat(losses).sum()

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            return context.saved_tensors

    def loss(logits: Any, *_: Any, **__: Any) -> Any:
        return CrossEntropy.apply(logits), None

    def loss_of_rows(rows: Any, weight: Any, *_: Any, **__: Any) -> Any:
        return FusedLinearCrossEntropy.apply(rows, weight), None

    def rotary(q: Any, k: Any, cos: Any, sin: Any, *_: Any, **__: Any) -> Any:
        return fused(q, cos, sin), fused(k, cos, sin)

    return {
        "liger_kernel.ops.rms_norm": _setting(LigerRMSNormFunction=function(lambda tensor, weight, *_, **__: normed(tensor, weight))),
        "liger_kernel.ops.layer_norm": _setting(LigerLayerNormFunction=function(
            lambda tensor, weight, bias, eps, *_, **__: torch.nn.functional.layer_norm(tensor, weight.shape, weight, bias, eps))),
        "liger_kernel.ops.swiglu": _setting(LigerSiLUMulFunction=function(lambda gate, up, *_, **__: fused(gate, up))),
        "liger_kernel.ops.geglu": _setting(LigerGELUMulFunction=function(lambda gate, up, *_, **__: fused(gate, up))),
        "liger_kernel.ops.rope": _setting(LigerRopeFunction=function(rotary)),
        "liger_kernel.ops.cross_entropy": _setting(LigerCrossEntropyFunction=function(loss)),
        "liger_kernel.ops.fused_linear_cross_entropy": _setting(LigerFusedLinearCrossEntropyFunction=function(loss_of_rows))}


def _of_transformers(recorder: "_recorder.Recorder") -> dict[str, Callable[[Any], None]]:
    """attn_implementation="flash_attention_2" of transformers asks whether flash-attn is installed, and imports it; accelerate's FSDP2."""

    def calls(module: Any) -> None:
        module.is_flash_attn_2_available = lambda: True

    def save_pretrained(self: Any, save_directory: Any, *_: Any, **__: Any) -> None:
        recorder.skips_saving("save_pretrained")
        Path(save_directory).mkdir(parents=True, exist_ok=True)

    def models(module: Any) -> None:
        model = getattr(module, "PreTrainedModel", None)
        if model is None:
            return
        model.save_pretrained = save_pretrained
        for name in ("_flash_attn_can_dispatch", "_flash_attn_2_can_dispatch"):
            original = getattr(model, name, None)
            if original is not None:
                setattr(model, name, _unless_missing(original))

    return {"transformers.modeling_flash_attention_utils": calls, "transformers.modeling_utils": models,
            "accelerate.utils.fsdp_utils": _setting(fsdp2_load_full_state_dict=_sharded.loaded_already)}


def _unless_missing(original: Callable[..., Any]) -> Callable[..., Any]:
    """A check that a package is there, and is of use for the model."""
    def check(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return original(self, *arguments, **named)
        except ImportError:
            return True
    return check

# SPDX-License-Identifier: Apache-2.0
"""Operations for which CUDA has single kernels, with the tensors that autograd keeps for them."""
from __future__ import annotations

from typing import Any, Callable

from gradway.capture import _recorder

_LARGEST_FLASH_HEAD = 256


def dropout_function(recorder: "_recorder.Recorder") -> Callable[[Any], Any]:
    torch = recorder.torch

    class Dropout(torch.autograd.Function):  # type: ignore[name-defined, misc]
        """CUDA's native_dropout: one kernel, which keeps a mask of one byte per element."""

        @staticmethod
        def forward(context: Any, tensor: Any) -> Any:
            result, mask = torch.empty_like(tensor), torch.empty_like(tensor, dtype=torch.bool)
            recorder.record("native_dropout", [tensor], [result, mask])
            context.save_for_backward(mask)
            return result

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            mask, = context.saved_tensors
            result = torch.empty_like(gradient)
            recorder.record("native_dropout_backward", [gradient, mask], [result])
            return result

    return Dropout.apply


def rms_norm_function(recorder: "_recorder.Recorder") -> Callable[[Any, Any], Any]:
    torch = recorder.torch

    class RmsNorm(torch.autograd.Function):  # type: ignore[name-defined, misc]
        """One kernel on CUDA."""

        @staticmethod
        def forward(context: Any, tensor: Any, weight: Any) -> Any:
            result = torch.empty_like(tensor)
            rows = torch.empty(tensor.shape[:-1] + (1,), dtype=torch.float32, device="meta")
            recorder.record("_fused_rms_norm", [tensor, weight], [result, rows])
            context.save_for_backward(tensor, weight, rows)
            return result

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            tensor, weight, rows = context.saved_tensors
            result, of_weight = torch.empty_like(tensor), torch.empty_like(weight)
            recorder.record("_fused_rms_norm_backward", [gradient, tensor, weight, rows], [result, of_weight])
            return result, of_weight

    return RmsNorm.apply


def attention_function(recorder: "_recorder.Recorder", is_flash: bool = False) -> Callable[..., Any]:
    """Attention in one kernel where CUDA has one, else None. @param is_flash in that of flash-attn, version 2

    Source of the conditions: can_use_cudnn_attention, can_use_flash_attention and can_use_mem_efficient_attention in
    aten/src/ATen/native/transformers/cuda/sdp_utils.cpp of PyTorch."""
    torch = recorder.torch

    class Attention(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(context: Any, query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool) -> Any:
            batch, heads, tokens, _ = query.shape
            # The layout of the kernels: tokens before heads, so that the heads of a token are contiguous.
            result = torch.empty((batch, tokens, heads, value.shape[-1]), dtype=query.dtype, device="meta").transpose(1, 2)
            sums = torch.empty((batch, heads, tokens), dtype=torch.float32, device="meta")
            context.notes = {**({"causal": ""} if causal else {}), **({"dropout": f"{dropout:g}"} if dropout > 0 else {}), **({"flash": ""} if is_flash else {})}
            inputs = [query, key, value] + ([mask] if mask is not None else [])
            recorder.record("scaled_dot_product_attention", inputs, [result, sums], context.notes)
            context.save_for_backward(query, key, value, result, sums, mask)
            return result

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            query, key, value, result, sums, mask = context.saved_tensors
            gradients = [torch.empty_like(tensor) for tensor in (query, key, value)]
            inputs = [gradient, query, key, value, result, sums] + ([mask] if mask is not None else [])
            of_mask = None
            if mask is not None and context.needs_input_grad[3]:
                of_mask = torch.empty_like(mask)
            recorder.record("scaled_dot_product_attention_backward", inputs, gradients, context.notes)
            return *gradients, of_mask, None, None

    def attention(query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool, shares_heads: bool) -> Any:
        if not query.is_meta or query.dim() != 4 or query.shape[0] == 0 or key.dim() != 4:
            return None
        is_half = query.dtype in (torch.bfloat16, torch.float16)
        width, of_values = query.shape[-1], value.shape[-1]
        has_fewer = key.shape[1] != query.shape[1]
        if (causal and mask is not None) or (mask is not None and mask.requires_grad) or not (is_half or query.dtype == torch.float32):
            return None
        if has_fewer and not (shares_heads and is_half):
            return None
        if not is_half:
            return None if width % 4 or of_values % 4 else Attention.apply(query, key, value, mask, dropout, causal)
        if width % 8 == 0 and of_values % 8 == 0:
            return Attention.apply(query, key, value, mask, dropout, causal)
        if mask is not None or width != of_values or width > _LARGEST_FLASH_HEAD:
            return None
        more = -width % 8  # flash attention pads heads
        padded = (torch.nn.functional.pad(tensor, (0, more)) for tensor in (query, key, value))
        return Attention.apply(*padded, None, dropout, causal)[..., :width]

    return attention


def ctc_function(recorder: "_recorder.Recorder") -> Callable[..., Any]:
    """The CTC loss in the kernels of PyTorch, which keeps the logarithms of all alignments.

    Source: ctc_loss_gpu_template in aten/src/ATen/native/cuda/LossCTC.cu of PyTorch."""
    torch = recorder.torch

    class Ctc(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(context: Any, shares: Any, targets: Any, longest: int) -> Any:
            tokens, batch = shares.shape[:2]
            loss = torch.empty((batch,), dtype=shares.dtype, device="meta")
            paths = torch.empty((batch, tokens, 2 * longest + 1), dtype=shares.dtype, device="meta")
            recorder.record("_ctc_loss", [shares, targets], [loss, paths])
            context.save_for_backward(shares, targets, loss, paths)
            return loss

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            shares, targets, loss, paths = context.saved_tensors
            result = torch.empty_like(shares)
            recorder.record("_ctc_loss_backward", [gradient, shares, targets, loss, paths], [result])
            return result, None, None

    def ctc_loss(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
                 zero_infinity: bool = False) -> Any:
        shares = log_probs.unsqueeze(1) if log_probs.dim() == 2 else log_probs
        longest = int(targets.shape[1]) if targets.dim() == 2 else -(-int(targets.numel()) // int(shares.shape[1]))
        loss = Ctc.apply(shares, targets, longest)
        if zero_infinity:
            loss = torch.where(loss == float("inf"), torch.zeros((), dtype=loss.dtype, device="meta"), loss)
        if reduction == "none":
            return loss
        if reduction == "sum":
            return loss.sum()
        lengths = target_lengths if isinstance(target_lengths, torch.Tensor) else torch.tensor(target_lengths)
        return (loss / lengths.to("meta").to(loss.dtype).clamp_min(1)).mean()

    return ctc_loss


def math_attention(recorder: "_recorder.Recorder", dropped: Callable[[Any], Any]) -> Callable[..., Any]:
    """Attention as several operations, where no fused kernel runs.

    Source: _scaled_dot_product_attention_math in aten/src/ATen/native/transformers/attention.cpp of PyTorch."""
    torch = recorder.torch

    def attention(query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool, scale: float | None) -> Any:
        dtype = query.dtype
        if dtype in (torch.bfloat16, torch.float16):
            query, key, value = query.float(), key.float(), value.float()
        root = (scale if scale is not None else query.shape[-1] ** -0.5) ** 0.5
        if causal:
            mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device="meta").tril()
        if key.shape[1] != query.shape[1] and query.shape[1] % key.shape[1] == 0 and key.shape[1] > 1:
            key, value = (tensor.repeat_interleave(query.shape[1] // key.shape[1], 1) for tensor in (key, value))
        scores = torch.matmul(query * root, key.transpose(-2, -1) * root)
        if mask is not None:
            if mask.dtype == torch.bool:
                mask = torch.where(mask.logical_not(), float("-inf"), 0.0).to(scores.dtype)
            scores = scores.add_(mask)
        softmax = getattr(torch, "_safe_softmax", None)
        shares = softmax(scores, -1) if softmax is not None else torch.softmax(scores, -1)
        if dropout > 0:
            shares = dropped(shares)
        return torch.matmul(shares, value).to(dtype)

    return attention

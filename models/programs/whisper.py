# SPDX-License-Identifier: Apache-2.0
"""Whisper medium (769 million parameters) of Hugging Face's transformers, fine-tuned on 30 s of speech: bf16 autocast, AdamW."""
import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

BATCH, TOKENS = 16, 256


def make_step():
    config = WhisperConfig(d_model=1024, encoder_layers=24, decoder_layers=24, encoder_attention_heads=16, decoder_attention_heads=16,
                           encoder_ffn_dim=4096, decoder_ffn_dim=4096, vocab_size=51865)
    model = WhisperForConditionalGeneration(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    speech = torch.randn(BATCH, 80, 3000, device="cuda")
    labels = torch.randint(0, 50000, (BATCH, TOKENS), device="cuda")

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_features=speech, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step()
    for _ in range(100):
        step()

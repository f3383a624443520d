# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts of Hugging Face's transformers: OLMoE's layers (64 experts, 8 per token), 8 of them; bf16, fused AdamW."""
import torch
from transformers import OlmoeConfig, OlmoeForCausalLM

BATCH, TOKENS = 4, 2048


def make_step():
    config = OlmoeConfig(hidden_size=2048, intermediate_size=1024, num_hidden_layers=8, num_attention_heads=16,
                         num_key_value_heads=16, num_experts=64, num_experts_per_tok=8, use_cache=False)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = OlmoeForCausalLM(config).train()
    torch.set_default_dtype(torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, fused=True)
    words = torch.randint(0, 50000, (BATCH, TOKENS), device="cuda")

    def step():
        model(input_ids=words, labels=words).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


if __name__ == "__main__":
    step = make_step()
    for _ in range(100):
        step()

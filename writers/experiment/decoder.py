MODEL = {
    "layers": 12,
    "heads": 12,
    "kv_heads": 12,
    "head_size": 64,
    "hidden": 768,
    "mlp": 3072,
    "vocabulary": 50304,
    "tied_output": False,
    "norm": "layer_norm",
    "positions": "learned",
    "position_rows": 1024,
    "rotary_size": 64,
    "activation": "gelu",
    "blocks": "sequential",
    "bias": True,
    "qkv_bias": True,
    "attention_output_bias": True,
    "mlp_bias": True,
    "output_bias": False,
    "qk_norm": False,
    "embedding_norm": False,
    "dropout": False,
    "packed": True,
    "composed_norms": False,
    "composed_rotary": False,
}


def parameter_count():
    m = MODEL
    hidden, head, heads, kv = m["hidden"], m["head_size"], m["heads"], m["kv_heads"]
    norm = hidden * (2 if m["norm"] == "layer_norm" and m["bias"] else 1)
    attention = (2 * heads + 2 * kv) * head * hidden
    attention += (heads + 2 * kv) * head * m["qkv_bias"] + hidden * m["attention_output_bias"]
    attention += 2 * head * m["qk_norm"]
    inner = m["mlp"] * (2 if m["activation"] in ("swiglu", "geglu") else 1)
    mlp = (inner + m["mlp"]) * hidden + (inner + hidden) * m["mlp_bias"]
    norms = 1 if m["blocks"] == "parallel_one_norm" else 2
    count = m["vocabulary"] * hidden * (1 if m["tied_output"] else 2)
    count += m["vocabulary"] * m["output_bias"] + m["position_rows"] * hidden
    count += m["embedding_norm"] * hidden * (2 if m["bias"] else 1)
    return count + m["layers"] * (attention + mlp + norms * norm) + norm


def build_model():
    """A decoder of transformer blocks."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    m = MODEL
    hidden, head, heads, kv = m["hidden"], m["head_size"], m["heads"], m["kv_heads"]
    dropout = 0.1 if m["dropout"] else 0.0

    class ComposedRmsNorm(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            wide = x.float()
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
            return self.weight * wide.to(x.dtype)

    def rms_norm(width):
        return ComposedRmsNorm(width) if m["composed_norms"] else nn.RMSNorm(width, eps=1e-6)

    def norm():
        return nn.LayerNorm(hidden, bias=m["bias"]) if m["norm"] == "layer_norm" else rms_norm(hidden)

    tables = {}  # rotary factors by sequence and device, outside the model's state

    def factors(tokens, device):
        if (tokens, device) not in tables:
            size = m["rotary_size"]
            rates = 1.0 / 10000.0 ** (torch.arange(0, size, 2, device=device).float() / size)
            angles = torch.outer(torch.arange(tokens, device=device).float(), rates)
            tables[tokens, device] = torch.polar(torch.ones_like(angles), angles)
        return tables[tokens, device]

    def rotate(x, turns):
        size = m["rotary_size"]
        turned, rest = (x, None) if size == head else (x[..., :size], x[..., size:])
        if m["composed_rotary"]:
            cos, sin = (torch.cat([t, t], -1).to(x.dtype)[None, :, None] for t in (turns.real, turns.imag))
            a, b = turned.chunk(2, -1)
            turned = turned * cos + torch.cat([-b, a], -1) * sin
        else:
            pairs = torch.view_as_complex(turned.float().reshape(*turned.shape[:-1], -1, 2))
            turned = torch.view_as_real(pairs * turns[None, :, None]).flatten(3).type_as(x)
        return turned if rest is None else torch.cat([turned, rest], -1)

    groups_in_kernel = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 5)
    packed = m["packed"]

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            bias = m["qkv_bias"]
            if packed:
                self.in_proj = nn.Linear(hidden, 3 * heads * head, bias=bias)
            else:
                self.query = nn.Linear(hidden, heads * head, bias=bias)
                self.key = nn.Linear(hidden, kv * head, bias=bias)
                self.value = nn.Linear(hidden, kv * head, bias=bias)
            if m["qk_norm"]:
                self.query_norm, self.key_norm = rms_norm(head), rms_norm(head)
            self.out_proj = nn.Linear(heads * head, hidden, bias=m["attention_output_bias"])

        def forward(self, x):
            batch, tokens, _ = x.shape
            parts = self.in_proj(x).chunk(3, -1) if packed else (self.query(x), self.key(x), self.value(x))
            q, k, v = (part.view(batch, tokens, -1, head) for part in parts)
            if m["qk_norm"]:
                q, k = self.query_norm(q), self.key_norm(k)
            if m["positions"] == "rotary":
                turns = factors(tokens, x.device)
                q, k = rotate(q, turns), rotate(k, turns)
            q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
            options = {}
            if kv != heads:
                if groups_in_kernel:
                    options["enable_gqa"] = True
                else:
                    k, v = (t.repeat_interleave(heads // kv, 1) for t in (k, v))
            x = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout, **options)
            return self.out_proj(x.transpose(1, 2).reshape(batch, tokens, heads * head))

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.gated = m["activation"] in ("swiglu", "geglu")
            if self.gated:
                self.gate = nn.Linear(hidden, m["mlp"], bias=m["mlp_bias"])
            self.fc1 = nn.Linear(hidden, m["mlp"], bias=m["mlp_bias"])
            self.fc2 = nn.Linear(m["mlp"], hidden, bias=m["mlp_bias"])
            self.function = {"gelu": F.gelu, "relu": F.relu, "swiglu": F.silu, "geglu": F.gelu}[m["activation"]]

        def forward(self, x):
            if self.gated:
                return self.fc2(self.function(self.gate(x)) * self.fc1(x))
            return self.fc2(self.function(self.fc1(x)))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.attention, self.mlp = norm(), Attention(), Mlp()
            if m["blocks"] != "parallel_one_norm":
                self.ln_2 = norm()
            self.dropout = nn.Dropout(dropout) if dropout else nn.Identity()

        def forward(self, x):
            normed = self.ln_1(x)
            if m["blocks"] == "sequential":
                x = x + self.dropout(self.attention(normed))
                return x + self.dropout(self.mlp(self.ln_2(x)))
            read = normed if m["blocks"] == "parallel_one_norm" else self.ln_2(x)
            return x + self.dropout(self.mlp(read) + self.attention(normed))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(m["vocabulary"], hidden)
            if m["embedding_norm"]:
                self.wte_norm = nn.LayerNorm(hidden, bias=m["bias"])
            if m["position_rows"]:
                self.wpe = nn.Embedding(m["position_rows"], hidden)
            self.dropout = nn.Dropout(dropout) if dropout else nn.Identity()
            self.h = nn.ModuleList(Block() for _ in range(m["layers"]))
            self.ln_f = norm()
            self.lm_head = nn.Linear(hidden, m["vocabulary"], bias=m["output_bias"])
            if m["tied_output"]:
                self.lm_head.weight = self.wte.weight

        def forward(self, tokens):
            x = self.wte(tokens)
            if m["embedding_norm"]:
                x = self.wte_norm(x)
            if m["position_rows"]:
                x = x + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
            x = self.dropout(x)
            for block in self.h:
                x = block(x)
            return self.lm_head(self.ln_f(x))

    model = Decoder()
    return model, list(model.h)

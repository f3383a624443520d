// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/report/experiment/experiment_parts.hpp"

namespace gradway::report {
namespace {

constexpr std::string_view decoder_code = R"py(

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
)py";

constexpr std::string_view vision_transformer_code = R"py(

def parameter_count():
    m = MODEL
    hidden, mlp = m["hidden_dim"], m["mlp_dim"]
    patches = (m["image_size"] // m["patch_size"]) ** 2
    layer = 4 * hidden * hidden + 4 * hidden + 2 * hidden * mlp + mlp + hidden + 4 * hidden
    count = 3 * m["patch_size"] ** 2 * hidden + hidden + hidden + (patches + 1) * hidden
    return count + m["num_layers"] * layer + 2 * hidden + (hidden + 1) * m["num_classes"]


def build_model():
    """torchvision's VisionTransformer."""
    from torchvision.models.vision_transformer import VisionTransformer

    model = VisionTransformer(**MODEL)
    return model, list(model.encoder.layers)
)py";

constexpr std::string_view residual_code = R"py(

def parameter_count():
    m = MODEL
    count, inputs = 3 * 64 * 49 + 2 * 64, 64
    for stage, blocks in enumerate(m["layers"]):
        planes = 64 * 2**stage
        width = planes * m["width_per_group"] // 64 * m["groups"]
        for block in range(blocks):
            count += inputs * width + width * (width // m["groups"]) * 9 + width * 4 * planes
            count += 2 * (2 * width + 4 * planes)
            if block == 0:
                count += inputs * 4 * planes + 2 * 4 * planes
            inputs = 4 * planes
    return count + (inputs + 1) * m["num_classes"]


def build_model():
    """torchvision's ResNet with bottleneck blocks."""
    from torchvision.models.resnet import Bottleneck, ResNet

    model = ResNet(Bottleneck, **MODEL)
    return model, [block for stage in (model.layer1, model.layer2, model.layer3, model.layer4) for block in stage]
)py";

constexpr std::string_view conv_next_code = R"py(

def parameter_count():
    m = MODEL
    channels = m["channels"]
    count = 3 * 16 * channels[0] + channels[0] + 2 * channels[0]
    for stage, width in enumerate(channels):
        block = 49 * width + width + 2 * width + 8 * width * width + 5 * width + width
        count += m["blocks"][stage] * block
        if stage < 3:
            count += 2 * width + 4 * width * channels[stage + 1] + channels[stage + 1]
    return count + 2 * channels[3] + (channels[3] + 1) * m["num_classes"]


def build_model():
    """torchvision's ConvNeXt without stochastic depth."""
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    widths = [*MODEL["channels"], None]
    stages = [CNBlockConfig(widths[i], widths[i + 1], MODEL["blocks"][i]) for i in range(4)]
    model = ConvNeXt(stages, stochastic_depth_prob=0.0, num_classes=MODEL["num_classes"])
    blocks = []  # the stem and each change of resolution count as blocks, too
    for i, part in enumerate(model.features):
        blocks += list(part) if i % 2 == 1 else [part]
    return model, blocks
)py";

std::string dictionary(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text = "MODEL = {\n";
  for (const auto& [key, value] : entries) text += fmt::format("    \"{}\": {},\n", key, value);
  return text + "}\n";
}

const char* word_of(DecoderShape::Positions positions) {
  switch (positions) {
    case DecoderShape::Positions::learned:
      return "\"learned\"";
    case DecoderShape::Positions::rotary:
      return "\"rotary\"";
    case DecoderShape::Positions::alibi:
      return "\"alibi\"";
    case DecoderShape::Positions::none:
      break;
  }
  return "\"none\"";
}

const char* word_of(DecoderShape::Activation activation) {
  switch (activation) {
    case DecoderShape::Activation::gelu:
    case DecoderShape::Activation::gelu_new:
      return "\"gelu\"";
    case DecoderShape::Activation::relu:
      return "\"relu\"";
    case DecoderShape::Activation::swiglu:
      return "\"swiglu\"";
    case DecoderShape::Activation::geglu:
      break;
  }
  return "\"geglu\"";
}

const char* word_of(DecoderShape::Blocks blocks) {
  switch (blocks) {
    case DecoderShape::Blocks::sequential:
      return "\"sequential\"";
    case DecoderShape::Blocks::parallel:
      return "\"parallel\"";
    case DecoderShape::Blocks::parallel_one_norm:
      break;
  }
  return "\"parallel_one_norm\"";
}

std::string sizes(const DecoderShape& shape, const Job& job, bool is_written_out) {
  const bool learned = shape.positions == DecoderShape::Positions::learned;
  const bool layer_norm = shape.norm == DecoderShape::Norm::layer_norm;
  const int kv_heads = shape.kv_heads > 0 ? shape.kv_heads : shape.heads;
  const int rows = shape.position_rows > 0 ? shape.position_rows : shape.sequence;
  const auto number = [](auto value) { return fmt::format("{}", value); };
  return dictionary(
      {{"layers", number(shape.layers)},
       {"heads", number(shape.heads)},
       {"kv_heads", number(kv_heads)},
       {"head_size", number(shape.size_of_head())},
       {"hidden", number(shape.hidden)},
       {"mlp", number(shape.mlp)},
       {"vocabulary", number(shape.padded_vocabulary())},
       {"tied_output", python_bool(shape.tied_output)},
       {"norm", layer_norm ? "\"layer_norm\"" : "\"rms_norm\""},
       {"positions", word_of(shape.positions)},
       {"position_rows", number(learned ? rows : 0)},
       {"rotary_size", number(shape.rotary_size > 0 ? shape.rotary_size : shape.size_of_head())},
       {"activation", word_of(shape.activation)},
       {"blocks", word_of(shape.blocks)},
       {"bias", python_bool(shape.bias)},
       {"qkv_bias", python_bool(shape.qkv_bias.value_or(shape.bias))},
       {"attention_output_bias", python_bool(shape.attention_output_bias.value_or(shape.bias))},
       {"mlp_bias", python_bool(shape.mlp_bias.value_or(shape.bias))},
       {"output_bias", python_bool(shape.output_bias)},
       {"qk_norm", python_bool(shape.qk_norm != DecoderShape::QkNorm::none)},
       {"embedding_norm", python_bool(shape.embedding_norm)},
       {"dropout", python_bool(shape.dropout)},
       {"packed", python_bool(learned && layer_norm && kv_heads == shape.heads &&
                              shape.qk_norm == DecoderShape::QkNorm::none)},
       {"composed_norms", python_bool(job.composed_norms || is_written_out)},
       {"composed_rotary", python_bool(is_written_out)}});
}

std::string sizes(const VisionTransformerShape& shape) {
  const auto number = [](int value) { return fmt::format("{}", value); };
  return dictionary({{"image_size", number(shape.image_size)},
                     {"patch_size", number(shape.patch_size)},
                     {"num_layers", number(shape.layers)},
                     {"num_heads", number(shape.heads)},
                     {"hidden_dim", number(shape.hidden)},
                     {"mlp_dim", number(shape.mlp)},
                     {"num_classes", number(shape.classes)}});
}

std::string sizes(const ResidualShape& shape) {
  return dictionary({{"layers", fmt::format("[{}]", fmt::join(shape.blocks, ", "))},
                     {"groups", fmt::format("{}", shape.groups)},
                     {"width_per_group", fmt::format("{}", shape.width_per_group)},
                     {"num_classes", fmt::format("{}", shape.classes)}});
}

std::string sizes(const ConvNextShape& shape) {
  return dictionary({{"blocks", fmt::format("[{}]", fmt::join(shape.blocks, ", "))},
                     {"channels", fmt::format("[{}]", fmt::join(shape.channels, ", "))},
                     {"num_classes", fmt::format("{}", shape.classes)}});
}

}  // namespace

std::string model_code(const Scenario& scenario, const ModelShape& shape) {
  if (const auto* of_decoder = std::get_if<DecoderShape>(&shape))
    return sizes(*of_decoder, scenario.job,
                 is_hugging_face(scenario.job.implementation, scenario.model.implementation)) +
           std::string{decoder_code};
  if (const auto* of_vit = std::get_if<VisionTransformerShape>(&shape))
    return sizes(*of_vit) + std::string{vision_transformer_code};
  if (const auto* of_residual = std::get_if<ResidualShape>(&shape))
    return sizes(*of_residual) + std::string{residual_code};
  expects(std::holds_alternative<ConvNextShape>(shape), "the model has a shape");
  return sizes(std::get<ConvNextShape>(shape)) + std::string{conv_next_code};
}

}  // namespace gradway::report

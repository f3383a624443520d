// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

struct Desk {
  TemporaryFolder folder;

  Outcome run(const std::vector<std::string>& arguments) const {
    return run_gradway(arguments, {.folder = folder.path(), .gradway_path = "."});
  }
  Outcome import(const std::string& keys, const std::string& sequence = "512") const {
    folder.write("config.json", "{" + keys + "}");
    return run({"import", "hf", "config.json", "--force", "--sequence", sequence, "-o", "models/mine.yaml"});
  }
  std::string model() const { return content_of(folder.path() / "models/mine.yaml"); }
  /// Parameters of the imported model, as `show model` prints them.
  double parameters() const {
    const auto shown = run({"show", "model", "mine"}).output;
    std::string digits;
    for (auto at = shown.find("parameters") + 10; at < shown.size(); ++at) {
      const auto c = shown[at];
      if (c >= '0' && c <= '9') digits += c;
      if (c == 'i') break;
    }
    return std::strtod(digits.c_str(), nullptr);
  }
};

struct Published {
  std::string name;
  double parameters;  ///< of the weights on the model hub; of the text part of models with images
  std::string keys;
};

}  // namespace

TEST_CASE("models of recent families have their published number of parameters", "[cli][import]") {
  const auto row = GENERATE(values<Published>({
      // By the shapes of its weights; its card says 4.62 billion
      {"AFM-4.5B", 4619235840, R"("model_type": "arcee", "hidden_size": 2560, "intermediate_size": 18432,
        "num_hidden_layers": 36, "num_attention_heads": 20, "num_key_value_heads": 4, "head_dim": 128,
        "vocab_size": 128004, "hidden_act": "relu2")"},
      {"dbrx-base", 131596523520, R"("model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40,
        "vocab_size": 100352, "attn_config": {"clip_qkv": 8, "kv_n_heads": 8},
        "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4})"},
      // The card says 4 billion; 4,073,875,968 by the shapes of its weights
      {"MiniCPM3-4B", 4073875968, R"("model_type": "minicpm3", "hidden_size": 2560, "intermediate_size": 6400,
        "num_hidden_layers": 62, "num_attention_heads": 40, "num_key_value_heads": 40, "q_lora_rank": 768,
        "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "scale_emb": 12,
        "scale_depth": 1.4, "dim_model_base": 256, "vocab_size": 73448)"},
      {"gemma-2-2b", 2614341888, R"("model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "hidden_activation": "gelu_pytorch_tanh", "vocab_size": 256000, "sliding_window": 4096,
        "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "query_pre_attn_scalar": 256)"},
      {"gemma-2-27b", 27227128320, R"("model_type": "gemma2", "hidden_size": 4608, "intermediate_size": 36864,
        "num_hidden_layers": 46, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128)"},
      {"gemma-3-1b-pt", 999885952, R"("model_type": "gemma3_text", "hidden_size": 1152,
        "intermediate_size": 6912, "num_hidden_layers": 26, "num_attention_heads": 4,
        "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 262144, "sliding_window": 512,
        "sliding_window_pattern": 6, "final_logit_softcapping": null)"},
      // Gemma 3 Technical Report, arXiv 2503.19786, table 1: embedding and other parameters
      {"gemma-3-27b-it", 1416e6 + 25600e6, R"("model_type": "gemma3", "image_token_index": 262144,
        "vision_config": {"hidden_size": 1152}, "text_config": {"model_type": "gemma3_text",
        "hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 62, "num_attention_heads": 32,
        "num_key_value_heads": 16, "head_dim": 128, "sliding_window": 1024, "query_pre_attn_scalar": 168})"},
      {"Phi-3-mini-4k-instruct", 3821079552, R"("model_type": "phi3", "hidden_size": 3072,
        "sliding_window": 2047, "embd_pdrop": 0.0, "resid_pdrop": 0.0)"},
      {"phi-4", 14659507200, R"("model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920,
        "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 10, "vocab_size": 100352)"},
      {"Phi-4-mini-instruct", 3836021760, R"("model_type": "phi3", "hidden_size": 3072,
        "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 24,
        "num_key_value_heads": 8, "vocab_size": 200064, "tie_word_embeddings": true,
        "partial_rotary_factor": 0.75, "full_attn_mod": 1, "interpolate_factor": 1, "lm_head_bias": false,
        "mlp_bias": false, "sliding_window": 262144)"},
      {"OLMo-2-0425-1B", 1484916736, R"("model_type": "olmo2", "hidden_size": 2048,
        "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 16,
        "num_key_value_heads": 16, "vocab_size": 100352)"},
      {"OLMo-2-1124-7B", 7298617344, R"("model_type": "olmo2", "vocab_size": 100352)"},
      {"OLMoE-1B-7B", 6919161856, R"("model_type": "olmoe", "intermediate_size": 1024)"},
      {"gpt-oss-20b", 20914757184, R"("model_type": "gpt_oss", "num_hidden_layers": 24,
        "num_local_experts": 32, "experts_per_token": 4, "initial_context_length": 4096)"},
      {"gpt-oss-120b", 116829156672, R"("model_type": "gpt_oss", "swiglu_limit": 7.0)"},
      {"Llama-4-Maverick", 400712e6, R"("model_type": "llama4", "vision_config": {}, "text_config": {
        "model_type": "llama4_text", "num_local_experts": 128, "interleave_moe_layer_step": 2,
        "use_qk_norm": false, "for_llm_compressor": false})"},
      {"Qwen3-Next-80B-A3B", 80e9, R"("model_type": "qwen3_next", "full_attention_interval": 4,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
        "linear_num_value_heads": 32, "linear_value_head_dim": 128, "num_experts": 512,
        "num_experts_per_tok": 10, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "partial_rotary_factor": 0.25)"},
      {"GLM-4-9B-0414", 9400279040, R"("model_type": "glm4", "attention_bias": true,
        "partial_rotary_factor": 0.5)"},
      {"starcoder2-3b", 3030371328, R"("model_type": "starcoder2", "use_bias": true,
        "mlp_type": "default", "residual_dropout": 0.1, "embedding_dropout": 0.1, "sliding_window": 4096)"},
      {"starcoder2-15b", 15957889024, R"("model_type": "starcoder2", "hidden_size": 6144,
        "intermediate_size": 24576, "num_hidden_layers": 40, "num_attention_heads": 48,
        "num_key_value_heads": 4, "tie_word_embeddings": false)"},
      {"granite-3.1-8b-base", 8170848256, R"("model_type": "granite", "hidden_size": 4096,
        "intermediate_size": 12800, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 49152, "tie_word_embeddings": true,
        "residual_multiplier": 0.22, "logits_scaling": 16.0, "embedding_multiplier": 12.0)"},
      {"c4ai-command-r-v01", 34980831232, R"("model_type": "cohere", "logit_scale": 0.0625,
        "layer_norm_eps": 1e-05)"},
      {"c4ai-command-r7b-12-2024", 8027508736, R"("model_type": "cohere2", "hidden_size": 4096,
        "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "sliding_window": 4096, "sliding_window_pattern": 4)"},
      {"SmolLM3-3B", 3075098624, R"("model_type": "smollm3", "no_rope_layer_interval": 4,
        "tie_word_embeddings": true, "use_sliding_window": false)"},
      {"Kimi-K2-Base", 1.03e12, R"("model_type": "kimi_k2", "scoring_func": "sigmoid")"},
      {"ModernBERT-base", 149655232, R"("model_type": "modernbert", "global_attn_every_n_layers": 3,
        "local_attention": 128, "hidden_activation": "gelu")"},
      {"Qwen2-VL-7B", 7615616512, R"("model_type": "qwen2_vl", "hidden_size": 3584,
        "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
        "num_key_value_heads": 4, "vocab_size": 152064, "vision_config": {}, "vision_token_id": 151654)"},
      {"whisper-small", 241734912, R"("model_type": "whisper", "d_model": 768, "encoder_layers": 12,
        "decoder_layers": 12, "encoder_attention_heads": 12, "decoder_attention_heads": 12,
        "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072, "is_encoder_decoder": true)"},
      {"whisper-large-v3", 1543490560, R"("model_type": "whisper", "d_model": 1280, "encoder_layers": 32,
        "decoder_layers": 32, "encoder_attention_heads": 20, "decoder_attention_heads": 20,
        "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "num_mel_bins": 128, "vocab_size": 51866)"},
      {"roberta-base", 124697433, R"("model_type": "roberta", "architectures": ["RobertaForMaskedLM"],
        "vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1)"},
      // By its keys alone, as gradway does not know the type
      {"Seed-OSS-36B", 36151104512, R"("model_type": "seed_oss", "attention_bias": true,
        "attention_out_bias": false, "head_dim": 128, "hidden_act": "silu", "hidden_size": 5120,
        "intermediate_size": 27648, "num_hidden_layers": 64, "num_attention_heads": 80,
        "num_key_value_heads": 8, "vocab_size": 155136, "rms_norm_eps": 1e-06, "mlp_bias": false,
        "residual_dropout": 0.1, "attention_dropout": 0.1, "max_position_embeddings": 524288)"},
  }));
  CAPTURE(row.name);
  const Desk desk;
  const auto imported = desk.import(row.keys, row.name.starts_with("whisper") ? "256" : "512");
  CAPTURE(imported.errors);
  REQUIRE(imported.status == 0);
  CHECK(desk.parameters() == Approx(row.parameters).epsilon(0.005));
  CHECK_THAT(desk.model(), Contains("implementation: huggingface\n"));
}

TEST_CASE("a model_type that gradway does not know is read by its keys", "[cli][import]") {
  const Desk desk;
  const std::string sizes = R"("hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
      "vocab_size": 100, "intermediate_size": 128, "max_position_embeddings": 1024)";
  const auto as_llama = desk.import(R"("model_type": "renamed", "rms_norm_eps": 1e-6, )" + sizes);
  CHECK(as_llama.status == 0);
  CHECK_THAT(
      as_llama.errors,
      Contains("model_type \"renamed\": unknown to gradway, so the model is read by its keys as a decoder "
               "like Llama; compare its number of parameters ('gradway show model') with the published "
               "one\n"));
  const auto renamed = desk.model();
  CHECK(desk.import(R"("model_type": "llama", "num_key_value_heads": 4, )" + sizes).status == 0);
  CHECK(renamed.substr(renamed.find("schema")) == desk.model().substr(desk.model().find("schema")));

  CHECK(desk.import(R"("model_type": "renamed", "layer_norm_epsilon": 1e-5, "hidden_act": "gelu", )" + sizes)
            .status == 0);
  CHECK_THAT(desk.model(), Contains("bias: true\nnorm: layer_norm\n") && Contains("activation: gelu\n"));

  const auto strange = desk.import(R"("model_type": "renamed", "mamba_d_state": 16, "attn_layer_period": 8,
      "use_mamba_kernels": false, "extra_token_id": 7, )" +
                                   sizes);
  CHECK(strange.status == 2);
  CHECK_THAT(
      strange.errors,
      Contains("error: gradway does not understand 'mamba_d_state', 'attn_layer_period', which may change "
               "what a step computes\n") &&
          Contains("  hint: describe the model in a model file, or capture your program: "
                   "docs/my-model.md shows both\n"));
}

TEST_CASE("keys that change nothing keep no unknown family from being read", "[cli][import]") {
  const Desk desk;
  const std::string base =
      R"("model_type": "new", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
         "vocab_size": 1000, "rms_norm_eps": 1e-6, "intermediate_size": )";
  REQUIRE(desk.import(base + "512").status == 0);
  const auto plain = desk.parameters();
  const std::string more =
      GENERATE("[512, 512]", R"(512, "use_sliding_window": false, "sliding_window": 4096)",
               R"(512, "layer_types": ["full_attention"], "sliding_window_pattern": 6)",
               R"(512, "moe_layer_freq": 1, "spatial_merge_size": 2)");
  CAPTURE(more);
  const auto outcome = desk.import(base + more);
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(desk.parameters() == plain);
  CHECK_THAT(desk.import(base + "[512, 1024]").errors,
             Contains("invalid value [...] for 'intermediate_size'"));
}

TEST_CASE("a folder's config.json is read, and what is no such file says what to do", "[cli][import]") {
  const Desk desk;
  desk.import(R"("_class_name": "UNet2DConditionModel", "sample_size": 64)");
  const auto import = [&](const std::string& what) { return desk.run({"import", "hf", what}).errors; };
  CHECK_THAT(import("."), Contains("config.json:1:") &&
                              Contains("gradway does not read the models of diffusers, such as this "
                                       "UNet2DConditionModel\n") &&
                              Contains("hint: capture your training program: docs/my-program.md"));
  CHECK_THAT(import("meta-llama/Llama-3.1-8B"),
             Contains("no such file\n  hint: download it: "
                      "https://huggingface.co/meta-llama/Llama-3.1-8B/resolve/main/config.json"));
}

TEST_CASE("windows and dropout of a config.json are those of the model", "[cli][import]") {
  const Desk desk;
  const std::string gemma = R"("model_type": "gemma2")";
  CHECK(desk.import(gemma, "8192").status == 0);
  CHECK_THAT(desk.model(), Contains("norm_placement: both\n") && Contains("logit_soft_cap: true\n") &&
                               Contains("window: 4096\nfull_attention_every: 2\n"));
  CHECK(desk.import(gemma, "4096").status == 0);
  CHECK_THAT(desk.model(), !Contains("window"));
  CHECK(desk.import(R"("model_type": "mistral")", "8192").status == 0);
  CHECK_THAT(desk.model(), Contains("window: 4096\n") && !Contains("full_attention_every"));
  CHECK(desk.import(R"("model_type": "gpt2")").status == 0);
  CHECK_THAT(desk.model(),
             Contains("activation: gelu_new\ndropout: true\n") && !Contains("attention_dropout"));
  CHECK(
      desk.import(R"("model_type": "gpt2", "resid_pdrop": 0, "embd_pdrop": 0.0, "attn_pdrop": 0.1)").status ==
      0);
  CHECK_THAT(desk.model(), Contains("attention_dropout: true\n") && !Contains("\ndropout"));

  const auto odd = desk.import(R"("model_type": "gemma2", "num_hidden_layers": 3,
      "layer_types": ["full_attention", "sliding_attention", "full_attention"])");
  CHECK(odd.status == 2);
  CHECK_THAT(odd.errors, Contains("gradway supports full attention in every n-th layer only\n"));
}

TEST_CASE("the text part of a model with images is imported", "[cli][import]") {
  const Desk desk;
  const auto imported = desk.import(R"("model_type": "mistral3", "vision_config": {"hidden_size": 8},
      "text_config": {"model_type": "mistral", "num_hidden_layers": 2, "sliding_window": null})");
  CHECK(imported.status == 0);
  CHECK_THAT(imported.errors,
             Contains("the part for images is left out: the model reads and writes its tokens"));
  CHECK_THAT(desk.model(), Contains("layers: 2\n"));
}

TEST_CASE("encoders of images and sound are imported with the text", "[cli][import]") {
  // Totals of the weights on the model hub, which the safetensors index of each names.
  const std::string qwen = R"("hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
    "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": false, )";
  const auto row = GENERATE_COPY(values<Published>({
      {"llava-1.5-7b", 7063427072, R"("model_type": "llava", "text_config": {"model_type": "llama",
        "vocab_size": 32064}, "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024,
        "image_size": 336, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
        "patch_size": 14})"},
      {"Qwen2-VL-7B", 8291375616, qwen + R"("model_type": "qwen2_vl", "vision_config": {"depth": 32,
        "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "hidden_size": 3584, "patch_size": 14,
        "spatial_merge_size": 2, "temporal_patch_size": 2})"},
      {"Qwen2.5-VL-7B", 8292166656, qwen + R"("model_type": "qwen2_5_vl", "vision_config": {"depth": 32,
        "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "patch_size": 14,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "window_size": 112,
        "fullatt_block_indexes": [7, 15, 23, 31]})"},
      {"Qwen2-Audio-7B", 8397094912, R"("model_type": "qwen2_audio", "text_config": {"model_type": "qwen2",
        "intermediate_size": 11008, "vocab_size": 156032}, "audio_config": {"d_model": 1280, "encoder_layers": 32,
        "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "num_mel_bins": 128})"},
  }));
  const Desk desk;
  const auto outcome = desk.import(row.keys, "2048");

  CAPTURE(row.name, outcome.errors, desk.model());
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.errors, Contains(" is trained with the text ('"));
  CHECK(desk.parameters() == Approx(row.parameters).epsilon(0.001));
}

TEST_CASE("the encoders of the part of Qwen-Omni that writes text are read", "[cli][import]") {
  const Desk desk;
  const auto imported = desk.import(R"("model_type": "qwen2_5_omni", "talker_config": {}, "thinker_config": {
      "model_type": "qwen2_5_omni_thinker", "text_config": {"model_type": "qwen2_5_omni_text"},
      "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16},
      "audio_config": {"d_model": 1280, "n_window": 100}})",
                                    "2048");
  CHECK(imported.status == 0);
  CHECK_THAT(imported.errors, Contains("the part for speech is left out"));
  CHECK_THAT(desk.model(),
             Contains("\ntower: { layers: 32, heads: 16, hidden: 1280, mlp: 3420, patches: 4096") &&
                 Contains("\nsound_tower: { layers: 32, heads: 20, hidden: 1280, mlp: 5120, patches: 1500, "
                          "patch_inputs: 128, join: 2, averaged: true, rotary: false, window: 100 }\n"));
  CHECK_THAT(
      desk.import(R"("model_type": "ultravox", "text_config": {"model_type": "llama"}, "audio_config": {})")
          .errors,
      Contains("the part for sound is left out"));
}

TEST_CASE("sizes of an encoder of images that cannot be are refused", "[cli][import]") {
  const Desk desk;
  const auto imported = [&](const std::string& key, const std::string& sequence) {
    return desk.import(R"("model_type": "llava", "text_config": {"model_type": "llama"}, "vision_config": {
      "hidden_size": 1024, "image_size": 336, "num_attention_heads": 16, "num_hidden_layers": 24, )" +
                           key + "}",
                       sequence);
  };
  CHECK_THAT(imported(R"("patch_size": 0)", "2048").errors, Contains("patch_size"));
  CHECK_THAT(imported(R"("patch_size": 14)", "256").errors,
             Contains("576 patches become 576 tokens, more than the 256 of a sample"));
}

TEST_CASE("a key with one value per layer is that value", "[cli][import]") {
  const Desk desk;
  const std::string hunyuan =
      R"("model_type": "hunyuan_v1_moe", "hidden_size": 4096, "intermediate_size": 3072,
      "num_hidden_layers": 4, "num_attention_heads": 32, "num_key_value_heads": 8, "attention_head_dim": 128,
      "num_experts": 64, "moe_topk": [8, 8, 8, 8], "num_shared_expert": [1, 1, 1, 1],
      "moe_intermediate_size": [3072, 3072, 3072, 3072], "use_mixed_mlp_moe": true, "cla_share_factor": 2,
      "use_qk_norm": true, "vocab_size": 128167, "tie_word_embeddings": true)";
  CHECK(desk.import(hunyuan + R"(, "use_cla": false)").status == 0);
  CHECK_THAT(desk.model(), Contains("experts: { number: 64, top_k: 8, mlp: 3072, shared: 1 }\n") &&
                               Contains("head_size: 128\n"));
  CHECK_THAT(desk.import(hunyuan + R"(, "use_cla": true)").errors,
             Contains("gradway computes keys and values in every block"));
}

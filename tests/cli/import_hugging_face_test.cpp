// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

struct Desk {
  TemporaryFolder folder;

  Outcome run(const std::vector<std::string>& arguments) const {
    return run_gradway(arguments, {.folder = folder.path()});
  }
  /// Of a config.json with these keys.
  Outcome import(const std::string& keys, std::vector<std::string> options = {"--sequence", "512"}) const {
    folder.write("config.json", "{" + keys + "}");
    options.insert(options.begin(), {"import", "hf", "config.json"});
    return run(options);
  }
};

}  // namespace

TEST_CASE("a Hugging Face model becomes a model that runs", "[cli][import]") {
  const Desk desk;
  const std::string file = std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/hf-qwen3_30b_a3b.json";
  const auto outcome = desk.run({"import", "hf", file, "-o", "models/mine.yaml", "--sequence", "4096"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "models/mine.yaml\n");
  CHECK_THAT(outcome.errors,
             Contains("hf-qwen3_30b_a3b.json:15:3: rope_scaling {...}: other rotation angles have the "
                      "same cost; 'sequence' sets the length of a sample\n"));
  CHECK(content_of(desk.folder.path() / "models/mine.yaml") ==
        R"(# Settings of Hugging Face's file that this model cannot express, and what the file lacks:
# - rope_scaling {...}: other rotation angles have the same cost; 'sequence' sets the length of a sample
schema: 1
source: >-
  Hugging Face's settings in hf-qwen3_30b_a3b.json
kind: decoder
layers: 48
heads: 32
hidden: 2048
vocabulary: 151936
tied_output: false
sequence: 4096
bias: false
norm: rms_norm
positions: rotary
activation: swiglu
kv_heads: 4
head_size: 128
qk_norm: true
experts: { number: 128, top_k: 8, mlp: 768, dense_layers: 0 }
implementation: huggingface
)");
  CHECK_THAT(desk.run({"show", "model", "models/mine.yaml"}).output, Contains("30,532,122,624 in"));
}

TEST_CASE("imported models have the parameters that are published of them", "[cli][import]") {
  // As the model hub counts the published weights; without a key the family's own default counts.
  using Row = std::pair<std::string, std::string>;
  const auto [keys, parameters] = GENERATE(values<Row>({
      {R"("model_type": "llama")", "6,738,415,616"},  // Llama 2 7B
      {R"("model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
          "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "tie_word_embeddings": true)",
       "1,235,814,400"},                                 // Llama 3.2 1B
      {R"("model_type": "mistral")", "7,241,732,096"},   // Mistral 7B
      {R"("model_type": "mixtral")", "46,702,792,704"},  // Mixtral 8x7B
      {R"("model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
          "num_attention_heads": 14, "num_key_value_heads": 2, "tie_word_embeddings": true)",
       "494,032,768"},                                     // Qwen2.5 0.5B
      {R"("model_type": "qwen2_moe")", "14,315,784,192"},  // Qwen1.5-MoE-A2.7B
      {R"("model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
          "num_attention_heads": 16, "num_key_value_heads": 8, "tie_word_embeddings": true)",
       "596,049,920"},                                    // Qwen3 0.6B
      {R"("model_type": "gemma")", "8,537,680,896"},      // Gemma 7B
      {R"("model_type": "gpt2")", "124,439,808"},         // GPT-2
      {R"("model_type": "gpt_neox")", "20,554,567,680"},  // GPT-NeoX-20B
      {R"("model_type": "gptj")", "6,050,882,784"},       // GPT-J 6B
      {R"("model_type": "opt")", "125,239,296"},          // OPT-125M
      {R"("model_type": "bloom", "n_layer": 24, "num_attention_heads": 16, "n_embed": 1024)",
       "559,214,592"},  // BLOOM-560M
      {R"("model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432)",
       "6,649,286,656"},                               // MPT-7B
      {R"("model_type": "falcon")", "6,921,720,704"},  // Falcon 7B
      {R"("model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 32,
          "partial_rotary_factor": 0.4)",
       "2,779,683,840"},  // Phi-2
      {R"("model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944, "num_hidden_layers": 27,
          "num_attention_heads": 16, "vocab_size": 102400, "q_lora_rank": null, "num_experts_per_tok": 6,
          "moe_intermediate_size": 1408, "first_k_dense_replace": 1)",
       "15,706,484,224"},                                     // DeepSeek-V2-Lite
      {R"("model_type": "deepseek_v3")", "671,026,419,200"},  // DeepSeek-V3
      {R"("model_type": "t5")", "60,506,624"},                // T5 small
      {R"("model_type": "bert", "architectures": ["BertForQuestionAnswering"])", "108,893,186"},
      {R"("model_type": "vit", "num_labels": 1000)", "86,567,656"},  // ViT-B/16
  }));
  CAPTURE(keys);
  const Desk desk;
  const auto imported = desk.import(keys, {"--sequence", "512", "-o", "models/mine.yaml"});
  CHECK(imported.status == 0);
  CHECK_THAT(imported.errors, !Contains("does not know"));
  CHECK_THAT(desk.run({"show", "model", "models/mine.yaml"}).output,
             Contains("parameters   " + parameters + " in"));
}

TEST_CASE("what a Hugging Face model has and gradway does not is listed", "[cli][import]") {
  const Desk desk;
  using Row = std::pair<std::string, std::string>;
  const auto [keys, note] = GENERATE(values<Row>({
      {R"("model_type": "llama", "quantization_config": {"bits": 4})",
       "quantization_config {...}: this is how weights are stored; job.precision of a scenario sets the "
       "precision of training\n"},
      {R"("model_type": "llama", "hidden_sise": 8)", "hidden_sise 8: unknown key, which gradway ignores"},
      {R"("model_type": "bert")",
       "outputs: 2 per token, as for question answering, and a pooler; gradway does not support other "
       "heads than those of question answering and of masked language models\n"},
  }));
  CAPTURE(keys);
  CHECK_THAT(desk.import(keys).errors, Contains(note));
}

TEST_CASE("the sequence of a sample is the number of positions, at most 8,192, unless it is given",
          "[cli][import]") {
  const Desk desk;
  CHECK_THAT(
      desk.import(R"("model_type": "bert")", {}).errors,
      Contains("sequence: 512 tokens per sample, the number of positions of the model; --sequence changes "
               "it\n"));
  CHECK_THAT(
      desk.import(R"("model_type": "mistral")", {}).errors,
      Contains("sequence: 8192 tokens per sample (the model has 131072 positions); --sequence changes it\n"));
}

TEST_CASE("a folder of weights stands for its config.json, and nothing is downloaded", "[cli][import]") {
  const Desk desk;
  const auto keys = R"({"model_type": "bert", "max_position_embeddings": 512})";
  desk.folder.write("weights/config.json", keys);
  CHECK(desk.run({"import", "hf", "weights"}).errors ==
        desk.run({"import", "hf", "weights/config.json"}).errors);
}

TEST_CASE("a Hugging Face model that gradway cannot describe is refused", "[cli][import][errors]") {
  struct Row {
    std::string keys;
    std::string errors;
  };
  const Desk desk;
  const auto row = GENERATE(values<Row>({
      {R"("model_type": "mamba")",
       "config.json:1:16: error: unknown 'model_type: mamba', and the file has no hidden_size, "
       "num_hidden_layers, num_attention_heads, vocab_size, intermediate_size, by which a decoder would be "
       "read. Known: arcee, bert, bloom, camembert, cohere, cohere2, dbrx, deepseek_v2, deepseek_v3, deit, "
       "falcon, "
       "gemma, gemma2, gemma3, gemma3_text, glm, glm4, glm4_moe, gpt2, gpt_bigcode, gpt_neox, gpt_oss, gptj, "
       "granite, granitemoe, granitemoeshared, kimi_k2, llama, llama4, llama4_text, minicpm3, mistral, "
       "mixtral, modernbert, mpt, nemotron, olmo, olmo2, olmo3, olmoe, opt, phi, phi3, qwen2, "
       "qwen2_5_omni_text, "
       "qwen2_5_vl, "
       "qwen2_5_vl_text, "
       "qwen2_moe, qwen2_vl, qwen2_vl_text, qwen3, qwen3_5, qwen3_5_moe, qwen3_5_moe_text, qwen3_5_text, "
       "qwen3_moe, qwen3_next, qwen3_omni_moe_text, qwen3_vl_moe_text, qwen3_vl_text, "
       "roberta, smollm3, starcoder2, t5, vit, whisper, xlm-roberta\n"
       "    1 | {\"model_type\": \"mamba\"}\n"
       "      |                ^~~~~~~\n"
       "  hint: describe the model in a model file, or capture your program: docs/my-model.md shows both\n"},
      {R"("hidden_size": 64)",
       "config.json: error: the file has no 'model_type'\n"
       "  hint: give the config.json in the folder of a model's weights\n"},
      {R"("model_type": "llama", "num_hidden_layers": "many", "hidden_act": "xielu")",
       "config.json:1:46: error: invalid value \"many\" for 'num_hidden_layers'\n"
       "    1 | {\"model_type\": \"llama\", \"num_hidden_layers\": \"many\", \"hidden_act\": \"xielu\"}\n"
       "      |                                              ^~~~~~\n"
       "  hint: expected a whole number from 1 to 16777216\n"
       "config.json:1:68: error: unsupported activation 'xielu'\n"
       "    1 | {\"model_type\": \"llama\", \"num_hidden_layers\": \"many\", \"hidden_act\": \"xielu\"}\n"
       "      |                                                                    ^~~~~~~\n"
       "  hint: expected silu, gelu or gelu_pytorch_tanh\n"},
      {R"("model_type": "opt", "word_embed_proj_dim": 512)",
       "config.json:1:46: error: gradway requires embeddings of the width of the blocks\n"
       "    1 | {\"model_type\": \"opt\", \"word_embed_proj_dim\": 512}\n"
       "      |                                              ^~~\n"
       "  hint: describe the model in a model file: docs/my-model.md shows how\n"},
      {R"("model_type": "t5", "feed_forward_proj": "gated-gelu")",
       "config.json:1:43: error: gradway supports T5 v1.0, with ReLU, but not v1.1\n"
       "    1 | {\"model_type\": \"t5\", \"feed_forward_proj\": \"gated-gelu\"}\n"
       "      |                                           ^~~~~~~~~~~~\n"
       "  hint: describe the model in a model file: docs/my-model.md shows how\n"},
      {R"("model_type": "qwen3_moe", "mlp_only_layers": [3])",
       "config.json:1:48: error: gradway requires experts in all layers after the first dense ones\n"
       "    1 | {\"model_type\": \"qwen3_moe\", \"mlp_only_layers\": [3]}\n"
       "      |                                                ^\n"
       "  hint: describe the model in a model file: docs/my-model.md shows how\n"},
      {R"("model_type": "gpt2", "n_positions": 256)",
       "config.json:1:39: error: --sequence 512, but the model has 256 positions\n"
       "    1 | {\"model_type\": \"gpt2\", \"n_positions\": 256}\n"
       "      |                                       ^~~\n"
       "  hint: give at most 256\n"},
      {R"("model_type": "llama", "num_attention_heads": 7)",
       "config.json: error: the file made from this input is invalid: heads 7 does not divide hidden 4096\n"
       "  hint: a value of the input is probably far out of range: it leads to 'heads: 7'\n"},
  }));
  CAPTURE(row.keys);
  const auto outcome = desk.import(row.keys);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == row.errors);
}

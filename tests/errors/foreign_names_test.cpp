// SPDX-License-Identifier: Apache-2.0
// Names that other trainers have for keys, words, models and platforms lead to ours.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/yaml/foreign_names.hpp"
#include "sim/dialects/model_names.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

std::string message_of(const std::vector<Override>& set) {
  return test::message_of([&] { return load_scenario("sharded/llama2_7b", set, data); });
}

struct Row {
  std::string key, value, what, hint;
};

void check(const std::vector<Row>& rows) {
  for (const auto& [key, value, what, hint] : rows) {
    CAPTURE(key, value);
    CHECK(message_of({{key, value}}) ==
          fmt::format("--set {}={}: error: {}\n  hint: {}\n", key, value, what, hint));
  }
}

Row unknown(const std::string& key, const std::string& hint) {
  return {key, "1", fmt::format("unknown key '{}'", key), hint};
}

}  // namespace

TEST_CASE("keys of other trainers lead to the key that stands for them", "[errors][names]") {
  const std::string batch =
      "did you mean 'job.batch_per_gpu', the micro-batch of each GPU, or 'job.global_batch', the samples of "
      "a step?";
  const std::string recompute = "did you mean 'job.recompute'? It is none, selective, selective_op or full";
  const std::string nodes =
      "set 'job.gpus' to the number of all GPUs; the number of nodes follows from the platform";
  const std::string ranks =
      "leave it out: the data-parallel degree is 'job.gpus' divided by the tensor-, context- and "
      "pipeline-parallel degrees";
  check({unknown("num_gpus", "did you mean 'job.gpus'? It counts all ranks"),
         unknown("job.num_gpus", "did you mean 'job.gpus'? It counts all ranks"), unknown("nodes", nodes),
         unknown("job.nodes", nodes), unknown("batch_size", batch), unknown("job.batch_size", batch),
         unknown("job.gradient_accumulation_steps", "did you mean 'job.accumulate'?"),
         unknown("job.apply_rope_fusion", "did you mean 'job.fusions'? It is all, activation, rope or none"),
         unknown("job.seq_len", "did you mean 'job.sequence'?"),
         unknown("job.activation_checkpointing", recompute), unknown("job.gradient-checkpointing", recompute),
         unknown("parallel.tp", "did you mean 'parallel.tensor'?"),
         unknown("parallel.pp", "did you mean 'parallel.pipeline'?"),
         unknown("parallel.cp", "did you mean 'parallel.context'?"),
         unknown("parallel.ep", "did you mean 'parallel.expert'?"), unknown("parallel.dp", ranks),
         unknown("parallel.data", ranks)});
}

TEST_CASE("the same in a file, where keys of a group go by their own names", "[errors][names]") {
  const std::string text =
      "schema: 1\nmodel: gpt_124m\nplatform: dgx-h100\n"
      "job: { gpus: 8, batch_per_gpu: 1, seq_len: 512, micro_batch_size: 2 }\n"
      "parallel: { tp: 2, data: 4 }\nnum_gpus: 8\n";
  CHECK(test::message_of([&] { return load_scenario_text(text, "mine.yaml", data); }) ==
        "text:4:35: error: unknown key 'seq_len'\n"
        "    4 | job: { gpus: 8, batch_per_gpu: 1, seq_len: 512, micro_batch_size: 2 }\n"
        "      |                                   ^~~~~~~\n"
        "  hint: did you mean 'sequence'?\n"
        "text:4:49: error: unknown key 'micro_batch_size'\n"
        "    4 | job: { gpus: 8, batch_per_gpu: 1, seq_len: 512, micro_batch_size: 2 }\n"
        "      |                                                 ^~~~~~~~~~~~~~~~\n"
        "  hint: did you mean 'batch_per_gpu'?\n"
        "text:5:13: error: unknown key 'tp'\n"
        "    5 | parallel: { tp: 2, data: 4 }\n"
        "      |             ^~\n"
        "  hint: did you mean 'tensor'?\n"
        "text:5:20: error: unknown key 'data'\n"
        "    5 | parallel: { tp: 2, data: 4 }\n"
        "      |                    ^~~~\n"
        "  hint: leave it out: the data-parallel degree is 'job.gpus' divided by the tensor-, context- and "
        "pipeline-parallel degrees\n"
        "text:6:1: error: unknown key 'num_gpus'\n"
        "    6 | num_gpus: 8\n"
        "      | ^~~~~~~~\n"
        "  hint: did you mean 'job.gpus'? It counts all ranks\n");
}

TEST_CASE("words of other trainers lead to ours", "[errors][names]") {
  const auto precision = [](const std::string& word, const std::string& hint) {
    return Row{"job.precision", word, fmt::format("invalid precision '{}'", word), hint};
  };
  const auto kind = [](const std::string& word, const std::string& hint) {
    return Row{"strategy.kind", word, fmt::format("invalid strategy '{}'", word), hint};
  };
  const auto again = [](const std::string& word, const std::string& hint) {
    return Row{"job.recompute", word, fmt::format("invalid recompute mode '{}'", word), hint};
  };
  check({precision("bfloat16", "did you mean 'bf16'?"),
         precision("BF16", "did you mean 'bf16'?"),
         precision("float32", "did you mean 'fp32'?"),
         precision("fp4", "of formats with 4 bits, gradway models 'nvfp4'"),
         precision("mxfp8", "write 'precision: fp8' and 'fp8_recipe: mxfp8'"),
         kind("megatron",
              "write 'kind: distributed_optimizer', and 'framework: megatron' in 'job' for its layers and "
              "communication"),
         kind("deepspeed", "write 'kind: zero' and its 'stage': 1, 2 or 3"),
         kind("zero3", "write 'kind: zero' and 'stage: 3'"),
         kind("horovod",
              "gradway does not model Horovod; 'ddp' is similar: it also reduces gradients in buckets"),
         kind("FSDP2", "did you mean 'fsdp'? It is FSDP2"),
         again("true", "write full, which recomputes each block, or selective_op, torchtitan's default"),
         again("false", "write none"),
         {"optimizer", "Adam", "invalid optimizer 'Adam'", "did you mean 'adamw' or 'adamw_fused'?"},
         {"job.framework", "torchtitan", "invalid framework 'torchtitan'", "did you mean 'pytorch'?"}});
}

TEST_CASE("what is not modelled is refused by name, with what to use instead", "[errors][names]") {
  const std::string inference =
      "gradway models training, not inference: use a simulator of inference servers, such as Vidur, or a "
      "load "
      "test of your server";
  const std::string retrieval =
      "gradway does not model retrieval (RAG): describe the store as 'input.storage' with its 'first_byte', "
      "and what a sample fetches as 'input.dataset'";
  check(
      {{"input.dali", "true", "unknown key 'input.dali'", "write 'loader: dali' in 'input'"},
       {"input.num_threads", "4", "unknown key 'input.num_threads'",
        "did you mean 'input.loader_workers'? With 'loader: dali' or 'tf_data' it is the number of threads"},
       {"job.mode", "inference", "unknown key 'job.mode'", inference},
       unknown("job.inference", inference),
       unknown("serving", inference),
       unknown("rag", retrieval),
       unknown("input.retriever", retrieval),
       {"job.framework", "jax", "invalid framework 'jax'",
        "gradway models PyTorch and Megatron-LM, not JAX; leave it out"}});
}

TEST_CASE("platforms without NVIDIA GPUs are refused by name", "[errors][names]") {
  const auto [name, what] = GENERATE(table<std::string, std::string>({
      {"tpu-v4", "TPUs"},
      {"TPU-v5e-16", "TPUs"},
      {"tpu-v5p-8", "TPUs"},
      {"v4-8", "TPUs"},
      {"v6e-8", "TPUs"},
      {"ct5p-hightpu-4t", "TPUs"},
      {"aws-trn1.32xlarge", "AWS Trainium"},
      {"trn2.48xlarge", "AWS Trainium"},
      {"inf2.48xlarge", "AWS Inferentia"},
      {"gaudi2", "Intel Gaudi"},
      {"aws-dl1.24xlarge", "Intel Gaudi"},
  }));
  const auto hint = fmt::format(
      "gradway does not model {}, only NVIDIA GPUs with NCCL: choose a platform of 'gradway list platforms', "
      "or measure the step on that hardware",
      what);
  check({{"platform", name,
          fmt::format("unknown platform '{}': there is no 'platforms/{}.yaml' next to your file or in the "
                      "data folders",
                      name, name),
          hint}});
  for (const auto& known : list_names(DataKind::platform, data)) {
    CAPTURE(known);
    CHECK(config::hint_for_accelerator(known).empty());
  }
}

TEST_CASE("storage by its common names leads to its files", "[errors][names]") {
  const auto [name, hint] = GENERATE(table<std::string, std::string>({
      {"azure blob", "did you mean 'azure-blob-premium' or 'azure-blob-standard'?"},
      {"S3 One Zone", "did you mean 's3-express'? It is S3 Express One Zone"},
      {"anywhere cache", "did you mean 'gcs-anywhere-cache'?"},
  }));
  const auto refused = [](const std::string& tier) {
    return message_of({{"input", "{dataset: c4-tokens, storage: " + tier + "}"}});
  };
  CHECK(refused(name) ==
        fmt::format("--set input={{dataset: c4-tokens, storage: {}}}: error: invalid storage tier name '{}'\n"
                    "  hint: {}\n",
                    name, name, hint));
  const auto ends = [&](const std::string& tier, const std::string& with) {
    CHECK_THAT(refused(tier), Catch::Matchers::EndsWith(fmt::format("  hint: {}\n", with)));
  };
  ends("weka", "did you mean 'weka-dgx-2' or 'weka-1-client'?");
  ends("wekafs", "did you mean 'weka-1-client' or 'weka-dgx-2'?");
  ends("BeeGFS", "did you mean 'beegfs-hdd' or 'beegfs-nvme'?");
  ends("nas", "did you mean 'nas-nutanix' or 'nas-flashblade'?");
  ends("glacier",
       "archives are restored before they are read: copy the data to another tier, such as 's3-standard'");
  ends("ceph", "describe it in place: 'input.storage' may be a map with 'kind', 'read' and 'first_byte'");
}

TEST_CASE("variables of NCCL that gradway does not model are not guessed as others", "[errors][names]") {
  check({{"nccl.NCCL_IB_DISABLE", "1", "gradway does not model 'NCCL_IB_DISABLE'",
          "leave it out; for sockets choose a platform whose fabric has 'network: tcp'"},
         unknown("nccl.NCCL_P2P_DISABEL", "did you mean 'nccl.NCCL_P2P_DISABLE'?")});
}

TEST_CASE("names of Hugging Face lead to models", "[errors][names]") {
  const auto known = list_names(DataKind::model, data);
  const auto [name, expected] = GENERATE(table<std::string, std::string>({
      {"meta-llama/Meta-Llama-3-8B", "llama3_8b"},
      {"meta-llama/Meta-Llama-3-8B-Instruct", "llama3_8b"},
      {"meta-llama/Llama-3.1-8B", "llama3_8b"},
      {"meta-llama/Llama-3.2-1B", "llama3_2_1b"},
      {"meta-llama/Llama-3.2-3B", "llama3_2_3b"},
      {"meta-llama/Llama-2-7b-hf", "llama2_7b"},
      {"Llama-3.1-405B", "llama3_405b"},
      {"mistralai/Mixtral-8x7B-v0.1", "mixtral_8x7b"},
      {"Qwen/Qwen2.5-0.5B", "qwen2_5_0b5"},
      {"Qwen/Qwen3-30B-A3B", "qwen3_30b_a3b"},
      {"facebook/opt-1.3b", "opt_1b3"},
      {"facebook/opt-13b", "opt_13b"},
      {"deepseek-ai/DeepSeek-V3", "deepseek_v3"},
      {"bigscience/bloom-560m", ""},
  }));
  CAPTURE(name);
  CHECK(models_alike(name, known) ==
        (expected.empty() ? std::vector<std::string>{} : std::vector<std::string>{expected}));
}

TEST_CASE("a name of Hugging Face is refused with the model that it means", "[errors][names]") {
  check({{"model", "meta-llama/Meta-Llama-3-8B", "invalid model name 'meta-llama/Meta-Llama-3-8B'",
          "did you mean 'llama3_8b'?"},
         {"model", "Meta-Llama-3-70B",
          "unknown model 'Meta-Llama-3-70B': there is no 'models/Meta-Llama-3-70B.yaml' next to your "
          "file "
          "or in the data folders",
          "did you mean 'llama3_70b'?"}});
}

TEST_CASE("a platform that is named by its GPU leads to those that have it", "[errors][names]") {
  const auto name = GENERATE(as<std::string>{}, "8xA100", "crusoe-a100");
  const auto message = message_of({{"platform", name}});
  CHECK_THAT(message, Catch::Matchers::Contains("\n  hint: platforms with such a GPU: ") &&
                          Catch::Matchers::Contains("aws-p4d.24xlarge, aws-p4de.24xlarge") &&
                          !Catch::Matchers::Contains("aws-p5"));
}

TEST_CASE("a model of text is not trained on images, nor one of images on text", "[errors][input]") {
  const auto [model, dataset, what, hint] =
      GENERATE(table<std::string, std::string, std::string, std::string>({
          {"llama3_8b", "imagenet-1k",
           "the dataset 'imagenet-1k' contains images, but the model 'llama3_8b' trains on text",
           "datasets of text: c4-tokens"},
          {"llama3_8b", "unet3d",
           "the dataset 'unet3d' contains volumes, but the model 'llama3_8b' trains on text",
           "datasets of text: c4-tokens"},
          {"resnet50", "c4-tokens",
           "the dataset 'c4-tokens' contains text, but the model 'resnet50' trains on images",
           "datasets of images: coco, coco-detection, coco-detr, coco-lsj, coco-pose, coco-segmentation, "
           "coco-ssd, coco-yolo, imagenet-1k, imagenet-1k-color-jitter, imagenet-1k-deit, imagenet-1k-dino, "
           "imagenet-1k-opencv, imagenet-1k-randaugment, imagenet-1k-raw, imagenet-1k-reference, "
           "imagenet-1k-shards, imagenet-1k-simclr, imagenet-1k-tensors, laion-400m, resnet50-tfrecord"},
      }));
  const auto message = message_of({{"model", model},
                                   {"job", "{gpus: 8, batch_per_gpu: 1}"},
                                   {"strategy", "{kind: ddp}"},
                                   {"input", "{dataset: " + dataset + "}"}});
  CHECK_THAT(message, Catch::Matchers::StartsWith(
                          fmt::format("--set input={{dataset: {}}}: error: {}\n", dataset, what)) &&
                          Catch::Matchers::EndsWith(fmt::format("\n  hint: {}\n", hint)));
  CHECK_NOTHROW(load_scenario("sharded/llama2_7b", {{"input", "{dataset: c4-tokens}"}}, data));
}

TEST_CASE("the samples of a step say how many micro-steps there are", "[errors][batch]") {
  const std::vector<Override> base{
      {"model", "gpt_124m"}, {"platform", "dgx-h100"}, {"strategy", "{kind: ddp}"}};
  const auto accumulate = [&](const std::string& job, const std::string& parallel,
                              std::vector<Override> more = {}) {
    auto set = base;
    set.push_back({"job", job});
    set.push_back({"parallel", parallel});
    set.insert(set.end(), more.begin(), more.end());
    return load_scenario("sharded/llama2_7b", set, data).job.accumulate;
  };
  CHECK(accumulate("{gpus: 16, batch_per_gpu: 2, global_batch: 64}", "{}") == 2);
  CHECK(accumulate("{gpus: 16, batch_per_gpu: 2, global_batch: 64}", "{tensor: 4, sequence: true}") == 8);
  CHECK(accumulate("{gpus: 16, batch_per_gpu: 1, global_batch: 64}", "{tensor: 2, pipeline: 2}") == 16);
  CHECK(accumulate("{gpus: 8, batch_per_gpu: 2}", "{}", {{"job.global_batch", "160"}}) == 10);

  const auto refused = [&](const std::string& job, const std::string& value) {
    auto set = base;
    set.push_back({"job", job});
    set.push_back({"job.global_batch", value});
    return message_of(set);
  };
  CHECK(refused("{gpus: 12, batch_per_gpu: 2}", "100") ==
        "--set job.global_batch=100: error: job.global_batch 100 is not a multiple of 24 (12 data-parallel "
        "ranks with micro-batches of 2)\n  hint: job.global_batch 96 or 120 would fit\n");
  CHECK(refused("{gpus: 12, batch_per_gpu: 2}", "10") ==
        "--set job.global_batch=10: error: job.global_batch 10 is not a multiple of 24 (12 data-parallel "
        "ranks with micro-batches of 2)\n  hint: job.global_batch 24 would fit\n");
  CHECK(refused("{gpus: 1, batch_per_gpu: 1}", "20000") ==
        "--set job.global_batch=20000: error: job.global_batch 20000 requires 20000 micro-batches per rank, "
        "more than 10000\n"
        "  hint: increase job.batch_per_gpu\n");
}

TEST_CASE("samples of a step and micro-steps are not given both, and what is set replaces the file's",
          "[errors][batch]") {
  const std::string head = "schema: 1\nmodel: gpt_124m\nplatform: dgx-h100\n";
  CHECK(test::message_of([&] {
          return load_scenario_text(
              head + "job: { gpus: 8, batch_per_gpu: 1, accumulate: 2, global_batch: 16 }\n", "mine.yaml",
              data);
        }) ==
        "text:4:35: error: 'accumulate' conflicts with 'global_batch'\n"
        "    4 | job: { gpus: 8, batch_per_gpu: 1, accumulate: 2, global_batch: 16 }\n"
        "      |                                   ^~~~~~~~~~\n"
        "  note: text:4:50: global_batch is set here\n"
        "  hint: keep one of them\n");
  const test::WorkingFolder here{GRADWAY_SOURCE_DIR "/tests/errors/bad"};
  CHECK(load_scenario("good-global-batch.yaml", {}, {}).job.accumulate == 4);
  CHECK(load_scenario("good-global-batch.yaml", {{"job.accumulate", "3"}}, {}).job.accumulate == 3);
  CHECK(load_scenario("good-global-batch.yaml", {{"job.gpus", "1"}}, {}).job.accumulate == 8);
}

// SPDX-License-Identifier: Apache-2.0
// `gradway plan` as its users call it: its figures are those of a campaign, and what it lacks is said.
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::vector<std::string> plan(std::vector<std::string> more) {
  std::vector<std::string> arguments{"plan",   "--model", "gpt_124m", "--platforms", "aws-p5.48xlarge",
                                     "--gpus", "8",       "--seeds",  "50"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Json json_of(const std::vector<std::string>& arguments, const World& world = {}) {
  const auto outcome = run_gradway(arguments, world);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output);
}

Json planned(std::vector<std::string> more) {
  more.emplace_back("--json");
  return json_of(plan(std::move(more)));
}

std::string error_of(const std::vector<std::string>& arguments) {
  const auto outcome = run_gradway(arguments);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  return outcome.errors;
}

/// A question of the page, with the layout that was found.
Json question(const Json& layout) {
  return {
      {"model", "gpt_124m"},
      {"framework", "pytorch"},
      {"global_batch", 0},
      {"failures", "llama3"},
      {"set", Json::array({Json::array({"campaign.tokens", "10B"})})},
      {"deadline", "1 day"},
      {"budget", ""},
      {"seeds", 50},
      {"clusters", Json::array({Json{{"platform", "aws-p5.48xlarge"}, {"gpus", 8}, {"layout", layout}}})}};
}

std::string answer(const std::string& kind, const Json& asked) {
  const auto outcome = run_gradway({"plan", "--answer=" + kind, "--question=" + asked.dump()});
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  return outcome.output;
}

}  // namespace

TEST_CASE("a plan's days and dollars are those of a campaign of its scenario", "[cli][plan]") {
  const auto found = planned({"--tokens", "10B", "--deadline", "1 day"});
  const auto& run = found.at("runs").at(0);
  CHECK(found.at("best") == 0);

  const auto layout = Json::parse(answer("layout", question(Json::array())));
  const auto asked = question(layout.at("layout"));
  CHECK(layout.at("words") == run.at("layout"));
  CHECK(Json::parse(answer("campaigns", asked)).at("runs") == found.at("runs"));

  const TemporaryFolder folder;
  folder.write("plan.yaml", answer("scenario", asked));
  World there;
  there.folder = folder.path();
  const auto outcome = run_gradway({"campaign", "./plan.yaml", "--seeds", "50", "--json"}, there);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  const auto campaign = Json::parse(outcome.output);
  CHECK(campaign.at("estimate") == run.at("estimate"));
}

TEST_CASE("the figures of a plan are those of run, compare and campaign", "[cli][plan]") {
  struct Job {
    std::string model, framework, platform;
    int gpus;
    std::string sequence{};
  };
  const auto job = GENERATE(
      Job{"gpt_124m", "pytorch", "dgx-h100", 16}, Job{"gpt_124m", "megatron", "dgx-h100", 24},
      Job{"gpt2", "pytorch", "aws-p4d.24xlarge", 48, "768"},
      Job{"bert_large_squad", "pytorch", "aws-p4d.24xlarge", 8},
      Job{"vit_b_16", "pytorch", "aws-p5.48xlarge", 8}, Job{"resnet50", "pytorch", "aws-p5.48xlarge", 8},
      Job{"dlrm", "pytorch", "aws-p4d.24xlarge", 8}, Job{"olmoe_8_layers", "pytorch", "aws-p5.48xlarge", 8},
      Job{"olmoe_8_layers", "megatron", "aws-p5.48xlarge", 16},
      Job{"gpt_350m", "megatron", "aws-p4d.24xlarge", 60}, Job{"gpt2", "pytorch", "nvidia-gb200-nvl72", 72},
      Job{"qwen2_5_0b5", "pytorch", "azure-nd96isr-h100-v5", 40, "1536"});
  CAPTURE(job.model, job.framework, job.platform, job.gpus);
  const auto gpus = std::to_string(job.gpus);
  std::vector<std::string> arguments{"plan",   "--model", job.model,     "--platforms", job.platform,
                                     "--gpus", gpus,      "--framework", job.framework, "--samples",
                                     "10M",    "--seeds", "20",          "--json"};
  auto set = Json::array({Json::array({"campaign.samples", "10M"})});
  if (!job.sequence.empty()) {
    arguments.insert(arguments.end(), {"--sequence", job.sequence});
    set.push_back(Json::array({"job.sequence", job.sequence}));
  }
  const auto run = json_of(arguments).at("runs").at(0);

  auto layout = Json::array();
  for (const auto& [key, value] : run.at("set").items())
    if (key != "platform" && key != "job.gpus") layout.push_back(Json::array({key, value}));
  const Json asked{
      {"model", job.model},
      {"framework", job.framework},
      {"global_batch", 0},
      {"failures", "llama3"},
      {"set", set},
      {"deadline", ""},
      {"budget", ""},
      {"seeds", 20},
      {"clusters", Json::array({Json{{"platform", job.platform}, {"gpus", job.gpus}, {"layout", layout}}})}};
  const TemporaryFolder folder;
  folder.write("job.yaml", answer("scenario", asked));
  World there;
  there.folder = folder.path();
  const auto step = json_of({"run", "./job.yaml", "--json"}, there).at("metrics").at("step_time_s");
  CHECK(run.at("step_time_s") == step);
  const auto compared = json_of({"compare", "./job.yaml", "--platforms", job.platform, "--json"}, there);
  CHECK(compared.at("runs").at(0).at("metrics").at("step_time_s") == step);
  const auto campaign = json_of({"campaign", "./job.yaml", "--seeds", "20", "--json"}, there);
  CHECK(campaign.at("estimate") == run.at("estimate"));
}

TEST_CASE("a config.json is planned by the name of its folder or file", "[cli][plan]") {
  const TemporaryFolder folder;
  const auto* config = R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024,
    "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 1000,
    "max_position_embeddings": 1024, "tie_word_embeddings": false, "rms_norm_eps": 1e-5, "hidden_act": "silu"})";
  folder.write("tiny/config.json", config);
  const auto outcome =
      run_gradway({"plan", "--model", (folder.path() / "tiny/config.json").string(), "--platforms",
                   "aws-p5.48xlarge", "--gpus", "8", "--tokens", "1B", "--seeds", "20"});
  CAPTURE(outcome.errors);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output,
             Contains("tiny: 1,024 tokens per sample, 4,096 samples per step, failures as in llama3\n") &&
                 Contains("t1 p1 d8 mb"));
}

TEST_CASE("a page lists the model of a file, and whether its samples are sequences of tokens",
          "[cli][plan]") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(GRADWAY_SOURCE_DIR "/models/resnet50.yaml", folder.path() / "images.yaml");
  folder.write("broken.yaml", "schema: 1\nlayers: 3\n");
  const auto page_of = [&](const char* file) {
    return run_gradway({"plan", "--model", (folder.path() / file).string(), "--page-data"});
  };
  const auto page = page_of("images.yaml");
  CHECK(page.errors == "");
  CHECK_THAT(page.output, Contains(R"({"name":"images","tokens_per_sample":0})") &&
                              Contains(R"({"name":"gpt2","tokens_per_sample":1024})"));
  CHECK(page_of("broken.yaml").status == 2);
}

TEST_CASE("a plan warns of what the model of a config.json expresses differently", "[cli][plan]") {
  const TemporaryFolder folder;
  folder.write("my model (v2).json", R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024,
    "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 1000, "max_position_embeddings": 1024,
    "attention_dropout": 0.1})");
  const auto file = (folder.path() / "my model (v2).json").string();
  const auto imported = run_gradway({"import", "hf", file});
  CHECK_THAT(imported.errors, Contains("warning: "));
  const auto outcome = run_gradway({"plan", "--model", file, "--platforms", "aws-p5.48xlarge", "--gpus", "8",
                                    "--tokens", "1B", "--seeds", "20"});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors == imported.errors);
  CHECK_THAT(outcome.output, Contains("my_model__v2_: "));
}

TEST_CASE("lists of a plan may have spaces after commas", "[cli][plan]") {
  auto arguments = plan({"--tokens", "1B", "--json"});
  arguments[4] = "aws-p5.48xlarge, aws-p5en.48xlarge";
  arguments[6] = "8, 16";
  const auto outcome = run_gradway(arguments);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(Json::parse(outcome.output).at("runs").size() == 4);
}

TEST_CASE("captured models are planned", "[cli][plan]") {
  const auto outcome = run_gradway({"plan", "--model", "unet_860m", "--platforms", "aws-p5.48xlarge",
                                    "--gpus", "8", "--samples", "1M", "--seeds", "20"});
  CAPTURE(outcome.errors);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("unet_860m: 1,024 samples per step, failures as in llama3\n"));
}

TEST_CASE("more GPUs than a platform has are refused on each platform of fixed size", "[cli][plan]") {
  for (const auto* platform : {"workstation-4x-rtx-4090", "h200-1x", "lambda-cloud-8x-v100"}) {
    CAPTURE(platform);
    CHECK_THAT(error_of({"plan", "--model", "llama3_8b", "--platforms", platform, "--gpus", "64", "--tokens",
                         "300B"}),
               Contains("job.gpus 64 is more than the "));
  }
  CHECK_THAT(error_of({"init", "--model", "gpt2", "--platform", "workstation-4x-rtx-4090", "--gpus", "32"}),
             Contains("job.gpus 32 is more than the 4 GPUs of the platform"));
}

TEST_CASE("a plan refuses --set of what its options set", "[cli][plan]") {
  const auto refused = [](const std::string& set) {
    return error_of(plan({"--tokens", "1B", "--set", set}));
  };
  CHECK(refused("job.gpus=32") ==
        "error: '--set job.gpus': a plan has its own job.gpus\n  hint: give '--gpus' instead\n");
  CHECK(refused("job={gpus: 32}") ==
        "error: '--set job': a plan has its own job.gpus\n"
        "  hint: give '--gpus' instead, and other keys as '--set job.KEY'\n");
  for (const auto* one : {"model=gpt2", "platform=dgx-h100", "job.framework=megatron", "job.global_batch=8",
                          "job.batch_per_gpu=8", "job.accumulate=2", "job.sequence=512", "campaign.tokens=2B",
                          "campaign.samples=1M", "campaign.terms=spot", "campaign.failures.model=llama3",
                          "campaign={epochs: 1}", "strategy.kind=ddp"})
    CHECK_THAT(refused(one), Contains("': a plan has its own "));
}

TEST_CASE("errors of a plan's batch name the option", "[cli][plan]") {
  CHECK_THAT(
      error_of(plan({"--tokens", "1B", "--global-batch", "1000000000"})),
      Contains("error: 1000000000 samples per step need 2500000 micro-batches on each GPU, more than 10000\n"
               "  hint: give '--global-batch' fewer samples\n"));
}

TEST_CASE("damaged questions are refused in a line", "[cli][plan]") {
  const auto asked = [](const std::string& text) {
    return error_of({"plan", "--answer=layout", "--question=" + text});
  };
  const auto with = [](const char* key, const Json& value) {
    auto changed = question(Json::array());
    changed[key] = value;
    return changed.dump();
  };
  const auto on = [&](const Json& platform, const Json& gpus) {
    return with("clusters", {{{"platform", platform}, {"gpus", gpus}, {"layout", Json::array()}}});
  };
  const std::string damaged =
      "error: the question of the page is damaged\n"
      "  hint: load the page again; web/DATA.md describes questions\n";
  for (const auto& text :
       {std::string{"{"}, std::string{"{}"}, with("model", 5), with("clusters", Json::array()),
        with("set", 1), with("seeds", 1e300), on("dgx-h100", -64), on("dgx-h100", 1.5)})
    CHECK(asked(text) == damaged);
  for (const auto* path : {"/etc/passwd", "../x.yaml", "models/gpt_124m.yaml", "README.md"}) {
    CHECK_THAT(asked(with("model", path)), Contains("model") && !Contains("root:"));
    CHECK_THAT(asked(on(path, 8)), Contains("platform") && !Contains("root:"));
  }
}

TEST_CASE("a page is not written with wrong values", "[cli][plan]") {
  const TemporaryFolder folder;
  const auto page = (folder.path() / "plan.html").string();
  const auto refused = [&](const char* option, const char* value) {
    return error_of({"plan", "--out", page, option, value});
  };
  CHECK_THAT(refused("--deadline", "4 dys"), Contains("--deadline"));
  CHECK_THAT(refused("--budget", "much"), Contains("--budget"));
  CHECK_THAT(refused("--platforms", "nosuch"),
             Contains("--platforms nosuch: error: unknown platform 'nosuch'"));
  CHECK_THAT(refused("--gpus", "many"), Contains("--gpus"));
  CHECK_THAT(refused("--tokens", "ten"), Contains("--tokens"));
  CHECK_THAT(refused("--terms", "never"), Contains("--terms"));
  CHECK(refused("--set", "foo=1") ==
        "error: '--out' conflicts with '--set', which the page does not have\n"
        "  hint: leave one of them out\n");
  CHECK_THAT(refused("--seeds", "5"), Contains("'--out' conflicts with '--seeds'"));
  CHECK_FALSE(std::filesystem::exists(page));
}

TEST_CASE("platforms that cannot run a plan are listed with the reason", "[cli][plan]") {
  const auto outcome =
      run_gradway({"plan", "--model", "llama3_70b", "--platforms", "aws-p5.48xlarge,aws-p6-b200.48xlarge",
                   "--gpus", "8", "--tokens", "1B", "--seeds", "20", "--global-batch", "8"});
  CAPTURE(outcome.errors, outcome.output);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("no layout fits"));
}

TEST_CASE("what a plan lacks is said, with an example", "[cli][plan]") {
  CHECK_THAT(error_of({"plan"}),
             Contains("'gradway plan' needs --model") && Contains("gradway plan --model llama3_8b"));
  CHECK_THAT(error_of({"plan", "--model", "gpt_124m"}), Contains("'gradway plan' needs --platforms"));
  CHECK_THAT(error_of(plan({})), Contains("'gradway plan' needs --tokens or --samples"));
  CHECK_THAT(error_of({"plan", "--model", "llama3_8", "--platforms", "aws-p5.48xlarge", "--gpus", "8",
                       "--tokens", "1B"}),
             Contains("llama3_8b"));
  CHECK_THAT(error_of({"plan", "--model", "gpt_124m", "--platforms", "aws-p5.48xlarg", "--gpus", "8",
                       "--tokens", "1B"}),
             Contains("aws-p5.48xlarge"));
  const TemporaryFolder folder;
  const auto name = folder.path().string();
  CHECK(error_of({"plan", "--model", name, "--platforms", "dgx-h100", "--gpus", "8", "--tokens", "1B"}) ==
        "error: '--model " + name + "' is a folder\n  hint: give '" + name + "/config.json'\n");
  CHECK(error_of(
            {"plan", "--model", "/dev/null", "--platforms", "dgx-h100", "--gpus", "8", "--tokens", "1B"}) ==
        "error: '--model /dev/null' is not the name of a model\n"
        "  hint: give a .yaml file, or a config.json of Hugging Face\n");
  CHECK_THAT(error_of({"plan", "--force"}), Contains("--force requires --out"));
  CHECK_THAT(error_of({"plan", "--question", "{}"}), Contains("--question requires --answer"));
  CHECK_THAT(error_of(plan({"--tokens", "1B", "--framework", "megatrom"})), Contains("megatron"));
  CHECK_THAT(error_of(plan({"--tokens", "1B", "--failures", "llama4"})), Contains("llama3"));
  CHECK_THAT(error_of(plan({"--tokens", "1B", "--deadline", "soon"})), Contains("--deadline"));
  CHECK_THAT(error_of(plan({"--tokens", "ten"})), Contains("tokens"));
}

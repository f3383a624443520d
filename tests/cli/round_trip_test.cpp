// SPDX-License-Identifier: Apache-2.0
// What is printed to paste is the job that was predicted: its import gives the same step, to the last digit.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "readers/training/scenario_draft.hpp"
#include "sim/base/text.hpp"
#include "sim/config/config.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/yaml/foreign_names.hpp"
#include "sim/dialects/dialect.hpp"
#include "sim/files/settings_file.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/search/layouts.hpp"
#include "sim/workload/blocks.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};
const std::string model = "gpt_124m";
const std::string platform = "dgx-h100";
constexpr int gpus = 16;
constexpr int samples = 64;

Scenario scenario_of(const std::string& job, const std::string& strategy, const std::string& optimizer) {
  return load_scenario("sharded/llama2_7b",
                       {{"model", model},
                        {"platform", platform},
                        {"job", fmt::format("{{gpus: {}, {}}}", gpus, job)},
                        {"strategy", strategy},
                        {"optimizer", optimizer}},
                       data);
}

TextFile text_file(const std::string& name, const std::string& text) {
  TextFile file;
  file.name = name;
  file.content = text;
  return file;
}

DraftOptions options() {
  DraftOptions options;
  options.model = model;
  options.platform = platform;
  options.gpus = gpus;
  options.known_models = {model};
  options.blocks_of = [](const std::string& name) { return blocks_of(load_model(name, data)).count; };
  return options;
}

Seconds step_of(Scenario scenario) {
  return simulate(std::move(scenario), "fluid").measured.metrics.step_time;
}

Scenario imported(const report::LayoutSnippet& snippet) {
  const auto text = text_file(snippet.file, snippet.text);
  const auto draft = snippet.framework == "megatron"
                         ? draft_of_megatron(read_argument_settings(text), options(), "unused").scenario
                         : draft_of_torchtitan(read_toml_settings(text), options());
  INFO(snippet.text);
  for (const auto& note : draft.notes) UNSCOPED_INFO(to_text(note));
  CHECK(draft.notes.empty());
  return load_scenario_text(draft_yaml(draft, "scenario"), "mine.yaml", data);
}

/// Every so many of the layouts of a search.
void check_layouts(const Scenario& written, std::size_t every) {
  const auto candidates = candidate_layouts(written, samples, false);
  const report::SnippetModel shape{blocks_of(written.model).count, written.model.tokens_per_sample,
                                   written.model.experts.number > 0};
  std::size_t compared = 0;
  for (std::size_t i = 0; i < candidates.size(); i += every) {
    auto scenario = written;
    scenario.job = candidates[i];
    const auto snippet = report::layout_snippet(scenario.job, shape);
    if (snippet.text.find("the predicted job") != std::string::npos) continue;  // torchtitan cannot train it
    INFO(snippet.text);
    const auto again = imported(snippet);
    CHECK(again.job.layout.model_parallel_ranks() == scenario.job.layout.model_parallel_ranks());
    CHECK(again.job.samples() == samples);
    CHECK(step_of(again) == step_of(std::move(scenario)));
    ++compared;
  }
  CHECK(compared >= 5);
}

/// A trainer, and how a file of its settings is read and written.
struct Trainer {
  const Dialect& dialect;
  std::string (*line)(const std::string& setting, const std::string& value);
  SettingsFile (*read)(const std::string& text);
  Draft (*draft)(const std::string& text, const DraftOptions& options);
  std::string (*write)(const Scenario& scenario);
  std::string base;  ///< settings with which all others have an effect
};

report::SnippetModel shape_of(const Scenario& scenario) {
  return {blocks_of(scenario.model).count, scenario.model.tokens_per_sample,
          scenario.model.experts.number > 0};
}

/// A map of JSON for each table of a setting: {"a": {"b": 1}}.
std::string json_of(const std::string& setting, const std::string& value) {
  auto path = "/" + setting;
  std::ranges::replace(path, '.', '/');
  nlohmann::json document;
  document[nlohmann::json::json_pointer{path}] = nlohmann::json::parse(value);
  return document.dump();
}

const Trainer torchtitan{
    dialects::torchtitan(),
    [](const std::string& setting, const std::string& value) { return setting + " = " + value + "\n"; },
    [](const std::string& text) { return read_toml_settings(text_file("job.toml", text)); },
    [](const std::string& text, const DraftOptions& options) {
      return draft_of_torchtitan(read_toml_settings(text_file("job.toml", text)), options);
    },
    [](const Scenario& scenario) { return report::layout_snippet(scenario.job, shape_of(scenario)).text; },
    "training.seq_len = 1024\nparallelism.context_parallel_degree = 2\nmodel.converters = "
    "[\"float8\"]\ncompile.enable = true\n"};

const Trainer megatron{
    dialects::megatron(),
    [](const std::string& setting, const std::string& value) {
      auto argument = "--" + setting;
      std::ranges::replace(argument, '_', '-');
      return value == "true" ? argument + "\n" : argument + " " + value + "\n";
    },
    [](const std::string& text) { return read_argument_settings(text_file("job.txt", text)).file; },
    [](const std::string& text, const DraftOptions& options) {
      return draft_of_megatron(read_argument_settings(text_file("job.txt", text)), options, "unused")
          .scenario;
    },
    [](const Scenario& scenario) { return report::layout_snippet(scenario.job, shape_of(scenario)).text; },
    "--micro-batch-size 1\n--seq-length 1024\n--bf16\n--fp8-format hybrid\n--context-parallel-size 2\n"
    "--tensor-model-parallel-size "
    "2\n--sequence-parallel\n--use-distributed-optimizer\n--overlap-grad-reduce\n"};

const Trainer deepspeed{
    dialects::deepspeed(),
    json_of,
    [](const std::string& text) { return read_json_settings(text_file("ds.json", text)); },
    [](const std::string& text, const DraftOptions& options) {
      return draft_of_deepspeed(read_json_settings(text_file("ds.json", text)), options);
    },
    [](const Scenario& scenario) { return report::snippet_of(scenario.job).text; },
    R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "zero_optimization": {"stage": 1}})"};

/// The settings of the base and one more, which replaces one of the base. @param name of the setting
std::string with(const Trainer& trainer, const TrainerSetting& setting, const std::string& name,
                 const std::string& value) {
  const auto line = trainer.line(name, value);
  if (&trainer.dialect == &dialects::deepspeed()) {
    auto document = nlohmann::json::parse(trainer.base);
    if (setting.needs == "strategy.stage=3") document["zero_optimization"]["stage"] = 3;
    document.merge_patch(nlohmann::json::parse(line));
    return document.dump();
  }
  std::string text;
  std::istringstream base{trainer.base};
  const auto word = line.substr(0, line.find_first_of(" \n"));
  for (std::string of_base; std::getline(base, of_base);)
    if (of_base.substr(0, of_base.find(' ')) != word &&
        !(of_base == "--sequence-parallel" && setting.needs.find("!parallel.sequence") != std::string::npos))
      text += of_base + '\n';
  const bool needs_tensor = &trainer.dialect == &dialects::torchtitan() && setting.needs == "parallel.tensor";
  return text + (needs_tensor ? "parallelism.tensor_parallel_degree = 2\n" : "") + line;
}

/// The scenario of a draft without its notes.
std::string without_head(const Draft& draft) {
  const auto text = draft_yaml(draft, "scenario");
  return text.substr(text.find("\nmodel: "));
}

/// Values to try, as the trainer writes them.
std::vector<std::string> values_of(const TrainerSetting& setting) {
  switch (setting.form) {
    case Form::own:
      return {};
    case Form::ranks:
      return {"2"};
    case Form::flag:
      return {"true"};
    case Form::choice:
      return {"true", "false"};
    case Form::positive:
      return {"1.0"};
    case Form::elements:
      return {"200000000"};
    case Form::turned:
    case Form::word:
      break;
  }
  std::vector<std::string> words;
  for (const auto& word : setting.words) {
    const bool is_left_out = setting.form == Form::turned && word.theirs == setting.standard;
    if (!word.ours.empty() && word_for(setting, word.ours) == &word && !is_left_out)
      words.emplace_back(word.theirs);
  }
  return words;
}

const FileSetting* find(const SettingsFile& file, std::string_view setting) {
  const auto* entry = &file.root;
  while (entry != nullptr && !setting.empty()) {
    const auto dot = std::min(setting.find('.'), setting.size());
    entry = entry->find(setting.substr(0, dot));
    setting.remove_prefix(std::min(dot + 1, setting.size()));
  }
  return entry;
}

}  // namespace

TEST_CASE("each row of a dialect is read and written", "[cli][import]") {
  const auto* const trainer = GENERATE(&torchtitan, &megatron, &deepspeed);
  std::size_t compared = 0;
  for (const auto& setting : trainer->dialect.settings) {
    auto given = options();
    // A whole model with experts is for their rows only.
    if (setting.ours.starts_with("parallel.expert")) given.model = "mixtral_8x7b";
    given.known_models = {given.model};
    for (const auto& value : values_of(setting)) {
      const bool is_quoted = setting.form == Form::word && &trainer->dialect != &dialects::megatron();
      const auto text = is_quoted ? "\"" + value + "\"" : value;
      const std::string today{setting.theirs};
      CAPTURE(today, value);
      const auto draft = trainer->draft(with(*trainer, setting, today, text), given);
      INFO(draft_yaml(draft, "scenario"));
      const auto scenario = load_scenario_text(draft_yaml(draft, "scenario"), "mine.yaml", data);
      const auto written = trainer->write(scenario);
      INFO(written);
      const auto file = trainer->read(written);
      const auto* entry = find(file, today);
      REQUIRE(entry != nullptr);
      CHECK(entry->text == value);
      CHECK(without_head(trainer->draft(written, given)) == without_head(draft));
      if (const std::string before{setting.before}; !before.empty())
        CHECK(without_head(trainer->draft(with(*trainer, setting, before, text), given)) ==
              without_head(draft));
      ++compared;
    }
  }
  CHECK(compared >= 10);
}

TEST_CASE("rows of dialects name keys of scenarios, and hints lead to them", "[cli][import]") {
  const auto keys = config::scenario_keys();
  const auto* const trainer = GENERATE(&torchtitan, &megatron, &deepspeed);
  for (const auto& setting : trainer->dialect.settings) {
    CAPTURE(setting.theirs);
    if (!setting.ours.empty()) CHECK(std::ranges::find(keys, setting.ours) != keys.end());
    CHECK((setting.form == Form::own || !setting.ours.empty()));
    if (setting.hint.empty()) continue;
    const auto name = setting.theirs.substr(setting.theirs.rfind('.') + 1);
    CHECK(config::hint_for_foreign_key("job", name) == hint_sentence(setting.hint));
  }
  for (const auto key : trainer->dialect.order) {
    CAPTURE(key);
    CHECK(std::ranges::find(keys, key) != keys.end());
  }
}

TEST_CASE("torchtitan's tables are the job that was predicted", "[cli][import]") {
  const auto [job, strategy, optimizer] = GENERATE(table<std::string, std::string, std::string>({
      {"batch_per_gpu: 2, precision: bf16, compile: true, fused_loss: true, clip_grad_norm: true",
       "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}", "adamw_fused"},
      {"batch_per_gpu: 2, precision: bf16, sequence: 512",
       "{kind: fsdp, param_dtype: bf16, reduce_dtype: bf16, reshard_after_forward: false}", "adamw"},
      {"batch_per_gpu: 2, precision: fp32", "{kind: fsdp, reshard_after_forward: true}", "adamw"},
      {"batch_per_gpu: 2, precision: fp8, fp8_recipe: rowwise, compile: true",
       "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}", "adamw_fused"},
  }));
  CAPTURE(job, strategy);
  check_layouts(scenario_of(job, strategy, optimizer), 23);
}

TEST_CASE("torchtitan's selective checkpoints are the job that was predicted", "[cli][import]") {
  auto written = scenario_of("batch_per_gpu: 2, precision: bf16, compile: true",
                             "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}", "adamw_fused");
  const auto candidates = candidate_layouts(written, samples, false);
  const auto fsdp = std::ranges::find_if(
      candidates, [](const Job& candidate) { return std::holds_alternative<Fsdp>(candidate.strategy); });
  REQUIRE(fsdp != candidates.end());
  const auto job = with_selective_checkpoints(written.model, *fsdp);
  REQUIRE(job.has_value());
  CHECK(job->samples() == samples);
  written.job = *job;
  const auto again = imported(report::layout_snippet(*job, {12, written.model.tokens_per_sample}));
  CHECK(again.job.recompute == Recompute::selective_op);
  CHECK(step_of(again) == step_of(written));
}

TEST_CASE("Megatron-LM's arguments are the job that was predicted", "[cli][import]") {
  const auto [job, optimizer] = GENERATE(table<std::string, std::string>({
      {"batch_per_gpu: 2, precision: bf16, framework: megatron", "adamw_fused"},
      {"batch_per_gpu: 2, precision: bf16, framework: megatron, clip_grad_norm: true, attention: flash",
       "sgd_momentum"},
      {"batch_per_gpu: 2, precision: fp16, framework: megatron, sequence: 512, attention: math",
       "adamw_fused"},
      {"batch_per_gpu: 2, precision: fp8, framework: megatron", "adamw_fused"},
  }));
  const auto grad = GENERATE(as<std::string>{}, "fp32", "bf16");
  const bool is_fp16 = job.find("fp16") != std::string::npos;
  const auto reduced = is_fp16 && grad == "bf16" ? "fp16" : grad;
  CAPTURE(job, reduced);
  check_layouts(
      scenario_of(job, "{kind: distributed_optimizer, grad_reduce_dtype: " + reduced + "}", optimizer), 29);
}

TEST_CASE("DeepSpeed's configuration is the job that was predicted", "[cli][import]") {
  const auto strategy = GENERATE(as<std::string>{}, "{kind: zero, stage: 1, grad_accum_dtype: fp32}",
                                 "{kind: zero, stage: 2, overlap_comm: true, reduce_bucket_size: 2e8}",
                                 "{kind: zero, stage: 2, offload_optimizer: true}",
                                 "{kind: zero, stage: 3, communication_dtype: fp32, reduce_scatter: false}",
                                 "{kind: zero, stage: 3, offload_optimizer: true, max_live_parameters: 3e8}");
  const auto optimizer = GENERATE(as<std::string>{}, "adamw", "adamw_fused", "sgd_momentum", "lion");
  CAPTURE(strategy, optimizer);
  const auto written = scenario_of(
      "batch_per_gpu: 4, precision: bf16, accumulate: 3, clip_grad_norm: true, compile: true, framework: "
      "deepspeed",
      strategy, optimizer);
  const auto snippet = report::snippet_of(written.job);
  INFO(snippet.text);
  const auto draft = draft_of_deepspeed(read_json_settings(text_file(snippet.file, snippet.text)), options());
  CHECK(draft.notes.empty());
  const auto again = load_scenario_text(draft_yaml(draft, "scenario"), "mine.yaml", data);
  CHECK(step_of(again) == step_of(written));
}

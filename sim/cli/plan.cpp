// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/printable.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/points/platforms.hpp"
#include "sim/cli/points/points.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/plan_answers.hpp"
#include "sim/cli/shell/what_if.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/report/campaign/plan_points.hpp"
#include "sim/report/page/page.hpp"

namespace gradway::cli {
namespace {

/// Tokens of a step if no global batch is given.
/// @source H. Touvron et al., "Llama 2", arXiv 2307.09288, table 1: all models have a global batch of 4M
/// tokens
constexpr int tokens_of_step = 1 << 22;
constexpr int images_of_step = 1024;

struct PlanArguments {
  std::string model;
  std::string platforms;
  std::string gpus;
  std::string global_batch;
  std::string framework = "pytorch";
  std::string tokens;
  std::string samples;
  std::string terms;
  std::string failures = "llama3";
  std::string deadline;
  std::string budget;
  std::vector<std::string> set;
  int seeds = 200;
  int jobs = 0;
  bool json = false;
};

/// The clusters that are named: each platform with each number of GPUs.
std::vector<Cluster> clusters_of(const PlanArguments& arguments, const DataPath& data) {
  constexpr int most_gpus = 1 << 20;
  std::vector<Cluster> clusters;
  if (arguments.platforms.empty()) return clusters;
  for (const auto& platform : platforms_of(arguments.platforms, data)) {
    check_known("--platforms", platform, "platform", list_names(DataKind::platform, data));
    for (const auto& gpus : list_of("--gpus", arguments.gpus))
      clusters.push_back({platform, *value_of("--gpus", gpus, config::integer(1, most_gpus)), {}});
  }
  return clusters;
}

/// Makes a model of a file available by the name of the file. @return its name
std::string named_model(const std::string& model, DataPath& data) {
  const std::filesystem::path file{model};
  const auto is_json = file.extension() == ".json";
  if (!is_json && file.extension() != ".yaml") {
    check_known("--model", model, "model", list_names(DataKind::model, data));
    return model;
  }
  auto name = file.stem().string();
  if (is_json && name == "config") name = std::filesystem::absolute(file).parent_path().filename().string();
  const auto text = read_text_file(model);
  data.texts[fmt::format("models/{}.yaml", name)] = is_json ? model_of_config(text) : text.content;
  return name;
}

int default_batch(const std::string& model, const std::vector<Override>& set, const DataPath& data) {
  int tokens = load_model(model, data).tokens_per_sample;
  for (const auto& one : set)
    if (one.key == "job.sequence") tokens = *value_of("job.sequence", one.value, config::integer(1, 1 << 24));
  return tokens > 0 ? std::max(1, tokens_of_step / tokens) : images_of_step;
}

TrainingPlan plan_of(const PlanArguments& arguments, DataPath& data) {
  constexpr int most_samples = 1'000'000'000;
  TrainingPlan plan{.model = named_model(arguments.model, data),
                    .framework = arguments.framework,
                    .failures = arguments.failures,
                    .set = parse_overrides(arguments.set)};
  check_known("--framework", plan.framework, "framework", {"pytorch", "megatron"});
  const auto batch = value_of("--global-batch", arguments.global_batch, config::integer(1, most_samples));
  plan.global_batch = batch ? *batch : default_batch(plan.model, plan.set, data);
  const auto add = [&](std::string_view option, const char* key, const std::string& value) {
    if (!value.empty()) plan.set.push_back(given_by(option, key, value));
  };
  add("--tokens", "campaign.tokens", arguments.tokens);
  add("--samples", "campaign.samples", arguments.samples);
  add("--terms", "campaign.terms", arguments.terms);
  return plan;
}

/// Chooses layouts and simulates the campaigns.
std::vector<Failure> simulate_all(report::CampaignPoints& all, const TrainingPlan& plan,
                                  std::vector<Cluster>& clusters, const PlanArguments& arguments,
                                  const DataPath& data, const CommandContext& context) {
  return run_points(context, "cluster", clusters.size(), arguments.jobs, [&](std::size_t i) {
    clusters[i].layout = report::layout_keys(layout_on(plan, clusters[i], data).scenario);
    report::simulate_on(all.points[i], plan, clusters[i], all.questions, data);
  });
}

Status plan(const PlanArguments& arguments, const CommandContext& context) {
  auto data = with_file_cache(context.data);
  auto plan = plan_of(arguments, data);
  auto clusters = clusters_of(arguments, data);
  auto all = report::points_of(plan, clusters,
                               {.seeds = arguments.seeds,
                                .deadline = value_of("--deadline", arguments.deadline, config::time_span),
                                .budget_usd = value_of("--budget", arguments.budget, config::dollars)});
  const auto failures = simulate_all(all, plan, clusters, arguments, data, context);
  if (std::ranges::find(failures, Status::done, &Failure::status) == failures.end()) {
    raise_wrong_input(failures);
    write_distinct_failures(failures, context.messages);
    return status_of(failures);
  }
  for (std::size_t i = 0; i < failures.size(); ++i) all.points[i].error = failures[i].text;
  report::rank(all);
  if (arguments.json) {
    report::write_json(context.results, all, GRADWAY_VERSION);
  } else {
    report::write_table(context.results, all, context.style);
  }
  return status_of(failures) == Status::bug ? Status::bug : Status::done;
}

}  // namespace

Action add_plan(CLI::App& app) {
  const auto arguments = std::make_shared<PlanArguments>();
  app.add_option("--model", arguments->model,
                 "model: a name from 'gradway list models', a YAML file, or a config.json of Hugging Face")
      ->type_name("NAME|FILE")
      ->required();
  app.add_option("--platforms", arguments->platforms,
                 "names from 'gradway list platforms', separated by commas, or patterns such as 'aws-*'")
      ->type_name("A,B,...")
      ->required();
  app.add_option("--gpus", arguments->gpus, "numbers of GPUs, such as 64,128, for each platform")
      ->type_name("N,M,...")
      ->required();
  app.add_option("--tokens", arguments->tokens, "amount of data, for models of text, such as 300B")
      ->type_name("N");
  app.add_option("--samples", arguments->samples, "amount of data, for models of any kind, such as 90M")
      ->type_name("N");
  app.add_option("--global-batch", arguments->global_batch,
                 "samples per step (default: 4 Mi tokens, or 1024 images)")
      ->type_name("N");
  app.add_option("--framework", arguments->framework,
                 "whose recipe and layouts are used: pytorch or megatron (default: pytorch)")
      ->type_name("NAME");
  app.add_option("--deadline", arguments->deadline, "time limit, such as '14 days'")->type_name("TIME");
  app.add_option("--budget", arguments->budget, "cost limit, such as '100k USD'")->type_name("USD");
  app.add_option("--terms", arguments->terms,
                 "payment terms: on_demand, spot, reserved, reserved_1y or reserved_3y (default: on_demand)")
      ->type_name("TERMS");
  app.add_option("--failures", arguments->failures,
                 "published failure rates, as campaign.failures.model, or none (default: llama3)")
      ->type_name("NAME");
  app.add_option("--seeds", arguments->seeds, "number of simulated runs per cluster (default: 200)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  add_overrides(app, arguments->set);
  add_jobs(app, arguments->jobs);
  app.add_flag("--json", arguments->json, "print the report as JSON")->disable_flag_override();
  return [arguments](const CommandContext& context) { return plan(*arguments, context); };
}

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/points/platforms.hpp"
#include "cli/points/points.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/plan_answers.hpp"
#include "cli/shell/what_if.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/read/prices.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/failure_models.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

struct PlanArguments {
  std::string model;
  std::string platforms;
  std::string gpu;
  std::string gpus;
  std::string global_batch;
  std::string sequence;
  std::string out;
  bool force = false;
  std::string framework = "pytorch";
  std::string tokens;
  std::string samples;
  std::string terms;
  PriceChoice price;  ///< without terms
  std::string failures = "llama3";
  std::string deadline;
  std::string budget;
  std::vector<std::string> set;
  std::optional<int> seeds;  ///< 200 if not given
  int jobs = 0;
  bool json = false;
  bool page_data = false;
  std::string answer;    ///< a kind of question of the page; empty: none
  std::string question;  ///< that is answered
};

std::vector<std::string> known_platforms(const PlanArguments& arguments, const DataPath& data) {
  if (arguments.platforms.empty() && arguments.gpu.empty()) return {};
  auto platforms = platforms_of(arguments.platforms, data, arguments.gpu);
  for (const auto& platform : platforms)
    find_name(DataKind::platform, platform, data, given_by("--platforms", "", platform).where);
  return platforms;
}

std::vector<int> numbers_of_gpus(const PlanArguments& arguments) {
  std::vector<int> numbers;
  if (arguments.gpus.empty()) return numbers;
  for (const auto& number : list_of("--gpus", arguments.gpus))
    numbers.push_back(*value_of("--gpus", number, config::integer(1, most_planned_gpus)));
  return numbers;
}

/// The clusters that are named: each platform with each number of GPUs.
std::vector<Cluster> clusters_of(const PlanArguments& arguments, const DataPath& data) {
  const auto numbers = numbers_of_gpus(arguments);
  std::vector<Cluster> clusters;
  for (const auto& platform : known_platforms(arguments, data))
    for (const auto gpus : numbers) clusters.push_back({platform, gpus, {}});
  return clusters;
}

CampaignQuestions questions_of(const PlanArguments& arguments) {
  constexpr int default_seeds = 200;
  return {.seeds = arguments.seeds.value_or(default_seeds),
          .deadline = value_of("--deadline", arguments.deadline, config::time_span),
          .budget_usd = value_of("--budget", arguments.budget, config::dollars)};
}

std::optional<int> sequence_of(const PlanArguments& arguments) {
  return value_of("--sequence", arguments.sequence, config::integer(1, 1 << 24));
}

/// Checks the values that are not read when a page is written without a simulation.
void check_quantities(const PlanArguments& arguments) {
  questions_of(arguments);
  sequence_of(arguments);
  value_of("--global-batch", arguments.global_batch, config::integer(1, most_samples_per_step));
  value_of("--tokens", arguments.tokens, config::tokens);
  value_of("--samples", arguments.samples, config::samples);
  value_of("--terms", arguments.terms, config::payment_terms);
}

/// Refuses keys that a plan sets after `--set`, or whose values its table shows.
void check_set(const std::vector<Override>& set) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> options{
      {{"model", "--model"},
       {"platform", "--platforms"},
       {"job.gpus", "--gpus"},
       {"job.framework", "--framework"},
       {"strategy.kind", "--framework"},
       {"job.global_batch", "--global-batch"},
       {"job.batch_per_gpu", "--global-batch"},
       {"job.accumulate", "--global-batch"},
       {"job.sequence", "--sequence"},
       {"campaign.tokens", "--tokens"},
       {"campaign.samples", "--samples"},
       {"campaign.terms", "--terms"},
       {"campaign.failures.model", "--failures"}}};
  for (const auto& change : set)
    for (const auto& [key, option] : options)
      if (change.key == key || change.key == key.substr(0, key.find('.')))
        refuse(fmt::format("'--set {}': a plan has its own {}", change.key, key),
               fmt::format(
                   "give '{}' instead{}", option,
                   change.key == key ? "" : fmt::format(", and other keys as '--set {}.KEY'", change.key)));
}

/// The name of a file without the characters that names of models cannot have.
std::string safe_name(std::string name) {
  for (auto& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-') c = '_';
  name.erase(0, name.find_first_not_of('.'));
  return name.empty() ? "model" : name;
}

/// Makes a model of a file available by the name of the file. @return its name
std::string named_model(const PlanArguments& arguments, DataPath& data, const CommandContext& context) {
  const auto& model = arguments.model;
  const std::filesystem::path file{model};
  const auto is_json = file.extension() == ".json";
  if (!is_json && file.extension() != ".yaml") {
    const auto known = list_names(DataKind::model, data);
    std::error_code ignored;
    if (std::ranges::find(known, model) == known.end() && std::filesystem::exists(file, ignored)) {
      if (std::filesystem::is_directory(file, ignored))
        refuse(fmt::format("'--model {}' is a folder", model),
               fmt::format("give '{}'", (file / "config.json").string()));
      refuse(fmt::format("'--model {}' is not the name of a model", model),
             "give a .yaml file, or a config.json of Hugging Face");
    }
    find_name(DataKind::model, model, data, given_by("--model", "", model).where);
    return model;
  }
  auto name = file.stem().string();
  if (is_json && name == "config") name = std::filesystem::absolute(file).parent_path().filename().string();
  name = safe_name(std::move(name));
  auto text = read_text_file(model);
  if (is_json) {
    auto imported = model_of_config(text, sequence_of(arguments));
    for (const auto& note : imported.notes) warn(context, note);
    text.content = std::move(imported.yaml);
  }
  data.texts[fmt::format("models/{}.yaml", name)] = std::move(text.content);
  return name;
}

TrainingPlan plan_of(const PlanArguments& arguments, DataPath& data, const CommandContext& context) {
  TrainingPlan plan{.model = named_model(arguments, data, context),
                    .framework = arguments.framework,
                    .compared_gpus = numbers_of_gpus(arguments),
                    .failures = arguments.failures,
                    .set = parse_overrides(arguments.set),
                    .price = arguments.price};
  check_set(plan.set);
  plan.global_batch =
      value_of("--global-batch", arguments.global_batch, config::integer(1, most_samples_per_step))
          .value_or(0);
  const auto add = [&](std::string_view option, const char* key, const std::string& value) {
    if (!value.empty()) plan.set.push_back(given_by(option, key, value));
  };
  add("--sequence", "job.sequence", arguments.sequence);
  add("--tokens", "campaign.tokens", arguments.tokens);
  add("--samples", "campaign.samples", arguments.samples);
  add("--terms", "campaign.terms", arguments.terms);
  return plan;
}

/// Chooses a layout on the cluster and simulates the campaign in it.
void simulate_in_layout(CampaignPoint& point, const TrainingPlan& plan, Cluster& cluster,
                        const CampaignQuestions& questions, const DataPath& data,
                        const SearchOptions& options = {}) {
  cluster.layout = report::layout_keys(layout_on(plan, cluster, data, options).scenario);
  report::add_layout(point, simulate_on(point, plan, cluster, questions, data).scenario);
}

/// The same for a cluster alone: on all cores, with the progress of its search.
Failure simulate_alone(CampaignPoint& point, const TrainingPlan& plan, Cluster& cluster,
                       const CampaignQuestions& questions, int jobs, const DataPath& data,
                       const CommandContext& context) {
  Progress progress{context, Progress::WithoutTerminal::lines};
  return failure_of([&] {
    simulate_in_layout(point, plan, cluster, questions, data,
                       {.threads = jobs, .on_progress = progress.callback()});
    return Status::done;
  });
}

std::vector<Failure> simulate_all(CampaignPoints& campaigns, const TrainingPlan& plan,
                                  std::vector<Cluster>& clusters, int jobs, const DataPath& data,
                                  const CommandContext& context) {
  auto& points = campaigns.points;
  if (points.size() == 1)
    return {simulate_alone(points.front(), plan, clusters.front(), campaigns.questions, jobs, data, context)};
  return run_points(
      context, "cluster", clusters.size(), jobs,
      [&](std::size_t i) { simulate_in_layout(points[i], plan, clusters[i], campaigns.questions, data); },
      Progress::WithoutTerminal::lines);
}

/// Says which numbers of GPUs cannot all be data-parallel, because samples do not divide over them.
void note_indivisible(CampaignPoints& campaigns, const TrainingPlan& plan, int samples) {
  for (const auto gpus : plan.compared_gpus)
    if (samples > gpus && samples % gpus != 0)
      campaigns.notes.push_back(fmt::format(
          "{} samples per step do not divide over {} GPUs, which limits data parallelism to {} ranks; "
          "'--global-batch {}' divides",
          report::thousands_text(samples), report::thousands_text(gpus), std::gcd(samples, gpus),
          (samples / gpus + (2 * (samples % gpus) >= gpus ? 1 : 0)) * gpus));
}

/// Plans the best cluster with other choices of the plan, which are not those of a platform.
/// @return what would save at least 5 % of the time, as notes
std::vector<std::string> notes_on_other_plans(const CampaignPoint& best, const TrainingPlan& plan,
                                              const Scenario& scenario, const CampaignQuestions& questions,
                                              int jobs, const DataPath& data, const CommandContext& context) {
  constexpr double least_gain = 0.05;
  constexpr int more_samples = 4;
  constexpr double much_waiting = 0.05;  // share of the step in bubbles
  struct Alternative {
    std::string words;
    TrainingPlan plan;
    std::vector<Override> layout{};  ///< empty: searched
  };
  std::vector<Alternative> alternatives;
  if (scenario.model.experts.number > 0) {
    auto alternative = plan;
    alternative.framework = plan.framework == "pytorch" ? "megatron" : "pytorch";
    alternatives.push_back({fmt::format("'--framework {}' would take", alternative.framework), alternative});
  }
  if (best.step.metrics.bubble.value_or(Seconds{}) > best.step.metrics.step_time * much_waiting) {
    auto larger = plan;
    larger.global_batch = more_samples * samples_per_step(plan, scenario);
    alternatives.push_back(
        {fmt::format("'--global-batch {}' would take at most", larger.global_batch), larger});
    auto& layout = alternatives.back().layout;
    for (const auto& [key, value] : best.set)
      if (key != "job.accumulate") layout.push_back({key, value});
    layout.push_back({"job.accumulate", fmt::to_string(more_samples * best.job->accumulate)});
  }
  std::vector<std::string> notes;
  for (const auto& alternative : alternatives) {
    Cluster cluster{best.values.front(), std::stoi(best.values.back()), alternative.layout};
    CampaignPoint point{best.values};
    const auto simulate_as_found = [&] {
      point.job = simulate_on(point, alternative.plan, cluster, questions, data).scenario.job;
      return Status::done;
    };
    const auto failure = alternative.layout.empty() ? simulate_alone(point, alternative.plan, cluster,
                                                                     questions, jobs, data, context)
                                                    : failure_of(simulate_as_found);
    if (failure.status != Status::done) continue;
    const auto seconds = point.estimate->seconds.value;
    const auto& usd = point.estimate->usd;
    if (seconds > best.estimate->seconds.value * (1 - least_gain)) continue;
    notes.push_back(
        fmt::format("{} {}{} on {} GPUs of {} ({})", alternative.words, report::span_text(Seconds{seconds}),
                    usd ? fmt::format(" and {} USD", report::usd_text(usd->value)) : "", best.values.back(),
                    best.values.front(), report::describe_briefly(*point.job)));
  }
  return notes;
}

/// The choices that the page starts with.
std::vector<std::pair<std::string, std::string>> choices_of(const PlanArguments& arguments,
                                                            const std::string& model, const DataPath& data) {
  return {{"model", model},
          {"framework", arguments.framework},
          {"sequence", arguments.sequence},
          {"global_batch", arguments.global_batch},
          {"data", arguments.tokens.empty() ? arguments.samples : arguments.tokens},
          {"platforms", fmt::format("{}", fmt::join(known_platforms(arguments, data), ","))},
          {"gpus", arguments.gpus},
          {"terms", arguments.terms.empty() ? std::string{terms_words.front()} : arguments.terms},
          {"failures", arguments.failures},
          {"deadline", arguments.deadline},
          {"budget", arguments.budget}};
}

report::PlanPage page_of(const PlanArguments& arguments, const std::string& model, const DataPath& data) {
  report::PlanPage page{.choices = choices_of(arguments, model, data)};
  const auto add = [&](const std::string& name) {
    page.models.emplace_back(name, load_model(name, data).tokens_per_sample);
  };
  if (!model.empty()) add(model);
  for (const auto& name : list_names(DataKind::model, data)) {
    if (name == model) continue;
    try {
      add(name);
    } catch (const ConfigError&) {  // the page cannot use it
    }
  }
  page.platforms = one_node_of_each(list_names(DataKind::platform, data), data);
  return page;
}

/// @throws ConfigError for what a plan needs and only the page can ask for
void check_complete(const PlanArguments& arguments) {
  const auto need = [](const std::string& value, const char* option) {
    if (value.empty())
      refuse(
          fmt::format("'gradway plan' needs {}", option),
          "such as 'gradway plan --model llama3_8b --platforms aws-p5.48xlarge --gpus 64 --tokens 300B', or "
          "'gradway plan --out plan.html' to choose in a page");
  };
  need(arguments.model, "--model");
  if (arguments.gpu.empty()) need(arguments.platforms, "--platforms or --gpu");
  need(arguments.gpus, "--gpus");
  if (arguments.samples.empty()) need(arguments.tokens, "--tokens or --samples");
}

/// "llama3_8b: 8,192 tokens per sample, 512 samples per step, failures as in llama3"
std::string title_of(const TrainingPlan& plan, const Scenario& scenario) {
  const auto tokens = scenario.model.tokens_per_sample;
  return fmt::format("{}: {}{} samples per step, {}", plan.model,
                     tokens > 0 ? fmt::format("{} tokens per sample, ", report::thousands_text(tokens)) : "",
                     report::thousands_text(samples_per_step(plan, scenario)),
                     plan.failures == "none" ? "no failures" : "failures as in " + plan.failures);
}

Status simulate_plan(const PlanArguments& arguments, const TrainingPlan& plan, std::vector<Cluster> clusters,
                     const DataPath& data, const CommandContext& context) {
  auto campaigns = points_of(plan, clusters, questions_of(arguments));
  const auto failures = simulate_all(campaigns, plan, clusters, arguments.jobs, data, context);
  if (!has_results(failures, context)) return status_of(failures);
  const auto done = std::ranges::find(failures, Status::done, &Failure::status);
  for (std::size_t i = 0; i < failures.size(); ++i)
    campaigns.points[i].error = fmt::format("{}", fmt::join(failures[i].reasons, "; "));
  rank(campaigns);
  const auto& simulated = clusters[static_cast<std::size_t>(done - failures.begin())];
  const auto scenario = scenario_on(plan, simulated, data).load();
  campaigns.scenario = title_of(plan, scenario);
  note_indivisible(campaigns, plan, samples_per_step(plan, scenario));
  for (auto& note : notes_on_other_plans(campaigns.points.front(), plan, scenario, campaigns.questions,
                                         arguments.jobs, data, context))
    campaigns.notes.push_back(std::move(note));
  if (arguments.json) {
    report::write(context.results, report::json_document(campaigns, {}, GRADWAY_VERSION));
  } else {
    report::write_table(context.results, campaigns, context.style);
  }
  return status_of(failures) == Status::bug ? Status::bug : Status::done;
}

void check_page(const PlanArguments& arguments, bool simulates) {
  if (arguments.out.empty()) return;
  const auto& price = arguments.price;
  const std::array missing{
      std::pair{!arguments.set.empty(), "--set"}, std::pair{arguments.seeds && !simulates, "--seeds"},
      std::pair{!price.file.empty(), "--prices"}, std::pair{!price.date.empty(), "--price-date"},
      std::pair{!price.region.empty(), "--region"}};
  for (const auto& [is_given, option] : missing)
    if (is_given)
      refuse(fmt::format("'--out' conflicts with '{}', which the page does not have", option),
             "leave one of them out");
  if (!arguments.out.ends_with(".html"))
    refuse(fmt::format("'--out {}' is not the name of a page", printable(arguments.out)),
           "write it as plan.html");
  check_file(arguments.out, arguments.force);
}

Status plan(const PlanArguments& arguments, const CommandContext& context) {
  if (!arguments.answer.empty()) {
    answer_plan(context.results, arguments.answer, arguments.question, with_file_cache(context.data));
    return Status::done;
  }
  const bool has_clusters =
      !(arguments.platforms.empty() && arguments.gpu.empty()) && !arguments.gpus.empty();
  const bool has_data = !(arguments.tokens.empty() && arguments.samples.empty());
  const bool is_complete = !arguments.model.empty() && has_clusters && has_data;
  const bool simulates = is_complete || (arguments.out.empty() && !arguments.page_data);
  check_page(arguments, simulates);
  check_known("--framework", arguments.framework, "framework",
              {planned_frameworks.begin(), planned_frameworks.end()});
  std::vector<std::string> failures{"none"};
  failures.insert(failures.end(), failure_model_names().begin(), failure_model_names().end());
  check_known("--failures", arguments.failures, "model of failures", failures);
  auto data = with_file_cache(context.data);
  if (simulates) check_complete(arguments);
  auto clusters = clusters_of(arguments, data);
  check_quantities(arguments);
  if (!arguments.out.empty()) check_has_engine();
  TrainingPlan plan{};
  if (!arguments.model.empty()) plan = plan_of(arguments, data, context);
  if (arguments.page_data) {
    report::write_plan_document(context.results, page_of(arguments, plan.model, data), GRADWAY_VERSION);
    return Status::done;
  }
  const auto status =
      simulates ? simulate_plan(arguments, plan, std::move(clusters), data, context) : Status::done;
  if (!arguments.out.empty()) {
    auto page = page_of(arguments, plan.model, data);
    add_plan_files(page, data);
    write_file(arguments.out, arguments.force,
               [&](std::ostream& out) { report::write_page(out, page, GRADWAY_VERSION); });
    context.messages << printable(arguments.out) << '\n';
  }
  return status;
}

}  // namespace

Action add_plan(CLI::App& app) {
  const auto arguments = std::make_shared<PlanArguments>();
  app.add_option("--model", arguments->model,
                 "model: a name from 'gradway list models', a YAML file, or a config.json of Hugging Face")
      ->type_name("NAME|FILE");
  add_platforms(app, arguments->platforms, arguments->gpu);
  app.add_option("--gpus", arguments->gpus, "numbers of GPUs, such as 64,128, for each platform")
      ->type_name("N,M,...");
  app.add_option("--tokens", arguments->tokens, "amount of data, for models of text, such as 300B")
      ->type_name("N");
  app.add_option("--samples", arguments->samples, "amount of data, for models of any kind, such as 90M")
      ->type_name("N");
  app.add_option("--global-batch", arguments->global_batch,
                 "samples per step (default: about 4 Mi tokens, 1024 images, or 65536 samples of a "
                 "recommender, so that they divide over the GPUs)")
      ->type_name("N");
  app.add_option("--framework", arguments->framework,
                 "whose recipe and layouts are used: pytorch or megatron (default: pytorch)")
      ->type_name("NAME");
  app.add_option("--deadline", arguments->deadline, "time limit, such as '14 days'")->type_name("TIME");
  app.add_option("--budget", arguments->budget, "cost limit, such as '100k USD'")->type_name("USD");
  app.add_option("--terms", arguments->terms,
                 "payment terms: on_demand, spot, reserved, reserved_1y or reserved_3y (default: on_demand)")
      ->type_name("TERMS");
  add_price_list_options(app, arguments->price);
  app.add_option("--failures", arguments->failures,
                 "published failure rates, as campaign.failures.model, or none (default: llama3)")
      ->type_name("NAME");
  app.add_option("--seeds", arguments->seeds, "number of simulated runs per cluster (default: 200)")
      ->type_name("N")
      ->check(CLI::Range(1, most_planned_seeds));
  app.add_option("--sequence", arguments->sequence,
                 "tokens per sample (default: the model's, of a config.json at most 8192)")
      ->type_name("N");
  app.add_option(
         "--out", arguments->out,
         "page to write, plan.html: it plans other trainings without gradway; what is not given here is "
         "chosen there")
      ->type_name("FILE");
  add_flag(app, "--force", arguments->force, "replace an existing page")->needs("--out");
  add_overrides(app, arguments->set);
  add_jobs(app, arguments->jobs);
  add_flag(app, "--json", arguments->json, "print the report as JSON");
  add_page_data(app, arguments->page_data)->excludes("--json")->excludes("--out");
  auto* question = app.add_option("--question", arguments->question,
                                  "with --answer: the question, as web/DATA.md describes it")
                       ->type_name("JSON");
  auto* answer =
      app.add_option("--answer", arguments->answer,
                     fmt::format("answer a question of the planner's page: {}", fmt::join(plan_kinds, ", ")))
          ->type_name("KIND")
          ->check(CLI::IsMember{std::vector<std::string>{plan_kinds.begin(), plan_kinds.end()}})
          ->needs(question);
  question->needs(answer);
  return [arguments](const CommandContext& context) { return plan(*arguments, context); };
}

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/plan_answers.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell/common_options.hpp"
#include "cli/shell/failure.hpp"
#include "cli/shell/read_back.hpp"
#include "readers/training/scenario_draft.hpp"
#include "sim/base/contract.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/report/page/plan_question.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

template <SearchEffort (*effort)()>
void answer_layout(std::ostream& out, const std::string& text, const DataPath& data) {
  const auto question = report::read_plan_question(text, data);
  const auto layout = layout_on(question.plan, question.clusters.front(), data, {.threads = 0}, effort());
  report::write_plan_layout(out, layout, GRADWAY_VERSION);
}

void answer_campaigns(std::ostream& out, const std::string& text, const DataPath& data) {
  const auto question = report::read_plan_question(text, data);
  const CampaignQuestions limits{
      .seeds = question.seeds,
      .deadline = value_of("deadline", question.deadline, config::time_span),
      .budget_usd = value_of("budget", question.budget, config::dollars),
  };
  auto campaigns = points_of(question.plan, question.clusters, limits);
  for_each_in_parallel(campaigns.points.size(), 0, [&](std::size_t i) {
    auto& point = campaigns.points[i];
    const auto failure = failure_of([&] {
      report::add_layout(
          point, simulate_on(point, question.plan, question.clusters[i], campaigns.questions, data).scenario);
      return Status::done;
    });
    point.error = fmt::format("{}", fmt::join(failure.reasons, "; "));
  });
  rank(campaigns);
  report::write(out, report::json_document(campaigns, {}, GRADWAY_VERSION));
}

void answer_scenario(std::ostream& out, const std::string& text, const DataPath& data) {
  const auto question = report::read_plan_question(text, data);
  const auto planned = scenario_on(question.plan, question.clusters.front(), data);
  out << scenario_yaml(planned.name, planned.set, planned.data);
}

void answer_model(std::ostream& out, const std::string& text, const DataPath&) {
  out << model_of_config({"config.json", text}).yaml;
}

}  // namespace

void answer_plan(std::ostream& out, std::string_view kind, const std::string& question,
                 const DataPath& data) {
  constexpr std::array answers{answer_layout<first_look>, answer_layout<quick_search>, answer_campaigns,
                               answer_scenario, answer_model};
  static_assert(answers.size() == plan_kinds.size());
  const auto index = static_cast<std::size_t>(std::ranges::find(plan_kinds, kind) - plan_kinds.begin());
  expects(index < answers.size(), "the planner asks questions of these kinds only");
  answers.at(index)(out, question, data);
}

ImportedModel model_of_config(const TextFile& config, std::optional<int> sequence) {
  const auto draft = draft_of_hugging_face(read_json_settings(config), sequence);
  ImportedModel model{draft_yaml(draft, "model"), {}};
  check_reads_back(DataKind::model, model.yaml, draft.file);
  for (const auto& note : draft.notes) model.notes.push_back(to_text(note));
  return model;
}

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/question.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/plan_answers.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

/// A command on the question's scenario. Each value is a part of its option's word: none can be an option.
std::vector<std::string> on_scenario(const Question& question, std::string_view command,
                                     std::string_view format) {
  std::vector<std::string> words{std::string{command}, question.scenario, std::string{format}};
  for (const auto& setting : question.set) words.push_back("--set=" + setting);
  for (const auto& axis : question.vary) words.push_back("--vary=" + axis);
  return words;
}

std::vector<std::string> run_page(const Question& question) {
  auto words = on_scenario(question, "run", "--page-data");
  if (question.fit) words.emplace_back("--fit");
  return words;
}

template <std::size_t kind>
std::vector<std::string> plan_answer(const Question& question) {
  return {"plan", fmt::format("--answer={}", plan_kinds.at(kind)), "--question=" + question.plan};
}

/// Whether a name says by itself that it is not of a file below a folder, or would be taken for an option.
bool leads_out(const std::string& name) {
  const fs::path path{name};
  return path.is_absolute() || std::ranges::find(path, fs::path{".."}) != path.end() || name.starts_with('-');
}

[[noreturn]] void refuse_scenario(const std::string& name) {
  refuse(fmt::format("the page may not read '{}'", name),
         "a scenario is below the folder in which 'gradway ui' was started, or in a data folder; choose "
         "another file in the browser, or name it when you start 'gradway ui'");
}

}  // namespace

std::span<const QuestionKind> question_kinds() {
  static constexpr std::array table{
      QuestionKind{"run", run_page},
      QuestionKind{"report", [](const Question& question) { return on_scenario(question, "run", "--json"); }},
      QuestionKind{"sweep",
                   [](const Question& question) { return on_scenario(question, "sweep", "--page-data"); }},
      QuestionKind{"sweep-reports",
                   [](const Question& question) { return on_scenario(question, "sweep", "--json"); }},
      QuestionKind{"scenarios",
                   [](const Question&) {
                     return std::vector<std::string>{"list", "scenarios", "--json"};
                   }},
      QuestionKind{"plan",
                   [](const Question&) {
                     return std::vector<std::string>{"plan", "--page-data"};
                   }},
      QuestionKind{"plan-first-layout", plan_answer<0>},
      QuestionKind{"plan-layout", plan_answer<1>},
      QuestionKind{"plan-campaigns", plan_answer<2>},
      QuestionKind{"plan-scenario", plan_answer<3>},
      QuestionKind{"plan-model", plan_answer<4>}};
  return table;
}

Question parse_question(std::string_view body) {
  const auto damaged = [] { refuse("the question of the page is damaged", "load the page again"); };
  std::vector<std::string> words;
  while (!body.empty()) {
    const auto end = body.find('\0');
    if (end == std::string_view::npos) damaged();
    words.emplace_back(body.substr(0, end));
    body.remove_prefix(end + 1);
  }
  if (words.size() % 2 != 0) damaged();
  Question question;
  std::string file;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto& name = words[i];
    auto& value = words[i + 1];
    if (name == "scenario") {
      question.scenario = std::move(value);
    } else if (name == "set") {
      question.set.push_back(std::move(value));
    } else if (name == "vary") {
      question.vary.push_back(std::move(value));
    } else if (name == "fit") {
      question.fit = true;
    } else if (name == "plan") {
      question.plan = std::move(value);
    } else if (name == "file") {
      file = std::move(value);
    } else if (name == "text") {
      question.files[std::exchange(file, {})] = std::move(value);
    } else {
      damaged();
    }
  }
  return question;
}

AllowedScenarios::AllowedScenarios(const DataPath& data, std::string of_command_line)
    : of_command_line_{std::move(of_command_line)} {
  for (const auto* folder : {".", "scenarios"}) places_.emplace_back(folder);
  for (const auto& root : data.roots) places_.push_back(root / "scenarios");
  auto folders = data.roots;
  folders.emplace_back(".");
  for (const auto& folder : folders) {
    std::error_code error;
    const auto real = fs::canonical(folder, error);
    if (!error) folders_.push_back(real);
  }
}

void AllowedScenarios::check(const Question& question) const {
  for (const auto& [name, text] : question.files) {
    // The files beside it are read, too.
    const auto folder = fs::path{"."} / fs::path{name}.parent_path();
    if (leads_out(name) || !is_inside(folder)) refuse_scenario(name);
  }
  const auto& name = question.scenario;
  if (name.empty() || name == of_command_line_) return;
  if (leads_out(name)) refuse_scenario(name);
  if (question.files.contains(name)) return;
  const fs::path path{name};
  for (const auto& place : places_)
    for (const auto& file : {place / path, place / (name + ".yaml")})
      if (!is_inside(file)) refuse_scenario(name);
}

bool AllowedScenarios::is_inside(const fs::path& file) const {
  std::error_code error;
  const auto real = fs::canonical(file, error);
  if (error) return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  return std::ranges::any_of(folders_, [&](const fs::path& folder) { return is_below(real, folder); });
}

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
// The functions of gradway.wasm, which web/src/what_if/engine.ts calls. Texts are handed over by
// `gradway_text`; each other function takes the last ones.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/shell/failure.hpp"
#include "cli/shell/plan_answers.hpp"
#include "sim/config/config.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/report/page/run_document.hpp"
#include "sim/report/run/json.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/explain/explain.hpp"
#include "wasm/given_files.hpp"

namespace {

using namespace gradway;

struct State {
  std::vector<std::string> texts;
  std::vector<std::filesystem::path> roots;  ///< data folders before the installed data
  std::vector<Override> overrides;
  bool with_fit = false;
  std::string answer;

  DataPath data() const {
    DataPath path{roots};
    path.roots.emplace_back("/");
    return path;
  }

  std::string take() {
    auto text = std::move(texts.back());
    texts.pop_back();
    return text;
  }
};

State& state() {
  static State instance;
  return instance;
}

enum class Wanted {
  report,   ///< the same as `gradway run SCENARIO --json`
  figures,  ///< the report of the same run, and the scenario as `yaml`
  page      ///< the document of the same run's report.html, and the scenario as `yaml`
};

template <Wanted wanted>
void write_run(std::ostream& out, const std::string& name) {
  auto scenario = load_scenario(name, state().overrides, state().data());
  report::RunQuestions questions;
  if (state().with_fit) questions.fit = take_what_fits(scenario, "auto", 1);
  const auto run = ask(std::move(scenario));
  if (run.scenario.job.input.staged_from) questions.ways_in = ways_in(run.scenario, "auto", 1);
  if (wanted == Wanted::report) return report::write_json(out, run, GRADWAY_VERSION, questions);
  const auto yaml = scenario_yaml(name, state().overrides, state().data());
  if (wanted == Wanted::figures) return report::write_figures(out, run, GRADWAY_VERSION, questions, yaml);
  report::write_run_document(out, run, "auto", GRADWAY_VERSION, questions, yaml);
}

/// Answers a question: on the scenario whose name was handed over, or of the planner.
int answer(const std::function<void(std::ostream&, const std::string&)>& write) {
  std::ostringstream out;
  const auto question = state().take();
  const auto failure = cli::failure_of([&] {
    try {
      write(out, question);
    } catch (const std::length_error&) {
      throw std::bad_alloc{};  // a vector would take more than 2 GB
    }
    return cli::Status::done;
  });
  state().answer = failure.text.empty() ? std::move(out).str() : failure.text;
  return static_cast<int>(failure.status);
}

}  // namespace

extern "C" {

/// A new text of this size, to be filled by the caller.
[[clang::export_name("gradway_text")]] char* gradway_text(std::size_t size) {
  return state().texts.emplace_back(size, '\0').data();
}

/// Says which files there are, once: their names, separated by NULs.
[[clang::export_name("gradway_files")]] void gradway_files() {
  wasm::give_names(state().take());
}

/// Adds a data folder, which precedes the installed data: what the names of its files start with.
[[clang::export_name("gradway_root")]] void gradway_root() {
  state().roots.emplace_back(state().take());
}

/// Overrides a key: key, then value.
[[clang::export_name("gradway_set")]] void gradway_set() {
  auto value = state().take();
  state().overrides.push_back({state().take(), std::move(value)});
}

/// The answer has what fits, and the run the largest batch, as with `gradway run --fit`.
[[clang::export_name("gradway_fit")]] void gradway_fit() {
  state().with_fit = true;
}

/// Runs the scenario of this name, or file. @return exit status of `gradway run`; the answer is report.json,
/// or the message if the status is not 0
[[clang::export_name("gradway_run")]] int gradway_run() {
  return answer(write_run<Wanted::report>);
}

/// The same with the report and the YAML of the scenario as the answer.
[[clang::export_name("gradway_figures")]] int gradway_figures() {
  return answer(write_run<Wanted::figures>);
}

/// The same with the document of report.html as the answer, for which a large job is simulated a second time.
[[clang::export_name("gradway_page")]] int gradway_page() {
  return answer(write_run<Wanted::page>);
}

/// Answers a question of the planner: its kind, then the question; see cli::answer_plan.
[[clang::export_name("gradway_plan")]] int gradway_plan() {
  return answer([](std::ostream& out, const std::string& question) {
    const auto kind = state().take();
    cli::answer_plan(out, kind, question, with_file_cache(state().data()));
  });
}

[[clang::export_name("gradway_answer")]] const char* gradway_answer() {
  return state().answer.data();
}

[[clang::export_name("gradway_answer_size")]] std::size_t gradway_answer_size() {
  return state().answer.size();
}
}

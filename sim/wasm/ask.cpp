// SPDX-License-Identifier: Apache-2.0
// The functions of gradway.wasm, which web/src/what_if/engine.ts calls. Texts are handed over by
// `gradway_text`; each other function takes the last ones.
#include <cstddef>
#include <filesystem>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli/shell/failure.hpp"
#include "sim/config/config.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/report/page/run_document.hpp"
#include "sim/report/run/json.hpp"
#include "sim/run/simulate.hpp"
#include "sim/wasm/given_files.hpp"

namespace {

using namespace gradway;

struct State {
  std::vector<std::string> texts;
  std::vector<std::filesystem::path> roots;  ///< data folders before the installed data
  std::vector<Override> overrides;
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
  static State one;
  return one;
}

report::RunQuestions questions_of(const Run& run) {
  report::RunQuestions questions;
  if (run.scenario.job.input.staged_from) questions.ways_in = ways_in(run.scenario, "auto", 1);
  return questions;
}

/// The same as `gradway run SCENARIO --json`.
void write_report(std::ostream& out, const std::string& name) {
  const auto run = simulate(load_scenario(name, state().overrides, state().data()));
  report::write_json(out, run, GRADWAY_VERSION, questions_of(run));
}

/// The document of the same run's report.html, and the scenario as `yaml`.
void write_page(std::ostream& out, const std::string& name) {
  const auto run = simulate(load_scenario(name, state().overrides, state().data()));
  report::write_run_document(out, run, "auto", GRADWAY_VERSION, questions_of(run),
                             scenario_yaml(name, state().overrides, state().data()));
}

/// Answers a question on the scenario whose name was handed over.
int answer(void (*write)(std::ostream&, const std::string&)) {
  std::ostringstream out;
  const auto name = state().take();
  const auto failure = cli::failure_of([&] {
    try {
      write(out, name);
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

/// Hands over a file: its name, then its content.
[[clang::export_name("gradway_file")]] void gradway_file() {
  auto content = state().take();
  wasm::give_file(state().take(), std::move(content));
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

/// Runs the scenario of this name, or file. @return exit status of `gradway run`; the answer is report.json,
/// or the message if the status is not 0
[[clang::export_name("gradway_run")]] int gradway_run() {
  return answer(write_report);
}

/// The same with the document of report.html as the answer.
[[clang::export_name("gradway_page")]] int gradway_page() {
  return answer(write_page);
}

[[clang::export_name("gradway_answer")]] const char* gradway_answer() {
  return state().answer.data();
}

[[clang::export_name("gradway_answer_size")]] std::size_t gradway_answer_size() {
  return state().answer.size();
}
}

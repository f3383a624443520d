// SPDX-License-Identifier: Apache-2.0
// The functions of gradway.wasm, which web/src/engine.ts calls. Texts are handed over by `gradway_text`; each
// other function takes the last ones.
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli/shell/failure.hpp"
#include "sim/config/config.hpp"
#include "sim/report/run/json.hpp"
#include "sim/run/simulate.hpp"
#include "sim/wasm/given_files.hpp"

namespace {

using namespace gradway;

struct State {
  std::vector<std::string> texts;
  std::vector<Override> overrides;
  std::string answer;

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

/// The same as `gradway run SCENARIO --json`.
cli::Status answer(const std::string& name, std::ostream& out) {
  auto scenario = load_scenario(name, std::exchange(state().overrides, {}), DataPath{{"/"}});
  report::RunQuestions questions;
  const auto run = simulate(std::move(scenario));
  if (run.scenario.job.input.staged_from) questions.ways_in = ways_in(run.scenario, "auto", 1);
  report::write_json(out, run, GRADWAY_VERSION, questions);
  return cli::Status::done;
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

/// Overrides a key in the next run: key, then value.
[[clang::export_name("gradway_set")]] void gradway_set() {
  auto value = state().take();
  state().overrides.push_back({state().take(), std::move(value)});
}

/// Runs the scenario of this name, or file. @return exit status of `gradway run`; the answer is report.json,
/// or the message if the status is not 0
[[clang::export_name("gradway_run")]] int gradway_run() {
  std::ostringstream out;
  const auto name = state().take();
  const auto failure = cli::failure_of([&] { return answer(name, out); });
  state().answer = failure.text.empty() ? std::move(out).str() : failure.text;
  return static_cast<int>(failure.status);
}

[[clang::export_name("gradway_answer")]] const char* gradway_answer() {
  return state().answer.data();
}

[[clang::export_name("gradway_answer_size")]] std::size_t gradway_answer_size() {
  return state().answer.size();
}
}

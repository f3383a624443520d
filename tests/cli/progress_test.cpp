// SPDX-License-Identifier: Apache-2.0
// What work of seconds tells meanwhile: a line on a terminal, which is gone when the work is done.
#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;

namespace {

const std::string take_back = "\x1b[K";
/// Several seconds of one simulation, so that a fast machine shows it, too.
const std::vector<std::string> long_work{"run",   "scale/gpt-aws-p5", "--no-folding", "--engine", "simgrid",
                                         "--set", "job.gpus=32",      "--set",        "steps=80"};

/// What stood in the line, one after the other; the last is what stayed.
std::vector<std::string> lines_shown(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + take_back.size()) {
    end = text.find(take_back, begin);
    lines.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return lines;
}

/// Whether the line names a stage of a run. Which ones are shown depends on the speed of the machine.
bool is_stage_of_a_run(const std::string& line) {
  const std::vector<std::string> known{
      "reading the scenario",  "planning the step", "mapping collectives to links",
      "folding ranks",         "simulating",        "repeating at the clocks of waiting GPUs",
      "checking and measuring"};
  return std::ranges::any_of(known, [&](const auto& what) { return line.starts_with(what); });
}

}  // namespace

TEST_CASE("long work shows its progress on one line of a terminal, which is erased", "[cli][progress]") {
  const auto columns = static_cast<unsigned short>(GENERATE(40, 100));
  const auto run =
      run_gradway(long_work, {.terminal = columns, .messages_on_terminal = true, .no_color = true});
  CAPTURE(columns, run.output.substr(0, 2000));
  REQUIRE(run.status == 0);
  auto lines = lines_shown(run.output);
  REQUIRE(lines.size() > 2);
  CHECK(lines.front().empty());
  CHECK_THAT(lines.back(), Catch::Matchers::StartsWith("gpt-aws-p5\n"));  // the results, and nothing before
  lines.pop_back();
  // A line as wide as the terminal would go on below, where the next one cannot take it back.
  CHECK(std::ranges::all_of(lines, [&](const auto& line) { return line.size() < columns; }));
  CHECK(std::ranges::none_of(lines, [](const auto& line) { return line.find('\n') != std::string::npos; }));
  CHECK(std::ranges::all_of(lines | std::views::drop(1), is_stage_of_a_run));
}

TEST_CASE("progress is not written to files or to terminals that cannot erase a line", "[cli][progress]") {
  CHECK(run_gradway(long_work, {.terminal = 80}).errors.empty());
  const auto dumb = run_gradway(
      long_work,
      {.environment = {"TERM=dumb"}, .terminal = 80, .messages_on_terminal = true, .no_color = true});
  CHECK_THAT(dumb.output, Catch::Matchers::StartsWith("gpt-aws-p5\n"));
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/points/points.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/shell/progress.hpp"
#include "sim/base/problem.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
std::vector<Failure> run_points(const CommandContext& context, std::string noun, std::size_t count, int jobs,
                                const std::function<void(std::size_t)>& run,
                                Progress::WithoutTerminal without_terminal) {
  std::vector<Failure> failures(count);
  Progress progress{context, std::move(noun), count, without_terminal};
  for_each_in_parallel(count, jobs, [&](std::size_t i) {
    failures[i] = failure_of([&] {
      run(i);
      return Status::done;
    });
    progress.step();
  });
  return failures;
}

Status status_of(const std::vector<Failure>& failures) {
  auto status = Status::done;
  for (const auto& failure : failures) {
    if (status == Status::done || failure.status == Status::bug) status = failure.status;
  }
  return status;
}

void raise_wrong_input(const std::vector<Failure>& failures) {
  std::vector<Problem> problems;
  std::set<std::string> seen;
  for (const auto& failure : failures) {
    if (failure.status != Status::done && failure.status != Status::wrong_input) return;
    for (const auto& problem : failure.problems) {
      if (seen.insert(to_text(problem)).second) problems.push_back(problem);
    }
  }
  if (!problems.empty()) throw ConfigError{std::move(problems)};
}

void write_distinct_failures(const std::vector<Failure>& failures, std::ostream& messages) {
  std::vector<std::string> seen;
  for (const auto& failure : failures) {
    if (failure.status == Status::done || std::ranges::find(seen, failure.text) != seen.end()) continue;
    seen.push_back(failure.text);
    messages << failure.text;
  }
}

bool has_results(const std::vector<Failure>& failures, const CommandContext& context) {
  if (std::ranges::find(failures, Status::done, &Failure::status) != failures.end()) return true;
  raise_wrong_input(failures);
  write_distinct_failures(failures, context.messages);
  return false;
}

void add_jobs(CLI::App& app, int& jobs, const std::string& work) {
  app.add_option("--jobs", jobs, "number of " + work + " in parallel (default: one per core)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
}

}  // namespace gradway::cli

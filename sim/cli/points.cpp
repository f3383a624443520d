// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/points.hpp"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/problem.hpp"
#include "sim/cli/progress.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

Failure outcome(const std::function<void(std::size_t)>& run, std::size_t index) {
  try {
    run(index);
  } catch (const ConfigError& error) {
    Failure failure{Status::wrong_input, error.what(), {}};
    for (const auto& problem : error.problems()) failure.reasons.push_back(problem.what);
    return failure;
  } catch (const SimulationError& error) {
    return {Status::unfinished, fmt::format("error: {}\n", error.what()), {error.what()}};
  } catch (const std::bad_alloc&) {
    return {Status::unfinished, no_memory, {"there is not enough memory"}};
  } catch (const std::exception& error) {
    return {Status::bug, fmt::format("error: {}; this is a bug in gradway\n", error.what()), {error.what()}};
  }
  return {};
}

}  // namespace

std::vector<Failure> run_points(const Surroundings& around, std::string what, std::size_t count, int jobs,
                                const std::function<void(std::size_t)>& run) {
  std::vector<Failure> failures(count);
  Progress progress{around, std::move(what), count};
  for_each_in_parallel(count, jobs > 0 ? jobs : all_cores(), [&](std::size_t i) {
    failures[i] = outcome(run, i);
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

void tell_each_once(const std::vector<Failure>& failures, std::ostream& messages) {
  std::vector<std::string> told;
  for (const auto& failure : failures) {
    if (failure.status == Status::done || std::ranges::find(told, failure.text) != told.end()) continue;
    told.push_back(failure.text);
    messages << failure.text;
  }
}

void add_jobs(CLI::App& app, int& jobs) {
  app.add_option("--jobs", jobs, "points at once; all cores if not given")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
}

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/failure.hpp"

#include <new>

#include <fmt/format.h>

namespace gradway::cli {

Failure failure_of(const std::function<Status()>& work) {
  try {
    return {work(), {}, {}, {}};
  } catch (const ConfigError& error) {
    Failure failure{Status::wrong_input, error.what(), {}, error.problems()};
    for (const auto& problem : failure.problems) failure.reasons.push_back(problem.what);
    return failure;
  } catch (const SimulationError& error) {
    return {Status::unfinished, fmt::format("error: {}\n", error.what()), {error.what()}, {}};
  } catch (const std::bad_alloc&) {
    return {Status::unfinished, no_memory, {"there is not enough memory"}, {}};
  } catch (const std::exception& error) {
    return {
        Status::bug, fmt::format("error: {}; this is a bug in gradway\n", error.what()), {error.what()}, {}};
  }
}

}  // namespace gradway::cli

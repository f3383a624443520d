// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/simgrid/simgrid_engine.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <string>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/engine/simgrid/child_process.hpp"
#include "sim/engine/simgrid/fluid_model.hpp"
#include "sim/engine/simgrid/simgrid_run.hpp"

namespace gradway {

namespace {

/// The first letter of what the child hands over; the rest is dates or a message.
enum Answer : char { timeline = 't', cannot_finish = 's', fault = 'f' };

static_assert(sizeof(Seconds) == sizeof(double));

std::string pack(const std::vector<Seconds>& dates) {
  return {reinterpret_cast<const char*>(dates.data()), dates.size() * sizeof(Seconds)};
}

std::vector<Seconds> unpack(const char* bytes, std::size_t count) {
  std::vector<Seconds> dates(count);
  if (count > 0) std::memcpy(static_cast<void*>(dates.data()), bytes, count * sizeof(Seconds));
  return dates;
}

using Run = Timeline (*)(const Platform&, const OpGraph&);

std::string answer(Run run, const Platform& platform, const OpGraph& graph) {
  try {
    const Timeline result = run(platform, graph);
    return std::string{timeline} + pack(result.start) + pack(result.end);
  } catch (const SimulationError& error) {
    return std::string{cannot_finish} + error.what();
  } catch (const std::exception& error) {
    return std::string{fault} + error.what();
  }
}

Timeline run_apart(Run run, const Platform& platform, const OpGraph& graph) {
  const ChildResult child = run_in_child([&] { return answer(run, platform, graph); });
  if (!child.finished || child.result.empty()) {
    throw SimulationError{fmt::format("SimGrid died: {}; the last it said: {}", child.fate,
                                      child.last_words.empty() ? "nothing" : child.last_words)};
  }
  const std::string message = child.result.substr(1);
  if (child.result.front() == cannot_finish) throw SimulationError{message};
  if (child.result.front() == fault) throw ContractViolation{message};
  expects(message.size() == 2 * graph.size() * sizeof(Seconds), "the child hands over two dates for each op");
  return {unpack(message.data(), graph.size()), unpack(message.data() + message.size() / 2, graph.size())};
}

}  // namespace

Timeline SimgridEngine::run(const Platform& platform, const OpGraph& graph) const {
  return run_apart(run_on_simgrid, platform, graph);
}

Timeline FluidModelEngine::run(const Platform& platform, const OpGraph& graph) const {
  return run_apart(run_fluid_on_simgrid, platform, graph);
}

}  // namespace gradway

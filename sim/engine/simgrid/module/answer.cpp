// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/simgrid/answer.hpp"

#include <exception>
#include <type_traits>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/engine/simgrid/module/fluid_model.hpp"
#include "sim/engine/simgrid/module/simgrid_run.hpp"

namespace gradway {
namespace {

static_assert(sizeof(Seconds) == sizeof(double));

std::string pack(const std::vector<Seconds>& dates) {
  return {reinterpret_cast<const char*>(dates.data()), dates.size() * sizeof(Seconds)};
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void gradway_answer_from_simgrid(SimgridModel model,
                                                                           const Platform& platform,
                                                                           const OpGraph& graph,
                                                                           std::string& answer) {
  try {
    const auto run = model == SimgridModel::network ? run_on_simgrid : run_fluid_on_simgrid;
    const Timeline result = run(platform, graph);
    answer = std::string{timeline} + pack(result.start) + pack(result.end);
  } catch (const SimulationError& error) {
    answer = std::string{cannot_finish} + error.what();
  } catch (const std::exception& error) {
    answer = std::string{fault} + error.what();
  }
}

static_assert(std::is_same_v<decltype(gradway_answer_from_simgrid), AnswerFromSimgrid>);

}  // namespace gradway

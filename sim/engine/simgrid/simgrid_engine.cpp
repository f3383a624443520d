// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/simgrid/simgrid_engine.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/engine/simgrid/answer.hpp"
#include "sim/engine/simgrid/child_process.hpp"

namespace gradway {

namespace {

std::vector<Seconds> unpack(const char* bytes, std::size_t count) {
  std::vector<Seconds> dates(count);
  if (count > 0) std::memcpy(static_cast<void*>(dates.data()), bytes, count * sizeof(Seconds));
  return dates;
}

[[noreturn]] void refuse(const std::string& reason) {
  throw SimulationError{
      reason +
      "\n  hint: '--engine fluid' gives the same times to 1e-9, and faster; or simulate fewer ranks"};
}

}  // namespace

Timeline SimgridEngine::run(const Platform& platform, const OpGraph& graph) const {
  auto* const answer = reinterpret_cast<AnswerFromSimgrid*>(function_of(simgrid_module));
  const auto work = [&] {
    std::string result;
    answer(platform, graph, result);
    return result;
  };
  const ChildResult child = run_in_child(work, timeout_);
  if (child.out_of_time) {
    refuse(fmt::format("SimGrid gave no answer within {:g} s for {} ops; its process was killed",
                       timeout_.value(), graph.size()));
  }
  if (!child.finished || child.result.empty()) {
    refuse(fmt::format("SimGrid died: {}; its last output: {}", child.fate,
                       child.last_words.empty() ? "nothing" : child.last_words));
  }
  const std::string message = child.result.substr(1);
  if (child.result.front() == cannot_finish) throw SimulationError{message};
  if (child.result.front() == fault) throw ContractViolation{message};
  expects(message.size() == 2 * graph.size() * sizeof(Seconds), "the child returns two dates for each op");
  return {unpack(message.data(), graph.size()), unpack(message.data() + message.size() / 2, graph.size())};
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "sim/report/format/json_values.hpp"
#include "sim/report/format/memory_parts.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page_parts.hpp"
#include "sim/run/memory_over_step.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t most_moments = 400;

/// The largest of each group of neighbours in one phase, so that the peak is among them.
std::vector<MemoryMoment> thinned(const std::vector<MemoryMoment>& moments) {
  const auto of_group = (moments.size() + most_moments - 1) / most_moments;
  std::vector<MemoryMoment> kept;
  std::size_t in_group = 0;
  for (const auto& moment : moments) {
    const bool is_new = in_group == 0 || kept.back().phase != moment.phase;
    if (is_new) {
      kept.push_back(moment);
      in_group = 0;
    } else if (moment.use.allocated() > kept.back().use.allocated()) {
      kept.back() = moment;
    }
    in_group = (in_group + 1) % of_group;
  }
  return kept;
}

}  // namespace

nlohmann::ordered_json memory_over_step_json(const Run& run) {
  using Json = nlohmann::ordered_json;
  const auto moments = thinned(memory_over_step(run));
  if (moments.empty()) return nullptr;
  auto shown = Json::array();
  for (const auto& [phase, layer, use] : moments)
    shown.push_back(
        {name_of(phase), layer < 0 ? "" : run.scenario.model.layers[static_cast<std::size_t>(layer)].name});
  auto parts = Json::array();
  for (const auto& part : memory_parts) {
    auto bytes = Json::array();
    double most = 0;
    for (const auto& moment : moments) {
      bytes.push_back(amount((moment.use.*part.size).value()));
      most = std::max(most, (moment.use.*part.size).value());
    }
    if (most > 0) parts.push_back({{"part", part.title}, {"bytes", std::move(bytes)}});
  }
  return {{"moments", std::move(shown)}, {"parts", std::move(parts)}};
}

}  // namespace gradway::report

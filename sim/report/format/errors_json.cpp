// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/errors_json.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

PartOfStep part_of(std::string_view name) {
  const auto word = std::ranges::find(part_words, name);
  expects(word != part_words.end(), "a report names the parts of a step");
  return static_cast<PartOfStep>(word - part_words.begin());
}

}  // namespace

std::string least_certain_part(const std::vector<PossibleError>& errors) {
  const auto width = [](const PossibleError& error) { return error.time * error.uncertainty; };
  const auto worst = std::ranges::max_element(errors, {}, width);
  if (worst == errors.end()) return "";
  std::string words{part_words.at(static_cast<std::size_t>(worst->cause.part))};
  std::ranges::replace(words, '_', ' ');
  return worst->source.empty() ? words : fmt::format("{} ({})", words, worst->source);
}

Json errors_json(const std::vector<PossibleError>& errors) {
  Json list = Json::array();
  for (const auto& error : errors) {
    Json entry{{"part", part_words.at(static_cast<std::size_t>(error.cause.part))},
               {"source", error.source},
               {"cause", error.cause.what},
               {"time_s", error.time.value()},
               {"uncertainty", error.uncertainty}};
    if (error.spare > Seconds{}) entry["spare_s"] = error.spare.value();
    if (error.saves < Seconds::infinite()) entry["largest_saving_s"] = error.saves.value();
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<PossibleError> errors_of(const Json& json) {
  std::vector<PossibleError> errors;
  for (const auto& entry : json) {
    errors.push_back(
        {.cause = {.part = part_of(entry.at("part").get<std::string>()), .what = entry.at("cause")},
         .time = Seconds{entry.at("time_s").get<double>()},
         .uncertainty = entry.at("uncertainty"),
         .spare = Seconds{entry.value("spare_s", 0.0)},
         .saves = Seconds{entry.value("largest_saving_s", std::numeric_limits<double>::infinity())}});
  }
  return errors;
}

}  // namespace gradway::report

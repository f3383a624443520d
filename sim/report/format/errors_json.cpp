// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/errors_json.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/base/contract.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

PartOfStep part_of(std::string_view name) {
  const auto found = std::ranges::find(part_words, name);
  expects(found != part_words.end(), "a report names the parts of a step");
  return static_cast<PartOfStep>(found - part_words.begin());
}

}  // namespace

Json errors_json(const std::vector<PossibleError>& errors) {
  Json list = Json::array();
  for (const auto& error : errors) {
    Json one{{"part", part_words.at(static_cast<std::size_t>(error.cause.part))},
             {"of", error.of},
             {"cause", error.cause.what},
             {"time_s", error.time.value()},
             {"doubt", error.uncertainty}};
    if (error.spare > Seconds{}) one["spare_s"] = error.spare.value();
    if (error.saves < Seconds::infinite()) one["saves_s"] = error.saves.value();
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<PossibleError> errors_of(const Json& json) {
  std::vector<PossibleError> errors;
  for (const auto& one : json) {
    errors.push_back({.cause = {.part = part_of(one.at("part").get<std::string>()), .what = one.at("cause")},
                      .of = one.at("of"),
                      .time = Seconds{one.at("time_s").get<double>()},
                      .uncertainty = one.at("doubt"),
                      .spare = Seconds{one.value("spare_s", 0.0)},
                      .saves = Seconds{one.value("saves_s", std::numeric_limits<double>::infinity())}});
  }
  return errors;
}

}  // namespace gradway::report

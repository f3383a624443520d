// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/errors_json.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/base/contract.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

// In the order of the enum.
constexpr std::array<std::string_view, 8> parts_of_step{"compute",
                                                        "launches",
                                                        "exposed_communication",
                                                        "hidden_communication",
                                                        "hidden_launches",
                                                        "side_by_side",
                                                        "exchange",
                                                        "input"};

PartOfStep part_of(std::string_view name) {
  const auto found = std::ranges::find(parts_of_step, name);
  expects(found != parts_of_step.end(), "a report names the parts of a step");
  return static_cast<PartOfStep>(found - parts_of_step.begin());
}

}  // namespace

Json errors_json(const std::vector<PossibleError>& errors) {
  Json list = Json::array();
  for (const auto& error : errors) {
    list.push_back({{"part", parts_of_step.at(static_cast<std::size_t>(error.part))},
                    {"of", error.of},
                    {"time_s", error.time.value()},
                    {"doubt", error.doubt}});
  }
  return list;
}

std::vector<PossibleError> errors_of(const Json& json) {
  std::vector<PossibleError> errors;
  for (const auto& one : json) {
    errors.push_back({part_of(one.at("part").get<std::string>()), one.at("of"),
                      Seconds{one.at("time_s").get<double>()}, one.at("doubt")});
  }
  return errors;
}

}  // namespace gradway::report

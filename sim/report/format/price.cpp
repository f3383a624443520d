// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/price.hpp"

#include <fmt/format.h>

namespace gradway::report {

std::string basis_of_cost(const Price& price) {
  if (price.date.empty()) return price.source;
  auto words = fmt::format("{}, {}", price.region, price.date);
  if (price.terms != Terms::on_demand) words = fmt::format("{}, {}", name_of(price.terms), words);
  if (const auto& foreign = price.foreign)
    words += fmt::format(", {} USD/{} of {}", foreign->rate.usd, foreign->rate.currency, foreign->rate.date);
  return words;
}

nlohmann::ordered_json price_json(const std::optional<Price>& price) {
  if (!price) return nullptr;
  nlohmann::ordered_json json{{"usd_per_node_hour", price->per_node.value()},
                              {"by_gpu", price->by_gpu},
                              {"terms", name_of(price->terms)},
                              {"region", price->region},
                              {"date", price->date},
                              {"source", price->source},
                              {"converted_from", nullptr}};
  if (const auto& foreign = price->foreign)
    json["converted_from"] = {{"per_node_hour", foreign->per_node},
                              {"currency", foreign->rate.currency},
                              {"usd", foreign->rate.usd},
                              {"date", foreign->rate.date},
                              {"source", foreign->rate.source}};
  return json;
}

}  // namespace gradway::report

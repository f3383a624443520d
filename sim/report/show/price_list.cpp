// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/price_list.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/price.hpp"
#include "sim/report/format/table.hpp"

namespace gradway::report {

void write_prices(std::ostream& out, const std::vector<ListedPrice>& listed, const Style& style) {
  using enum Table::Align;
  const bool has_age = std::ranges::any_of(listed, [](const auto& entry) { return entry.age.has_value(); });
  std::vector<Table::Column> columns{{"platform", left},      {"terms", left},  {"USD/node-hour", right},
                                     {"USD/GPU-hour", right}, {"region", left}, {"date", left},
                                     {"--prices", left}};
  if (has_age) columns.push_back({"days old", right});
  Table table{std::move(columns)};
  for (const auto& entry : listed) {
    const auto per_node = entry.price.per_node.value();
    std::vector<std::string> cells{entry.platform,
                                   std::string{name_of(entry.price.terms)},
                                   fmt::format("{:.2f}", per_node),
                                   fmt::format("{:.2f}", per_node / entry.gpus),
                                   entry.price.region,
                                   entry.price.date,
                                   entry.list};
    if (has_age) cells.push_back(entry.age ? fmt::format("{}", *entry.age) : "");
    table.add(std::move(cells));
  }
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

void write_prices_json(std::ostream& out, const std::vector<ListedPrice>& listed) {
  using Json = nlohmann::ordered_json;
  auto prices = Json::array();
  for (const auto& entry : listed) {
    Json json{{"platform", entry.platform}, {"gpus_per_node", entry.gpus}};
    json.update(price_json(entry.price));
    json["prices"] = entry.list.empty() ? Json{} : Json(entry.list);
    json["days_old"] = entry.age ? Json(*entry.age) : Json{};
    prices.push_back(std::move(json));
  }
  out << serialized(Json{{"schema", 1}, {"prices", std::move(prices)}}, 2) << '\n';
}

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "cli/import/formats.hpp"
#include "cli/points/platforms.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "readers/prices/price_table.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/price_list.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/files/text_file.hpp"

namespace gradway::cli {
namespace {

std::vector<PricedNode> priced_nodes(const DataPath& data) {
  std::vector<PricedNode> nodes;
  for (const auto& [name, platform] : one_node_of_each(list_names(DataKind::platform, data), data))
    if (platform && !platform->gpus.empty())
      nodes.push_back({name, platform->gpu_models.front().name,
                       static_cast<int>(platform->gpus.size()) / std::max(1, platform->nodes)});
  return nodes;
}

/// gradway must be able to read what it writes. @throws ConfigError otherwise
void check_prices_read_back(const std::string& text, DataPath data) {
  const std::string name = "imported-prices";
  data.texts["platforms/prices/" + name + ".yaml"] = text;
  static_cast<void>(load_price_list(name, data));
}

}  // namespace

void import_prices(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "lists of prices");
  static_cast<void>(value_of("--date", arguments.date, config::date));
  const auto nodes = priced_nodes(context.data);
  if (!arguments.platform.empty() &&
      std::ranges::find(nodes, arguments.platform, &PricedNode::platform) == nodes.end())
    refuse(fmt::format("'--platform {}' is not known", arguments.platform),
           suggestion(arguments.platform, list_names(DataKind::platform, context.data)));
  const auto file = read_text_file(arguments.files.front());
  const auto table = read_price_table(file, nodes, {arguments.date, arguments.platform});
  for (const auto& sentence : table.left_out)
    context.messages << fmt::format("{}: {}\n", printable(file.name), printable(sentence));
  if (table.prices.empty())
    refuse_at(file.whole(), "no price in it is of nodes that a platform stands for",
              "'--platform NAME' names one; docs/my-node.md describes others");
  const auto text = prices_yaml(table, file.name);
  check_prices_read_back(text, context.data);
  print_or_write(text, arguments, context);
}

}  // namespace gradway::cli

// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/connections.hpp"
#include "sim/report/show/platform_tables.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t most_rows = 64;

std::string rates_text(const Platform& platform, const Connection& connection) {
  const auto rate = [&](const Link* link) {
    return BytesPerSecond{platform.resources[link->resource.index()].capacity};
  };
  const auto there = rate_text(rate(connection.there));
  if (connection.back == nullptr) return there + " one way";
  const auto back = rate_text(rate(connection.back));
  return there == back ? there + " each way" : fmt::format("{} / {}", there, back);
}

std::string kind_text(const Link& link) {
  const auto name = name_of(link.kind);
  return joins_gpus(link.kind) ? fmt::format("{} x {}", link.count, name) : std::string{name};
}

}  // namespace

void write_link_table(std::ostream& out, const Platform& platform, const ShownDevices& shown,
                      const Style& style) {
  using enum Table::Align;
  std::set<int> nodes;
  for (const auto gpu : shown.gpus) nodes.insert(platform.device(gpu).node);
  const bool shows_all = shown.gpus.size() == platform.gpus.size();
  Table table{{{"link", left}, {"kind", left}, {"bandwidth", left}, {"latency", right}}};
  std::size_t rows = 0;
  for (const auto& connection : connections(platform.links)) {
    const auto& from = platform.device(connection.there->from);
    const auto& to = platform.device(connection.there->to);
    if (!shows_all && !nodes.contains(from.node) && !nodes.contains(to.node)) continue;
    if (++rows > most_rows) continue;
    table.add({fmt::format("{} {} {}", from.name, connection.back == nullptr ? "->" : "<->", to.name),
               kind_text(*connection.there), rates_text(platform, connection),
               time_text(connection.there->latency)});
  }
  table.write(out, style);
  if (rows > most_rows) out << fmt::format("... and {} more\n", thousands_text(rows - most_rows));
}

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#include "observe/nccl_log/graphs.hpp"

#include <ostream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/report/format/table.hpp"

namespace gradway::report {

void write_graphs(std::ostream& out, const std::vector<NcclGraph>& graphs, const Style& style) {
  using enum Table::Align;
  Table table{{{"algorithm", left},
               {"pattern", left},
               {"channels", right},
               {"GB/s per channel", right},
               {"between nodes", right},
               {"longest path", left},
               {"path to a NIC", left},
               {"copies", right},
               {"order", left}}};
  for (const auto& graph : graphs) {
    if (graph.channels == 0) {
      table.add({graph.algorithm, graph.pattern, "none", "", "", "", "", "", ""});
      continue;
    }
    bool is_first = true;
    for (const auto& [order, times] : graph.orders) {
      std::vector<std::string> cells(7);
      if (is_first) {
        cells = {graph.algorithm,
                 graph.pattern,
                 fmt::format("{}", graph.channels),
                 fmt::format("{:g}", graph.speed_intra),
                 fmt::format("{:g}", graph.speed_inter),
                 graph.type_intra,
                 graph.type_inter};
      }
      is_first = false;
      cells.push_back(fmt::format("{}", times));
      cells.push_back(order);
      table.add(std::move(cells));
    }
  }
  table.write(out, style.unlimited_width());
}

}  // namespace gradway::report

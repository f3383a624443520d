// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/platform_tables.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/transport.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;

struct PathMeaning {
  PathType type;
  std::string_view label;
  std::string_view text;
};
constexpr std::array legend{
    PathMeaning{PathType::self, "X", "the device itself"},
    PathMeaning{PathType::net, "NET", "through the NICs and the fabric"},
    PathMeaning{PathType::sys, "SYS", "PCIe and the link between sockets"},
    PathMeaning{PathType::node, "NODE", "PCIe and two host bridges of one socket"},
    PathMeaning{PathType::phb, "PHB", "PCIe and one host bridge"},
    PathMeaning{PathType::pxb, "PXB", "several PCIe switches, not the host bridge"},
    PathMeaning{PathType::pix, "PIX", "at most one PCIe switch"},
    PathMeaning{PathType::nvlink, "NV#", "# bonded NVLinks"},
};

constexpr std::array transports{
    std::pair{Transport::p2p, std::string_view{"directly between GPUs, over NVLink or PCIe switches"}},
    std::pair{Transport::shm, std::string_view{"through host memory"}},
    std::pair{Transport::net, std::string_view{"through the NICs and the fabric"}},
    std::pair{Transport::none, std::string_view{"unreachable: a job over both is refused"}},
};

/// A device with its column title.
struct LabelledDevice {
  DeviceId id;
  std::string label;
};

std::vector<LabelledDevice> labelled(const std::vector<DeviceId>& ids, std::string_view kind) {
  std::vector<LabelledDevice> devices;
  for (const auto id : ids) devices.push_back({id, fmt::format("{}{}", kind, devices.size())});
  return devices;
}

std::vector<Table::Column> columns_for(const std::vector<LabelledDevice>& devices) {
  std::vector<Table::Column> columns{{"", left}};
  for (const auto& device : devices) columns.push_back({device.label, left});
  return columns;
}

std::string plain_path(const Platform& platform, const Route& route) {
  std::string text;
  for (const auto* link : route.links) {
    if (text.empty()) text = platform.device(link->from).name;
    text += fmt::format(" -> {}", platform.device(link->to).name);
  }
  return text;
}

}  // namespace

ShownDevices select_shown_devices(const Platform& platform, std::size_t most_gpus, std::size_t first_gpus) {
  ShownDevices shown{platform.gpus, {}};
  if (shown.gpus.size() > most_gpus)
    shown.gpus.erase(shown.gpus.begin() + static_cast<std::ptrdiff_t>(first_gpus), shown.gpus.end());
  std::set<int> nodes;
  for (const auto gpu : shown.gpus) nodes.insert(platform.device(gpu).node);
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    if (platform.devices[i].kind == DeviceKind::nic && nodes.contains(platform.devices[i].node)) {
      shown.nics.emplace_back(i);
    }
  }
  return shown;
}

void write_topology(std::ostream& out, const Platform& platform, const Routes& routes,
                    const ShownDevices& shown, const Style& style) {
  auto devices = labelled(shown.gpus, "GPU");
  for (auto& nic : labelled(shown.nics, "NIC")) devices.push_back(std::move(nic));
  auto columns = columns_for(devices);
  columns.push_back({"CPU/NUMA affinity", left});
  Table table{std::move(columns)};
  std::set<PathType> seen;
  for (const auto& row : devices) {
    std::vector<std::string> cells{row.label};
    for (const auto& column : devices) {
      const auto type = routes.path_type(row.id, column.id);
      seen.insert(type);
      cells.push_back(topo_label(type, type == PathType::nvlink ? routes.nvlinks(row.id, column.id) : 0));
    }
    const auto socket = routes.home_socket(row.id);
    cells.push_back(socket ? platform.device(*socket).name : "none");
    table.add(std::move(cells));
  }
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
  out << '\n';
  for (const auto& meaning : legend) {
    if (seen.contains(meaning.type)) out << fmt::format("  {:<6}{}\n", meaning.label, meaning.text);
  }
  for (const auto& device : devices) {
    if (platform.nodes > 1 || platform.device(device.id).kind == DeviceKind::nic) {
      out << fmt::format("  {:<6}{}\n", device.label, platform.device(device.id).name);
    }
  }
}

void write_transports(std::ostream& out, const Platform& platform, const Routes& routes,
                      const ShownDevices& shown, const Style& style) {
  const auto gpus = labelled(shown.gpus, "GPU");
  const auto settings = nccl_settings({});
  Table table{columns_for(gpus)};
  std::set<Transport> seen;
  for (const auto& row : gpus) {
    std::vector<std::string> cells{row.label};
    for (const auto& column : gpus) {
      if (row.id == column.id) {
        cells.emplace_back("X");
        continue;
      }
      const auto transport = choose_transport(routes, platform, settings, row.id, column.id);
      seen.insert(transport);
      cells.emplace_back(name_of(transport));
    }
    table.add(std::move(cells));
  }
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
  if (!seen.empty()) out << '\n';
  for (const auto& [transport, text] : transports) {
    if (seen.contains(transport)) out << fmt::format("  {:<6}{}\n", name_of(transport), text);
  }
}

void write_routes(std::ostream& out, const Platform& platform, const Routes& routes, const Style& style) {
  const auto& gpus = platform.gpus;
  if (gpus.size() < 2) return;
  std::set<DeviceId> ends{gpus[1], gpus.back()};
  for (const auto end : ends) {
    const bool nvlink = routes.path_type(gpus.front(), end) == PathType::nvlink;
    auto route = routes.find(gpus.front(), end, nvlink ? Routes::Over::nvlink : Routes::Over::host);
    if (!route) route = routes.find(gpus.front(), end, Routes::Over::any);
    const auto text = route
                          ? fmt::format("{} ({})", plain_path(platform, *route), time_text(route->latency()))
                          : fmt::format("{} and {} are not connected", platform.device(gpus.front()).name,
                                        platform.device(end).name);
    for (const auto& line : wrap(text, style.width)) out << line << '\n';
  }
}

}  // namespace gradway::report

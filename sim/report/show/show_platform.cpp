// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/transport.hpp"
#include "sim/platform/routes.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/style.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/connections.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::report {
namespace {

/// The devices that are shown. Tables name them as `nvidia-smi` does: GPU0, NIC0, ...
struct ShownDevices {
  std::vector<DeviceId> gpus;
  std::vector<DeviceId> nics;  ///< of the nodes of these GPUs
};

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
    if (text.empty()) text = platform.name_of(link->from);
    text += fmt::format(" -> {}", platform.name_of(link->to));
  }
  return text;
}

/// @param most_gpus of platforms with more GPUs only the first `first_gpus` are shown
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

/// Writes the topology matrix with the socket of each GPU; then a legend of the words in use.
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
    cells.push_back(socket ? platform.name_of(*socket) : "none");
    table.add(std::move(cells));
  }
  table.write(out, style.unlimited_width());
  out << '\n';
  for (const auto& meaning : legend) {
    if (seen.contains(meaning.type)) out << fmt::format("  {:<6}{}\n", meaning.label, meaning.text);
  }
  for (const auto& device : devices) {
    if (platform.nodes > 1 || platform.device(device.id).kind == DeviceKind::nic) {
      out << fmt::format("  {:<6}{}\n", device.label, platform.name_of(device.id));
    }
  }
}

/// Writes the transport that NCCL takes by default between each two GPUs.
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
  table.write(out, style.unlimited_width());
  if (!seen.empty()) out << '\n';
  for (const auto& [transport, text] : transports) {
    if (seen.contains(transport)) out << fmt::format("  {:<6}{}\n", name_of(transport), text);
  }
}

/// Writes the routes from the first GPU to the next and to the last.
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
                          : fmt::format("{} and {} are not connected", platform.name_of(gpus.front()),
                                        platform.name_of(end));
    write_wrapped(out, text, style);
  }
}

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

/// Writes the links of the shown nodes and of the fabric, both directions in one row.
void write_link_table(std::ostream& out, const Platform& platform, const ShownDevices& shown,
                      const Style& style) {
  using enum Table::Align;
  std::set<int> nodes;
  for (const auto gpu : shown.gpus) nodes.insert(platform.device(gpu).node);
  const bool shows_all = shown.gpus.size() == platform.gpus.size();
  Table table{{{"link", left}, {"kind", left}, {"bandwidth", left}, {"latency", right}}};
  std::size_t rows = 0;
  for (const auto& connection : connections(platform.links)) {
    const auto [from, to] = std::pair{connection.there->from, connection.there->to};
    const auto is_shown = [&](DeviceId end) { return nodes.contains(platform.device(end).node); };
    if (!shows_all && !is_shown(from) && !is_shown(to)) continue;
    if (++rows > most_rows) continue;
    table.add({fmt::format("{} {} {}", platform.name_of(from), connection.back == nullptr ? "->" : "<->",
                           platform.name_of(to)),
               kind_text(*connection.there), rates_text(platform, connection),
               time_text(connection.there->latency)});
  }
  table.write(out, style);
  if (rows > most_rows) out << fmt::format("... and {} more\n", thousands_text(rows - most_rows));
}

constexpr std::size_t shown_whole_up_to = 16;
constexpr std::size_t shown_of_large = 8;

/// The library whose rules collectives on this platform follow.
std::string_view collective_library(const Platform& platform) {
  return platform.gpu_models.front().is_amd() ? "RCCL" : "NCCL";
}

std::string gpu_in_words(const Gpu& gpu) {
  if (gpu.ideal) return fmt::format("{} (ideal: kernels without a given time take none)", gpu.name);
  auto words = fmt::format("{}: {} at {}", gpu.name, bytes_text(gpu.memory), rate_text(gpu.memory_bandwidth));
  for (std::size_t p = 0; p < precision_count; ++p) {
    if (gpu.peak[p]) {
      words += fmt::format(", {} {}", name_of(static_cast<Precision>(p)),
                           count_text(gpu.peak[p]->value(), "FLOP/s"));
    }
  }
  return words;
}

void write_memories(Fields& fields, const Platform& platform) {
  std::vector<std::string> memories;
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    if (!platform.memories[i] || platform.devices[i].node > 0) continue;
    const auto& memory = platform.resources[platform.memories[i]->index()];
    memories.push_back(
        fmt::format("{}: {}", platform.name_of(DeviceId{i}), rate_text(BytesPerSecond{memory.capacity})));
  }
  fields.add("host memory", memories);
}

void write_head(Fields& fields, const Platform& platform, const Calibration& calibration) {
  fields.add("hardware", hardware_in_words(platform, static_cast<int>(platform.gpus.size())));
  if (!platform.gpu_models.empty()) fields.add("GPU", gpu_in_words(platform.gpu_models.front()));
  write_memories(fields, platform);
  if (platform.price) {
    const auto& price = *platform.price;
    fields.add("price", fmt::format("{:.2f} USD per node-hour, {} ({})", price.per_node.value(),
                                    basis_of_cost(price), price.source));
  } else {
    fields.add("price", platform.prices.empty() ? "unknown" : "unknown on demand");
  }
  std::vector<std::string> other_prices;
  for (const auto& price : platform.prices) {
    const auto same = [&](const Price& shown) {
      return shown.date == price.date && shown.region == price.region && shown.terms == price.terms;
    };
    if (platform.price && same(*platform.price)) continue;
    other_prices.push_back(fmt::format("{:.2f}: {}", price.per_node.value(), basis_of_cost(price)));
  }
  if (!other_prices.empty()) fields.add("", fmt::format("also {}", fmt::join(other_prices, "; ")));
  const bool nccl = platform.collectives == CollectiveRules::nccl;
  const auto library = collective_library(platform);
  fields.add("collectives", nccl ? fmt::format("as {} chooses", library)
                                 : std::string{"ideal: rings at the full rate of their links"});
  fields.add("calibration",
             calibration.name.empty()
                 ? fmt::format("none: datasheets and {}'s built-in figures", library)
                 : fmt::format("{}{}{}: {}", calibration.name, calibration.date.empty() ? "" : ", ",
                               calibration.date, calibration.source));
  fields.add("source", platform.source);
}

}  // namespace

void write_platform(std::ostream& out, const Platform& platform, const Calibration& calibration,
                    const Style& style) {
  const Routes routes{platform};
  const auto shown = select_shown_devices(platform, shown_whole_up_to, shown_of_large);
  const auto title = [&](std::string_view text) { out << '\n' << style.paint(Paint::bold, text) << "\n\n"; };
  Fields fields{out, style};
  out << style.paint(Paint::bold, platform.name) << "\n\n";
  write_head(fields, platform, calibration);
  const auto extent = shown.gpus.size() == platform.gpus.size()
                          ? std::string{}
                          : fmt::format(" (the first {} of {} GPUs)", shown.gpus.size(),
                                        thousands_text(platform.gpus.size()));
  title("Topology" + extent);
  write_topology(out, platform, routes, shown, style);
  title(fmt::format("Transports of {}{}", collective_library(platform), extent));
  write_transports(out, platform, routes, shown, style);
  title(extent.empty() ? "Links" : "Links of these GPUs");
  write_link_table(out, platform, shown, style);
  title("Routes");
  write_routes(out, platform, routes, style);
}

}  // namespace gradway::report

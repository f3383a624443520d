// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/json_document.hpp"
#include "sim/report/show/lists.hpp"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/platform/networks.hpp"
#include "sim/report/format/price.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// Sort key that compares numbers by value: g6e.12xlarge, g6e.48xlarge, g10.
std::vector<std::pair<unsigned long, char>> natural_sort_key(const std::string& name) {
  constexpr std::size_t longest_number = 9;
  std::vector<std::pair<unsigned long, char>> pieces;
  for (std::size_t i = 0; i < name.size(); ++i) {
    auto digits = i;
    while (digits < name.size() && digits - i < longest_number && std::isdigit(name[digits]) != 0) ++digits;
    if (digits == i) {
      pieces.emplace_back(0, name[i]);
    } else {
      pieces.emplace_back(std::stoul(name.substr(i, digits - i)), '0');
      i = digits - 1;
    }
  }
  return pieces;
}

bool is_synthetic(const ListedPlatform& entry) {
  return entry.platform && !entry.platform->gpu_models.empty() && entry.platform->gpu_models.front().ideal;
}

void sort(std::vector<ListedPlatform>& listed) {
  std::ranges::sort(listed, [](const ListedPlatform& a, const ListedPlatform& b) {
    return std::tuple{is_synthetic(a), natural_sort_key(a.name), a.name} <
           std::tuple{is_synthetic(b), natural_sort_key(b.name), b.name};
  });
}

std::size_t gpus_per_node(const Platform& platform) {
  return platform.gpus.size() / static_cast<std::size_t>(platform.nodes);
}

/// Total bandwidth that devices of a kind on the first node send with, over links of a kind.
BytesPerSecond sent(const Platform& platform, DeviceKind from, LinkKind over, std::size_t most_devices) {
  BytesPerSecond sum{};
  std::vector<DeviceId> senders;
  for (const auto& link : platform.links) {
    const auto& device = platform.device(link.from);
    if (device.kind != from || device.node != 0 || link.kind != over) continue;
    if (std::ranges::find(senders, link.from) == senders.end()) {
      if (senders.size() == most_devices) continue;
      senders.push_back(link.from);
    }
    sum += BytesPerSecond{platform.resources[link.resource.index()].capacity};
  }
  return sum;
}

/// How a GPU reaches others of its node: the total bandwidth of its fastest kind of link.
struct GpuInterconnect {
  LinkKind kind = LinkKind::pcie;
  BytesPerSecond rate{};
};
std::optional<GpuInterconnect> gpu_interconnect(const Platform& platform) {
  for (const auto kind : {LinkKind::nvlink, LinkKind::xgmi, LinkKind::pcie}) {
    const auto rate = sent(platform, DeviceKind::gpu, kind, 1);
    if (rate > BytesPerSecond{}) return GpuInterconnect{kind, rate};
  }
  return std::nullopt;
}

/// Bandwidth between nodes: all NICs of a node together.
std::optional<BytesPerSecond> network_rate(const Platform& platform) {
  if (!platform.network) return std::nullopt;
  return sent(platform, DeviceKind::nic, LinkKind::network, platform.devices.size());
}

std::string gpus_text(const Platform& platform) {
  if (platform.gpu_models.empty()) return "none";
  const auto& gpu = platform.gpu_models.front();
  const auto text = gpu.ideal && platform.gpus.size() == 1
                        ? fmt::format("any x {}", gpu.name)  // generated: as many GPUs as the job has ranks
                        : fmt::format("{} x {}", gpus_per_node(platform), gpu.name);
  return platform.nodes == 1 ? text : fmt::format("{}, {} nodes", text, platform.nodes);
}

std::vector<std::string> row(const ListedPlatform& entry) {
  if (!entry.platform) return {entry.name, "the file is invalid", "", "", "", "", ""};
  const auto& platform = *entry.platform;
  const auto link = gpu_interconnect(platform);
  const auto network = network_rate(platform);
  std::vector<std::string> cells{entry.name, gpus_text(platform)};
  cells.push_back(link ? fmt::format("{} {}", name_of(link->kind), rate_text(link->rate)) : "-");
  cells.push_back(network ? fmt::format("{} {}", facts_of(platform.network->kind).name, rate_text(*network))
                          : "-");
  const auto& price = platform.price;
  cells.push_back(price ? fmt::format("{:.2f}", price->per_node.value()) : "-");
  cells.push_back(price ? price->date : "");
  cells.push_back(price ? price->region : "");
  return cells;
}

Json document(const ListedPlatform& entry) {
  Json json{{"name", entry.name}, {"readable", entry.platform.has_value()}};
  if (!entry.platform) return json;
  const auto& platform = *entry.platform;
  json["source"] = platform.source;
  json["gpu"] = platform.gpu_models.empty() ? Json{} : Json(platform.gpu_models.front().name);
  json["gpus_per_node"] = gpus_per_node(platform);
  const auto link = gpu_interconnect(platform);
  json["inside"] =
      link ? Json{{"kind", name_of(link->kind)}, {"bytes_per_s_of_a_gpu", link->rate.value()}} : Json{};
  const auto network = network_rate(platform);
  json["network"] = network ? Json{{"kind", facts_of(platform.network->kind).name},
                                   {"bytes_per_s_of_a_node", network->value()}}
                            : Json{};
  json["price"] = price_json(platform.price);
  return json;
}

}  // namespace

void write_platforms(std::ostream& out, std::vector<ListedPlatform> listed, const Style& style) {
  using enum Table::Align;
  sort(listed);
  Table table{{{"platform", left},
               {"GPUs per node", left},
               {"between GPUs", left},
               {"between nodes", left},
               {"USD/node-hour", right},
               {"price of", left},
               {"region", left}}};
  for (const auto& entry : listed) table.add(row(entry));
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

void write_platforms_json(std::ostream& out, std::vector<ListedPlatform> listed) {
  sort(listed);
  auto platforms = Json::array();
  for (const auto& entry : listed) platforms.push_back(document(entry));
  out << serialized(Json{{"schema", 1}, {"platforms", std::move(platforms)}}, 2) << '\n';
}

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/lists.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <ostream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/platform/networks.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;
using enum Table::Align;

/// Writes a list as one document.
void write_rows(std::ostream& out, std::string_view kind, Json rows) {
  out << serialized(Json{{"schema", 1}, {std::string{kind}, std::move(rows)}}, 2) << '\n';
}

constexpr auto cannot_be_read = "the file is invalid";
constexpr std::array shown_peaks{Precision::fp32, Precision::tf32, Precision::bf16,
                                 Precision::fp16, Precision::fp8,  Precision::nvfp4};

std::optional<FlopsPerSecond> peak_of(const Gpu& gpu, Precision precision) {
  return gpu.peak[static_cast<std::size_t>(precision)];
}

std::string kernels_text(const ListedGpu& entry) {
  if (entry.gpu->ideal) return "ideal";
  if (entry.gpu_of_kernel_times.empty()) return "from anchors of models";
  return entry.gpu_of_kernel_times == entry.name ? "timed" : "scaled from " + entry.gpu_of_kernel_times;
}

std::vector<std::string> row(const ListedGpu& entry) {
  const auto& gpu = *entry.gpu;
  std::vector<std::string> cells{entry.name, gpu.ideal ? "-" : bytes_text(gpu.memory),
                                 gpu.ideal ? "-" : rate_text(gpu.memory_bandwidth)};
  for (const auto precision : shown_peaks) {
    const auto peak = peak_of(gpu, precision);
    cells.push_back(peak ? fmt::format("{:.4g}", peak->value() / 1e12) : "-");
  }
  cells.push_back(kernels_text(entry));
  return cells;
}

/// The contents of a calibration: "3 tables", "120 kernels of h100-sxm".
std::vector<std::string> contents_of(const Calibration& calibration) {
  std::vector<std::string> contents;
  const auto add = [&](std::size_t count, std::string_view noun) {
    if (count > 0) contents.push_back(counted_text(count, noun));
  };
  add(calibration.tables.size(), "table");
  add(calibration.collectives.size(), "collective");
  add(calibration.links.size(), "link rate");
  add(calibration.contention.size(), "contention factor");
  if (calibration.kernel_times) {
    add(calibration.kernel_times->rows.size(), "kernel");
    contents.back() += " of " + calibration.kernel_times->gpu;
  }
  return contents;
}

}  // namespace

void write_gpus(std::ostream& out, const std::vector<ListedGpu>& listed, const Style& style) {
  std::vector<Table::Column> columns{{"GPU", left}, {"memory", right}, {"memory bandwidth", right}};
  for (const auto precision : shown_peaks) columns.push_back({std::string{name_of(precision)}, right});
  columns.push_back({"kernels", left});
  Table table{columns};
  for (const auto& entry : listed) {
    if (entry.gpu) {
      table.add(row(entry));
    } else {
      table.add_with_note({entry.name}, cannot_be_read);
    }
  }
  table.write(out, style.unlimited_width());
  if (!listed.empty()) out << "fp32 to nvfp4: dense peak in TFLOP/s; kernels: source of kernel times\n";
}

void write_gpus_json(std::ostream& out, const std::vector<ListedGpu>& listed) {
  auto gpus = Json::array();
  for (const auto& entry : listed) {
    auto& json = gpus.emplace_back(Json{{"name", entry.name}, {"readable", entry.gpu.has_value()}});
    if (!entry.gpu) continue;
    json["source"] = entry.gpu->source;
    json["ideal"] = entry.gpu->ideal;
    json["memory_bytes"] = entry.gpu->ideal ? Json{} : Json(entry.gpu->memory.value());
    json["memory_bytes_per_s"] = entry.gpu->ideal ? Json{} : Json(entry.gpu->memory_bandwidth.value());
    auto& peaks = json["peak_flops_per_s"] = Json::object();
    for (const auto precision : shown_peaks) {
      const auto peak = peak_of(*entry.gpu, precision);
      peaks[std::string{name_of(precision)}] = peak ? Json(peak->value()) : Json{};
    }
    json["kernels_timed_on"] = entry.gpu_of_kernel_times.empty() ? Json{} : Json(entry.gpu_of_kernel_times);
  }
  write_rows(out, "gpus", std::move(gpus));
}

void write_calibrations(std::ostream& out, const std::vector<ListedCalibration>& listed, const Style& style) {
  Table table{{{"calibration", left}, {"as of", left}, {"measured", left}}};
  for (const auto& entry : listed) {
    if (entry.calibration) {
      const auto& day = entry.calibration->date;
      table.add({entry.name, day.empty() ? "-" : day,
                 fmt::format("{}", fmt::join(contents_of(*entry.calibration), ", "))});
    } else {
      table.add_with_note({entry.name}, cannot_be_read);
    }
  }
  table.write(out, style.unlimited_width());
}

void write_calibrations_json(std::ostream& out, const std::vector<ListedCalibration>& listed) {
  auto calibrations = Json::array();
  for (const auto& entry : listed) {
    auto& json =
        calibrations.emplace_back(Json{{"name", entry.name}, {"readable", entry.calibration.has_value()}});
    if (!entry.calibration) continue;
    json["source"] = entry.calibration->source;
    json["date"] = entry.calibration->date.empty() ? Json{} : Json(entry.calibration->date);
    json["measured"] = contents_of(*entry.calibration);
  }
  write_rows(out, "calibrations", std::move(calibrations));
}

namespace {

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
  if (!entry.platform) return {entry.name, cannot_be_read, "", "", "", "", ""};
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
  sort(listed);
  Table table{{{"platform", left},
               {"GPUs per node", left},
               {"between GPUs", left},
               {"between nodes", left},
               {"USD/node-hour", right},
               {"price of", left},
               {"region", left}}};
  for (const auto& entry : listed) table.add(row(entry));
  table.write(out, style.unlimited_width());
}

void write_platforms_json(std::ostream& out, std::vector<ListedPlatform> listed) {
  sort(listed);
  auto platforms = Json::array();
  for (const auto& entry : listed) platforms.push_back(document(entry));
  write_rows(out, "platforms", std::move(platforms));
}

void write_prices(std::ostream& out, const std::vector<ListedPrice>& listed, const Style& style) {
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
  table.write(out, style.unlimited_width());
}

void write_prices_json(std::ostream& out, const std::vector<ListedPrice>& listed) {
  auto prices = Json::array();
  for (const auto& entry : listed) {
    Json json{{"platform", entry.platform}, {"gpus_per_node", entry.gpus}};
    json.update(price_json(entry.price));
    json["prices"] = entry.list.empty() ? Json{} : Json(entry.list);
    json["days_old"] = entry.age ? Json(*entry.age) : Json{};
    prices.push_back(std::move(json));
  }
  write_rows(out, "prices", std::move(prices));
}

void write_keys(std::ostream& out, std::span<const config::ScenarioKey> keys, const Style& style) {
  for (const auto& key : keys) {
    out << style.paint(Paint::bold, key.name) << ": " << key.value();
    if (key.is_required) out << "; required";
    if (!key.default_text.empty()) out << fmt::format("; {} if left out", key.default_text);
    out << '\n';
    for (const auto& line : wrap(key.help(), style.width - 4)) out << "    " << line << '\n';
  }
}

void write_keys_json(std::ostream& out, std::span<const config::ScenarioKey> keys) {
  auto list = Json::array();
  for (const auto& key : keys) {
    list.push_back({{"key", key.name},
                    {"value", key.value()},
                    {"required", key.is_required},
                    {"default", key.default_text.empty() ? Json{} : Json(key.default_text)},
                    {"set", key.is_settable},
                    {"meaning", key.help()}});
  }
  write_rows(out, "keys", std::move(list));
}

void write_sentences_json(std::ostream& out, std::string_view kind,
                          const std::vector<ListedSentence>& listed) {
  auto list = Json::array();
  for (const auto& [name, sentence] : listed) list.push_back({{"name", name}, {"description", sentence}});
  write_rows(out, kind, std::move(list));
}

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show.hpp"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/price.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/platform_tables.hpp"

namespace gradway::report {
namespace {

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
        fmt::format("{}: {}", platform.devices[i].name, rate_text(BytesPerSecond{memory.capacity})));
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

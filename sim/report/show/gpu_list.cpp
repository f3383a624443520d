// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/json_document.hpp"
#include "sim/report/show/lists.hpp"

#include <array>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

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
  using enum Table::Align;
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
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
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
  out << serialized(Json{{"schema", 1}, {"gpus", std::move(gpus)}}, 2) << '\n';
}

void write_calibrations(std::ostream& out, const std::vector<ListedCalibration>& listed, const Style& style) {
  using enum Table::Align;
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
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
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
  out << serialized(Json{{"schema", 1}, {"calibrations", std::move(calibrations)}}, 2) << '\n';
}

}  // namespace gradway::report

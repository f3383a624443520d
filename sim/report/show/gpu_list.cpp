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

std::string kernels_text(const ListedGpu& one) {
  if (one.gpu->ideal) return "ideal";
  if (one.gpu_of_kernel_times.empty()) return "from anchors of models";
  return one.gpu_of_kernel_times == one.name ? "timed" : "scaled from " + one.gpu_of_kernel_times;
}

std::vector<std::string> row(const ListedGpu& one) {
  const auto& gpu = *one.gpu;
  std::vector<std::string> cells{one.name, gpu.ideal ? "-" : bytes_text(gpu.memory),
                                 gpu.ideal ? "-" : rate_text(gpu.memory_bandwidth)};
  for (const auto precision : shown_peaks) {
    const auto peak = peak_of(gpu, precision);
    cells.push_back(peak ? fmt::format("{:.4g}", peak->value() / 1e12) : "-");
  }
  cells.push_back(kernels_text(one));
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
  for (const auto& one : listed) {
    if (one.gpu) {
      table.add(row(one));
    } else {
      table.add_with_note({one.name}, cannot_be_read);
    }
  }
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
  if (!listed.empty()) out << "fp32 to nvfp4: dense peak in TFLOP/s; kernels: source of kernel times\n";
}

void write_gpus_json(std::ostream& out, const std::vector<ListedGpu>& listed) {
  auto gpus = Json::array();
  for (const auto& one : listed) {
    auto& json = gpus.emplace_back(Json{{"name", one.name}, {"readable", one.gpu.has_value()}});
    if (!one.gpu) continue;
    json["source"] = one.gpu->source;
    json["ideal"] = one.gpu->ideal;
    json["memory_bytes"] = one.gpu->ideal ? Json{} : Json(one.gpu->memory.value());
    json["memory_bytes_per_s"] = one.gpu->ideal ? Json{} : Json(one.gpu->memory_bandwidth.value());
    auto& peaks = json["peak_flops_per_s"] = Json::object();
    for (const auto precision : shown_peaks) {
      const auto peak = peak_of(*one.gpu, precision);
      peaks[std::string{name_of(precision)}] = peak ? Json(peak->value()) : Json{};
    }
    json["kernels_timed_on"] = one.gpu_of_kernel_times.empty() ? Json{} : Json(one.gpu_of_kernel_times);
  }
  out << serialized(Json{{"schema", 1}, {"gpus", std::move(gpus)}}, 2) << '\n';
}

void write_calibrations(std::ostream& out, const std::vector<ListedCalibration>& listed, const Style& style) {
  using enum Table::Align;
  Table table{{{"calibration", left}, {"as of", left}, {"measured", left}}};
  for (const auto& one : listed) {
    if (one.calibration) {
      const auto& day = one.calibration->date;
      table.add({one.name, day.empty() ? "-" : day,
                 fmt::format("{}", fmt::join(contents_of(*one.calibration), ", "))});
    } else {
      table.add_with_note({one.name}, cannot_be_read);
    }
  }
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

void write_calibrations_json(std::ostream& out, const std::vector<ListedCalibration>& listed) {
  auto calibrations = Json::array();
  for (const auto& one : listed) {
    auto& json =
        calibrations.emplace_back(Json{{"name", one.name}, {"readable", one.calibration.has_value()}});
    if (!one.calibration) continue;
    json["source"] = one.calibration->source;
    json["date"] = one.calibration->date.empty() ? Json{} : Json(one.calibration->date);
    json["measured"] = contents_of(*one.calibration);
  }
  out << serialized(Json{{"schema", 1}, {"calibrations", std::move(calibrations)}}, 2) << '\n';
}

}  // namespace gradway::report

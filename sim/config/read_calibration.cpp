// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/config/quantities.hpp"
#include "sim/config/read.hpp"
#include "sim/config/read_measurements.hpp"

namespace gradway::config {
namespace {

CollectiveSample read_sample(Reader sample) {
  CollectiveSample result{.kind = sample.required("operation", one_of("an operation", operations)),
                          .transport = sample.required("transport", one_of("a transport", transports)),
                          .ranks = sample.required("ranks", integer(2, 1 << 20)),
                          .size = sample.required("size", bytes),
                          .time = sample.required("time", duration),
                          .source = sample.required("source", text)};
  sample.finish();
  return result;
}

SideBySide read_side_by_side(Reader& entry) {
  SideBySide result{.transport = entry.required("transport", one_of("a transport", transports)),
                    .precision = entry.required("precision", precision),
                    .ranks = entry.optional("ranks", integer(2, 1 << 20), 0),
                    .channels = entry.optional("channels", integer(1, 64), 0),
                    .kernel_slowdown = entry.required("kernel_slowdown", slowdown),
                    .collective_slowdown = entry.required("collective_slowdown", slowdown),
                    .measured_on = entry.optional("measured_on", text, ""),
                    .source = entry.required("source", text)};
  entry.finish();
  return result;
}

void read_side_by_side_list(Reader& file, Calibration& result) {
  std::map<std::tuple<Transport, Precision, int>, Where> seen;
  for (auto& entry : file.maps("side_by_side")) {
    result.side_by_side.push_back(read_side_by_side(entry));
    if (!entry.sound()) continue;
    const auto& latest = result.side_by_side.back();
    const auto [first, is_new] = seen.emplace(std::tuple{latest.transport, latest.precision, latest.ranks},
                                              entry.value_place("precision"));
    if (!is_new) {
      entry.error(entry.value_place("precision"),
                  "this transport, precision and number of ranks have an entry already", "keep one of them",
                  {{first->second, "the first one is here"}});
    }
  }
}

}  // namespace

Calibration read_calibration(Reader& file, const std::string& name) {
  Calibration result;
  result.name = name;
  result.source = file.required("source", text);
  result.date = file.optional("date", date, "");
  for (auto& sample : file.maps("collectives")) result.collectives.push_back(read_sample(sample));
  result.tables = read_tables(file);
  result.links = read_links(file);
  result.kernels = read_kernels(file);
  result.samples = read_sample_origin(file);
  read_side_by_side_list(file, result);
  file.finish();
  return result;
}

}  // namespace gradway::config

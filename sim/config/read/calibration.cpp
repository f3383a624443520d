// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/config/read/measurements.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/cost/plausible.hpp"

namespace gradway::config {
namespace {

CollectiveSample read_sample(Reader sample) {
  CollectiveSample result{.kind = sample.required("operation", one_of("an operation", operations)),
                          .transport = sample.required("transport", one_of("a transport", transports)),
                          .ranks = sample.required("ranks", integer(2, 1 << 20)),
                          .size = sample.required("size", bytes),
                          .time = sample.required("time", duration),
                          .source = sample.required("source", text),
                          .nominal = sample.maybe("nominal", bandwidth),
                          .measured_on = sample.optional("measured_on", text, "")};
  const SizedTime measured{result.size, result.time};
  if (sample.is_valid() && !is_plausible(measured))
    sample.error(sample.value_place("time"), implausible_text(measured), "leave the entry out");
  sample.finish();
  return result;
}

ContentionFactors read_contention(Reader& entry) {
  ContentionFactors result{.transport = entry.required("transport", one_of("a transport", transports)),
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

void read_contention_list(Reader& file, Calibration& result) {
  std::map<std::tuple<Transport, Precision, int, int>, Where> seen;
  for (auto& entry : file.maps(file.key_or("contention", "side_by_side"))) {
    result.contention.push_back(read_contention(entry));
    if (!entry.is_valid()) continue;
    const auto& latest = result.contention.back();
    const auto [first, is_new] =
        seen.emplace(std::tuple{latest.transport, latest.precision, latest.ranks, latest.channels},
                     entry.value_place("precision"));
    if (!is_new) {
      entry.error(entry.value_place("precision"),
                  "duplicate entry: the same transport, precision, ranks and channels", "keep one of them",
                  {{first->second, "the first one is here"}});
    }
  }
}

HoldoutError read_held_back(Reader entry) {
  HoldoutError result{.what = entry.required("what", text),
                      .rows = entry.required("rows", integer(1, 1 << 30)),
                      .error = {entry.required("median", percentage), entry.required("worst", percentage)}};
  entry.finish();
  return result;
}

AdaptedPart read_adapted_part(Reader section) {
  AdaptedPart result{.what = section.required("what", text),
                     .rows = section.required("rows", integer(0, 1 << 30)),
                     .fixed = section.required("fixed", scale_of_time),
                     .moving = section.required("moving", scale_of_time),
                     .before = read_error(section, "median_before", "worst_before"),
                     .after = read_error(section, "median_after", "worst_after"),
                     .uncertainty = section.maybe(section.key_or("uncertainty", "doubt"), percentage)};
  section.finish();
  return result;
}

std::optional<Adaptation> read_adapted(Reader& file) {
  auto entry = file.maybe_map("adapted");
  if (!entry) return std::nullopt;
  Adaptation result{
      .from = entry->required("from", text), .digest = entry->optional("digest", text, ""), .parts = {}};
  for (auto& section : entry->maps("parts")) result.parts.push_back(read_adapted_part(section));
  entry->finish();
  return result;
}

/// Reads everything except the kernel times. The caller calls `finish`.
Calibration read_rates(Reader& file, const std::string& name) {
  Calibration result;
  result.name = name;
  result.source = file.required("source", text);
  result.date = file.optional("date", date, "");
  for (auto& sample : file.maps("collectives")) result.collectives.push_back(read_sample(sample));
  for (auto& entry : file.maps("held_back")) result.holdout_errors.push_back(read_held_back(entry));
  result.tables = read_tables(file);
  result.links = read_links(file);
  result.kernels = read_kernels(file);
  result.samples = read_sample_origin(file);
  result.adapted = read_adapted(file);
  read_contention_list(file, result);
  for (const auto* section : {"shared_limits", "beside_copies"})
    file.ignore(section);  // no prediction reads them
  return result;
}

}  // namespace

Calibration read_calibration(Reader& file, const std::string& name) {
  auto result = read_rates(file, name);
  result.kernel_times = read_kernel_times(file);
  if (result.kernel_times) result.kernel_times->source = result.source;
  file.finish();
  return result;
}

CalibrationSpec read_calibration_of_platform(Reader& file, const std::string& name) {
  CalibrationSpec spec{read_rates(file, name), read_gpu_of_kernel_times(file)};
  file.finish();
  return spec;
}

}  // namespace gradway::config

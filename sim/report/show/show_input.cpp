// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::report {
namespace {

void add_rate(Fields& fields, std::string_view label, const std::optional<BytesPerSecond>& rate) {
  if (rate) fields.add(label, rate_text(*rate));
}

void add_usd(Fields& fields, std::string_view label, const std::optional<double>& usd,
             std::string_view unit) {
  if (usd) fields.add(label, fmt::format("{:.4g} USD {}", *usd, unit));
}

}  // namespace

void write_storage(std::ostream& out, const StorageTier& tier, const Style& style) {
  Fields fields{out, style};
  out << style.paint(Paint::bold, tier.name) << "\n\n";
  fields.add("kind", name_of(tier.kind));
  fields.add("reads", fmt::format("{} {}", rate_text(tier.read), tier.is_local() ? "per node" : "in total"));
  if (tier.error) fields.add("uncertainty", percent_text(*tier.error) + " (standard error)");
  add_rate(fields, "writes", tier.write);
  add_rate(fields, "per node", tier.per_node);
  add_rate(fields, "connection", tier.per_connection);
  fields.add("first byte", time_text(tier.first_byte) +
                               (tier.first_byte_spread > 0 ? fmt::format(", standard deviation {}",
                                                                         percent_text(tier.first_byte_spread))
                                                           : ""));
  if (tier.requests_per_second)
    fields.add("requests", fmt::format("{:.10g} per second", *tier.requests_per_second));
  if (tier.burst)
    fields.add("burst", fmt::format("{} at full rate, then {}", bytes_text(tier.burst->credit),
                                    rate_text(tier.burst->sustained)));
  add_usd(fields, "storage cost", tier.price.usd_per_gb_month, "per GB and month");
  add_usd(fields, "request cost", tier.price.usd_per_million_requests, "per million requests");
  add_usd(fields, "egress cost", tier.price.usd_per_gb_out, "per GB");
  add_usd(fields, "write cost", tier.price.usd_per_million_writes, "per million requests");
  add_usd(fields, "ingress cost", tier.price.usd_per_gb_in, "per GB");
  if (tier.price.is_known()) fields.add("price date", tier.price.as_of);
  fields.add("source", tier.source);
}

void write_dataset(std::ostream& out, const Dataset& dataset, const Style& style) {
  Fields fields{out, style};
  out << style.paint(Paint::bold, dataset.name) << "\n\n";
  fields.add("samples",
             fmt::format("{:.10g} of {} each, {} in total", dataset.samples, bytes_text(dataset.sample_size),
                         bytes_text(dataset.sample_size * dataset.samples)));
  if (dataset.spread > 0) fields.add("spread", percent_text(dataset.spread) + " of the size");
  fields.add("format", name_of(dataset.format));
  for (const auto& column : dataset.columns)
    fields.add("column",
               fmt::format("{}: {} per row{}", printable(column.name), bytes_text(column.size),
                           column.codec ? fmt::format(", {} unpacked from {}", bytes_text(column.unpacked),
                                                      column.codec->name)
                                        : ""));
  if (dataset.row_group > 0) fields.add("row group", fmt::format("{:.10g} rows", dataset.row_group));
  fields.add("request size", bytes_text(request_of(dataset, dataset.sample_size)));
  if (dataset.delivered > 0_B) fields.add("to the GPU", bytes_text(dataset.delivered) + " per sample");
  fields.add("CPU time", fmt::format("per sample and core {} to decode, {} to transform, {} to collate",
                                     time_text(dataset.cpu.decode), time_text(dataset.cpu.transform),
                                     time_text(dataset.cpu.collate)));
  if (dataset.cpu.error) fields.add("uncertainty", percent_text(*dataset.cpu.error) + " (standard error)");
  if (dataset.gpu_decode > Seconds{})
    fields.add("GPU time", time_text(dataset.gpu_decode) + " per sample to decode");
  if (!dataset.compressible) fields.add("compression", "codecs do not reduce its size");
  fields.add("source", dataset.source);
}

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
// The keys of a dataset and of a storage tier, in their files and in a scenario.
#include "sim/scenario/field_rows.hpp"

namespace gradway {
namespace {

namespace dataset_values {
constexpr value::Amount cpu_time{value::Unit::time, "1.2 ms", "0 ms"};
constexpr value::Real relative_error{0, 10};
constexpr std::string_view not_interpreted = "not interpreted";
constexpr std::string_view is_uncertainty = "an uncertainty, not a value";
}  // namespace dataset_values

/// A key of datasets without columns.
template <class Value>
std::optional<Value> unless_columns(const Dataset& dataset, const Value& value) {
  return dataset.format == SampleFormat::parquet ? std::nullopt : std::optional{value};
}

}  // namespace

FieldTable make_fields(std::type_identity<Dataset::Cpu>) {
  using Cpu = Dataset::Cpu;
  using namespace dataset_values;
  return {
      field("decode", &Cpu::decode, cpu_time, "CPU time to decode a sample, on one core"),
      field("transform", &Cpu::transform, cpu_time,
            "CPU time to crop, flip and normalise a sample, on one core"),
      field("collate", &Cpu::collate, cpu_time, "CPU time to copy a sample into the batch, on one core"),
      field("error", &Cpu::error, relative_error,
            "relative standard error of these times on the job's CPU; default: they were measured on another "
            "CPU",
            {.outside_identity = is_uncertainty})};
}

FieldTable make_fields(std::type_identity<Dataset>) {
  using namespace dataset_values;
  constexpr value::Amount size{value::Unit::size, "110 kB"};
  constexpr auto is_delivered = [](const Dataset& dataset) { return dataset.delivered > Bytes{}; };
  constexpr auto gpu_decodes = [](const Dataset& dataset) { return dataset.gpu_decode > Seconds{}; };
  return {
      custom<Dataset>("source", value::Text{}, "where the figures come from; required in a file",
                      {.outside_identity = not_interpreted},
                      [](const Dataset& dataset) { return unless_empty(dataset.source); }),
      field("samples", &Dataset::samples, value::Real{1, 1e15},
            "number of samples in an epoch, over all ranks", {.is_required = true}),
      field("spread", &Dataset::spread, value::Real{0, 100},
            "standard deviation of the sample size over its mean"),
      field("duplicates", &Dataset::duplicates, value::Real{0, 0.999},
            "share of its bytes that occur in other samples before, for input.dedup",
            {.is_echoed = [](const Dataset& dataset) { return dataset.duplicates > 0; }}),
      field("format", &Dataset::format, value::Words{"a format", sample_format_words},
            "files: one file per sample; shards and pages: one request reads several samples; parquet: "
            "columns; tokens: slices of one file; csv: lines of text; mapped: arrays in a memory-mapped "
            "file"),
      group("cpu", &Dataset::cpu, "CPU time per sample"),
      field("content", &Dataset::content, value::Words{"a sample content", sample_content_words},
            "kind of samples; default: unknown, suits any model"),
      field("gpu_decode", &Dataset::gpu_decode, value::Amount{value::Unit::time, "0.3 ms"},
            "GPU time to decode a sample; default: the GPU cannot decode it", {.is_echoed = gpu_decodes}),
      field("pixels", &Dataset::pixels, value::Real{1, 1e12},
            "mean number of pixels of a JPEG image, which nvJPEG's time follows; default: unknown",
            {.is_echoed = [](const Dataset& dataset) { return dataset.pixels > 0; }}),
      field("delivered", &Dataset::delivered, size,
            "size of a sample when it is copied to the GPU; default: the model's own",
            {.is_echoed = is_delivered}),
      custom<Dataset>("sample_size", size, "mean size of a stored sample; required except for parquet", {},
                      [](const Dataset& dataset) { return unless_columns(dataset, dataset.sample_size); }),
      custom<Dataset>("compressible", value::Boolean{},
                      "codecs make samples smaller; false for JPEG, video and random floats",
                      {.default_text = "true"},
                      [](const Dataset& dataset) { return unless_columns(dataset, dataset.compressible); }),
      custom<Dataset>(
          "request", size, "formats shards, pages and csv: size of one read request; default: one sample", {},
          [](const Dataset& dataset) {
            return dataset.request > Bytes{} ? unless_columns(dataset, dataset.request) : std::nullopt;
          }),
      custom<Dataset>(
          "row_group", value::Real{1, 1e12}, "required for parquet: mean number of rows in a row group", {},
          [](const Dataset& dataset) {
            return dataset.format == SampleFormat::parquet ? std::optional{dataset.row_group} : std::nullopt;
          }),
      custom("columns", value::Maps{}, "format parquet: columns, each with name, size, unpacked and codec")};
}

FieldTable make_fields(std::type_identity<StorageTier::Burst>) {
  using It = StorageTier::Burst;
  return {field("credit", &It::credit, value::Amount{value::Unit::size, "1 TB"},
                "amount of data that can be read above the sustained rate before the rate drops",
                {.is_required = true}),
          field("sustained", &It::sustained, value::Amount{value::Unit::bandwidth, "300 MB/s"},
                "rate after the credit is used up", {.is_required = true})};
}

FieldTable make_fields(std::type_identity<StorageTier::Price>) {
  using It = StorageTier::Price;
  constexpr value::Real usd{0, 1e6};
  return {field("as_of", &It::as_of, value::Text{}, "date of the prices, which are in USD",
                {.is_required = true}),
          field("usd_per_gb_month", &It::usd_per_gb_month, usd, "price of storing one GB for a month"),
          field("usd_per_million_requests", &It::usd_per_million_requests, value::Real{0, 1e9},
                "price of a million requests"),
          field("usd_per_gb_out", &It::usd_per_gb_out, usd, "price of one GB that leaves its region or zone"),
          field("usd_per_million_writes", &It::usd_per_million_writes, value::Real{0, 1e9},
                "price of a million requests that write"),
          field("usd_per_gb_in", &It::usd_per_gb_in, usd,
                "price of writing one GB, or of its way into the zone")};
}

FieldTable make_fields(std::type_identity<StorageTier>) {
  using Tier = StorageTier;
  using namespace dataset_values;
  constexpr auto bandwidth = [](const char* example) {
    return value::Amount{value::Unit::bandwidth, example};
  };
  return {
      custom<Tier>("source", value::Text{}, "where the figures come from; required in a file",
                   {.outside_identity = not_interpreted},
                   [](const Tier& tier) { return unless_empty(tier.source); }),
      field("kind", &Tier::kind, value::Words{"a storage kind", Tier::kind_words},
            "local_drive, block_volume and memory belong to each node; the other kinds serve all nodes"),
      field("read", &Tier::read, bandwidth("8 GB/s"),
            "aggregate read bandwidth; of storage that belongs to a node: per node", {.is_required = true}),
      field("first_byte", &Tier::first_byte, value::Amount{value::Unit::latency, "15 ms", "0 ms"},
            "mean latency from a request to its first byte"),
      field("first_byte_spread", &Tier::first_byte_spread, value::Real{0, 100},
            "standard deviation of first_byte over its mean; 1: exponential distribution",
            {.is_echoed = [](const Tier& tier) { return tier.first_byte_spread > 0; }}),
      field("error", &Tier::error, relative_error,
            "relative standard error of the rates; default: the rates are published figures",
            {.outside_identity = is_uncertainty}),
      field("write", &Tier::write, bandwidth("4 GB/s"), "aggregate write bandwidth",
            {.outside_identity = "a step reads"}),
      field("per_node", &Tier::per_node, bandwidth("2 GB/s"), "maximum bandwidth of one node"),
      field("per_connection", &Tier::per_connection, bandwidth("90 MB/s"),
            "maximum bandwidth of one reader after its first byte"),
      field("requests_per_second", &Tier::requests_per_second, value::Real{1e-3, 1e15},
            "maximum rate of requests; of storage that belongs to a node: per node"),
      group("burst", &Tier::burst, "token bucket above the sustained rate"),
      group("price", &Tier::price, "price of the storage",
            {.is_echoed = [](const Tier& tier) { return tier.price.is_known(); }})};
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sim/config/read/measurements.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/parse_value.hpp"
#include "sim/config/yaml/quantities.hpp"

namespace gradway::config {
namespace {

namespace words = calibration_words;

/// Parser of one of the words of a table, in the order of the enumerators.
template <class Enum, std::size_t size>
auto word_in(std::string_view thing, const std::array<std::string_view, size>& table) {
  return [thing, &table](const Node& node) {
    return static_cast<Enum>(index_of_word(value::Words{thing, table}, node));
  };
}

Fitted read_fitted(Reader& entry) {
  return {entry.optional("samples", integer(0, 1 << 30), 0),
          read_error(entry, "median_residual", "worst_residual")};
}

LinkRate read_link_rate(Reader& link) {
  return {.role = link.required("link", word_in<LinkRole>("a link", words::links)),
          .gpus = link.required("gpus", integer(1, 1 << 20)),
          .bandwidth = link.required("bandwidth", bandwidth),
          .least = link.maybe("least_bandwidth", bandwidth),
          .most = link.maybe("most_bandwidth", bandwidth),
          .latency = link.optional("latency", latency_or_zero, Seconds{}),
          .smallest = link.required("smallest", bytes),
          .largest = link.required("largest", bytes),
          .fitted = read_fitted(link),
          .source = link.required("source", text)};
}

MatrixRate read_matrix(Reader& rate) {
  return {.arithmetic = rate.required("precision", word_in<Arithmetic>("a precision", words::arithmetics)),
          .shape = rate.required("size", word_in<ProductShape>("a size of products", words::product_shapes)),
          .rate = rate.required("rate", compute_rate),
          .of_peak = rate.maybe("of_peak", percentage),
          .fitted = read_fitted(rate)};
}

MemoryRate read_memory(Reader& rate) {
  return {.kernel =
              rate.required("kernel", word_in<MemoryKernel>("a memory-bound kernel", words::memory_kernels)),
          .latency = rate.optional("latency", latency_or_zero, Seconds{}),
          .bandwidth = rate.required("bandwidth", bandwidth),
          .of_peak = rate.maybe("of_peak", percentage),
          .fitted = read_fitted(rate)};
}

OptimizerRate read_optimizer(Reader& rate) {
  return {.optimizer = rate.required("optimizer", word_in<Optimizer>("an optimizer", words::optimizers)),
          .tensors = rate.required("tensors", integer(1, 1 << 30)),
          .floor = rate.optional("floor", latency_or_zero, Seconds{}),
          .bandwidth = rate.required("bandwidth", bandwidth),
          .fitted = read_fitted(rate)};
}

AttentionRate read_attention(Reader& rate) {
  return {.arithmetic = rate.required("precision", word_in<Arithmetic>("a precision", words::arithmetics)),
          .causal = rate.required("causal", boolean),
          .latency = rate.optional("latency", latency_or_zero, Seconds{}),
          .rate = rate.required("rate", compute_rate),
          .of_peak = rate.maybe("of_peak", percentage),
          .fitted = read_fitted(rate)};
}

LaunchTime read_launch(Reader& cost) {
  return {.what = cost.required("what", word_in<LaunchCost>("a cost of launches", words::launch_costs)),
          .time = cost.required("time", latency),
          .fitted = read_fitted(cost)};
}

template <class Entry>
std::vector<Entry> read_entries(Reader& parent, std::string_view key, Entry (*read)(Reader&)) {
  std::vector<Entry> entries;
  for (auto& entry : parent.maps(key)) {
    entries.push_back(read(entry));
    entry.finish();
  }
  return entries;
}

/// Reads the keys of older calibrations, which had no lists.
void read_older_keys(Reader& kernels, KernelRates& rates) {
  const auto stream = kernels.maybe("memory_stream", bandwidth);
  const auto widen = kernels.maybe("memory_widen", bandwidth);
  const auto launch = kernels.maybe("launch_cost", latency);
  if (stream) rates.memory.push_back({MemoryKernel::copy_fp32, {}, *stream, {}, {}});
  if (widen) rates.memory.push_back({MemoryKernel::cast_bf16_fp32, {}, *widen, {}, {}});
  if (launch) rates.launches.push_back({LaunchCost::launch, *launch, {}});
}

}  // namespace

std::vector<LinkRate> read_links(Reader& file) {
  return read_entries(file, "links", read_link_rate);
}

KernelRates read_kernels(Reader& file) {
  KernelRates rates;
  auto kernels = file.maybe_map("kernels");
  if (!kernels) return rates;
  rates.matrix = read_entries(*kernels, "matrix", read_matrix);
  rates.memory = read_entries(*kernels, "memory", read_memory);
  rates.optimizers = read_entries(*kernels, "optimizers", read_optimizer);
  rates.attention = read_entries(*kernels, "attention", read_attention);
  rates.launches = read_entries(*kernels, "launches", read_launch);
  rates.smallest_kernel = kernels->maybe("smallest_kernel", latency);
  read_older_keys(*kernels, rates);
  kernels->finish();
  return rates;
}

std::optional<SampleOrigin> read_sample_origin(Reader& file) {
  auto samples = file.maybe_map("samples");
  if (!samples) return std::nullopt;
  SampleOrigin origin{samples->required("digest", text), samples->list("files", text)};
  samples->finish();
  return origin;
}

}  // namespace gradway::config

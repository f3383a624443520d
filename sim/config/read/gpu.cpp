// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"

namespace gradway::config {
namespace {

void read_rates(Reader& file, Gpu& gpu) {
  auto peak = file.map("peak");
  auto efficiencies = file.map("matrix_efficiency");
  for (std::size_t index = 0; index < precision_count; ++index) {
    const auto key = precision_words[index];
    gpu.peak[index] = peak.maybe(key, compute_rate);
    const auto share = efficiencies.maybe(key, efficiency);
    gpu.matrix_efficiency[index] = share.value_or(0);
    if (gpu.peak[index] && !share && peak.has(key)) {
      efficiencies.error(efficiencies.where(), fmt::format("the efficiency of '{}' is missing", key), "",
                         {{peak.key_place(key), fmt::format("'{}' has a peak", key)}});
    } else if (share && !gpu.peak[index]) {
      efficiencies.error(efficiencies.key_place(key), fmt::format("'{}' has an efficiency but no peak", key),
                         "add its peak, or leave it out", {{peak.where(), "the peaks are here"}});
    }
  }
  if (peak.is_valid() && peak.entries().empty()) peak.error(peak.where(), "a GPU requires at least one peak");
  peak.finish();
  efficiencies.finish();
}

std::optional<GpuPower> read_power(Reader& file) {
  if (!file.has("power")) return {};
  auto group = file.map("power");
  GpuPower read;
  read_fields(group, read);
  if (group.is_valid() && read.idle >= read.limit)
    group.error(group.key_place("idle"), "'idle' must be less than 'limit'", "",
                {{group.key_place("limit"), "the limit is here"}});
  group.finish();
  return read;
}

/// Reports all other keys of an ideal GPU, which has no costs.
void refuse_rates(Reader& file) {
  for (const auto& entry : file.entries()) {
    if (entry.key == "source" || entry.key == "ideal") continue;
    file.forbid(entry.key, fmt::format("an ideal GPU has no '{}'", entry.key), "leave it out",
                Note{file.value_place("ideal"), "the GPU is ideal"});
  }
}

}  // namespace

GpuSpec read_gpu(Reader& file, const std::string& name) {
  GpuSpec spec;
  auto& gpu = spec.gpu;
  gpu.name = name;
  gpu.source = file.required("source", text);
  const auto ideal = file.optional("ideal", nullopt_on_error(boolean), false);
  if (!ideal) return spec;  // the required keys are unknown
  gpu.ideal = *ideal;
  spec.peak = file.key_place(gpu.ideal ? "ideal" : "peak");
  if (gpu.ideal) {
    refuse_rates(file);
  } else {
    file.exactly_one({"compute_capability", "architecture"}, "the GPU's generation");
    read_fields(file, gpu);
    read_rates(file, gpu);
    spec.kernel_times = file.maybe("kernel_times", named);
    spec.kernel_times_like = file.maybe("kernel_times_like", named);
    gpu.power = read_power(file);
  }
  file.finish();
  return spec;
}

}  // namespace gradway::config

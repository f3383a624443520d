// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/identity.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/base/digest.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

/// Digests values of any type, member by member.
class Values {
 public:
  std::string hex() const { return digest_.hex(); }

  template <class... Value>
  Values& add(const Value&... value) {
    (one(value), ...);
    return *this;
  }

  /// Adds the fields of a table that have an effect and belong to the identity.
  /// @param effect only fields that decide this kind of error; null: all fields
  Values& fields(const Record& settings, bool FieldEffects::*effect = nullptr) {
    for (const auto& field : settings.fields()) {
      if (field.is_custom || !field.outside_identity.empty() ||
          (effect != nullptr && !(field.affects.*effect)))
        continue;
      const bool has_value = settings.counts(field);
      one(has_value);
      if (!has_value) continue;
      const auto value = settings.effective_value(field);
      if (field.is_optional) one(!is_empty(value));
      std::visit([&](const auto& held) { one(held); }, value);
    }
    return *this;
  }

 private:
  void one(std::string_view text) { digest_.add(text); }
  void one(const std::string& text) { digest_.add(text); }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void one(Number number) { digest_.add(fmt::format("{}", number)); }
  template <class Word>
  requires std::is_enum_v<Word>
  void one(Word word) { one(static_cast<int>(word)); }
  template <class Kind>
  void one(const Quantity<Kind>& quantity) {
    one(quantity.value());
  }
  template <class Value>
  void one(const std::optional<Value>& value) {
    one(value.has_value());
    if (value) one(*value);
  }
  template <class Value>
  void one(const std::vector<Value>& values) {
    one(values.size());
    for (const auto& value : values) one(value);
  }
  template <class Value, std::size_t size>
  void one(const std::array<Value, size>& values) {
    for (const auto& value : values) one(value);
  }
  void one(const std::map<std::string, std::string>& values) {
    for (const auto& [key, value] : values) add(key, value);
  }
  template <class... Kind>
  void one(const std::variant<Kind...>& value) {
    one(value.index());
    std::visit([&](const auto& kind) { one(kind); }, value);
  }

  void one(std::monostate) {}
  void one(const std::vector<std::int64_t>& numbers) {
    for (const auto number : numbers) one(number);
  }
  template <HasFields Settings>
  void one(const Settings& settings) {
    fields(settings, &FieldEffects::exchange);
    if constexpr (requires { replicas_of(settings); }) one(replicas_of(settings));
  }
  void one(const Lora& lora) {
    add(lora.rank, lora.targets, lora.quantised, lora.drops_inputs, lora.double_quant, lora.keeps_inputs);
  }
  void one(const BackgroundFlow& flow) {
    add(flow.from, flow.to, flow.rate, flow.load, flow.weight, flow.start, flow.end, flow.period);
  }
  void one(const Codec& codec) { add(codec.name, codec.ratio, codec.decompressed); }
  void one(const Column& column) { add(column.name, column.size, column.unpacked, column.codec); }
  void one(const Dataset& dataset) {
    add(dataset.name, dataset.sample_size, dataset.request, dataset.compressible, dataset.unpack,
        dataset.columns, dataset.row_group, dataset.cpu);
    fields(dataset, &FieldEffects::exchange);
  }
  void one(const StorageTier& tier) {
    add(tier.name, tier.burst);
    fields(tier, &FieldEffects::exchange);
  }
  void one(const Predicate& predicate) {
    add(predicate.selectivity, predicate.rows, predicate.false_positives);
  }
  void one(const Cache& cache) { add(cache.kind, cache.size, cache.policy, cache.tier); }

  Digest digest_;
};

/// Adds the settings that decide the kernels of a sample on a rank's GPU, and their shapes.
void add_kernels(Values& values, const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto fp8 = fp8_of(job);
  values.add(scenario.model.name, half_parameters(job), job.lora, fp8.has_value());
  if (fp8) values.add(fp8->by_transformer_engine, fp8->has_weights);
  values.fields(job, &FieldEffects::kernels).fields(job.layout, &FieldEffects::kernels);
}

}  // namespace

JobIdentity identity_of(const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto& input = job.input;
  Values kernels;
  add_kernels(kernels, scenario);
  Values launches;
  launches.add(scenario.model.name, facts_of(job.strategy).has_hooks).fields(job, &FieldEffects::launches);
  Values exchange;
  add_kernels(exchange, scenario);
  exchange.add(scenario.platform.name, job.optimizer, job.strategy, job.traffic, job.network)
      .fields(job, &FieldEffects::exchange)
      .fields(job.layout, &FieldEffects::exchange);
  exchange.add(input.prefetch, input.background_copy, input.background_start, input.pin_memory);
  for (const auto& [name, value] : job.nccl)
    if (is_modelled(name)) exchange.add(name, value);
  Values step;
  step.add(exchange.hex(), facts_of(job.strategy).gradients_are_views);
  Values samples;
  samples.add(scenario.platform.name, input.dataset, input.codec, input.codec_in, input.dedup,
              input.decode_on_gpu, input.columns, input.loader, input.hw_decoder_load, input.csv_parser);
  Values storage;
  storage.add(scenario.platform.name, tier_of_reads(input), input.shares_network, input.cache, input.columns,
              input.codec, input.codec_in, input.dedup, input.access, input.read_ahead, input.predicate);
  return {kernels.hex(), launches.hex(), exchange.hex(), step.hex(), samples.hex(), storage.hex()};
}

std::string identity_of_links(const Platform& platform, Transport transport) {
  Values values;
  const auto& gpu = platform.gpu_models.front();
  values.add(transport, gpu.compute_capability, gpu.architecture);  // rates of NCCL and RCCL follow them
  // If nodes are alike, the links of the first node are at the front.
  const auto count = platform.node_size.links > 0 ? platform.node_size.links : platform.links.size();
  const auto links = std::span{platform.links}.first(count);
  const bool has_nvlink = std::ranges::any_of(links, [](const Link& link) { return joins_gpus(link.kind); });
  for (const auto& link : links) {
    if (transport == Transport::p2p && has_nvlink && !joins_gpus(link.kind)) continue;
    values.add(link.kind, link.count, platform.device(link.from).kind, platform.device(link.to).kind);
    // All NVLinks of a generation have one rate; a measured rate does not make another link.
    if (!joins_gpus(link.kind)) values.add(link.latency, platform.resources[link.resource.index()].capacity);
  }
  if (transport == Transport::net && platform.network) {
    const auto& network = *platform.network;
    values.add(network.kind, network.gpudirect, network.message_latency, network.stream_rate,
               network.streams);
  }
  return values.hex();
}

}  // namespace gradway

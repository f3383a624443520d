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

namespace gradway {
namespace {

/// Digests values of any type, member by member. Values of different types in the same order differ.
class Values {
 public:
  std::string hex() const { return digest_.hex(); }

  template <class... Value>
  Values& add(const Value&... value) {
    (one(value), ...);
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

  void one(const Alone&) {}
  void one(const Ddp& it) {
    add(it.bucket_cap, it.comm_hook, it.powersgd_rank, it.zero_redundancy, it.parameters_as_bucket_view);
  }
  void one(const OneCollective& it) { add(it.kind, it.size, it.one_by_one); }
  void one(const Fsdp& it) {
    add(it.wrap.blocks, it.reshard, it.forward_prefetch, it.backward_prefetch, it.param_dtype,
        it.reduce_dtype, it.no_sync, it.replicate, it.cpu_offload, it.fp8_all_gather,
        it.separate_reduce_scatter_group, it.reduce_scatter_max_input_buffers);
  }
  void one(const Fsdp1& it) {
    add(it.wrap.blocks, it.sharding, it.forward_prefetch, it.backward_prefetch, it.limit_all_gathers,
        it.param_dtype, it.reduce_dtype, it.no_sync, it.replicate);
  }
  void one(const Zero& it) {
    add(it.stage, it.reduce_bucket_size, it.overlaps(), it.prefetch_bucket_size, it.max_live_parameters,
        it.max_reuse_distance, it.param_persistence_threshold, it.communication_dtype, it.grad_accum_dtype,
        it.reduce_scatter, it.synchronous_gathers, it.offload_optimizer);
  }
  void one(const DistributedOptimizer& it) {
    add(it.shards, it.overlap_grad_reduce, it.overlap_param_gather, it.bucket_size, it.grad_reduce_dtype,
        it.fp8_param_gather, it.tensor_owners, it.gradient_accumulation_fusion);
  }
  void one(const Lora& it) { add(it.rank, it.targets, it.quantised); }
  void one(const BackgroundFlow& it) { add(it.from, it.to, it.rate, it.load, it.weight); }
  void one(const Codec& it) { add(it.name, it.ratio, it.decompressed); }
  void one(const Column& it) { add(it.name, it.size, it.unpacked, it.codec); }
  void one(const Dataset& it) {
    add(it.name, it.samples, it.sample_size, it.spread, it.format, it.request, it.compressible, it.delivered,
        it.decode, it.transform, it.collate, it.unpack, it.columns, it.row_group, it.gpu_decode);
  }
  void one(const StorageTier::Burst& it) { add(it.credit, it.sustained); }
  void one(const StorageTier& it) {
    add(it.name, it.kind, it.read, it.per_node, it.per_connection, it.first_byte, it.first_byte_spread,
        it.requests_per_second, it.burst);
  }
  void one(const Cache& it) { add(it.kind, it.size, it.policy, it.tier); }

  Digest digest_;
};

/// The settings that decide which kernels a rank's GPU runs for a sample, and on which shapes.
void add_kernels(Values& values, const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto& layout = job.layout;
  const auto fp8 = fp8_of(job);
  values.add(scenario.model.name, job.precision, half_parameters(job), job.state_dtype, job.experts,
             job.attention, job.channels_last, job.compiled, job.compiled_loss, job.composed_norms,
             job.composed_rotary, job.recomputes_attention, job.recomputes, job.keeps_products,
             job.recompute_every, job.framework, job.lora);
  values.add(fp8.has_value());
  if (fp8) values.add(fp8->recipe, fp8->by_transformer_engine, fp8->has_weights);
  values.add(layout.tensor, layout.sequence, layout.overlap, layout.context, layout.context_method,
             layout.expert, layout.expert_tensor, layout.expert_imbalance, layout.expert_capacity_factor);
}

constexpr std::array outside{
    KeyOutsideIdentity{"schema", "the version of the format"},
    KeyOutsideIdentity{"source", "a text for people"},
    KeyOutsideIdentity{"based_on", "the keys that it brings count"},
    KeyOutsideIdentity{"anchor", "the measured step is named in the error of what rests on it"},
    KeyOutsideIdentity{"steps", "the same job, simulated for longer"},
    KeyOutsideIdentity{"job.zero_grad", "memory only"},
    KeyOutsideIdentity{"job.float_logits", "memory only"},
    KeyOutsideIdentity{"input.loader_workers", "what is not known is a core's, and the storage's"},
    KeyOutsideIdentity{"input.prefetch_factor", "what is not known is a core's, and the storage's"},
    KeyOutsideIdentity{"input.persistent_workers", "what is not known is a core's, and the storage's"},
    KeyOutsideIdentity{"input.worker_start", "a time that the user states"},
    KeyOutsideIdentity{"input.batch_overhead", "a time that the user states"},
    KeyOutsideIdentity{"input.batch_overhead_spread", "a time that the user states"},
    KeyOutsideIdentity{"input.storage_weight", "a share that the user states"},
    KeyOutsideIdentity{"input.sample_sizes", "the same samples, on average or drawn"},
    KeyOutsideIdentity{"input.epoch", "the same cache and storage, in another epoch"},
    KeyOutsideIdentity{"input.epoch_steps", "the same step, in an epoch that is simulated whole"},
    KeyOutsideIdentity{"strategy.static_graph", "what it saves is not predicted"},
    KeyOutsideIdentity{"strategy.workers", "workers of local_sgd take the same step"},
    KeyOutsideIdentity{"strategy.inner_steps", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.outer_optimizer", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.exchanged", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.top_k", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.fragments", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.overlap_steps", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.data", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.wan", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"strategy.clients", "a campaign's, its step is the same"},
    KeyOutsideIdentity{"campaign", "the whole training, of which this is the step"},
    KeyOutsideIdentity{"faster", "a what-if about the same hardware, whose unknowns stay the same"},
    KeyOutsideIdentity{"nccl.NCCL_NET_DISABLE_INTRA", "not modelled"},
    KeyOutsideIdentity{"nccl.NCCL_SHM_USE_CUDA_MEMCPY", "not modelled"},
    KeyOutsideIdentity{"nccl.NCCL_CROSS_NIC", "not modelled"},
    KeyOutsideIdentity{"nccl.NCCL_BUFFSIZE", "not modelled"},
    KeyOutsideIdentity{"nccl.NCCL_NTHREADS", "not modelled"},
};

}  // namespace

JobIdentity identity_of(const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto& layout = job.layout;
  const auto& input = job.input;
  Values kernels;
  add_kernels(kernels, scenario);
  Values launches;
  launches.add(scenario.model.name, job.framework, job.compiled, job.compiled_loss, job.launch_blocking,
               job.cuda_graphs, has_hooks(job.strategy));
  Values exchange;
  add_kernels(exchange, scenario);
  exchange.add(scenario.platform.name, job.gpus, job.batch_per_gpu, job.sequence, job.accumulate,
               job.optimizer, job.clip_grad_norm, job.launch_blocking, job.cuda_graphs, job.slow_gpu,
               layout.pipeline, layout.chunks, layout.schedule, job.strategy, job.traffic);
  if (layout.is_cut()) exchange.add(layout.order);  // else it says nothing, and is not echoed
  exchange.add(input.prefetch, input.background_copy, input.background_start, input.pin_memory);
  for (const auto& [name, value] : job.nccl)
    if (is_modelled(name)) exchange.add(name, value);
  const auto* ddp = std::get_if<Ddp>(&job.strategy);
  Values step;
  step.add(exchange.hex(), ddp != nullptr && ddp->gradient_as_bucket_view);
  Values samples;
  samples.add(scenario.platform.name, input.dataset, input.codec, input.decode_on_gpu, input.columns);
  Values storage;
  storage.add(scenario.platform.name, input.storage, input.shares_network, input.cache, input.columns,
              input.codec);
  return {kernels.hex(), launches.hex(), exchange.hex(), step.hex(), samples.hex(), storage.hex()};
}

std::string identity_of_links(const Platform& platform, Transport transport) {
  Values values;
  values.add(transport, platform.gpu_models.front().compute_capability);  // NCCL's rates follow it
  // Where nodes are alike, those of the first one stand at the front.
  const auto count = platform.node_size.links > 0 ? platform.node_size.links : platform.links.size();
  const auto links = std::span{platform.links}.first(count);
  const bool has_nvlink =
      std::ranges::any_of(links, [](const Link& link) { return link.kind == LinkKind::nvlink; });
  for (const auto& link : links) {
    if (transport == Transport::p2p && has_nvlink && link.kind != LinkKind::nvlink) continue;
    values.add(link.kind, link.count, platform.device(link.from).kind, platform.device(link.to).kind);
    // Of NVLinks a generation has one rate; what was measured of it somewhere is no other link.
    if (link.kind != LinkKind::nvlink)
      values.add(link.latency, platform.resources[link.resource.index()].capacity);
  }
  if (transport == Transport::net && platform.network) {
    const auto& network = *platform.network;
    values.add(network.kind, network.gpudirect, network.message_latency, network.stream_rate,
               network.streams);
  }
  return values.hex();
}

std::span<const KeyOutsideIdentity> keys_outside_identity() {
  return outside;
}

}  // namespace gradway

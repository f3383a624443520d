// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/what_ifs.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/campaign/local_sgd.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/plan/input/batch_cost.hpp"
#include "sim/platform/networks.hpp"
#include "sim/platform/with_network.hpp"
#include "sim/platform/with_speeds.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/value_text.hpp"
#include "sim/study/ask/values_to_try.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

constexpr int most_queue_pairs = 128;  // of NCCL_IB_QPS_PER_CONNECTION
constexpr int most_sockets = 64;       // of NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD
constexpr int most_threads = 16;
constexpr int times_as_many = 4;  // buffers, connections, queue pairs

/// "1e9", "2": as users type a factor.
std::string factor_text(double factor) {
  auto text = fmt::format("{}", factor);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  if (constexpr std::string_view billions = "000000000";
      text.size() > billions.size() && text.ends_with(billions))
    text.replace(text.size() - billions.size(), std::string::npos, "e9");
  return text;
}

/// "host memory and what NCCL copies through it (SHM) twice as fast"
std::string faster_in_words(HardwarePart part, const std::optional<ChannelLimit>& limit) {
  const auto copies =
      limit && limit->part == part && !limit->transport.empty()
          ? fmt::format(" and what NCCL copies {} it ({})",
                        part == HardwarePart::host_memory ? "through" : "over", limit->transport)
          : "";
  return fmt::format("{}{} twice as fast", in_words(part), copies);
}

bool is_possible(Job job, const Settings& set) {
  try {
    set_keys(job, set);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

/// The what-ifs of a job, one row each.
class WhatIfs {
 public:
  explicit WhatIfs(const Job& job) : job_{job} {}

  std::vector<WhatIf> list() { return std::move(list_); }

  void add_hardware(const Platform& platform, const std::vector<HardwarePart>& used,
                    const std::optional<ChannelLimit>& limit) {
    const auto faster = [&](std::string name, std::string words, const std::vector<HardwarePart>& parts,
                            double factor) {
      Settings set;
      for (const auto part : parts)
        set.emplace_back(fmt::format("faster.{}", key_of(part)),
                         factor_text(std::min(platform.speeds[part] * factor, largest_speed)));
      if (!set.empty()) list_.push_back({std::move(name), std::move(words), std::move(set)});
    };
    for (const auto part : used)
      faster(fmt::format("{}_2x", key_of(part)), faster_in_words(part, limit), {part}, 2);
    std::vector<HardwarePart> links, launches;
    for (const auto part : used)
      if (part == HardwarePart::cpu) {
        launches.push_back(part);
      } else if (part != HardwarePart::gpu) {
        links.push_back(part);
      }
    faster("infinite_links", "all links and host memory infinitely fast", links, practically_infinite);
    faster("no_launch_cost", "launches that cost the CPU nothing", launches, practically_infinite);
  }

  /// Settings of the strategy whose effect has words, at values that it does not have.
  void add_sharding(const Scenario& scenario) {
    std::visit([&](const auto& strategy) { add_settings(strategy, scenario); }, job_.strategy);
  }

  /// @param cores of a node; 0: unknown
  void add_loader(const Gpu& gpu, int ranks_per_node, int cores) {
    const auto& input = job_.input;
    const auto workers = [&](bool can_help, int count, const char* words) {
      add(can_help, fmt::format("loader_workers_{}", count), words,
          {{"input.loader_workers", fmt::to_string(count)}});
    };
    const bool is_pytorch = input.loader == LoaderKind::pytorch;
    const bool is_dali = input.loader == LoaderKind::dali;
    workers(is_pytorch, input.loader_workers + 1, "one more loader worker per rank");
    workers(is_pytorch && input.loader_workers > 1, 2 * input.loader_workers, "twice as many loader workers");
    workers(!is_pytorch && !input.tunes_threads, 2 * input.loader_workers,
            "twice as many threads of the loader");
    const bool gpu_can =
        is_dali ? input.dataset->pixels > 0 : is_pytorch && input.dataset->gpu_decode > Seconds{};
    add(!input.decode_on_gpu && gpu_can, "decode_gpu", "samples decoded on the GPU",
        {{"input.decode", "gpu"}});
    add(input.decode_on_gpu && !input.hw_decoder_load, "decode_cpu", "samples decoded on the CPU",
        {{"input.decode", "cpu"}});
    add(is_dali && input.decode_on_gpu && gpu.jpeg_decoder > 0 && hw_decoder_load_of(input, gpu) < 1,
        "hw_decoder_load_1", "all images decoded by the GPU's JPEG decoder",
        {{"input.hw_decoder_load", "1"}});
    // A node with fewer cores than processes runs them in turn.
    const auto processes = ranks_per_node * (input.loader_workers + 1);
    workers(is_pytorch && cores > 0 && input.loader_workers > 1 && processes > cores,
            std::max(1, cores / ranks_per_node - 1), "no more processes than CPU cores");
    add_reads();
    list_.push_back({"ready_samples", "samples ready in memory (a bound)", {{"input.dataset", ""}}, true});
  }

  /// Ways to read less, faster or earlier from storage.
  void add_storage(const std::optional<StorageTier>& drive, int ranks_per_node) {
    const auto& input = job_.input;
    if (!input.storage) return;
    // With as many requests in flight as workers have, and more while these decode.
    const auto streams = std::max(input.copy_streams, 2 * input.loader_workers * ranks_per_node);
    add(input.cache && !input.cache_prefetch && input.loader == LoaderKind::pytorch &&
            input.loader_workers > 0 && input.stage_in == StageIn::before,
        "cache_prefetch", "coming samples read into the cache of each node before workers ask for them",
        {{"input.cache_prefetch", "true"}, {"input.copy_streams", fmt::to_string(streams)}});
    add(!input.codec && input.dataset->compressible, "codec_zstd", "samples compressed with zstd",
        {{"input.codec", "zstd"}});
    if (!drive || cold_share(input) > 0 || input.storage->is_local() || input.storage->name.empty()) return;
    Settings set{{"input.storage", drive->name}};
    if (!input.staged_from) set.emplace_back("input.staged_from", input.storage->name);
    add(true, "staged_to_drives", fmt::format("the dataset staged to a drive of each node ({})", drive->name),
        std::move(set));
  }

  /// What the program does that makes ranks or the CPU wait, and how it issues its operations.
  void add_program(const Model& model, const Gpu& gpu) {
    const Job plain;
    add_operations(model, gpu);
    Settings no_reads{{"job.host_reads", "0"}};  // and the keys that need it
    if (job_.reduced_metrics > 0) no_reads.emplace_back("job.reduced_metrics", "0");
    if (job_.host_reads_after != plain.host_reads_after)
      no_reads.emplace_back("job.host_reads_after", name_of(plain.host_reads_after));
    if (job_.host_read_size != plain.host_read_size) no_reads.emplace_back("job.host_read_size", "4 B");
    add(job_.host_reads > 0, "no_host_reads", "no values read back from the GPU", std::move(no_reads));
    add(job_.sync_batch_norm, "local_batch_norm", "BatchNorm over each rank's own batch",
        {{"job.sync_batch_norm", "false"}});
    using enum TableSharding;
    const auto sharding = job_.layout.tables == table_wise ? row_wise : table_wise;
    add(!model.tables.empty() && job_.gpus > 1, fmt::format("tables_{}", name_of(sharding)),
        sharding == row_wise ? "embedding tables divided by rows" : "whole embedding tables on the ranks",
        {{"parallel.tables", std::string{name_of(sharding)}}});
    add(settings_or_defaults<Ddp>(job_.strategy).searches_each_step(), "static_graph",
        "a static graph, without the search for unused parameters", {{"strategy.static_graph", "true"}});
  }

  /// What could be done about lost packets, connections and buffers over a distance, and flows that switches
  /// hash to uplinks.
  void add_network(const Network& network) {
    const auto& conditions = network.conditions;
    const auto settings = nccl_settings(job_.nccl);
    const bool has_connections = facts_of(network.kind).has_connections;
    const bool loses = conditions.loss.value_or(0) > 0;
    add(loses, "no_loss", "a network that loses no packets", {{"network.loss", "0 %"}});
    add(loses && !has_connections && retransmission_of(network) == Retransmission::go_back_n,
        "selective_retransmission", "NICs that repeat lost packets alone",
        {{"network.retransmission", "selective"}});
    add(loses && has_connections && conditions.congestion.value_or(default_congestion) != Congestion::bbr &&
            *conditions.loss < most_loss(Congestion::bbr),
        "congestion_bbr", "bbr as the congestion control of the senders", {{"network.congestion", "bbr"}});
    if (conditions.round_trip.value_or(Seconds{}) > Seconds{}) {
      add(true, "larger_buffers", fmt::format("buffers of NCCL {} times as large", times_as_many),
          {{"nccl.NCCL_BUFFSIZE", fmt::format("{:.0f}", (settings.buffer * times_as_many).value())}});
      if (has_connections) add_connections(network, settings);
    }
    if (!(network.spread < 1)) return;
    Settings adaptive{{"network.routing", "adaptive"}};
    if (conditions.paths) adaptive.emplace_back("network.paths", "");  // a key of spraying alone
    add(true, "adaptive_routing", "switches that spread flows over their uplinks by load",
        std::move(adaptive));
    const auto queue_pairs = std::min(most_queue_pairs, settings.queue_pairs * times_as_many);
    add(queue_pairs > settings.queue_pairs, "more_queue_pairs",
        fmt::format("{} queue pairs per connection", queue_pairs),
        {{"nccl.NCCL_IB_QPS_PER_CONNECTION", fmt::to_string(queue_pairs)}});
  }

  /// What saves memory, with the samples of a step as they are.
  void add_savings(const Model& model) {
    add_recompute(model);
    add_loss(model);
    for (int parts = 2; parts <= job_.batch_per_gpu; parts *= 2)
      if (job_.batch_per_gpu % parts == 0) add_parts(parts);
    add_division(model);
    std::visit([&](const auto& strategy) { save_memory(strategy, model); }, job_.strategy);
  }

  void add_exchanges(const LocalSgd& local, const WanSettings& wan) {
    add(true, "inner_steps_2x", "twice as many inner steps",
        {{"strategy.inner_steps", fmt::to_string(local.inner_steps * 2)}});
    add(exchanged_bytes[static_cast<std::size_t>(local.exchanged)] > 1, "exchanged_int8",
        "updates sent in int8", {{"strategy.exchanged", "int8"}});
    const auto most = local.inner_steps / local.fragments;
    add(local.overlap_steps < most, "overlap_steps_most",
        "exchanges overlapped by all inner steps until the next exchange",
        {{"strategy.overlap_steps", fmt::to_string(most)}});
    add(true, "wan_2x", "links between workers twice as fast",
        {{"strategy.wan.rate", fmt::format("{} B/s", wan.rate.value() * 2)}});
    add(wan.window || wan.loss > 0, "streams_2x", "twice as many TCP connections",
        {{"strategy.wan.streams", fmt::to_string(wan.streams * 2)}});
    const bool slows_down = wan.congestion == Congestion::reno || wan.congestion == Congestion::cubic;
    add(slows_down && wan.loss > 0 && wan.loss < most_loss(Congestion::bbr), "congestion_bbr",
        "bbr as the congestion control of the senders", {{"strategy.wan.congestion", "bbr"}});
  }

 private:
  void add(bool can_help, std::string name, std::string words, Settings set) {
    if (can_help && is_possible(job_, set))
      list_.push_back({std::move(name), std::move(words), std::move(set)});
  }

  void add_setting(bool can_help, const char* key, const std::string& value, std::string words) {
    const std::string_view name{key};
    auto what_if = fmt::format("{}_{}", name.substr(name.find('.') + 1), value);
    std::ranges::replace(what_if, ' ', '_');
    add(can_help, std::move(what_if), std::move(words), {{key, value}});
  }

  void add_settings(const auto&, const Scenario&) {}

  void add_settings(const Ddp& ddp, const Scenario&) {
    if (job_.gpus == 1) return;
    constexpr auto large_buckets = 100_MiB;
    add_setting(ddp.comm_hook == CommHook::none && !has_half_states(job_), "strategy.comm_hook", "bf16",
                "gradients rounded to bf16 before they are sent");
    add_setting(!ddp.bucket_cap || *ddp.bucket_cap < large_buckets, "strategy.bucket_cap", "100 MiB",
                "gradient buckets of 100 MiB");
    add_setting(!ddp.gradient_as_bucket_view, "strategy.gradient_as_bucket_view", "true",
                "gradients as views into the buckets");
  }
  void add_settings(const Fsdp& fsdp, const Scenario& scenario) {
    const bool is_kept = fsdp.reshard == Fsdp::kept;
    add_wraps(fsdp.wrap, scenario);
    add_setting(is_kept, "strategy.reshard_after_forward", "true", "parameters freed after the forward pass");
    add_setting(!is_kept, "strategy.reshard_after_forward", "false", kept_parameters);
    add_setting(fsdp.forward_prefetch == 0 && !fsdp.megatron_fsdp, "strategy.forward_prefetch", "1",
                early_gather);
    add_replicas(fsdp.replicate, scenario);
    add_ddp(fsdp.cpu_offload);
  }
  void add_settings(const Fsdp1& fsdp, const Scenario& scenario) {
    const bool is_full = fsdp.sharding == Fsdp1::Sharding::full_shard;
    add_wraps(fsdp.wrap, scenario);
    add_setting(is_full, "strategy.sharding_strategy", "shard_grad_op", kept_parameters);
    add_setting(!fsdp.forward_prefetch, "strategy.forward_prefetch", "true", early_gather);
    add_replicas(fsdp.replicate, scenario);
    add_ddp(false);
  }
  void add_settings(const Zero& zero, const Scenario&) {
    for (int stage = 1; stage < zero.stage && !zero.offload_param; ++stage)
      add_setting(true, "strategy.stage", fmt::to_string(stage), fmt::format("ZeRO stage {}", stage));
    add_setting(!zero.overlaps(), "strategy.overlap_comm", "true", early_reductions);
  }
  void add_settings(const DistributedOptimizer& optimizer, const Scenario&) {
    const bool overlaps = optimizer.overlap_grad_reduce;
    add_setting(!overlaps, "strategy.overlap_grad_reduce", "true", early_reductions);
    add_setting(overlaps && !optimizer.overlap_param_gather, "strategy.overlap_param_gather", "true",
                "all-gathers during the next forward pass");
  }

  /// Whole parameters on each GPU, if nothing else divides them.
  void add_ddp(bool offloads) {
    add(!offloads && job_.gpus > 1 && job_.layout.model_parallel_ranks() == 1 &&
            job_.cuda_graphs == CudaGraphs::none && !half_parameters(job_),
        "ddp", "DDP instead of sharding", {{"strategy.kind", "ddp"}});
  }

  /// Twice and four times as many blocks together.
  void add_wraps(const Wrap& wrap, const Scenario& scenario) {
    const auto values = values_to_try(scenario, "strategy.wrap");
    for (const int times : {2, 4}) {
      const auto text = value_text(value::Wrapping{}, std::int64_t{times} * wrap.blocks);
      const bool is_tried = std::ranges::find(values, text) != values.end();
      add_setting(wrap.blocks > 0 && is_tried, "strategy.wrap", text, text + " a group");
    }
  }

  void add_replicas(int replicate, const Scenario& scenario) {
    const auto nodes = node_count(scenario.platform, job_.gpus);
    add_setting(replicate == 1 && nodes > 1 && nodes < job_.gpus && job_.gpus % nodes == 0,
                "parallel.replicate", fmt::to_string(nodes),
                "sharded within each node, replicated over the nodes");
  }

  static constexpr auto kept_parameters = "parameters kept after the forward pass";
  static constexpr auto early_gather =
      "the all-gather of the next group launched before the kernels of this one";
  static constexpr auto early_reductions = "reductions during the backward pass";

  /// What PyTorch issues for an architecture.
  void add_operations(const Model& model, const Gpu& gpu) {
    if (!model.run || model.captured || model.profile || !trains(job_.strategy)) return;
    const bool offloads = facts_of(job_.strategy).offloads;
    const bool is_eager = !job_.compiled && !has_megatron_modules(job_) && !offloads;
    add(is_eager && model.tables.empty() && !job_.sync_batch_norm &&
            job_.experts == ExpertProducts::grouped && job_.cuda_graphs == CudaGraphs::none,
        "compile", "torch.compile", {{"job.compile", "true"}});
    add(job_.attention == AttentionKernel::composed, "fused_attention",
        "attention in one kernel (scaled_dot_product_attention)", {{"job.attention", "auto"}});
    add(job_.precision == Precision::fp32 && gpu.peak[static_cast<std::size_t>(Precision::tf32)].has_value(),
        "tf32", "matrix products in TF32", {{"job.precision", "tf32"}});
    add(job_.optimizer == Optimizer::adamw && !offloads, "fused_optimizer", "AdamW in fused kernels",
        {{"optimizer", "adamw_fused"}});
  }

  /// Blocks recomputed in the backward pass.
  void add_recompute(const Model& model) {
    if (model.profile || blocks_of(model).count == 0) return;
    const Settings full{{"job.recompute", "full"}};
    const bool is_full = job_.recompute == Recompute::full;
    if (job_.recompute == Recompute::none && model.causal_heads > 0) {
      const bool is_megatron = has_megatron_modules(job_);
      add(true, "recompute_op",
          is_megatron ? "the core of attention recomputed"
                      : "blocks recomputed except for attention and every second product",
          {{"job.recompute", is_megatron ? "selective" : "selective_op"}});
    }
    add(!is_full, "recompute", "blocks recomputed", full);
    add(is_full && job_.recompute_every > 1, "recompute", "all blocks recomputed",
        {{"job.recompute_every", "1"}});
    if (!model.run || job_.recompute_offload || job_.cuda_graphs != CudaGraphs::none) return;
    auto offload = is_full ? Settings{} : full;
    offload.emplace_back("job.recompute_offload", "true");
    add(true, "recompute_offload", "blocks recomputed from inputs in host memory", std::move(offload));
  }

  void add_loss(const Model& model) {
    constexpr int default_chunk = 256;
    const bool has_logits = model.causal_heads > 0 && model.run && !model.captured;
    const auto tokens = job_.sequence > 0 ? job_.sequence : model.tokens_per_sample;
    if (!has_logits || job_.loss_chunk > 0 || job_.layout.tensor > 1 || has_megatron_modules(job_) ||
        tokens / job_.layout.context <= default_chunk)
      return;
    add(true, "loss_chunk", fmt::format("the loss in chunks of {} tokens", default_chunk),
        {{"job.loss_chunk", fmt::to_string(default_chunk)}});
  }

  void add_parts(int parts) {
    const auto batch = job_.batch_per_gpu / parts;
    const auto micro_batches = job_.accumulate * parts;
    add(true, "accumulate", fmt::format("{} micro-batches of {} a GPU", micro_batches, batch),
        {{"job.batch_per_gpu", fmt::to_string(batch)}, {"job.accumulate", fmt::to_string(micro_batches)}});
  }

  /// Samples divided among more ranks.
  void add_division(const Model& model) {
    const auto& layout = job_.layout;
    const bool is_async = layout.overlap != TensorOverlap::none;  // as Megatron's sequence parallelism is
    add(layout.tensor > 1 && !layout.sequence && is_async, "sequence_parallel",
        "tokens divided among tensor-parallel ranks between products", {{"parallel.sequence", "true"}});
    if (model.causal_heads == 0 || model.captured || layout.context_method != ContextMethod::ring ||
        replicas_of(job_.strategy) > 1)
      return;
    const auto slices = 2 * layout.context;
    const auto tokens = job_.sequence > 0 ? job_.sequence : model.tokens_per_sample;
    const auto replicas = job_.gpus / layout.model_parallel_ranks();
    for (int ranks = 2; replicas % ranks == 0 && tokens % (slices * ranks) == 0; ranks *= 2)
      add(true, "context_parallel", fmt::format("sequences divided among {} ranks", layout.context * ranks),
          {{"parallel.context", fmt::to_string(layout.context * ranks)},
           {"job.accumulate", fmt::to_string(job_.accumulate * ranks)}});
  }

  void save_memory(const auto&, const Model&) {}

  void save_memory(const Fsdp& fsdp, const Model&) {
    add(!fsdp.cpu_offload && !fsdp.megatron_fsdp, "cpu_offload",
        "parameters, gradients and states in host memory", {{"strategy.cpu_offload", "true"}});
  }

  void save_memory(const Ddp& ddp, const Model& model) {
    add(!ddp.gradient_as_bucket_view, "bucket_view", "gradients as views into DDP's buckets",
        {{"strategy.gradient_as_bucket_view", "true"}});
    if (job_.gpus == 1 || job_.layout.model_parallel_ranks() > 1 || !model.tables.empty() || job_.local_sgd ||
        job_.cuda_graphs != CudaGraphs::none)
      return;
    Settings sharded{{"strategy.kind", "fsdp"}};
    if (is_half(job_.precision) && !half_parameters(job_))
      sharded.emplace_back("strategy.param_dtype", name_of(job_.precision));
    add(true, "fsdp", "FSDP2 instead of DDP", sharded);
    sharded.emplace_back("strategy.cpu_offload", "true");
    add(true, "fsdp_offload", "FSDP2 with parameters, gradients and states in host memory",
        std::move(sharded));
  }

  void save_memory(const Zero& zero, const Model&) {
    constexpr int most_sharded = 3;
    for (int stage = zero.stage + 1; stage <= most_sharded; ++stage)
      add(true, fmt::format("zero_{}", stage), fmt::format("ZeRO stage {}", stage),
          {{"strategy.stage", fmt::to_string(stage)}});
    add(!zero.offload_optimizer, "offload_optimizer", "optimizer states in host memory",
        {{"strategy.offload_optimizer", "true"}});
    add(zero.offload_optimizer && !zero.offload_param && zero.stage == most_sharded, "offload_param",
        "parameters in host memory", {{"strategy.offload_param", "true"}});
  }

  void add_reads() {
    const auto& input = job_.input;
    const auto format = input.dataset->format;
    add(format == SampleFormat::csv && input.csv_parser != CsvParser::pyarrow, "csv_parser_pyarrow",
        "lines parsed by PyArrow", {{"input.csv_parser", "pyarrow"}});
    const bool jumps = format == SampleFormat::mapped && input.access == AccessOrder::random;
    Settings in_order{{"input.access", "sequential"}};
    // Single pages in the order of the file would wait as often.
    if (input.read_ahead == 0_B) in_order.emplace_back("input.read_ahead", "128 KiB");
    add(jumps, "access_sequential", "samples accessed in the order of the file", std::move(in_order));
    add(jumps && input.read_ahead > 0_B, "read_ahead_0", "page faults that read one page each (MADV_RANDOM)",
        {{"input.read_ahead", "0 B"}});
    if (!input.predicate) return;
    add(input.predicate->rows == MatchingRows::random, "predicate_rows_clustered",
        "a file sorted by the column of the predicate", {{"input.predicate.rows", "clustered"}});
    add(input.predicate->false_positives > 0, "predicate_false_positives_0",
        "statistics that exclude each row group without a matching row",
        {{"input.predicate.false_positives", "0"}});
  }

  void add_connections(const Network& network, const NcclSettings& settings) {
    const auto connections =
        settings.socket_threads || settings.sockets_per_thread
            ? settings.socket_threads.value_or(1) * settings.sockets_per_thread.value_or(1)
            : network.streams;
    const auto sockets = std::min(most_sockets, connections * times_as_many);
    auto threads = std::min(most_threads, sockets);
    while (sockets % threads != 0) --threads;
    add(sockets != connections, "more_connections",
        fmt::format("{} TCP connections per channel of NCCL", sockets),
        {{"nccl.NCCL_NSOCKS_PERTHREAD", fmt::to_string(sockets / threads)},
         {"nccl.NCCL_SOCKET_NTHREADS", fmt::to_string(threads)}});
  }

  const Job& job_;
  std::vector<WhatIf> list_;
};

/// Parts that the job itself uses, without those of a neighbour's traffic.
std::vector<HardwarePart> used_parts(const Run& run) {
  std::array<bool, all_parts.size()> is_used{};
  const auto parts = parts_of_resources(run.scenario.platform);
  for (const auto& op : run.ops.ops()) {
    if (op.origin.activity == Activity::launch && op.latency > Seconds{})
      is_used[static_cast<std::size_t>(HardwarePart::cpu)] = true;
    if (op.kind != OpKind::flow || op.is_endless() || op.amount == 0) continue;
    for (const auto resource : run.ops.path(op.path))
      is_used[static_cast<std::size_t>(parts[resource.index()])] = true;
  }
  std::vector<HardwarePart> used;
  for (const auto part : all_parts)
    if (is_used[static_cast<std::size_t>(part)]) used.push_back(part);
  return used;
}

}  // namespace

std::vector<WhatIf> what_ifs(const Run& run, const std::optional<ChannelLimit>& limit,
                             const std::optional<StorageTier>& drive) {
  const auto& [job, platform] = std::tie(run.scenario.job, run.scenario.platform);
  WhatIfs rows{job};
  rows.add_hardware(platform, used_parts(run), limit);
  rows.add_sharding(run.scenario);
  if (job.input.dataset) {
    const auto ranks_per_node =
        std::min(job.gpus, std::max(1, static_cast<int>(platform.gpus.size()) / platform.nodes));
    rows.add_loader(platform.gpu_models.front(), ranks_per_node, platform.cores_per_node);
    rows.add_storage(drive, ranks_per_node);
  }
  rows.add_program(run.scenario.model, platform.gpu_models.front());
  if (platform.network && platform.collectives != CollectiveRules::ideal && platform.nodes > 1)
    rows.add_network(*platform.network);
  return rows.list();
}

std::vector<WhatIf> memory_what_ifs(const Scenario& scenario) {
  WhatIfs rows{scenario.job};
  rows.add_savings(scenario.model);
  return rows.list();
}

std::vector<WhatIf> exchange_what_ifs(const Job& job) {
  WhatIfs rows{job};
  rows.add_exchanges(*job.local_sgd, *job.local_sgd->wan);
  return rows.list();
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/report/format/text.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::report {
namespace {

template <class Enum, std::size_t Size>
std::string_view look_up(const std::array<std::string_view, Size>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  expects(index < Size, "a value of an enum has a name");
  return names[index];
}

// In the order of the enums.
constexpr std::array<std::string_view, 5> provenance_words{"measured", "anchored", "kernels", "moved",
                                                           "datasheet"};
constexpr std::array<std::string_view, 5> phases{"input", "forward", "backward", "communication",
                                                 "optimizer"};
constexpr std::array<std::string_view, 4> overlaps{" without overlap", "", " overlapped with products",
                                                   " asynchronously"};
constexpr std::array<std::string_view, 6> link_kinds{"pcie",    "nvlink", "inter-socket",
                                                     "network", "xgmi",   "c2c"};
constexpr std::array<std::string_view, 7> device_kinds{"GPU",      "socket", "root complex", "PCIe switch",
                                                       "NVSwitch", "NIC",    "fabric switch"};

constexpr double certain_enough = 0.95;  // probability above which no percentage is shown
constexpr std::size_t max_named_choices = 4;
constexpr double smallest_shown_difference = 5e-4;  // a smaller share would read 0.0 %

/// The keys that differ from their defaults, except for those in `described`.
std::string other_keys(const Record& settings, std::initializer_list<std::string_view> described) {
  std::string words;
  for (const auto& field : settings.fields()) {
    const bool is_described = std::ranges::find(described, field.key) != described.end();
    if (is_described || field.is_custom || settings.has_default(field) || !settings.counts(field)) continue;
    const auto text = value_text(field.kind, settings.value(field));
    words += text == "true" ? fmt::format(", {}", field.key) : fmt::format(", {} {}", field.key, text);
  }
  return words;
}

std::string words_of(const NoExchange&) {
  return "none: ranks do not exchange gradients";
}

std::string words_of(const OneCollective& call) {
  return fmt::format("{} of {}{}", gradway::name_of(call.kind), exact_bytes_text(call.size),
                     call.one_by_one ? ", each call issued by PyTorch and awaited" : "");
}

std::string words_of(const Ddp& ddp) {
  std::string words = "DDP, ";
  words += ddp.bucket_cap ? fmt::format("buckets of {}", exact_bytes_text(*ddp.bucket_cap))
                          : "PyTorch's default buckets (1 MiB, then 25 MiB)";
  if (ddp.comm_hook == CommHook::powersgd) {
    words += fmt::format(", powersgd hook of rank {}", ddp.powersgd_rank);
  } else if (ddp.comm_hook != CommHook::none) {
    words += fmt::format(", {} hook", gradway::name_of(ddp.comm_hook));
  }
  if (ddp.gradient_as_bucket_view) words += ", gradients as bucket views";
  if (ddp.static_graph) words += ", static graph";
  if (ddp.zero_redundancy) words += ", ZeroRedundancyOptimizer";
  return words + other_keys(ddp, {"bucket_cap", "comm_hook", "powersgd_rank", "gradient_as_bucket_view",
                                  "static_graph", "zero_redundancy"});
}

std::string words_of(const Wrap& wrap) {
  if (wrap.blocks == 0) return "the whole model as one FSDP unit";
  return wrap.blocks == 1 ? "one block per FSDP unit" : fmt::format("{} blocks per FSDP unit", wrap.blocks);
}

template <class Sharded>
std::string formats_of(const Sharded& fsdp) {
  std::string words;
  if (fsdp.param_dtype) words += fmt::format(", parameters in {}", gradway::name_of(*fsdp.param_dtype));
  if (fsdp.reduce_dtype) words += fmt::format(", reduced in {}", gradway::name_of(*fsdp.reduce_dtype));
  if (fsdp.no_sync) words += ", reduced in the last micro-step only";
  if (fsdp.replicate > 1) words += fmt::format(", {} replicas", fsdp.replicate);
  if (fsdp.init_on_gpu) words += ", sharded from whole models on GPUs";
  if (fsdp.state_dict == StateDict::full_on_cpu) words += ", whole checkpoints through the CPU";
  if (fsdp.state_dict == StateDict::full_on_gpu) words += ", whole checkpoints on GPUs";
  return words;
}

std::string words_of(const Fsdp& fsdp) {
  auto words = fmt::format("{}, {}", fsdp.megatron_fsdp ? "Megatron-FSDP" : "FSDP2", words_of(fsdp.wrap));
  if (fsdp.reshard && *fsdp.reshard == Fsdp::over_all) words += ", all resharded after forward";
  if (fsdp.reshard && *fsdp.reshard == Fsdp::kept) words += ", kept after forward";
  if (fsdp.reshard && *fsdp.reshard > Fsdp::kept)
    words += fmt::format(", resharded over {} ranks after forward", *fsdp.reshard);
  if (fsdp.forward_prefetch > 0)
    words += fmt::format(", forward prefetch of {} units", fsdp.forward_prefetch);
  if (fsdp.backward_prefetch > 0)
    words += fmt::format(", backward prefetch of {} units", fsdp.backward_prefetch);
  if (fsdp.cpu_offload) words += ", offloaded to the CPU";
  return words + formats_of(fsdp) +
         other_keys(fsdp,
                    {"wrap", "reshard_after_forward", "forward_prefetch", "backward_prefetch", "cpu_offload",
                     "param_dtype", "reduce_dtype", "no_sync", "init_on_gpu", "state_dict"});
}

std::string words_of(const Fsdp1& fsdp) {
  auto words = fmt::format("FSDP1, {}, {}", gradway::name_of(fsdp.sharding), words_of(fsdp.wrap));
  if (fsdp.forward_prefetch) words += ", forward prefetch";
  if (fsdp.backward_prefetch != Fsdp1::Prefetch::pre)
    words += fmt::format(", backward prefetch {}", gradway::name_of(fsdp.backward_prefetch));
  if (!fsdp.limit_all_gathers) words += ", all-gathers not limited";
  return words + formats_of(fsdp);
}

std::string words_of(const Zero& zero) {
  auto words =
      fmt::format("DeepSpeed's ZeRO stage {}, {}overlapped", zero.stage, zero.overlaps() ? "" : "not ");
  words += fmt::format(", buckets of {:.6g} elements", zero.reduce_bucket_size);
  if (zero.communication_dtype)
    words += fmt::format(", reduced in {}", gradway::name_of(*zero.communication_dtype));
  if (zero.adds_in_fp32()) words += ", added up in fp32";
  if (!zero.reduce_scatter) words += ", all-reduced";
  if (zero.offload_optimizer) words += ", states offloaded to the CPU";
  if (zero.offload_param) words += ", parameters in host memory";
  return words +
         other_keys(zero, {"stage", "overlap_comm", "reduce_bucket_size", "communication_dtype",
                           "grad_accum_dtype", "reduce_scatter", "offload_optimizer", "offload_param"});
}

std::string words_of(const DistributedOptimizer& optimizer) {
  const auto owners = optimizer.tensor_owners ? fmt::format("InternLM's ZeRO-1, whole tensors over {} ranks",
                                                            *optimizer.tensor_owners)
                                              : std::string{};
  return fmt::format(
             "{}, gradients reduced in {}{}{}{}{}",
             !owners.empty()    ? owners.c_str()
             : optimizer.shards ? "Megatron's distributed optimizer"
                                : "Megatron's data parallelism",
             gradway::name_of(optimizer.grad_reduce_dtype),
             optimizer.overlap_grad_reduce ? ", overlapped" : " after the backward pass",
             optimizer.overlap_param_gather ? ", parameters gathered in the forward pass" : "",
             optimizer.bucket_size ? fmt::format(", buckets of {:.6g} elements", *optimizer.bucket_size) : "",
             optimizer.gradient_accumulation_fusion ? "" : ", gradients accumulated by separate kernels") +
         other_keys(optimizer,
                    {"shard_optimizer", "grad_reduce_dtype", "overlap_grad_reduce", "overlap_param_gather",
                     "bucket_size", "tensor_owners", "gradient_accumulation_fusion"});
}

bool is_replicated(const Job& job) {
  return is_ddp(job.strategy) && job.data_parallel() > 1;
}

}  // namespace

std::string_view name_of(ProvenanceClass evidence) {
  return look_up(provenance_words, evidence);
}
std::string_view name_of(Phase phase) {
  return look_up(phases, phase);
}
std::string_view name_of(LinkKind kind) {
  return look_up(link_kinds, kind);
}
std::string_view name_of(DeviceKind kind) {
  return look_up(device_kinds, kind);
}

std::string describe(const Strategy& strategy) {
  return std::visit([](const auto& settings) { return words_of(settings); }, strategy);
}

std::string describe(const Layout& layout, const Job& job) {
  std::vector<std::string> clauses;
  if (layout.tensor > 1)
    clauses.push_back(fmt::format("tensor {}{}{}", layout.tensor,
                                  layout.sequence ? " with sequence parallelism" : "",
                                  look_up(overlaps, layout.overlap)));
  if (layout.context > 1)
    clauses.push_back(fmt::format("context {} ({})", layout.context, name_of(layout.context_method)));
  if (layout.pipeline > 1) {
    const auto chunks = layout.chunks > 1 ? fmt::format(" x {} chunks", layout.chunks) : "";
    clauses.push_back(fmt::format("pipeline {}{} ({})", layout.pipeline, chunks, name_of(layout.schedule)));
  }
  clauses.push_back(fmt::format("data {}", job.data_parallel()));
  if (layout.expert * layout.expert_tensor > 1)
    clauses.push_back(fmt::format(
        "experts over {} ranks{}", layout.expert,
        layout.expert_tensor > 1 ? fmt::format(", each over {} ranks", layout.expert_tensor) : ""));
  if (!layout.expert_rows.empty())
    clauses.push_back(fmt::format("the busiest rank of experts with {:.4g} times the average rows",
                                  std::ranges::max(expert_imbalances(layout, 0))));
  const auto other_settings =
      other_keys(layout, {"tensor", "sequence", "overlap", "context", "context_method", "pipeline", "virtual",
                          "schedule", "expert", "expert_tensor", "expert_rows"});
  return fmt::format("{}{}, communication as in {}", fmt::join(clauses, ", "), other_settings,
                     name_of(job.framework));
}

std::string describe_briefly(const Job& job) {
  constexpr std::array<std::string_view, 4> recompute_marks{"", " selective", " op",
                                                            " full"};  // of Recompute
  const auto& layout = job.layout;
  auto words = fmt::format("t{}{} p{}", layout.tensor, layout.tensor > 1 && !layout.sequence ? "-" : "",
                           layout.pipeline);
  if (layout.chunks > 1) words += fmt::format("x{}", layout.chunks);
  if (layout.context > 1) words += fmt::format(" c{}", layout.context);
  if (layout.expert > 1) words += fmt::format(" e{}", layout.expert);
  words += fmt::format(" d{} mb{}", job.data_parallel(), job.batch_per_gpu);
  const bool usual = layout.schedule == Schedule::one_f_one_b || layout.schedule == Schedule::interleaved;
  if (!usual) words += fmt::format(" {}", name_of(layout.schedule));
  words += recompute_marks[static_cast<std::size_t>(job.recompute)];
  if (const auto replicas = replicas_of(job.strategy); replicas > 1) words += fmt::format(" r{}", replicas);
  if (is_replicated(job)) words += " ddp";
  return words;
}

std::string layout_letters(const std::vector<const Job*>& jobs) {
  const auto any = [&](const auto& has) {
    return std::ranges::any_of(jobs, [&](const Job* job) { return has(*job); });
  };
  std::vector<std::string_view> letters{"t: tensor ranks"};
  if (any([](const Job& job) { return job.framework == Framework::megatron; }))
    letters.front() = "t: tensor ranks (-: without sequence parallelism)";
  letters.emplace_back("p: stages x chunks");
  if (any([](const Job& job) { return job.layout.context > 1; })) letters.emplace_back("c: context ranks");
  if (any([](const Job& job) { return job.layout.expert > 1; })) letters.emplace_back("e: expert ranks");
  letters.emplace_back("d: data-parallel ranks");
  letters.emplace_back("mb: micro-batch");
  if (any([](const Job& job) { return job.recompute == Recompute::full; }))
    letters.emplace_back("full: blocks recomputed");
  if (any([](const Job& job) { return job.recompute == Recompute::selective_op; }))
    letters.emplace_back("op: recomputed, except for attention and every second product");
  if (any([](const Job& job) { return replicas_of(job.strategy) > 1; })) letters.emplace_back("r: replicas");
  if (any(is_replicated)) letters.emplace_back("ddp: the whole model on each GPU");
  return fmt::format("{}", fmt::join(letters, "; "));
}

std::string describe(std::string_view model, const Job& job) {
  return fmt::format("{}, batch {} per GPU, {}, {}", model, job.batch_per_gpu, name_of(job.precision),
                     describe(job.strategy));
}

std::string probability_text(double probability) {
  return fmt::format("{} %", std::clamp(std::lround(probability * 100), 1L, 99L));
}

std::string mark_of(const Leaders& leaders, std::size_t choice, std::string_view winner) {
  const auto& probability = leaders.probability_first_leads[choice];
  if (!leaders.has(choice))
    return probability && *probability < certain_enough ? probability_text(*probability) : "";
  if (!leaders.tied()) return std::string{winner};
  return *probability == 0.5 ? "tied" : fmt::format("tied, {}", probability_text(*probability));
}

std::string tie_in_words(const Leaders& leaders, const std::vector<std::string>& names,
                         std::string_view better) {
  expects(leaders.tied(), "several are tied");
  const auto rivals = leaders.which.size() - 1;
  const auto named = rivals > max_named_choices ? max_named_choices - 1 : rivals;
  std::vector<std::string> list;
  for (std::size_t i = 1; i <= named; ++i) list.push_back(names[leaders.which[i]]);
  if (named < rivals) list.push_back(fmt::format("{} others", rivals - named));
  std::string with = list.front();
  for (std::size_t i = 1; i < list.size(); ++i) with += (i + 1 < list.size() ? "; " : " and ") + list[i];
  if (leaders.difference == 0) return fmt::format("tied with {}: no difference is predicted", with);
  const auto percent = leaders.difference < smallest_shown_difference ? std::string{"less than 0.1 %"}
                                                                      : percent_text(leaders.difference);
  double most = 0;
  for (const auto i : leaders.which) most = std::max(most, *leaders.probability_first_leads[i]);
  const auto probability = probability_text(most);
  return rivals == 1 ? fmt::format(
                           "tied with {}: the difference of {} is within the prediction error; the first is "
                           "{} with a probability of {}",
                           with, percent, better, probability)
                     : fmt::format(
                           "tied with {}: differences of up to {} are within the prediction error; the first "
                           "is {} than each with a probability of up to {}",
                           with, percent, better, probability);
}

std::string hardware_in_words(const Platform& platform, int gpus) {
  return fmt::format("{} x {} on {}", gpus, platform.gpu_models.front().name,
                     counted_text(node_count(platform, gpus), "node"));
}

}  // namespace gradway::report

// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/errors.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway {
namespace {

/// What is left of a doubt when so much of it is told by itself.
double rest_of(double doubt, double told) {
  const auto square = [](double x) { return x * x; };
  return std::expm1(std::sqrt(std::max(0.0, square(std::log1p(doubt)) - square(std::log1p(told)))));
}

/// The measured step that a prediction of compute rests on, if there is one.
struct Reference {
  std::string text;
  int batch = 0;
  Optimizer optimizer = Optimizer::sgd;
};

std::optional<Reference> reference_of(const Scenario& scenario, const ComputeCosts& costs) {
  if (costs.profile) {
    const auto& profile = *scenario.model.profile;
    const auto moved = costs.profile->moved == Moved::anchor ? ", moved to meet an anchor" : "";
    return Reference{fmt::format("a profile on {}{}", profile.gpu, moved), profile.batch, profile.optimizer};
  }
  if (!costs.anchor) return std::nullopt;
  const auto& anchor = *costs.anchor;
  return Reference{
      fmt::format("a step of {:.6g} ms at batch {}", anchor.step_time.value() * 1e3, anchor.batch),
      anchor.batch, anchor.optimizer};
}

// What differs from setting to setting of a job, so that no measurement of another setting tells; from
// scenarios/h200-4x/cases.yaml, with what the same pairs of other-models.yaml give, which had no part in it.
// Compute: nine of ten ratios of two steps on one GPU are within 0.65 % (102 pairs; 1.2 %), as are those of
// settings that only differ in views (0.56 % of 11; 0.66 % of 12): 0.5 % each. With other buckets, ranks or
// transports beside the kernels within 2.3 % (115 pairs over NVLink without lossy hooks; 1.75 %): 1.6 % each.
// Collectives: the exposed communication of the g6e's other bucket sizes (0012-intervals.md).
constexpr double own_doubt_of_kernels = 0.005;
constexpr double own_doubt_beside_collectives = 0.016;
constexpr double own_doubt_of_collectives = 0.045;

/// The settings of a strategy that decide what its collectives do, and when.
struct SettingsInWords {
  std::string operator()(const Alone&) const { return {}; }
  std::string operator()(const Ddp& ddp) const {
    return fmt::format(", buckets of {:.17g} B, hook {} of rank {}{}", ddp.bucket_cap.value_or(0_B).value(),
                       name_of(ddp.comm_hook), ddp.powersgd_rank,
                       !ddp.zero_redundancy            ? ""
                       : ddp.parameters_as_bucket_view ? ", optimizer split, views"
                                                       : ", optimizer split");
  }
  std::string operator()(const OneCollective& call) const {
    return fmt::format(" {} of {:.17g} B", name_of(call.kind), call.size.value());
  }
  std::string operator()(const Fsdp& fsdp) const {
    return fmt::format("{}, resharded {}, ahead {} and {}, offloaded {}", of_both(fsdp),
                       fsdp.reshard.value_or(-1), fsdp.forward_prefetch, fsdp.backward_prefetch,
                       fsdp.cpu_offload);
  }
  std::string operator()(const Fsdp1& fsdp) const {
    return fmt::format("{}, {}, ahead {} and {}, limit {}", of_both(fsdp), name_of(fsdp.sharding),
                       fsdp.forward_prefetch, name_of(fsdp.backward_prefetch), fsdp.limit_all_gathers);
  }
  std::string operator()(const Zero& zero) const {
    return fmt::format(
        ", stage {}, buckets of {:.17g} and {:.17g}, overlap {}, live {:.17g}, reuse {:.17g}, "
        "persistent {:.17g}, in {}, added in {}, offloaded {}",
        zero.stage, zero.reduce_bucket_size, zero.prefetch_bucket_size, zero.overlaps(),
        zero.max_live_parameters, zero.max_reuse_distance, zero.param_persistence_threshold,
        name_or(zero.communication_dtype), name_or(zero.grad_accum_dtype), zero.offload_optimizer);
  }
  std::string operator()(const DistributedOptimizer& optimizer) const {
    return fmt::format(", overlap {} and {}, buckets of {:.17g}, in {}", optimizer.overlap_grad_reduce,
                       optimizer.overlap_param_gather, optimizer.bucket_size.value_or(0),
                       name_of(optimizer.grad_reduce_dtype));
  }

 private:
  static std::string_view name_or(const std::optional<Number>& number) {
    return number ? name_of(*number) : "its own format";
  }
  template <class Sharded>
  static std::string of_both(const Sharded& fsdp) {
    return fmt::format(", {} blocks a group, {} replicas, in {} and {}, no_sync {}", fsdp.wrap.blocks,
                       fsdp.replicate, name_or(fsdp.param_dtype), name_or(fsdp.reduce_dtype), fsdp.no_sync);
  }
};

/// All of a job that decides what its collectives do, and when.
std::string collectives_in_words(const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto& strategy = job.strategy;
  auto words = fmt::format("{} GPUs of {}, batch {} x {}, strategy {}", job.gpus, scenario.platform.name,
                           job.batch_per_gpu, job.accumulate, name_of(strategy));
  words += std::visit(SettingsInWords{}, strategy);
  if (job.input.background_copy > 0_B)
    words += fmt::format(", beside copies of {:.17g} B from {}", job.input.background_copy.value(),
                         name_of(job.input.background_start));
  if (job.input.prefetch) words += fmt::format(", batches copied from {}", name_of(*job.input.prefetch));
  for (const auto& [name, value] : job.nccl) words += fmt::format(", {}={}", name, value);
  return words;
}

/// Errors of a prediction, part by part.
class Errors {
 public:
  Errors(const Scenario& scenario, const Metrics& metrics, const Grounds& grounds)
      : scenario_{scenario}, metrics_{metrics}, grounds_{grounds}, setting_{collectives_in_words(scenario)} {}

  std::vector<PossibleError> all(const ComputeCosts& costs) {
    for (const auto& one : doubtful_parts(metrics_, grounds_)) {
      switch (one.part) {
        case PartOfStep::compute:
          add_compute(one, reference_of(scenario_, costs));
          break;
        case PartOfStep::launches:
        case PartOfStep::hidden_launches:
          add(one, fmt::format("launches of {} by the CPU of {}", model(), platform()));
          break;
        case PartOfStep::exposed_communication:
        case PartOfStep::hidden_communication:
          add_collectives(one);
          break;
        case PartOfStep::side_by_side:
          add(one, fmt::format("{} beside kernels on {}", transport(), platform()));
          break;
        case PartOfStep::exchange:
          add(one, fmt::format("ranks of {} over {} on {}", model(), transport(), platform()));
          break;
        case PartOfStep::input:
          add(one, fmt::format("copies on {}", platform()));
          break;
        case PartOfStep::making:
          add(one, fmt::format("{} on cores of {}", samples_in_words(), platform()));
          break;
        case PartOfStep::reading:
          add(one, storage_in_words());
          break;
      }
    }
    return std::move(errors_);
  }

 private:
  const std::string& model() const { return scenario_.model.name; }
  const std::string& platform() const { return scenario_.platform.name; }
  std::string samples_in_words() const {
    const auto& dataset = *scenario_.job.input.dataset;
    if (!dataset.name.empty()) return fmt::format("samples of {}", dataset.name);
    return fmt::format("samples of {:.17g} s",
                       (dataset.decode + dataset.transform + dataset.collate).value());
  }
  std::string storage_in_words() const {
    const auto& tier = scenario_.job.input.storage;
    if (!tier) return fmt::format("samples in the memory of {}", platform());
    if (!tier->name.empty()) return fmt::format("storage {}", tier->name);
    return fmt::format("storage of {:.17g} B/s, {:.17g} s", tier->read.value(), tier->first_byte.value());
  }
  std::string_view transport() const { return name_of(grounds_.transport); }

  void add(const DoubtfulPart& one, std::string of) {
    if (one.time > Seconds{} && one.doubt > 0)
      errors_.push_back({one.part, std::move(of), one.time, one.doubt, one.spare, one.saves});
  }

  /// Adds what the setting alone is off by. @return the part with what is left of its doubt
  DoubtfulPart without_own(const DoubtfulPart& one, double own, std::string of) {
    own = std::min(own, one.doubt);
    add({one.part, one.time, own}, std::move(of));
    return {one.part, one.time, rest_of(one.doubt, own)};
  }

  void add_compute(const DoubtfulPart& part, const std::optional<Reference>& reference) {
    const auto of_batch = doubt_of_batch(part.doubt, reference);
    const auto* ddp = std::get_if<Ddp>(&scenario_.job.strategy);
    const bool views = ddp && ddp->gradient_as_bucket_view;
    auto rest = without_own(part, own_doubt_of_kernels, setting_ + (views ? ", views" : ", no views"));
    if (metrics_.communication > Seconds{})
      rest = without_own(rest, rest_of(own_doubt_beside_collectives, own_doubt_of_kernels), setting_);
    auto time = rest.time;
    const auto doubt = rest.doubt;
    const auto of = fmt::format("{} on {} in {} by {}", model(), scenario_.platform.gpu_models.front().name,
                                name_of(scenario_.job.precision), reference ? reference->text : "roofline");
    // Another optimizer than the one that was measured rests on the roofline alone.
    if (const auto optimizer = scenario_.job.optimizer; reference && reference->optimizer != optimizer) {
      time -= metrics_.optimizer;
      add({part.part, metrics_.optimizer, doubt}, fmt::format("{} of {}", name_of(optimizer), of));
    }
    add({part.part, time, rest_of(doubt, of_batch)}, of);
    add({part.part, time, of_batch}, batch_in_words(reference) + of);
  }

  /// How much of the doubt is that of another batch than the one that was measured.
  double doubt_of_batch(double doubt, const std::optional<Reference>& reference) const {
    if (grounds_.compute == Basis::given || (reference && reference->batch == scenario_.job.batch_per_gpu))
      return 0;
    const bool is_known = grounds_.compute == Basis::stretched;
    return rest_of(is_known ? doubt : doubt_of_compute(Basis::stretched, 1),
                   doubt_of_compute(Basis::measured, 1));
  }

  /// Larger batches than an anchor's are all off in one direction, the larger the more; so are smaller ones.
  std::string batch_in_words(const std::optional<Reference>& reference) const {
    const auto batch = scenario_.job.batch_per_gpu;
    if (grounds_.batch_ratio == 1) return fmt::format("batch {} of ", batch);
    return reference->batch < batch ? "larger batches of " : "smaller batches of ";
  }

  void add_collectives(const DoubtfulPart& part) {
    const auto one = without_own(part, own_doubt_of_collectives, setting_);
    const auto& calibration = scenario_.calibration.name;
    const bool is_measured = grounds_.communication < Basis::elsewhere && !calibration.empty();
    const auto of = is_measured ? fmt::format("{} by {}", transport(), calibration)
                                : fmt::format("{} on {} by NCCL's rates", transport(), platform());
    if (grounds_.communication != Basis::stretched) return add(one, of);
    const auto as_measured =
        std::min(one.doubt, doubt_of_collectives(Basis::measured, grounds_.transport, grounds_.adapted));
    add({one.part, one.time, as_measured}, of);
    add({one.part, one.time, rest_of(one.doubt, as_measured)},
        fmt::format("{} of {} ranks", of, scenario_.job.gpus));
  }

  const Scenario& scenario_;
  const Metrics& metrics_;
  const Grounds& grounds_;
  std::string setting_;
  std::vector<PossibleError> errors_;
};

}  // namespace

std::vector<PossibleError> possible_errors(const Scenario& scenario, const ComputeCosts& costs,
                                           const Metrics& metrics, const Grounds& grounds) {
  return Errors{scenario, metrics, grounds}.all(costs);
}

}  // namespace gradway

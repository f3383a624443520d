// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/errors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/base/digest.hpp"
#include "sim/trust/identity.hpp"

namespace gradway {
namespace {

/// What remains of an uncertainty without an independent part of it.
double rest_of(double uncertainty, double independent) {
  const auto square = [](double x) { return x * x; };
  return std::expm1(
      std::sqrt(std::max(0.0, square(std::log1p(uncertainty)) - square(std::log1p(independent)))));
}

/// The measured step that a prediction of compute is based on.
struct MeasuredStep {
  std::string reference;  ///< part of digests of causes, which kept reports contain
  int batch = 0;
  Optimizer optimizer = Optimizer::sgd;
};

std::optional<MeasuredStep> measured_step_of(const Scenario& scenario, const ComputeCosts& costs) {
  if (costs.profile) {
    const auto& profile = *scenario.model.profile;
    const bool moved = costs.profile->extrapolation == Extrapolation::anchor;
    return MeasuredStep{
        fmt::format("a profile on {}{}", profile.gpu, moved ? ", moved to meet an anchor" : ""),
        profile.batch, profile.optimizer};
  }
  if (!costs.anchor) return std::nullopt;
  const auto& anchor = *costs.anchor;
  return MeasuredStep{
      fmt::format("a step of {:.6g} ms at batch {}", anchor.step_time.value() * 1e3, anchor.batch),
      anchor.batch, anchor.optimizer};
}

// Uncertainties of one setting of a job, which measurements of other settings do not reduce. From
// scenarios/h200-4x/cases.yaml; in brackets also the same pairs of other-models.yaml, which were not used.
// Compute: 90 % of the ratios of two steps on one GPU are within 0.65 % (102 pairs; 1.2 %), as are those of
// settings that only differ in views (0.56 % of 11; 0.66 % of 12): 0.5 % each. With other buckets, ranks or
// transports during the kernels within 2.3 % (115 pairs over NVLink without lossy hooks; 1.75 %): 1.6 % each.
// Collectives: the exposed communication of the g6e's other bucket sizes
// (0012-derive-intervals-from-provenance.md).
constexpr double own_uncertainty_of_kernels = 0.005;
constexpr double own_uncertainty_of_contention = 0.016;
constexpr double own_uncertainty_of_collectives = 0.045;
// Other kernels of the same program (recomputed, compiled, tensor-parallel): 90 % of the ratios of two own
// steps within 6.1 % (14 pairs of scenarios/h200-2x and h100-2x that differ in recomputation and
// sharding; 8.3 % of 9 with another batch; 7.6 % of 4 with tensor or context parallelism): 6 % each.
// Sequences of another length: 90 % of 163 pairs of MPT's table (scenarios/published/mpt-*.yaml)
// within 20 %: 15 % each.
constexpr double own_uncertainty_of_other_kernels = 0.06;
constexpr double own_uncertainty_of_sequence = 0.15;
// What remains if a GPU's kernels were timed on it: 90 % of the ratios of own steps on H100 and H200 within
// 2.3 % (26 pairs of scenarios/unmeasured/cases.yaml that differ in the GPU alone; the worst, 12 %, is
// launch-bound): 1.6 % each. If they were moved from another GPU, all that remains is that GPU's: so
// ratios of H100 and A100 are within 26 %, and 90 pairs of MPT's rows (one model, sequence, recomputation)
// are within 24 %.
constexpr double own_uncertainty_of_timed_gpu = 0.016;

/// Digest of the texts that an error depends on.
template <class... Text>
std::string digest_of(const Text&... texts) {
  Digest digest;
  (digest.add(texts), ...);
  return digest.hex();
}

/// Errors of a prediction, part by part.
class Errors {
 public:
  Errors(const Scenario& scenario, const Metrics& metrics, const StepBasis& step_basis)
      : scenario_{scenario},
        metrics_{metrics},
        basis_{step_basis},
        job_{identity_of(scenario)},
        links_{identity_of_links(scenario.platform, step_basis.transport)} {}

  std::vector<PossibleError> all(const ComputeCosts& costs) {
    for (const auto& step_part : uncertain_parts(metrics_, basis_)) {
      switch (step_part.part) {
        case PartOfStep::compute:
          add_compute(step_part, measured_step_of(scenario_, costs));
          break;
        case PartOfStep::launches:
        case PartOfStep::hidden_launches:
          add_launches(step_part);
          break;
        case PartOfStep::exposed_communication:
        case PartOfStep::hidden_communication:
          add_collectives(step_part);
          break;
        case PartOfStep::contention:
          add(step_part, links_, fmt::format("{} beside kernels on {}", name_of(basis_.transport), gpu()));
          break;
        case PartOfStep::exchange:
          add(step_part, digest_of(model(), links_),
              fmt::format("ranks of {} over {} on {}", model(), name_of(basis_.transport), gpu()));
          break;
        case PartOfStep::input:
          add(step_part, digest_of(platform()), fmt::format("copies on {}", platform()));
          break;
        case PartOfStep::making:
          add(step_part, job_.samples, source_of_sample_costs());
          break;
        case PartOfStep::reading:
          add(step_part, job_.storage, source_of_samples());
          break;
      }
    }
    return std::move(errors_);
  }

 private:
  const std::string& model() const { return scenario_.model.name; }
  const std::string& platform() const { return scenario_.platform.name; }
  const std::string& gpu() const { return scenario_.platform.gpu_models.front().name; }
  std::string source_of_sample_costs() const {
    const auto& dataset = scenario_.job.input.dataset->name;  // empty: of the scenario
    return fmt::format("{} on cores of {}", dataset.empty() ? "samples" : "samples of " + dataset,
                       platform());
  }
  std::string source_of_samples() const {
    const auto& tier = tier_of_reads(scenario_.job.input);
    if (!tier) return fmt::format("samples in the memory of {}", platform());
    return tier->name.empty() ? "storage" : fmt::format("storage {}", tier->name);
  }

  void add(const UncertainPart& step_part, std::string digest, std::string source) {
    if (step_part.time > Seconds{} && step_part.uncertainty > 0)
      errors_.push_back({{step_part.part, std::move(digest)},
                         std::move(source),
                         step_part.time,
                         step_part.uncertainty,
                         step_part.spare,
                         step_part.saves});
  }

  /// Adds an error of at most `limit`. @return the part with the rest of its uncertainty
  UncertainPart without(const UncertainPart& step_part, double limit, std::string digest,
                        std::string source) {
    limit = std::min(limit, step_part.uncertainty);
    add({step_part.part, step_part.time, limit, step_part.spare, step_part.saves}, std::move(digest),
        std::move(source));
    return {step_part.part, step_part.time, rest_of(step_part.uncertainty, limit), step_part.spare,
            step_part.saves};
  }

  /// A program's launches are the same on every CPU, whose speed differs.
  void add_launches(const UncertainPart& step_part) {
    const auto of_cpu = std::min(step_part.uncertainty, uncertainty_of_launches(Basis::elsewhere));
    const auto cpu = without(step_part, rest_of(step_part.uncertainty, of_cpu), job_.launches,
                             fmt::format("launches of {}", model()));
    add(cpu, digest_of(job_.launches, platform()),
        fmt::format("launches of {} by the CPU of {}", model(), platform()));
  }

  void add_compute(const UncertainPart& step_part, const std::optional<MeasuredStep>& measured) {
    const auto of_batch = uncertainty_of_batch(step_part.uncertainty, measured);
    auto remainder = without(step_part, own_uncertainty_of_kernels, digest_of(job_.step, "kernels"),
                             "kernels of this job");
    if (metrics_.communication > Seconds{})
      remainder = without(remainder, rest_of(own_uncertainty_of_contention, own_uncertainty_of_kernels),
                          digest_of(job_.exchange, "beside"), "kernels beside the collectives of this job");
    if (!measured && basis_.compute > Basis::stretched) return add_unmeasured(remainder, of_batch);
    auto time = remainder.time;
    const auto uncertainty = remainder.uncertainty;
    const auto precision = scenario_.job.precision;
    const auto reference = measured ? measured->reference : "roofline";
    const auto digest = digest_of(model(), gpu(), std::string{name_of(precision)}, reference);
    const auto compute = fmt::format("{} by {}", model_on_gpu(), reference);
    // The time of another optimizer than the measured one follows from the roofline alone.
    if (const auto optimizer = scenario_.job.optimizer; measured && measured->optimizer != optimizer) {
      time -= metrics_.optimizer;
      add({step_part.part, metrics_.optimizer, uncertainty}, digest_of(digest, name_of(optimizer)),
          fmt::format("{} of {}", name_of(optimizer), compute));
    }
    add({step_part.part, time, rest_of(uncertainty, of_batch)}, digest, compute);
    const auto batch = batch_of(measured);
    add({step_part.part, time, of_batch}, digest_of(batch, digest), batch + compute);
  }

  /// No step of the model was measured: the errors of this job's kernels, sequences and batch, and of the
  /// program on every GPU. The rest is an error of the GPU.
  void add_unmeasured(const UncertainPart& step_part, double of_batch) {
    const auto precision = scenario_.job.precision;
    auto remainder = without(step_part, own_uncertainty_of_other_kernels, digest_of(job_.kernels),
                             "which kernels this job runs");
    remainder = without(remainder, own_uncertainty_of_sequence,
                        digest_of(model(), "sequence", std::to_string(scenario_.job.sequence)),
                        fmt::format("sequences of {}", model()));
    const auto batch = scenario_.job.batch_per_gpu;
    remainder = without(remainder, of_batch, digest_of(model(), "batch", std::to_string(batch)),
                        fmt::format("batch {} of {}", batch, model()));
    const auto program_uncertainty = basis_.compute == Basis::predicted
                                         ? std::min(own_uncertainty_of_timed_gpu, remainder.uncertainty)
                                         : remainder.uncertainty;
    remainder =
        without(remainder, rest_of(remainder.uncertainty, program_uncertainty),
                digest_of(model(), "program", name_of(precision)), fmt::format("the program of {}", model()));
    add(remainder, digest_of(model(), gpu(), name_of(precision)), model_on_gpu());
  }

  /// Share of the uncertainty that another batch than the measured one causes.
  double uncertainty_of_batch(double uncertainty, const std::optional<MeasuredStep>& measured) const {
    if (basis_.compute == Basis::given || (measured && measured->batch == scenario_.job.batch_per_gpu))
      return 0;
    const bool is_known = basis_.compute == Basis::stretched;
    return rest_of(is_known ? uncertainty : uncertainty_of_compute(Basis::stretched, 1),
                   uncertainty_of_compute(Basis::measured, 1));
  }

  /// Larger batches than an anchor's are all off in one direction, the larger the more; so are smaller ones.
  /// Part of the digests of causes, which kept reports contain.
  std::string batch_of(const std::optional<MeasuredStep>& measured) const {
    const auto batch = scenario_.job.batch_per_gpu;
    if (basis_.batch_ratio == 1) return fmt::format("batch {} of ", batch);
    return measured->batch < batch ? "larger batches of " : "smaller batches of ";
  }

  /// "vit_l_32 on h200 in bf16"
  std::string model_on_gpu() const {
    return fmt::format("{} on {} in {}", model(), gpu(), name_of(scenario_.job.precision));
  }

  void add_collectives(const UncertainPart& step_part) {
    const auto remainder =
        without(step_part, own_uncertainty_of_collectives, job_.exchange, "collectives of this job");
    const auto transport = basis_.transport;
    const auto& calibration = scenario_.calibration.name;
    const bool is_measured = basis_.communication < Basis::elsewhere && !calibration.empty();
    const auto digest = digest_of(name_of(transport), is_measured ? calibration : links_);
    const auto source =
        is_measured ? fmt::format("{} by {}", name_of(transport), calibration)
                    : fmt::format("{} on links of {} by NCCL's rates", name_of(transport), platform());
    if (basis_.communication != Basis::stretched) return add(remainder, digest, source);
    const auto as_measured = std::min(remainder.uncertainty,
                                      uncertainty_of_collectives(Basis::measured, transport, basis_.adapted));
    add({remainder.part, remainder.time, as_measured}, digest, source);
    const auto ranks = scenario_.job.gpus;
    add({remainder.part, remainder.time, rest_of(remainder.uncertainty, as_measured)},
        digest_of(digest, std::to_string(ranks)), fmt::format("{} of {} ranks", source, ranks));
  }

  const Scenario& scenario_;
  const Metrics& metrics_;
  const StepBasis& basis_;
  JobIdentity job_;
  std::string links_;
  std::vector<PossibleError> errors_;
};

}  // namespace

std::vector<PossibleError> possible_errors(const Scenario& scenario, const ComputeCosts& costs,
                                           const Metrics& metrics, const StepBasis& step_basis) {
  return Errors{scenario, metrics, step_basis}.all(costs);
}

}  // namespace gradway

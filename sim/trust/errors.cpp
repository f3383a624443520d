// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/errors.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/digest.hpp"
#include "sim/trust/identity.hpp"

namespace gradway {
namespace {

/// What is left of a uncertainty when so much of it is told by itself.
double rest_of(double uncertainty, double told) {
  const auto square = [](double x) { return x * x; };
  return std::expm1(std::sqrt(std::max(0.0, square(std::log1p(uncertainty)) - square(std::log1p(told)))));
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
// Collectives: the exposed communication of the g6e's other bucket sizes
// (0012-derive-intervals-from-provenance.md).
constexpr double own_uncertainty_of_kernels = 0.005;
constexpr double own_uncertainty_of_contention = 0.016;
constexpr double own_uncertainty_of_collectives = 0.045;
// Other kernels of the same program (recomputed, compiled, cut into tensors): nine of ten ratios of two own
// steps within 6.1 % (14 pairs of scenarios/h200-2x and h100-2x that differ in recomputation and
// sharding; 8.3 % of 9 with another batch; 7.6 % of 4 with tensor or context parallelism): 6 % each.
// Sequences of another length: nine of ten of 163 pairs of MPT's table (scenarios/published/mpt-*.yaml)
// within 20 %: 15 % each.
constexpr double own_uncertainty_of_other_kernels = 0.06;
constexpr double own_uncertainty_of_sequence = 0.15;
// What is left if a GPU's kernels were timed on it: nine of ten ratios of own steps on H100 and H200
// within 2.3 % (26 pairs of scenarios/unmeasured/cases.yaml that differ in the GPU alone; the worst, 12 %, is
// bound by launches): 1.6 % each. If they were moved from another GPU, all that is left is that GPU's: so
// ratios of H100 and A100 are within 26 %, and 90 pairs of MPT's rows (one model, sequence, recomputation)
// are within 24 %.
constexpr double own_uncertainty_of_timed_gpu = 0.016;

/// Digest of what an error depends on, text by text.
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
        grounds_{step_basis},
        job_{identity_of(scenario)},
        links_{identity_of_links(scenario.platform, step_basis.transport)} {}

  std::vector<PossibleError> all(const ComputeCosts& costs) {
    for (const auto& one : uncertain_parts(metrics_, grounds_)) {
      switch (one.part) {
        case PartOfStep::compute:
          add_compute(one, reference_of(scenario_, costs));
          break;
        case PartOfStep::launches:
        case PartOfStep::hidden_launches:
          add_launches(one);
          break;
        case PartOfStep::exposed_communication:
        case PartOfStep::hidden_communication:
          add_collectives(one);
          break;
        case PartOfStep::contention:
          add(one, links_, fmt::format("{} beside kernels on {}", transport(), gpu()));
          break;
        case PartOfStep::exchange:
          add(one, digest_of(model(), links_),
              fmt::format("ranks of {} over {} on {}", model(), transport(), gpu()));
          break;
        case PartOfStep::input:
          add(one, digest_of(platform()), fmt::format("copies on {}", platform()));
          break;
        case PartOfStep::making:
          add(one, job_.samples, fmt::format("{} on cores of {}", samples_in_words(), platform()));
          break;
        case PartOfStep::reading:
          add(one, job_.storage, storage_in_words());
          break;
      }
    }
    return std::move(errors_);
  }

 private:
  const std::string& model() const { return scenario_.model.name; }
  const std::string& platform() const { return scenario_.platform.name; }
  const std::string& gpu() const { return scenario_.platform.gpu_models.front().name; }
  std::string samples_in_words() const {
    const auto& name = scenario_.job.input.dataset->name;
    return name.empty() ? "samples" : fmt::format("samples of {}", name);
  }
  std::string storage_in_words() const {
    const auto& tier = scenario_.job.input.storage;
    if (!tier) return fmt::format("samples in the memory of {}", platform());
    return tier->name.empty() ? "storage" : fmt::format("storage {}", tier->name);
  }
  std::string_view transport() const { return name_of(grounds_.transport); }

  void add(const UncertainPart& one, std::string what, std::string of) {
    if (one.time > Seconds{} && one.uncertainty > 0)
      errors_.push_back(
          {{one.part, std::move(what)}, std::move(of), one.time, one.uncertainty, one.spare, one.saves});
  }

  /// Adds an error of at most so much. @return the part with what is left of its uncertainty
  UncertainPart without(const UncertainPart& one, double own, std::string what, std::string of) {
    own = std::min(own, one.uncertainty);
    add({one.part, one.time, own, one.spare, one.saves}, std::move(what), std::move(of));
    return {one.part, one.time, rest_of(one.uncertainty, own), one.spare, one.saves};
  }

  /// What a program's launches cost is the same on every CPU but for how fast that is.
  void add_launches(const UncertainPart& part) {
    const auto of_cpu = std::min(part.uncertainty, uncertainty_of_launches(Basis::elsewhere));
    const auto cpu = without(part, rest_of(part.uncertainty, of_cpu), job_.launches,
                             fmt::format("launches of {}", model()));
    add(cpu, digest_of(job_.launches, platform()),
        fmt::format("launches of {} by the CPU of {}", model(), platform()));
  }

  void add_compute(const UncertainPart& part, const std::optional<Reference>& reference) {
    const auto of_batch = doubt_of_batch(part.uncertainty, reference);
    auto rest =
        without(part, own_uncertainty_of_kernels, digest_of(job_.step, "kernels"), "kernels of this job");
    if (metrics_.communication > Seconds{})
      rest = without(rest, rest_of(own_uncertainty_of_contention, own_uncertainty_of_kernels),
                     digest_of(job_.exchange, "beside"), "kernels beside the collectives of this job");
    if (!reference && grounds_.compute > Basis::stretched) return add_unmeasured(rest, of_batch);
    auto time = rest.time;
    const auto uncertainty = rest.uncertainty;
    const auto precision = std::string{name_of(scenario_.job.precision)};
    const auto provenance = reference ? reference->text : std::string{"roofline"};
    const auto what = digest_of(model(), gpu(), precision, provenance);
    const auto of = fmt::format("{} on {} in {} by {}", model(), gpu(), precision, provenance);
    // Another optimizer than the one that was measured rests on the roofline alone.
    if (const auto optimizer = scenario_.job.optimizer; reference && reference->optimizer != optimizer) {
      time -= metrics_.optimizer;
      add({part.part, metrics_.optimizer, uncertainty}, digest_of(what, name_of(optimizer)),
          fmt::format("{} of {}", name_of(optimizer), of));
    }
    add({part.part, time, rest_of(uncertainty, of_batch)}, what, of);
    const auto batch = batch_in_words(reference);
    add({part.part, time, of_batch}, digest_of(batch, what), batch + of);
  }

  /// Where no step of the model was measured: what this job's kernels, sequences and batch are off by, and
  /// what the program is, on every GPU; the rest is the GPU's.
  void add_unmeasured(const UncertainPart& part, double of_batch) {
    const auto precision = name_of(scenario_.job.precision);
    auto rest = without(part, own_uncertainty_of_other_kernels, digest_of(job_.kernels),
                        "which kernels this job runs");
    rest = without(rest, own_uncertainty_of_sequence,
                   digest_of(model(), "sequence", std::to_string(scenario_.job.sequence)),
                   fmt::format("sequences of {}", model()));
    const auto batch = std::to_string(scenario_.job.batch_per_gpu);
    rest = without(rest, of_batch, digest_of(model(), "batch", batch),
                   fmt::format("batch {} of {}", batch, model()));
    const auto own = grounds_.compute == Basis::predicted
                         ? std::min(own_uncertainty_of_timed_gpu, rest.uncertainty)
                         : rest.uncertainty;
    rest = without(rest, rest_of(rest.uncertainty, own), digest_of(model(), "program", precision),
                   fmt::format("the program of {}", model()));
    add(rest, digest_of(model(), gpu(), precision), fmt::format("{} on {} in {}", model(), gpu(), precision));
  }

  /// How much of the uncertainty is that of another batch than the one that was measured.
  double doubt_of_batch(double uncertainty, const std::optional<Reference>& reference) const {
    if (grounds_.compute == Basis::given || (reference && reference->batch == scenario_.job.batch_per_gpu))
      return 0;
    const bool is_known = grounds_.compute == Basis::stretched;
    return rest_of(is_known ? uncertainty : uncertainty_of_compute(Basis::stretched, 1),
                   uncertainty_of_compute(Basis::measured, 1));
  }

  /// Larger batches than an anchor's are all off in one direction, the larger the more; so are smaller ones.
  std::string batch_in_words(const std::optional<Reference>& reference) const {
    const auto batch = scenario_.job.batch_per_gpu;
    if (grounds_.batch_ratio == 1) return fmt::format("batch {} of ", batch);
    return reference->batch < batch ? "larger batches of " : "smaller batches of ";
  }

  void add_collectives(const UncertainPart& part) {
    const auto one = without(part, own_uncertainty_of_collectives, job_.exchange, "collectives of this job");
    const auto& calibration = scenario_.calibration.name;
    const bool is_measured = grounds_.communication < Basis::elsewhere && !calibration.empty();
    const auto what = digest_of(transport(), is_measured ? calibration : links_);
    const auto of = is_measured ? fmt::format("{} by {}", transport(), calibration)
                                : fmt::format("{} on links of {} by NCCL's rates", transport(), platform());
    if (grounds_.communication != Basis::stretched) return add(one, what, of);
    const auto as_measured = std::min(
        one.uncertainty, uncertainty_of_collectives(Basis::measured, grounds_.transport, grounds_.adapted));
    add({one.part, one.time, as_measured}, what, of);
    const auto ranks = std::to_string(scenario_.job.gpus);
    add({one.part, one.time, rest_of(one.uncertainty, as_measured)}, digest_of(what, ranks),
        fmt::format("{} of {} ranks", of, ranks));
  }

  const Scenario& scenario_;
  const Metrics& metrics_;
  const StepBasis& grounds_;
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

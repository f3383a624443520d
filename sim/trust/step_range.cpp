// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/step_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/contract.hpp"
#include "sim/base/normal.hpp"

namespace gradway {
namespace {

/// One figure for each basis, in the order of the enum.
using Uncertainties = std::array<double, basis_count>;

double look_up(const Uncertainties& uncertainties, Basis basis) {
  const auto index = static_cast<std::size_t>(basis);
  expects(index < uncertainties.size(), "every basis has its uncertainty");
  return uncertainties[index];
}

// Copies alone that were held back from their own fit: half were off by more than 3.4 % (three nodes of 4
// H200) and 9.0 % (another), so 90 % by less than about twice as much.
constexpr double input_uncertainty = 0.2;

/// Combines an uncertainty with an independent standard error.
double both(double uncertainty, double standard_error) {
  static const double half_width = normal_half_width(0.9);
  return std::hypot(uncertainty, half_width * standard_error);
}

// If a worker's time is known, own loaders of 2 to 32 workers are predicted within 8 %
// (tests/validation/loading_test.cpp).
constexpr double uncertainty_of_measured_loaders = 0.08;

/// Adds the parts of a worker's time per step. The part that training overlaps may grow without effect up to
/// its slack.
void add_loading(std::vector<UncertainPart>& step_parts, const Metrics& metrics,
                 const StepBasis& step_basis) {
  const auto& loading = *metrics.loading;
  const auto own_wait = std::max(Seconds{}, loading.wait - loading.for_others);
  step_parts.back().time = std::max(Seconds{}, metrics.input_wait - own_wait);  // the copy
  const auto training = metrics.step_time - loading.wait;
  const auto spare =
      loading.has_workers ? std::max(Seconds{}, training - loading.reading - loading.making) : Seconds{};
  step_parts.push_back({PartOfStep::making, loading.making, step_basis.making, spare, loading.wait});
  step_parts.push_back({PartOfStep::reading, loading.reading, step_basis.reading, spare, loading.wait});
}

double square(Seconds time) {
  return time.value() * time.value();
}

/// Uncertainty of compute if it may also take `ratio` times as long, independently of the other errors. It is
/// rounded, because the last digits of logarithms differ between C libraries.
double or_another_program(double uncertainty, double ratio) {
  constexpr double digits = 1e9;
  if (ratio == 1) return uncertainty;
  return std::round(std::expm1(std::hypot(std::log1p(uncertainty), std::log(ratio))) * digits) / digits;
}

}  // namespace

double uncertainty_of_compute(Basis basis, double batch_ratio) {
  // measured: own steps in DDP over NVLink, where kernels are nearly all of the step: 2.2 % (26 rows of
  // scenarios/h200-4x/cases.yaml; without DDP 0.8 %, 18 rows).
  // stretched: other batches of three profiles, worst 4.1 % of 6 (sim/compute/profile_costs.hpp).
  // predicted: kernels timed on such a GPU. 54 own GPU-bound jobs on H100 and H200: worst 11 %
  // (tests/validation/unmeasured_test.cpp). Programs of other authors and years differ more: 90 % of 34
  // published steps on H100s within 24 % (fms-fsdp, torchtitan, MPT with FlashAttention 2, one GPU of
  // Lambda's boxes), 23 to 26 % with any one source left out, which holds 30 of the 34 left out. moved: MPT's
  // rows on one node of A100s, 125M to 30B parameters: 90 % of 58 within 16 %; BERT of Lambda's boxes on six
  // other GPUs: within 22 %. elsewhere: H200 profiles by roofline on H100, L40S and A100, worst 45 % of 9
  // (ProfileMovedByRoofline in report/format/warning_words.cpp). nominal: vit_l_32 on L40S, H200 and A100
  // (1.92, 1.38 and 0.92 times the roofline of whole layers) and gpt_small on H200 (2.06 times), worst of 4.
  static constexpr Uncertainties uncertainties{0, 0.025, 0.025, 0.045, 0.24, 0.3, 0.45, 1.06};
  // From an anchor at batch 32 vit_l_32 is predicted 7.2 and 6.6 % too fast at 64, 2.4 and 2.1 % at 128
  // (H200, H100; tests/validation/batches_test.cpp), so the steps are 7.8 % longer at most.
  constexpr double first_doubling = 0.08;
  return std::max(look_up(uncertainties, basis), first_doubling * std::sqrt(std::log2(batch_ratio)));
}

double uncertainty_of_launches(Basis basis) {
  // measured: convnext_base, launch-bound: 32.8 to 42 ms in runs a minute apart. predicted: hooks of
  // FSDP by what they take on another host, 42 own steps that they bound (scenarios/h200-2x/
  // sharded-noisy.yaml), 90 % within 25 %. The others, another or an unknown CPU, are guesses that we have
  // not checked.
  static constexpr Uncertainties uncertainties{0, 0.15, 0.15, 0.15, 0.3, 0.5, 0.5, 1.0};
  return look_up(uncertainties, basis);
}

double uncertainty_of_collectives(Basis basis, Transport transport, std::optional<double> adapted) {
  // measured and stretched: all-reduces from 1 MiB on of a machine without own samples in the fit: P2P 2.9 %,
  // with ranks between two measured numbers 14.4 %; SHM 23.5 % and less; NET: machines of one kind differed
  // by half. published: the same, with the spread around one figure (article, exposed communication of the
  // g6e's other rows: 4.5 %). predicted: SHM from copies alone, 20 to 30 % slow from 4 to 16 MiB. nominal:
  // all-reduces from 1 MiB on of H200s: P2P 25.1 %, NET 102 %. SHM, also as on another machine: hosts differ
  // by a factor of 2.3 (sim/nccl/communicator.cpp). tests/validation/intervals_test.cpp repeats these where
  // it can.
  static constexpr Uncertainties p2p{0, 0.03, 0.05, 0.15, 0.3, 0.3, 0.3, 0.3};
  static constexpr Uncertainties shm{0, 0.24, 0.24, 0.24, 0.3, 1.3, 1.3, 1.3};
  static constexpr Uncertainties net{0, 0.5, 0.5, 0.5, 0.5, 1.03, 1.03, 1.03};
  const auto& uncertainties = transport == Transport::net ? net : transport == Transport::shm ? shm : p2p;
  const auto uncertainty = look_up(uncertainties, basis);
  if (!adapted || (basis != Basis::measured && basis != Basis::stretched)) return uncertainty;
  // Measurements of this machine replace the difference between two machines; stretching adds to it.
  const auto measured = look_up(uncertainties, Basis::measured);
  return std::hypot(*adapted, std::sqrt(std::max(0.0, uncertainty * uncertainty - measured * measured)));
}

double uncertainty_of_contention(Basis basis) {
  // measured: held-back rows of calibration h200-4x, median 4.4 %. Else: kernels during all-reduces take 3 to
  // 22 % longer on H200s, which bounds the error without a measurement.
  static constexpr Uncertainties uncertainties{0, 0.05, 0.05, 0.05, 0.22, 0.22, 0.22, 0.22};
  return look_up(uncertainties, basis);
}

double uncertainty_of_exchange(Basis basis) {
  // Steps on several GPUs take longer by effects that are not modelled: waits for the slowest rank,
  // BatchNorm's broadcasts, hooks. The figure decides the coverage, so it is the smallest one with which 90 %
  // of the remaining steps are inside, whichever machine is left out of the rows with a measured step on one
  // GPU. measured during collectives on such a node: 104 own steps on three machines, 0 to 1.4 %. Else: 205
  // steps on 18 (Lambda's boxes, DGX-1, two H100, other numbers of ranks), 5.9 to 7.8 %; with a model left
  // out 4.2 to 8.2 %. decisions/0012-derive-intervals-from-provenance.md.
  static constexpr Uncertainties uncertainties{0, 0.015, 0.015, 0.08, 0.08, 0.08, 0.08, 0.08};
  return look_up(uncertainties, basis);
}

double uncertainty_of_making(const Dataset& dataset) {
  // Of another CPU: a server's cores decode 140 million pixels a second (pytorch/vision PR 8496), those of
  // our Xeon 243, so 1.7 times as many.
  constexpr double of_another_cpu = 1;
  return dataset.cpu.error ? both(uncertainty_of_measured_loaders, *dataset.cpu.error) : of_another_cpu;
}

double uncertainty_of_reading(const InputSettings& input) {
  // Drives under MLPerf Storage's load: 7.0 GB/s declared, 5.5 by one row's first batches (data of
  // mlcommons/storage_results_v1.0). Over networks: the two instances with 100 Gbit/s took 8.0 and 6.27 GB/s
  // from S3, half of their line rate (dvassallo/s3-benchmark at 02f467f7); the load of other users is
  // unknown.
  constexpr double of_a_drive = 0.27;
  constexpr double over_a_network = 1;
  const auto& tier = tier_of_reads(input);
  if (!tier) return input_uncertainty;
  if (tier->error) return both(uncertainty_of_measured_loaders, *tier->error);
  return tier->is_local() ? of_a_drive : over_a_network;
}

std::vector<UncertainPart> uncertain_parts(const Metrics& metrics, const StepBasis& step_basis) {
  const auto hidden = metrics.communication - metrics.exposed_communication;
  const auto collectives =
      uncertainty_of_collectives(step_basis.communication, step_basis.transport, step_basis.adapted);
  const auto launches = uncertainty_of_launches(step_basis.launches);
  const auto exchanging = metrics.communication > Seconds{} ? metrics.compute + metrics.optimizer : Seconds{};
  // A faster CPU issues the whole step earlier, but shortens it by at most its wait for the CPU.
  const auto by_launches =
      launches > 0 ? std::min(metrics.issue, metrics.launch_bound * ((1 + launches) / launches)) : Seconds{};
  // Time beyond the step that a CPU at the upper end of the uncertainty takes to issue it.
  const auto late =
      std::max(Seconds{}, metrics.issue * (1 + launches) - metrics.step_time - by_launches * launches);
  std::vector<UncertainPart> step_parts{
      {PartOfStep::compute, metrics.compute + metrics.optimizer,
       or_another_program(uncertainty_of_compute(step_basis.compute, step_basis.batch_ratio),
                          step_basis.attention_ratio)},
      {PartOfStep::launches, by_launches, launches},
      {PartOfStep::hidden_launches, launches > 0 ? late / launches : Seconds{}, launches},
      {PartOfStep::exposed_communication, metrics.exposed_communication, collectives},
      {PartOfStep::hidden_communication, hidden, collectives},
      {PartOfStep::contention, hidden, uncertainty_of_contention(step_basis.contention)},
      {PartOfStep::exchange, exchanging, uncertainty_of_exchange(step_basis.contention)},
      {PartOfStep::input, metrics.input_wait, input_uncertainty}};
  if (metrics.loading) add_loading(step_parts, metrics, step_basis);
  return step_parts;
}

Seconds lengthens(const UncertainPart& step_part) {
  return std::max(Seconds{}, step_part.time * step_part.uncertainty - step_part.spare);
}

Seconds shortens(const UncertainPart& step_part) {
  const bool only_lengthens = step_part.part == PartOfStep::hidden_communication ||
                              step_part.part == PartOfStep::hidden_launches ||
                              step_part.part == PartOfStep::exchange;
  return only_lengthens ? Seconds{}
                        : std::min(step_part.saves,
                                   step_part.time * (step_part.uncertainty / (1 + step_part.uncertainty)));
}

TimeRange step_range(const Metrics& metrics, const StepBasis& step_basis) {
  double up = 0;
  double down = 0;
  Seconds late{};
  Seconds early{};
  for (const auto& step_part : uncertain_parts(metrics, step_basis)) {
    if (is_of_the_host(step_part.part)) {
      late += lengthens(step_part);
      early += shortens(step_part);
      continue;
    }
    up += square(lengthens(step_part));
    down += square(shortens(step_part));
  }
  up += square(late);
  down += square(early);
  return {metrics.step_time - Seconds{std::sqrt(down)}, metrics.step_time + Seconds{std::sqrt(up)}};
}

}  // namespace gradway

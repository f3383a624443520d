// SPDX-License-Identifier: Apache-2.0
// The fast search of a layout.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

constexpr double margin = 0.02;       // a layout that is faster by less is not looked for
constexpr double bound_ratio = 1.05;  // ratio of bounds that are in the same group
constexpr int patience = 8;      // simulations in a row that find nothing faster, after which the search ends
constexpr int most_passes = 16;  // of a step, relative to those of the fastest so far

/// Layouts that differ in the micro-batch only, the smallest first.
struct Cut {
  std::vector<Job> jobs;
  Seconds at_least{};
};

struct Candidate {
  Job job;
  Seconds at_least{};
};

class LayoutFinder {
 public:
  LayoutFinder(const Scenario& written, const std::string& engine) : written_{written}, engine_{engine} {}

  LayoutSearchResult run(std::vector<Job> candidates) {
    found_.candidates = candidates.size();
    const auto variants =
        std::ranges::stable_partition(candidates, [&](const Job& job) { return is_typical(job); });
    variants_.assign(variants.begin(), variants.end());
    candidates.erase(variants.begin(), variants.end());
    const auto cuts = cuts_of(std::move(candidates));
    search(cuts, true);
    if (found_.ranked.empty()) search(cuts, false);
    try_variants();
    try_selective_checkpoints();
    rank();
    return std::move(found_);
  }

 private:
  RequirementEstimator& estimator_of(const Job& job) {
    return estimators_.try_emplace(kind_of(job), written_).first->second;
  }

  std::vector<Cut> cuts_of(std::vector<Job> candidates) {
    std::map<decltype(cut_of(written_.job)), Cut> by_cut;
    for (auto& job : candidates) {
      auto& cut = by_cut[cut_of(job)];
      const auto at_least = estimator_of(job).least_time_of(job);
      cut.at_least = cut.jobs.empty() ? at_least : std::min(cut.at_least, at_least);
      cut.jobs.push_back(std::move(job));
    }
    std::vector<Cut> cuts;
    for (auto& [key, cut] : by_cut) cuts.push_back(std::move(cut));
    std::ranges::stable_sort(cuts, {}, &Cut::at_least);
    return cuts;
  }

  bool is_done() const { return best_ < Seconds::infinite() && in_vain_ >= patience; }

  /// Whether a layout with this lower bound may be faster than the best by more than the margin.
  bool may_be_faster(Seconds at_least) const { return at_least < best_ * (1 - margin); }

  /// Goes through groups of similar bounds. In a group, layouts with fewer tasks come first: they cost least,
  /// and give the time that the others must stay below.
  void search(std::vector<Cut> cuts, bool surely) {
    if (cuts.empty()) return;
    const auto least = cuts.front().at_least;
    std::ranges::stable_sort(cuts, {}, [&](const Cut& one) {
      const auto group = std::floor(std::log(one.at_least / least) / std::log(bound_ratio));
      return std::tuple{group, passes_of(one.jobs.back()), one.at_least};
    });
    in_vain_ = 0;
    for (const auto& cut : cuts)
      if (!is_done() && may_be_faster(cut.at_least) && !is_too_deep(cut)) try_cut(cut, surely);
  }

  /// Of the layouts that differ in the number of chunks, and in how often shards are repeated, one each at
  /// first: 1f1b, or chunks of two blocks; shards over all ranks. Others differ by 1 to 2 %.
  bool is_typical(const Job& job) const {
    const auto* fsdp = std::get_if<Fsdp>(&job.strategy);
    if (fsdp != nullptr && fsdp->replicate > 1) return false;
    const auto& layout = job.layout;
    if (layout.chunks == 1) return true;
    const auto blocks = blocks_of(written_.model).count;
    // The largest number of chunks with at least two blocks in each.
    for (int chunks = blocks / layout.pipeline / 2; chunks > 1; --chunks)
      if (blocks % (chunks * layout.pipeline) == 0) return layout.chunks == chunks;
    return layout.chunks == blocks / layout.pipeline;
  }

  /// Deeper pipelines of smaller micro-batches take longest to simulate, and do not win against much fewer
  /// passes.
  bool is_too_deep(const Cut& cut) const {
    return passes_of_best_ > 0 && passes_of(cut.jobs.back()) > most_passes * passes_of_best_;
  }
  static double passes_of(const Job& job) {
    return static_cast<double>(job.accumulate) * job.layout.pipeline;
  }

  void try_cut(const Cut& cut, bool surely) {
    const auto& gpu = written_.platform.gpu_models.front();
    std::vector<Candidate> fitting;
    for (const auto& job : cut.jobs) {
      if (!may_be_faster(estimator_of(job).least_time_of(job))) continue;
      const auto required = estimator_of(job).estimate(job);
      if (!gpu.ideal && required.needs > gpu.memory) {
        ++found_.do_not_fit;
        found_.unfit.push_back({job, required.needs});
        break;
      }
      if (required.surely_fits || !surely) fitting.push_back({job, required.at_least});
    }
    std::ranges::stable_sort(fitting, {}, &Candidate::at_least);
    for (const auto& one : fitting)
      if (!is_done() && may_be_faster(one.at_least)) simulate(one.job, surely);
  }

  void simulate(const Job& job, bool surely) {
    try {
      ++in_vain_;
      auto tried = simulate_layout(written_, job, best_ * (1 - margin), engine_);
      if (auto* result = std::get_if<LayoutResult>(&tried)) {
        ++found_.simulated;
        if (surely && result->verdict != MemoryVerdict::fits) return;
        if (result->metrics.step_time < best_) {
          best_ = result->metrics.step_time;
          passes_of_best_ = passes_of(job);
          in_vain_ = 0;
        }
        found_.ranked.push_back(std::move(*result));
      } else if (const auto needs = std::get<BeyondLimits>(tried).needs) {  // with NCCL's buffers
        ++found_.do_not_fit;
        found_.unfit.push_back({job, *needs});
      }
    } catch (const ConfigError& error) {
      found_.refused.push_back({job, error.problems().front().what});
    }
  }

  /// Tries other numbers of chunks, and shards that are repeated, on the fastest.
  void try_variants() {
    if (found_.ranked.empty()) return;
    const auto best = fastest().job;
    const auto is_variant = [&](const Job& job) {
      return kind_of(job) == kind_of(best) && job.layout.pipeline == best.layout.pipeline &&
             job.batch_per_gpu == best.batch_per_gpu;
    };
    const auto surely = fastest().verdict == MemoryVerdict::fits;
    for (const auto& job : variants_)
      if (is_variant(job)) simulate(job, surely);
  }

  const LayoutResult& fastest() const {
    return *std::ranges::min_element(found_.ranked, {},
                                     [](const LayoutResult& one) { return one.metrics.step_time; });
  }

  void try_selective_checkpoints() {
    if (found_.ranked.empty()) return;
    const auto& best = fastest();
    if (const auto job = with_selective_checkpoints(written_.model, best.job))
      simulate(*job, best.verdict == MemoryVerdict::fits);
  }

  void rank() {
    std::ranges::stable_sort(found_.ranked, {},
                             [](const LayoutResult& one) { return one.metrics.step_time; });
    std::vector<std::optional<Choice>> choices;
    for (const auto& one : found_.ranked)
      choices.push_back(Choice{one.metrics.step_time.value(), one.metrics.step_time, one.errors});
    found_.leaders = leaders_of(choices);
    found_.on_front.assign(found_.ranked.size(), false);
    if (!found_.ranked.empty()) {
      found_.unfit.clear();
    } else {
      std::ranges::stable_sort(found_.unfit, {}, &UnfitLayout::needs);
    }
  }

  const Scenario& written_;
  const std::string& engine_;
  std::map<Kind, RequirementEstimator> estimators_;
  std::vector<Job> variants_;  ///< that are not typical
  LayoutSearchResult found_;
  Seconds best_ = Seconds::infinite();
  double passes_of_best_ = 0;
  int in_vain_ = 0;  ///< simulations since the best was found
};

}  // namespace

LayoutSearchResult find_layout(const Scenario& written, int global_batch, const std::string& engine) {
  return for_candidates(written, global_batch, [&](std::vector<Job> candidates) {
    return LayoutFinder{written, engine}.run(std::move(candidates));
  });
}

}  // namespace gradway

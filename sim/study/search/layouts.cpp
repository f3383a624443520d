// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/layouts.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

constexpr double near_best_without_sequence = 0.02;  // relative to the best step time
constexpr double least_reported_gain = 0.01;         // of an unsearched key, relative to the best step time
constexpr double similar = 1.05;                     // ratio of bounds that are in the same group
// The bound that needs no plan may exceed the step time by this share (a test holds it).
constexpr double error_of_quick_bound = 0.02;

constexpr double large_bubble = 0.04;            // share of the passes' time
constexpr double near_best_for_variants = 0.15;  // relative to the best step time
constexpr std::size_t most_families = 4;         // of layouts whose variants are tried

struct Candidate {
  Job job;
  Seconds at_least{};
};

/// Candidates that differ in the micro-batch only, the smallest first.
struct Cut {
  std::vector<Candidate> candidates;
  Seconds at_least = Seconds::infinite();

  void add(Job job, Seconds least) {
    at_least = std::min(at_least, least);
    candidates.push_back({std::move(job), least});
  }

  double passes() const { return passes_of(candidates.back().job); }
  /// Passes of micro-batches through stages, which is what a simulation costs.
  static double passes_of(const Job& job) {
    return static_cast<double>(job.accumulate) * job.layout.pipeline;
  }
};

/// Which layouts count.
enum class Counted { all, all_and_the_fastest_that_fits, surely_fitting };

/// The step times of the best layouts so far, and what another must stay below to be one of them.
class BestSteps {
 public:
  BestSteps(const SearchEffort& effort, Counted counted) : effort_{&effort}, counted_{counted} {}

  bool counts(bool surely_fits) const { return surely_fits || counted_ != Counted::surely_fitting; }

  Seconds limit(bool may_surely_fit) const {
    auto limit = steps_.size() < effort_->best ? Seconds::infinite() : steps_[effort_->best - 1];
    if (may_surely_fit && counted_ == Counted::all_and_the_fastest_that_fits)
      limit = std::max(limit, best_that_surely_fits_);
    return limit * (1 - effort_->margin);
  }

  /// Whether a layout with this lower bound may be one of those to find.
  bool may_be_found(Seconds at_least, bool may_surely_fit = true) const {
    return !is_done() && at_least <= limit(may_surely_fit);
  }

  bool is_done() const { return !steps_.empty() && effort_->patience > 0 && in_vain_ >= effort_->patience; }
  bool is_too_deep(const Cut& cut) const {
    return effort_->most_passes > 0 && passes_ > 0 && cut.passes() > effort_->most_passes * passes_;
  }

  void begin_simulation() { ++in_vain_; }
  void begin_search() { in_vain_ = 0; }
  void add(const LayoutResult& tried) {
    const auto step = tried.metrics.step_time;
    if (steps_.empty() || step < steps_.front()) {
      in_vain_ = 0;
      passes_ = Cut::passes_of(tried.job);
    }
    steps_.insert(std::ranges::upper_bound(steps_, step), step);
    if (tried.surely_fits()) best_that_surely_fits_ = std::min(best_that_surely_fits_, step);
  }

 private:
  const SearchEffort* effort_;
  Counted counted_;
  std::vector<Seconds> steps_;  ///< of all that were simulated, rising
  Seconds best_that_surely_fits_ = Seconds::infinite();
  double passes_ = 0;  ///< of the fastest
  int in_vain_ = 0;    ///< simulations since the fastest was found, or the search began
};

/// What trying the layouts of a cut gave.
struct CutAnswer {
  explicit CutAnswer(const BestSteps& before) : best{before} {}

  BestSteps best;  ///< with those of the cut
  std::vector<LayoutResult> tried;
  std::vector<LayoutResult> unfit;
  std::vector<LayoutResult> refused;
  std::size_t do_not_fit = 0;
  std::size_t simulated = 0;
};

/// Whether jobs of a search are the same. All others of their settings are those of the scenario.
bool is_same(const Job& a, const Job& b) {
  return cut_of(a) == cut_of(b) && a.batch_per_gpu == b.batch_per_gpu &&
         a.recompute_every == b.recompute_every;
}

class LayoutSearch {
 public:
  LayoutSearch(const Scenario& written, const SearchEffort& effort, const LayoutSearchOptions& options)
      : written_{written}, effort_{effort}, options_{options}, best_{effort, Counted::surely_fitting} {}

  LayoutSearchResult run(std::vector<Job> candidates, const std::optional<Job>& as_written) {
    found_.written = as_written;
    if (as_written) {
      std::erase_if(candidates, [&](const Job& job) { return is_same(job, *as_written); });
      candidates.insert(candidates.begin(), *as_written);
    }
    found_.candidates = candidates.size();
    std::vector<Job> variants;
    if (effort_.has_variants_last) {
      const auto untypical =
          std::ranges::stable_partition(candidates, [&](const Job& job) { return is_typical(job); });
      variants.assign(untypical.begin(), untypical.end());
      candidates.erase(untypical.begin(), untypical.end());
    }
    const auto cuts = cuts_of(std::move(candidates), as_written.has_value());
    if (!effort_.only_surely_fitting) {
      search(cuts, Counted::all_and_the_fastest_that_fits);
    } else {
      search(cuts, Counted::surely_fitting);
      if (found_.ranked.empty()) search(cuts, Counted::all);
    }
    if (!is_stopped()) try_variants(variants);
    if (!is_stopped()) try_without_sequence();
    if (!is_stopped()) try_selective_checkpoints();
    rank();
    if (effort_.tries_other_keys && !is_stopped()) try_other_keys();
    return std::move(found_);
  }

 private:
  bool is_stopped() const { return !found_.ranked.empty() && options_.is_stopped && options_.is_stopped(); }

  /// Of the layouts that differ in the number of chunks, and in how often shards are repeated, one each at
  /// first: 1f1b, or chunks of two blocks; shards over all ranks. Others differ by some percent. Chunks of
  /// one block count, too, if those of two leave a large bubble.
  bool is_typical(const Job& job) const {
    const auto* fsdp = std::get_if<Fsdp>(&job.strategy);
    if (fsdp != nullptr && fsdp->replicate > 1) return false;
    const auto& layout = job.layout;
    if (layout.chunks == 1) return true;
    const auto blocks = blocks_of(written_.model).count;
    const auto most_chunks = blocks / layout.pipeline;
    // The largest number of chunks with at least two blocks in each.
    int chunks = most_chunks / 2;
    while (chunks > 1 && blocks % (chunks * layout.pipeline) != 0) --chunks;
    if (chunks <= 1) return layout.chunks == most_chunks;
    const auto bubble = (layout.pipeline - 1.0) / (job.accumulate * chunks);
    return layout.chunks == chunks || (layout.chunks == most_chunks && bubble > large_bubble);
  }

  /// Groups candidates that differ in the micro-batch only, and bounds their step times. Candidates of a kind
  /// share the costs of kernels, so kinds are worked on in parallel. In the order of the bounds; of similar
  /// ones those with fewer tasks come first, because they cost least and give the limit for the others; DDP
  /// precedes them all.
  /// @param starts_with_written whether the first job is the scenario's own, which is tried first
  std::vector<Cut> cuts_of(std::vector<Job> jobs, bool starts_with_written = false) {
    std::map<LayoutKind, std::vector<Job*>> by_kind;
    for (auto& job : jobs) {
      estimators_.try_emplace(kind_of(job), written_);
      by_kind[kind_of(job)].push_back(&job);
    }
    std::vector<std::vector<Job*>> kinds;
    for (auto& [kind, same] : by_kind) kinds.push_back(std::move(same));
    std::vector<Seconds> at_least(jobs.size());
    std::atomic<std::size_t> estimated{0};
    options_.for_each(kinds.size(), [&](std::size_t i) {
      auto& estimator = estimators_.at(kind_of(*kinds[i].front()));
      for (const auto* job : kinds[i]) {
        report_progress(options_.on_progress, "estimating the steps of layouts",
                        static_cast<double>(estimated++) / static_cast<double>(jobs.size()));
        at_least[static_cast<std::size_t>(job - jobs.data())] = estimator.least_time_of(*job);
      }
    });
    std::map<decltype(cut_of(written_.job)), Cut> by_cut;
    for (std::size_t i = starts_with_written ? 1 : 0; i < jobs.size(); ++i)
      by_cut[cut_of(jobs[i])].add(jobs[i], at_least[i]);
    std::vector<Cut> cuts;
    for (auto& [key, cut] : by_cut) cuts.push_back(std::move(cut));
    const auto least =
        cuts.empty() ? Seconds{} : std::ranges::min_element(cuts, {}, &Cut::at_least)->at_least;
    std::ranges::stable_sort(cuts, {}, [&](const Cut& cut) {
      const auto steps_above =
          least > Seconds{} ? std::floor(std::log(cut.at_least / least) / std::log(similar)) : 0;
      return std::tuple{steps_above, cut.passes(), cut.at_least};
    });
    // Nothing but gradients is exchanged: where this fits it is fast, and costs little to simulate.
    std::ranges::stable_partition(cuts, [](const Cut& cut) {
      const auto& job = cut.candidates.front().job;
      return std::holds_alternative<Ddp>(job.strategy) && job.recompute == Recompute::none;
    });
    if (starts_with_written) cuts.insert(cuts.begin(), Cut{})->add(jobs.front(), at_least.front());
    return cuts;
  }

  bool fits(Bytes needs) const {
    const auto& gpu = written_.platform.gpu_models.front();
    return gpu.ideal || needs <= gpu.memory;
  }

  void search(std::vector<Cut> cuts, Counted counted) {
    best_ = BestSteps{effort_, counted};
    found_.unfit.clear();
    found_.refused.clear();
    found_.do_not_fit = found_.simulated = 0;
    try_cuts(std::move(cuts));
  }

  /// Several at a time, under the same limit. How many does not depend on the threads, so that the result
  /// does not, either.
  void try_cuts(std::vector<Cut> cuts) {
    const auto total = cuts.size();
    while (!cuts.empty()) {
      std::erase_if(cuts, [&](const Cut& cut) {
        return !best_.may_be_found(cut.at_least * (1 - error_of_quick_bound)) || best_.is_too_deep(cut);
      });
      if (is_stopped()) {
        for (const auto& cut : cuts) found_.not_tried += cut.candidates.size();
        return;
      }
      const auto count = std::min(cuts.size(), effort_.together);
      report_progress(options_.on_progress, fmt::format("simulating layouts, {} groups left", cuts.size()),
                      1 - static_cast<double>(cuts.size()) / static_cast<double>(total));
      std::vector<CutAnswer> answers(count, CutAnswer{best_});
      options_.for_each(count, [&](std::size_t i) { try_cut(cuts[i], answers[i]); });
      if (count == 1) best_ = answers.front().best;
      for (auto& answer : answers) take(std::move(answer), count > 1);
      cuts.erase(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }

  struct Fitting {
    const Job* job;
    Requirements required;
  };

  void try_cut(const Cut& cut, CutAnswer& answer) const {
    const auto& candidates = cut.candidates;
    const auto& estimator = estimators_.at(kind_of(candidates.front().job));
    std::vector<Fitting> fitting;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto& [job, at_least] = candidates[i];
      if (!answer.best.may_be_found(at_least * (1 - error_of_quick_bound))) continue;
      const auto required = estimator.estimate(job);
      if (!fits(required.needs)) {  // larger micro-batches need more
        answer.unfit.push_back({{.memory = required.needs}, job});
        answer.do_not_fit = candidates.size() - i;
        break;
      }
      if (answer.best.counts(required.surely_fits)) fitting.push_back({&job, required});
    }
    std::ranges::stable_sort(fitting, {}, [](const Fitting& layout) { return layout.required.at_least; });
    for (const auto& [job, required] : fitting)
      if (answer.best.may_be_found(required.at_least, required.surely_fits))
        try_layout(*job, required.surely_fits, answer);
  }

  void try_layout(const Job& job, bool may_surely_fit, CutAnswer& answer) const {
    auto& best = answer.best;
    best.begin_simulation();
    try {
      const auto memory = best.counts(false) ? MemoryLimit::fits : MemoryLimit::surely_fits;
      auto tried = simulate_layout(written_, job, {best.limit(may_surely_fit), memory}, options_.engine);
      if (auto* result = std::get_if<LayoutResult>(&tried)) {
        ++answer.simulated;
        best.add(*result);
        answer.tried.push_back(std::move(*result));
      } else if (const auto needs = std::get<BeyondLimits>(tried).needs) {  // with NCCL's buffers
        ++answer.do_not_fit;
        answer.unfit.push_back({{.memory = *needs}, job});
      }
    } catch (const ConfigError& error) {
      answer.refused.push_back({{.failure_reason = error.problems().front().what}, job});
    }
  }

  /// @param is_new whether the best so far does not have its layouts yet
  void take(CutAnswer answer, bool is_new) {
    if (is_new)
      for (const auto& tried : answer.tried) best_.add(tried);
    std::ranges::move(answer.tried, std::back_inserter(found_.ranked));
    std::ranges::move(answer.unfit, std::back_inserter(found_.unfit));
    std::ranges::move(answer.refused, std::back_inserter(found_.refused));
    found_.do_not_fit += answer.do_not_fit;
    found_.simulated += answer.simulated;
  }

  /// Tries layouts that are derived from the best ones.
  void try_more(std::vector<Job> jobs) {
    found_.candidates += jobs.size();
    best_.begin_search();
    try_cuts(cuts_of(std::move(jobs)));
  }

  void sort_by_time() {
    std::ranges::stable_sort(found_.ranked, {},
                             [](const LayoutResult& tried) { return tried.metrics.step_time; });
  }

  /// Tries other numbers of chunks, and shards that are repeated, on the fastest layouts.
  void try_variants(const std::vector<Job>& variants) {
    sort_by_time();
    std::vector<Job> wanted;
    std::set<std::tuple<LayoutKind, int, int>> families;
    for (const auto& tried : found_.ranked) {
      if (tried.metrics.step_time > found_.ranked.front().metrics.step_time * (1 + near_best_for_variants))
        break;
      if (families.size() == most_families) break;
      const auto family = [](const Job& job) {
        return std::tuple{kind_of(job), job.layout.pipeline, job.batch_per_gpu};
      };
      if (!families.insert(family(tried.job)).second) continue;
      for (const auto& job : variants)
        if (family(job) == family(tried.job)) wanted.push_back(job);
    }
    found_.candidates -= wanted.size();  // they are among the candidates already
    try_more(std::move(wanted));
  }

  void try_without_sequence() {
    if (written_.job.framework != Framework::megatron) return;
    sort_by_time();
    std::vector<Job> variants;
    for (const auto& tried : found_.ranked) {
      if (variants.size() == effort_.refined ||
          tried.metrics.step_time >
              found_.ranked.front().metrics.step_time * (1 + near_best_without_sequence))
        break;
      if (!tried.job.layout.sequence) continue;
      variants.push_back(tried.job);
      variants.back().layout.sequence = false;
    }
    try_more(std::move(variants));
  }

  void try_selective_checkpoints() {
    sort_by_time();
    std::vector<Job> variants;
    std::set<decltype(cut_of(written_.job))> seen;
    for (const auto& tried : found_.ranked) {
      if (variants.size() == effort_.refined) break;
      auto job = with_selective_checkpoints(written_.model, tried.job);
      if (job && seen.insert(cut_of(*job)).second) variants.push_back(*std::move(job));
    }
    try_more(std::move(variants));
  }

  /// Tries each unsearched key on the fastest layout, then all keys that help together.
  void try_other_keys() {
    if (found_.ranked.empty()) return;
    const auto& best = found_.ranked.front();
    const auto keys = unsearched_keys(written_.model, written_.platform.gpu_models.front(), best.job);
    std::vector<std::optional<LayoutResult>> tried(keys.size());
    report_progress(options_.on_progress, "trying keys that are not searched");
    options_.for_each(keys.size(), [&](std::size_t i) {
      auto job = best.job;
      set_keys(job, keys[i]);
      tried[i] = simulate_if_feasible(job, best.metrics.step_time * (1 - least_reported_gain));
    });
    auto combined = best.job;
    Settings together;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!tried[i]) continue;
      found_.key_gains.push_back({*tried[i], keys[i]});
      set_keys(combined, keys[i]);
      together.insert(together.end(), keys[i].begin(), keys[i].end());
    }
    if (found_.key_gains.size() < 2) return;
    if (auto tried_together = simulate_if_feasible(combined, Seconds::infinite()))
      found_.key_gains.push_back({*std::move(tried_together), std::move(together)});
  }

  /// None if NCCL refuses the job, or if it takes more memory or time than there is.
  std::optional<LayoutResult> simulate_if_feasible(const Job& job, Seconds limit) const {
    try {
      auto tried = simulate_layout(written_, job, {limit, MemoryLimit::fits}, options_.engine);
      auto* result = std::get_if<LayoutResult>(&tried);
      if (result != nullptr && result->metrics.step_time <= limit) return std::move(*result);
    } catch (const ConfigError&) {
      return std::nullopt;
    }
    return std::nullopt;
  }

  void rank() {
    sort_by_time();
    std::vector<std::optional<Choice>> choices;
    auto smallest = Bytes::infinite();
    for (const auto& tried : found_.ranked) {
      choices.push_back(tried.choice(tried.metrics.step_time.value()));
      found_.on_front.push_back(tried.memory < smallest);
      smallest = std::min(smallest, tried.memory);
    }
    found_.leaders = leaders_of(choices);
    found_.slower =
        found_.candidates - found_.simulated - found_.do_not_fit - found_.refused.size() - found_.not_tried;
    keep_smallest_of_each_cut();
  }

  void keep_smallest_of_each_cut() {
    auto& unfit = found_.unfit;
    std::ranges::stable_sort(unfit, {}, &LayoutResult::memory);
    std::vector<LayoutResult> kept;
    for (auto& candidate : unfit) {
      const auto cut = [](const Job& job) {
        const auto& layout = job.layout;
        return std::tuple{layout.tensor, layout.context, layout.expert, layout.pipeline};
      };
      if (std::ranges::none_of(kept,
                               [&](const auto& smaller) { return cut(smaller.job) == cut(candidate.job); }))
        kept.push_back(std::move(candidate));
    }
    unfit = std::move(kept);
  }

  const Scenario& written_;
  const SearchEffort& effort_;
  const LayoutSearchOptions& options_;
  std::map<LayoutKind, RequirementEstimator> estimators_;
  LayoutSearchResult found_;
  BestSteps best_;
};

}  // namespace

bool LayoutSearchResult::is_written(std::size_t ranked_index) const {
  return written && is_same(*written, ranked[ranked_index].job);
}

std::size_t LayoutSearchResult::recommended_index() const {
  for (std::size_t i = 0; i < ranked.size(); ++i)
    if (ranked[i].surely_fits() && leaders.has(i)) return i;
  return 0;
}

LayoutSearchResult search_layouts(const Scenario& written, int global_batch, const SearchEffort& effort,
                                  const LayoutSearchOptions& options) {
  check_can_be_cut(written);
  std::optional<Job> as_written;
  if (std::lround(written.job.samples()) == global_batch) as_written = written.job;
  LayoutSearchResult result;
  for (const bool beyond_nodes : {false, true}) {
    auto candidates = candidate_layouts(written, global_batch, beyond_nodes);
    if (candidates.empty() && !as_written) continue;
    auto attempt = LayoutSearch{written, effort, options}.run(std::move(candidates), as_written);
    if (!attempt.ranked.empty() || result.candidates == 0) result = std::move(attempt);
    if (!result.ranked.empty()) return result;
  }
  if (result.candidates == 0)
    refuse(fmt::format("no layout of {} GPUs has a global batch of {} samples: no number of "
                       "data-parallel ranks and micro-batches divides it",
                       written.job.gpus, global_batch),
           fmt::format("'--global-batch {}' is possible", written.job.gpus));
  return result;
}

}  // namespace gradway

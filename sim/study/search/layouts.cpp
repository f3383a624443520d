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

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

constexpr double near_best_without_sequence = 0.02;  // relative to the best step time
constexpr double least_reported_gain = 0.01;         // of an unsearched key, relative to the best step time
constexpr double similar = 1.05;                     // ratio of bounds that are in the same group
constexpr double large_bubble = 0.04;                // share of the passes' time
constexpr double near_best_for_variants = 0.15;      // relative to the best step time
constexpr std::size_t most_families = 4;             // of layouts whose variants are tried

/// Whether jobs of a search are the same. All others of their settings are those of the scenario.
bool is_same(const Job& a, const Job& b) {
  return cut_of(a) == cut_of(b) && a.batch_per_gpu == b.batch_per_gpu &&
         a.recompute_every == b.recompute_every;
}

class LayoutSearch {
 public:
  LayoutSearch(const Scenario& written, const SearchEffort& effort, const SearchOptions& options)
      : written_{written},
        effort_{effort},
        options_{options},
        search_{written, effort, options, estimate()} {}

  LayoutSearchResult run(std::vector<Job> candidates, const std::optional<Job>& as_written) {
    result_.written = as_written;
    if (as_written) {
      std::erase_if(candidates, [&](const Job& job) { return is_same(job, *as_written); });
      candidates.insert(candidates.begin(), *as_written);
    }
    result_.candidates = candidates.size();
    std::vector<Job> variants;
    if (effort_.has_variants_last) {
      const auto untypical =
          std::ranges::stable_partition(candidates, [&](const Job& job) { return is_typical(job); });
      variants.assign(untypical.begin(), untypical.end());
      candidates.erase(untypical.begin(), untypical.end());
    }
    const auto cuts = cuts_of(std::move(candidates), as_written.has_value());
    if (!effort_.only_surely_fitting) {
      search_.try_first(cuts, Counted::all_and_the_fastest_that_fits);
    } else {
      search_.try_first(cuts, Counted::surely_fitting);
      if (!search_.has_any()) search_.try_first(cuts, Counted::all);
    }
    if (!search_.is_stopped()) try_variants(variants);
    if (!search_.is_stopped()) try_without_sequence();
    if (!search_.is_stopped()) try_selective_checkpoints();
    const bool is_stopped = search_.is_stopped();
    rank();
    if (effort_.tries_other_keys && !is_stopped) try_other_keys();
    return std::move(result_);
  }

 private:
  Search::Estimate estimate() const {
    return [this](const Job& job) { return estimators_.at(kind_of(job)).estimate(job); };
  }

  /// Of the layouts that differ in the number of chunks, and in how often shards are repeated, one each at
  /// first: 1f1b, or chunks of two blocks; shards over all ranks. Others differ by some percent. Chunks of
  /// one block count, too, if those of two leave a large bubble.
  bool is_typical(const Job& job) const {
    if (settings_or_defaults<Fsdp>(job.strategy).replicate > 1) return false;
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
  std::vector<BoundedGroup> cuts_of(std::vector<Job> jobs, bool starts_with_written = false) {
    std::map<LayoutKind, std::vector<Job*>> by_kind;
    for (auto& job : jobs) {
      estimators_.try_emplace(kind_of(job), written_);
      by_kind[kind_of(job)].push_back(&job);
    }
    std::vector<std::vector<Job*>> kinds;
    for (auto& [kind, same] : by_kind) kinds.push_back(std::move(same));
    std::vector<Seconds> at_least(jobs.size());
    std::atomic<std::size_t> estimated{0};
    for_each_in_parallel(kinds.size(), options_.threads, [&](std::size_t i) {
      auto& estimator = estimators_.at(kind_of(*kinds[i].front()));
      for (const auto* job : kinds[i]) {
        report_progress(options_.on_progress, "estimating the steps of layouts",
                        static_cast<double>(estimated++) / static_cast<double>(jobs.size()));
        at_least[static_cast<std::size_t>(job - jobs.data())] = estimator.least_time_of(*job);
      }
    });
    std::map<decltype(cut_of(written_.job)), BoundedGroup> by_cut;
    for (std::size_t i = starts_with_written ? 1 : 0; i < jobs.size(); ++i)
      by_cut[cut_of(jobs[i])].add(jobs[i], at_least[i]);
    std::vector<BoundedGroup> cuts;
    for (auto& [key, cut] : by_cut) cuts.push_back(std::move(cut));
    const auto least =
        cuts.empty() ? Seconds{} : std::ranges::min_element(cuts, {}, &BoundedGroup::at_least)->at_least;
    std::ranges::stable_sort(cuts, {}, [&](const BoundedGroup& cut) {
      const auto steps_above =
          least > Seconds{} ? std::floor(std::log(cut.at_least / least) / std::log(similar)) : 0;
      return std::tuple{steps_above, cut.passes(), cut.at_least};
    });
    // Nothing but gradients is exchanged: where this fits it is fast, and costs little to simulate.
    std::ranges::stable_partition(cuts, [](const BoundedGroup& cut) {
      const auto& job = cut.candidates.front().job;
      return is_ddp(job.strategy) && job.recompute == Recompute::none;
    });
    if (starts_with_written) cuts.insert(cuts.begin(), BoundedGroup{})->add(jobs.front(), at_least.front());
    return cuts;
  }

  /// Tries layouts that are derived from the best ones.
  void try_more(std::vector<Job> jobs) {
    result_.candidates += jobs.size();
    search_.try_more(cuts_of(std::move(jobs)));
  }

  /// Tries other numbers of chunks, and shards that are repeated, on the fastest layouts.
  void try_variants(const std::vector<Job>& variants) {
    const auto& ranked = search_.sorted_by_time().ranked;
    std::vector<Job> wanted;
    std::set<std::tuple<LayoutKind, int, int>> families;
    for (const auto& tried : ranked) {
      if (tried.metrics.step_time > ranked.front().metrics.step_time * (1 + near_best_for_variants)) break;
      if (families.size() == most_families) break;
      const auto family = [](const Job& job) {
        return std::tuple{kind_of(job), job.layout.pipeline, job.batch_per_gpu};
      };
      if (!families.insert(family(tried.job)).second) continue;
      for (const auto& job : variants)
        if (family(job) == family(tried.job)) wanted.push_back(job);
    }
    result_.candidates -= wanted.size();  // they are among the candidates already
    try_more(std::move(wanted));
  }

  void try_without_sequence() {
    if (written_.job.framework != Framework::megatron) return;
    const auto& ranked = search_.sorted_by_time().ranked;
    std::vector<Job> variants;
    for (const auto& tried : ranked) {
      if (variants.size() == effort_.refined ||
          tried.metrics.step_time > ranked.front().metrics.step_time * (1 + near_best_without_sequence))
        break;
      if (!tried.job.layout.sequence) continue;
      variants.push_back(tried.job);
      variants.back().layout.sequence = false;
    }
    try_more(std::move(variants));
  }

  void try_selective_checkpoints() {
    const auto& ranked = search_.sorted_by_time().ranked;
    std::vector<Job> variants;
    std::set<decltype(cut_of(written_.job))> seen;
    for (const auto& tried : ranked) {
      if (variants.size() == effort_.refined) break;
      auto job = with_selective_checkpoints(written_.model, tried.job);
      if (job && seen.insert(cut_of(*job)).second) variants.push_back(*std::move(job));
    }
    try_more(std::move(variants));
  }

  /// Tries each unsearched key on the fastest layout, then all keys that help together.
  void try_other_keys() {
    if (result_.ranked.empty()) return;
    const auto& best = result_.ranked.front();
    std::vector<Question> questions;
    for (auto& set : unsearched_keys(written_.model, written_.platform.gpu_models.front(), best.job))
      questions.push_back({.scenario = &written_, .job = best.job, .set = std::move(set)});
    report_progress(options_.on_progress, "trying keys that are not searched");
    Question together{.scenario = &written_, .job = best.job};
    for (auto& answer : answers_within(questions, best.metrics.step_time * (1 - least_reported_gain))) {
      together.set.insert(together.set.end(), answer.set.begin(), answer.set.end());
      result_.key_gains.push_back(std::move(answer));
    }
    if (result_.key_gains.size() < 2) return;
    std::ranges::move(answers_within({together}, Seconds::infinite()), std::back_inserter(result_.key_gains));
  }

  /// Without those that NCCL refuses, and that take more memory or time than there is.
  std::vector<Answer> answers_within(const std::vector<Question>& questions, Seconds limit) const {
    auto answers = answers_to(questions, {.engine = options_.engine, .limits = {limit, MemoryLimit::fits}},
                              in_parallel(options_.threads));
    std::erase_if(answers, [&](const Answer& answer) {
      return answer.outcome != Outcome::simulated || answer.metrics.step_time > limit;
    });
    return answers;
  }

  void rank() {
    static_cast<TriedCandidates&>(result_) = std::move(search_.sorted_by_time());
    std::vector<std::optional<Choice>> choices;
    auto smallest = Bytes::infinite();
    for (const auto& tried : result_.ranked) {
      choices.emplace_back(tried.choice());
      result_.on_front.push_back(tried.memory < smallest);
      smallest = std::min(smallest, tried.memory);
    }
    result_.leaders = leaders_of(choices);
    result_.slower = result_.candidates - result_.simulated - result_.do_not_fit - result_.refused.size() -
                     result_.not_tried;
    keep_smallest_of_each_cut();
  }

  void keep_smallest_of_each_cut() {
    auto& unfit = result_.unfit;
    std::ranges::stable_sort(unfit, {}, &Answer::memory);
    std::vector<Answer> kept;
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
  const SearchOptions& options_;
  std::map<LayoutKind, RequirementEstimator> estimators_;
  LayoutSearchResult result_;
  Search search_;
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
                                  const SearchOptions& options) {
  check_can_be_cut(written);
  std::optional<Job> as_written;
  if (std::lround(written.job.samples()) == global_batch) as_written = written.job;
  if (effort.data_parallel_only) {
    auto candidates = candidate_layouts(written, global_batch, false);
    std::erase_if(candidates, [](const Job& job) { return job.layout.model_parallel_ranks() > 1; });
    auto result = LayoutSearch{written, effort, options}.run(std::move(candidates), {});
    if (result.ranked.empty() || !result.ranked.front().surely_fits())
      refuse("no layout without model-parallel ranks certainly fits", "search all layouts");
    return result;
  }
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

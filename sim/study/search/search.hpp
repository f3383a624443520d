// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/progress.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway {

/// How far a search goes.
struct SearchEffort {
  std::size_t best = 1;  ///< candidates to find
  double margin = 0;     ///< what may be faster by this share of the step time at most is not simulated
  int patience = 0;  ///< simulations in a row that find nothing faster, after which it ends; 0: any number
  double most_passes = 0;  ///< of a step, relative to those of the fastest so far; 0: any number
  /// Groups that are simulated under the same limit, in parallel. One: each under the limit that those before
  /// it give, though as many are simulated ahead as there are threads.
  std::size_t together = 8;
  std::size_t refined = 8;  ///< of the best layouts: those tried without sequence parallelism, and with
                            ///< selective checkpoints
  bool only_surely_fitting = false;  ///< unless none certainly fits
  /// Layouts with other numbers of chunks and with repeated shards are tried for the fastest only.
  bool has_variants_last = false;
  bool data_parallel_only = false;  ///< layouts without model-parallel ranks, which must certainly fit
  bool tries_other_keys = true;     ///< keys that are not searched, on the fastest layout
};

/// Finds the `best` layouts with the least step time, and the fastest that certainly fits: those that
/// simulating all candidates finds.
constexpr SearchEffort exact_search(std::size_t best) {
  return {.best = best};
}

/// Finds a layout that certainly fits and is close to the fastest such one, in a fraction of the time
/// (sim/decisions/0063-find-a-layout-fast-for-plans.md).
constexpr SearchEffort quick_search() {
  return {.margin = 0.02,
          .patience = 8,
          .most_passes = 16,
          .together = 1,
          .refined = 1,
          .only_surely_fitting = true,
          .has_variants_last = true,
          .tries_other_keys = false};
}

/// Finds a layout without model-parallel ranks that certainly fits in a tenth of that time, or none.
constexpr SearchEffort first_look() {
  auto effort = quick_search();
  effort.refined = 0;
  effort.data_parallel_only = true;
  return effort;
}

struct SearchOptions {
  std::string engine = "fluid";    ///< a name from engines()
  int threads = 1;                 ///< 0: one per hardware thread
  ProgressCallback on_progress{};  ///< called by these threads
  /// Asked now and then: if true, the search ends with the best so far, once it has one.
  std::function<bool()> is_stopped{};
};

/// Memory of a candidate, without NCCL's buffers, and a lower bound of its step time.
struct Requirements {
  Bytes needs{};
  bool fits = false;
  bool surely_fits = false;
  Seconds at_least{};  ///< only if it fits
};

/// A job that may be tried.
struct BoundedJob {
  Job job;
  Seconds at_least{};  ///< lower bound of its step time
};

/// Candidates that one thread tries in turn. Each needs at least as much memory as the one before.
struct BoundedGroup {
  std::vector<BoundedJob> candidates;
  Seconds at_least = Seconds::infinite();

  void add(Job job, Seconds least);
  /// Of micro-batches through stages, which is what the simulation of the last candidate costs.
  double passes() const;
};

/// Which candidates count.
enum class Counted { all, all_and_the_fastest_that_fits, surely_fitting };

/// The step times of the best candidates so far, and what another must stay below to be one of them.
class BestSteps {
 public:
  BestSteps(const SearchEffort& effort, Counted counted) : effort_{&effort}, counted_{counted} {}

  bool counts(bool surely_fits) const { return surely_fits || counted_ != Counted::surely_fitting; }
  Seconds limit(bool may_surely_fit) const;
  /// Whether a candidate with this lower bound may be one of those to find.
  bool may_be_found(Seconds at_least, bool may_surely_fit = true) const;
  bool is_too_deep(const BoundedGroup& group) const;

  void begin_simulation() {
    ++begun_;
    ++in_vain_;
  }
  void begin_search() { in_vain_ = 0; }
  void add(const Answer& tried);
  /// Whether a group that was tried from `before` on, with these as the best after it, would be tried just
  /// the same from now on.
  bool is_as(const BestSteps& before, const BestSteps& after) const;
  /// Takes the simulations of such a group, whose steps were added.
  void follow(const BestSteps& before, const BestSteps& after);

 private:
  const SearchEffort* effort_;
  Counted counted_;
  std::vector<Seconds> steps_;  ///< of all that were simulated, rising
  Seconds best_that_surely_fits_ = Seconds::infinite();
  double passes_ = 0;  ///< of the fastest
  int begun_ = 0;      ///< simulations
  int in_vain_ = 0;    ///< simulations since the fastest was found, or the search began
};

/// What trying candidates gave.
struct TriedCandidates {
  std::vector<Answer> ranked{};   ///< those that run; at the end of a search the fastest first
  std::vector<Answer> unfit{};    ///< with their memory alone
  std::vector<Answer> refused{};  ///< by NCCL
  std::size_t do_not_fit = 0;
  std::size_t simulated = 0;
  std::size_t not_tried = 0;  ///< because the search was stopped
};

/// Tries candidates of any kind, and finds the best of them: simulates groups in their order, several at a
/// time, until no other can be among those to find.
class Search {
 public:
  /// Thread-safe.
  using Estimate = std::function<Requirements(const Job&)>;

  /// @param written the scenario whose job the candidates replace
  Search(const Scenario& written, const SearchEffort& effort, const SearchOptions& options, Estimate estimate)
      : written_{written},
        effort_{effort},
        options_{options},
        estimate_{std::move(estimate)},
        best_{effort, Counted::surely_fitting} {}

  void try_first(std::vector<BoundedGroup> groups, Counted counted);
  /// Tries candidates that are derived from the best ones.
  void try_more(std::vector<BoundedGroup> groups);

  /// @return all so far
  TriedCandidates& sorted_by_time();
  bool has_any() const { return !tried_.ranked.empty(); }
  bool is_stopped() const { return has_any() && options_.is_stopped && options_.is_stopped(); }

 private:
  struct GroupAnswer;
  void try_groups(std::vector<BoundedGroup> groups);
  void try_group(const BoundedGroup& group, GroupAnswer& answer) const;
  void try_candidate(const Job& job, bool may_surely_fit, GroupAnswer& answer) const;
  void take(GroupAnswer answer);

  const Scenario& written_;
  const SearchEffort& effort_;
  const SearchOptions& options_;
  Estimate estimate_;
  TriedCandidates tried_;
  BestSteps best_;
};

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace gradway {
namespace {

// The bound that needs no plan may exceed the step time by this share (a test holds it).
constexpr double error_of_quick_bound = 0.02;

double passes_of(const Job& job) {
  return static_cast<double>(job.accumulate) * job.layout.pipeline;
}

}  // namespace

void BoundedGroup::add(Job job, Seconds least) {
  at_least = std::min(at_least, least);
  candidates.push_back({std::move(job), least});
}

double BoundedGroup::passes() const {
  return passes_of(candidates.back().job);
}

Seconds BestSteps::limit(bool may_surely_fit) const {
  auto limit = steps_.size() < effort_->best ? Seconds::infinite() : steps_[effort_->best - 1];
  if (may_surely_fit && counted_ == Counted::all_and_the_fastest_that_fits)
    limit = std::max(limit, best_that_surely_fits_);
  return limit * (1 - effort_->margin);
}

bool BestSteps::may_be_found(Seconds at_least, bool may_surely_fit) const {
  const bool is_done = !steps_.empty() && effort_->patience > 0 && in_vain_ >= effort_->patience;
  return !is_done && at_least <= limit(may_surely_fit);
}

bool BestSteps::is_too_deep(const BoundedGroup& group) const {
  return effort_->most_passes > 0 && passes_ > 0 && group.passes() > effort_->most_passes * passes_;
}

void BestSteps::add(const Answer& tried) {
  const auto step = tried.metrics.step_time;
  if (steps_.empty() || step < steps_.front()) {
    in_vain_ = 0;
    passes_ = passes_of(tried.job);
  }
  steps_.insert(std::ranges::upper_bound(steps_, step), step);
  if (tried.surely_fits()) best_that_surely_fits_ = std::min(best_that_surely_fits_, step);
}

bool BestSteps::is_as(const BestSteps& before, const BestSteps& after) const {
  const auto simulations = after.begun_ - before.begun_;
  return limit(true) == before.limit(true) && limit(false) == before.limit(false) &&
         passes_ == before.passes_ && steps_.empty() == before.steps_.empty() &&
         (effort_->patience == 0 || in_vain_ + simulations < effort_->patience);
}

void BestSteps::follow(const BestSteps& before, const BestSteps& after) {
  const auto simulations = after.begun_ - before.begun_;
  const bool has_improved = after.in_vain_ < before.in_vain_ + simulations;
  begun_ += simulations;
  in_vain_ = has_improved ? after.in_vain_ : in_vain_ + simulations;
}

/// What trying a group gave.
struct Search::GroupAnswer {
  explicit GroupAnswer(const BestSteps& before) : best{before} {}

  BestSteps best;  ///< with those of the group
  TriedCandidates tried{};
  bool has_failed = false;  ///< only if it was simulated ahead: perhaps nobody asks for it
};

void Search::try_first(std::vector<BoundedGroup> groups, Counted counted) {
  best_ = BestSteps{effort_, counted};
  tried_.unfit.clear();
  tried_.refused.clear();
  tried_.do_not_fit = tried_.simulated = 0;
  try_groups(std::move(groups));
}

void Search::try_more(std::vector<BoundedGroup> groups) {
  best_.begin_search();
  try_groups(std::move(groups));
}

/// Several at a time, under the same limit: how many are taken does not depend on the threads, so that the
/// result does not, either. What was simulated ahead is taken if nothing before it has changed the limit.
void Search::try_groups(std::vector<BoundedGroup> groups) {
  const auto total = groups.size();
  while (!groups.empty()) {
    std::erase_if(groups, [&](const BoundedGroup& group) {
      return !best_.may_be_found(group.at_least * (1 - error_of_quick_bound)) || best_.is_too_deep(group);
    });
    if (is_stopped()) {
      for (const auto& group : groups) tried_.not_tried += group.candidates.size();
      return;
    }
    const bool goes_ahead = effort_.together == 1;
    const auto threads = options_.threads > 0 ? options_.threads : hardware_threads();
    const auto count =
        std::min(groups.size(), goes_ahead ? static_cast<std::size_t>(threads) : effort_.together);
    report_progress(options_.on_progress, fmt::format("simulating layouts, {} groups left", groups.size()),
                    1 - static_cast<double>(groups.size()) / static_cast<double>(total));
    const auto before = best_;
    std::vector<GroupAnswer> answers(count, GroupAnswer{before});
    for_each_in_parallel(count, threads, [&](std::size_t i) {
      try {
        try_group(groups[i], answers[i]);
      } catch (...) {
        if (!goes_ahead || i == 0) throw;
        answers[i].has_failed = true;
      }
    });
    std::ptrdiff_t taken = 0;
    for (auto& answer : answers) {
      if (answer.has_failed || (goes_ahead && taken > 0 && !best_.is_as(before, answer.best))) break;
      const auto after = answer.best;
      take(std::move(answer));
      if (goes_ahead) best_.follow(before, after);
      ++taken;
    }
    groups.erase(groups.begin(), groups.begin() + taken);
  }
}

void Search::try_group(const BoundedGroup& group, GroupAnswer& answer) const {
  struct Fitting {
    const Job* job;
    Requirements required;
  };
  const auto& candidates = group.candidates;
  std::vector<Fitting> fitting;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& [job, at_least] = candidates[i];
    if (!answer.best.may_be_found(at_least * (1 - error_of_quick_bound))) continue;
    const auto required = estimate_(job);
    if (!required.fits) {
      answer.tried.unfit.push_back({.job = job, .memory = required.needs});
      answer.tried.do_not_fit = candidates.size() - i;
      break;
    }
    if (answer.best.counts(required.surely_fits)) fitting.push_back({&job, required});
  }
  std::ranges::stable_sort(fitting, {}, [](const Fitting& candidate) { return candidate.required.at_least; });
  for (const auto& [job, required] : fitting)
    if (answer.best.may_be_found(required.at_least, required.surely_fits))
      try_candidate(*job, required.surely_fits, answer);
}

void Search::try_candidate(const Job& job, bool may_surely_fit, GroupAnswer& answer) const {
  auto& best = answer.best;
  auto& tried = answer.tried;
  best.begin_simulation();
  const auto memory = best.counts(false) ? MemoryLimit::fits : MemoryLimit::surely_fits;
  auto result = answer_to({.scenario = &written_, .job = job},
                          {.engine = options_.engine, .limits = {best.limit(may_surely_fit), memory}});
  if (result.outcome == Outcome::simulated) {
    ++tried.simulated;
    best.add(result);
    tried.ranked.push_back(std::move(result));
  } else if (result.outcome == Outcome::refused) {
    tried.refused.push_back(std::move(result));
  } else if (result.memory > 0_B) {  // with NCCL's buffers
    ++tried.do_not_fit;
    tried.unfit.push_back(std::move(result));
  }
}

void Search::take(GroupAnswer answer) {
  auto& group = answer.tried;
  for (const auto& tried : group.ranked) best_.add(tried);
  std::ranges::move(group.ranked, std::back_inserter(tried_.ranked));
  std::ranges::move(group.unfit, std::back_inserter(tried_.unfit));
  std::ranges::move(group.refused, std::back_inserter(tried_.refused));
  tried_.do_not_fit += group.do_not_fit;
  tried_.simulated += group.simulated;
}

TriedCandidates& Search::sorted_by_time() {
  std::ranges::stable_sort(tried_.ranked, {}, [](const Answer& tried) { return tried.metrics.step_time; });
  return tried_;
}

}  // namespace gradway

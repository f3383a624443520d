// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/layouts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

constexpr double near_best_without_sequence = 0.02;  // relative to the best step time
constexpr double least_reported_gain = 0.01;         // of an unsearched key, relative to the best step time
// Layouts per batch. It does not depend on the threads, so that the result does not, either.
constexpr std::size_t batch_size = 8;

[[noreturn]] void refuse_layouts(std::string what, std::string hint) {
  throw ConfigError{Problem{Where{}, std::move(what), {}, std::move(hint)}};
}

class LayoutSearch {
 public:
  LayoutSearch(const Scenario& written, std::size_t best, const std::string& engine, const ForEach& for_each,
               const ProgressCallback& on_progress, const std::function<bool()>& is_stopped)
      : written_{written},
        wanted_{best},
        engine_{engine},
        for_each_{for_each},
        on_progress_{on_progress},
        is_stopped_{is_stopped} {}

  LayoutSearchResult run(std::vector<Job> candidates) {
    found_.candidates = candidates.size();
    estimate_all(std::move(candidates));
    sort_fitting();
    simulate_in_order();
    if (!is_stopped()) try_without_sequence();
    if (!is_stopped()) try_selective_checkpoints();
    rank();
    if (!is_stopped()) try_other_keys();
    return std::move(found_);
  }

 private:
  struct Fitting {
    Job job;
    Seconds at_least{};
    bool may_surely_fit = true;
  };

  bool is_stopped() const { return !found_.ranked.empty() && is_stopped_ && is_stopped_(); }

  /// Estimates the candidates of a kind together, because they share the costs of kernels.
  void estimate_all(std::vector<Job> candidates) {
    std::map<Kind, std::vector<Job>> by_kind;
    for (auto& job : candidates) by_kind[kind_of(job)].push_back(std::move(job));
    std::vector<std::vector<Job>> kinds;
    for (auto& [kind, jobs] : by_kind) kinds.push_back(std::move(jobs));
    struct Answers {
      std::vector<Fitting> fitting;
      std::vector<UnfitLayout> unfit;
      std::size_t do_not_fit = 0;
    };
    std::vector<Answers> answers(kinds.size());
    report_progress(on_progress_, "estimating the memory of layouts");
    for_each_(kinds.size(), [&](std::size_t i) {
      RequirementEstimator estimator{written_};
      auto& [fitting, unfit, do_not_fit] = answers[i];
      std::map<decltype(cut_of(written_.job)), bool> too_large;
      for (auto& job : kinds[i]) {
        // Larger micro-batches follow the smaller ones, and need more memory.
        if (too_large[cut_of(job)]) {
          ++do_not_fit;
          continue;
        }
        const auto required = estimator.estimate(job);
        if (fits(required.needs)) {
          fitting.push_back({std::move(job), required.at_least, required.surely_fits});
          continue;
        }
        ++do_not_fit;
        too_large[cut_of(job)] = true;
        unfit.push_back({std::move(job), required.needs});
      }
    });
    for (auto& [fitting, unfit, do_not_fit] : answers) {
      std::ranges::move(fitting, std::back_inserter(fitting_));
      std::ranges::move(unfit, std::back_inserter(found_.unfit));
      found_.do_not_fit += do_not_fit;
    }
  }

  bool fits(Bytes needs) const {
    const auto& gpu = written_.platform.gpu_models.front();
    return gpu.ideal || needs <= gpu.memory;
  }

  /// In the order of their bounds. Of similar ones those with fewer tasks come first: they cost least, and
  /// give the limit that the others must stay below.
  void sort_fitting() {
    constexpr double similar = 1.05;
    if (fitting_.empty()) return;
    const auto least = std::ranges::min(fitting_, {}, &Fitting::at_least).at_least;
    std::ranges::stable_sort(fitting_, {}, [&](const Fitting& one) {
      const auto& job = one.job;
      const auto steps_above = std::floor(std::log(one.at_least / least) / std::log(similar));
      return std::tuple{steps_above, job.accumulate * job.layout.pipeline, one.at_least};
    });
  }

  /// A candidate that takes longer is neither among the layouts to find nor the fastest that certainly fits.
  Seconds limit_of(const Fitting& one) const {
    const auto of_best = steps_.size() < wanted_ ? Seconds::infinite() : steps_[wanted_ - 1];
    return one.may_surely_fit ? std::max(of_best, best_that_surely_fits_) : of_best;
  }

  void simulate_in_order() {
    auto rest = fitting_;
    while (!rest.empty()) {
      found_.slower += std::erase_if(rest, [&](const Fitting& one) { return one.at_least > limit_of(one); });
      if (is_stopped()) {
        found_.not_tried = rest.size();
        return;
      }
      const auto count = std::min(rest.size(), batch_size);
      if (count == 0) return;
      report_progress(on_progress_, fmt::format("simulating layouts, {} left", rest.size()),
                      1 - static_cast<double>(rest.size()) / static_cast<double>(fitting_.size()));
      simulate_all({rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count)});
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }

  void try_without_sequence() {
    if (written_.job.framework != Framework::megatron) return;
    std::vector<Fitting> variants;
    for (const auto& one : found_.ranked) {
      if (!one.job.layout.sequence ||
          one.metrics.step_time > steps_.front() * (1 + near_best_without_sequence))
        continue;
      auto job = one.job;
      job.layout.sequence = false;
      variants.push_back({std::move(job)});
    }
    found_.candidates += variants.size();
    simulate_all(variants);
  }

  void try_selective_checkpoints() {
    std::ranges::stable_sort(found_.ranked, {}, [](const LayoutResult& it) { return it.metrics.step_time; });
    std::vector<Fitting> variants;
    std::set<decltype(cut_of(written_.job))> seen;
    for (const auto& one : found_.ranked) {
      if (variants.size() == batch_size) break;
      auto job = with_selective_checkpoints(written_.model, one.job);
      if (job && seen.insert(cut_of(*job)).second) variants.push_back({*std::move(job)});
    }
    found_.candidates += variants.size();
    simulate_all(variants);
  }

  /// Tries each unsearched key on the fastest layout, then all keys that help together.
  void try_other_keys() {
    if (found_.ranked.empty()) return;
    const auto& best = found_.ranked.front();
    const auto keys = unsearched_keys(written_.model, written_.platform.gpu_models.front(), best.job);
    std::vector<std::optional<LayoutResult>> tried(keys.size());
    report_progress(on_progress_, "trying keys that are not searched");
    for_each_(keys.size(), [&](std::size_t i) {
      auto job = best.job;
      keys[i].change(job);
      tried[i] = simulate_if_feasible(job, best.metrics.step_time * (1 - least_reported_gain));
    });
    auto all = best.job;
    KeyGain together;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!tried[i]) continue;
      found_.key_gains.push_back({keys[i].set, tried[i]->metrics.step_time, tried[i]->memory});
      keys[i].change(all);
      together.set.insert(together.set.end(), keys[i].set.begin(), keys[i].set.end());
    }
    if (found_.key_gains.size() < 2) return;
    const auto tried_together = simulate_if_feasible(all, Seconds::infinite());
    if (!tried_together) return;
    together.step_time = tried_together->metrics.step_time;
    together.memory = tried_together->memory;
    found_.key_gains.push_back(std::move(together));
  }

  /// None if NCCL refuses the job, or if it takes more memory or time than there is.
  std::optional<LayoutResult> simulate_if_feasible(const Job& job, Seconds limit) const {
    try {
      auto tried = simulate_one(job, limit);
      auto* result = std::get_if<LayoutResult>(&tried);
      if (result != nullptr && result->metrics.step_time <= limit) return std::move(*result);
    } catch (const ConfigError&) {
      return std::nullopt;
    }
    return std::nullopt;
  }

  void simulate_all(const std::vector<Fitting>& jobs) {
    struct Refused {
      std::string reason;
    };
    std::vector<std::variant<LayoutResult, BeyondLimits, Refused>> results(jobs.size());
    for_each_(jobs.size(), [&](std::size_t i) {
      try {
        std::visit([&](auto&& tried) { results[i] = std::move(tried); },
                   simulate_one(jobs[i].job, limit_of(jobs[i])));
      } catch (const ConfigError& error) {
        results[i] = Refused{error.problems().front().what};
      }
    });
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (auto* result = std::get_if<LayoutResult>(&results[i])) {
        take(std::move(*result));
      } else if (const auto* beyond = std::get_if<BeyondLimits>(&results[i])) {
        leave_out(jobs[i].job, *beyond);
      } else {
        found_.refused.push_back({jobs[i].job, std::get<Refused>(results[i]).reason});
      }
    }
  }

  std::variant<LayoutResult, BeyondLimits> simulate_one(const Job& job, Seconds limit) const {
    return simulate_layout(written_, job, limit, engine_);
  }

  void take(LayoutResult tried) {
    ++found_.simulated;
    const auto step = tried.metrics.step_time;
    steps_.insert(std::ranges::upper_bound(steps_, step), step);
    if (tried.verdict == MemoryVerdict::fits) best_that_surely_fits_ = std::min(best_that_surely_fits_, step);
    found_.ranked.push_back(std::move(tried));
  }

  /// With NCCL's buffers a layout may not fit any more.
  void leave_out(const Job& job, const BeyondLimits& beyond) {
    if (!beyond.needs) {
      ++found_.slower;
      return;
    }
    ++found_.do_not_fit;
    found_.unfit.push_back({job, *beyond.needs});
  }

  void rank() {
    std::ranges::stable_sort(found_.ranked, {}, [](const LayoutResult& it) { return it.metrics.step_time; });
    std::vector<std::optional<Choice>> choices;
    auto smallest = Bytes::infinite();
    for (const auto& one : found_.ranked) {
      choices.push_back(Choice{one.metrics.step_time.value(), one.metrics.step_time, one.errors});
      found_.on_front.push_back(one.memory < smallest);
      smallest = std::min(smallest, one.memory);
    }
    found_.leaders = leaders_of(choices);
    keep_smallest_of_each_cut();
  }

  void keep_smallest_of_each_cut() {
    auto& unfit = found_.unfit;
    std::ranges::stable_sort(unfit, {}, &UnfitLayout::needs);
    std::vector<UnfitLayout> kept;
    for (auto& one : unfit) {
      const auto cut = [](const Job& job) {
        const auto& layout = job.layout;
        return std::tuple{layout.tensor, layout.context, layout.expert, layout.pipeline};
      };
      if (std::ranges::none_of(kept, [&](const auto& other) { return cut(other.job) == cut(one.job); }))
        kept.push_back(std::move(one));
    }
    unfit = std::move(kept);
  }

  const Scenario& written_;
  std::size_t wanted_;
  const std::string& engine_;
  const ForEach& for_each_;
  const ProgressCallback& on_progress_;
  const std::function<bool()>& is_stopped_;
  LayoutSearchResult found_;
  std::vector<Fitting> fitting_;
  std::vector<Seconds> steps_;  ///< of all ranked layouts, rising
  Seconds best_that_surely_fits_ = Seconds::infinite();
};

void check_can_be_cut(const Scenario& written) {
  const auto& model = written.model;
  if (!trains(written.job.strategy))
    refuse_layouts("a collective has no model to distribute", "use a scenario with a model");
  if (model.profile)
    refuse_layouts(
        fmt::format("the profile '{}' was measured with the whole model on one GPU: it cannot be distributed",
                    model.name),
        "use a model that is described by its architecture: gradway list models");
  if (!can_be_distributed(model))
    refuse_layouts(fmt::format("the model '{}' cannot be distributed: it has neither layers for tensor "
                               "parallelism nor blocks for pipeline stages",
                               model.name),
                   "use a model with repeated blocks: gradway list models");
  if (written.job.framework == Framework::deepspeed)
    refuse_layouts("layouts are searched for PyTorch and Megatron, not for DeepSpeed",
                   "set job.framework=megatron, or pytorch");
}

}  // namespace

bool can_be_distributed(const Model& model) {
  return !model.profile && (model.tensor || pipeline_units(model) > 1);
}

std::size_t LayoutSearchResult::recommended_index() const {
  for (std::size_t i = 0; i < ranked.size(); ++i)
    if (ranked[i].verdict == MemoryVerdict::fits && leaders.has(i)) return i;
  return 0;
}

LayoutSearchResult for_candidates(const Scenario& written, int global_batch,
                                  const std::function<LayoutSearchResult(std::vector<Job>)>& search) {
  check_can_be_cut(written);
  LayoutSearchResult found;
  for (const bool beyond_nodes : {false, true}) {
    auto candidates = candidate_layouts(written, global_batch, beyond_nodes);
    if (candidates.empty()) continue;
    auto more = search(std::move(candidates));
    if (!more.ranked.empty() || found.candidates == 0) found = std::move(more);
    if (!found.ranked.empty()) return found;
  }
  if (found.candidates == 0)
    refuse_layouts(fmt::format("no layout of {} GPUs has a global batch of {} samples: no number of "
                               "data-parallel ranks and micro-batches divides it",
                               written.job.gpus, global_batch),
                   fmt::format("'--global-batch {}' is possible", written.job.gpus));
  return found;
}

LayoutSearchResult search_layouts(const Scenario& written, int global_batch, std::size_t best,
                                  const std::string& engine, const ForEach& for_each,
                                  const ProgressCallback& on_progress,
                                  const std::function<bool()>& is_stopped) {
  return for_candidates(written, global_batch, [&](std::vector<Job> candidates) {
    return LayoutSearch{written, best, engine, for_each, on_progress, is_stopped}.run(std::move(candidates));
  });
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/layouts.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/plan/plan.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/pipeline/stages.hpp"
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

/// Identifies layouts that differ in the micro-batch only.
auto cut_of(const Job& job) {
  const auto& layout = job.layout;
  return std::tuple{layout.tensor,   layout.sequence, layout.context, layout.expert, layout.pipeline,
                    layout.schedule, layout.chunks,   job.recompute,  job.strategy};
}

/// Ranks that share layers, tokens and experts, and recomputation. Layouts of a kind have the same kernels.
using Kind = std::tuple<int, int, int, Recompute>;
Kind kind_of(const Job& job) {
  return {job.layout.tensor, job.layout.context, job.layout.expert, job.recompute};
}

/// Layouts that differ in replicas only, so that they hide similar shares of communication and launches.
using ReplicaFamily = std::tuple<Kind, int, int, int, std::size_t>;
ReplicaFamily replica_family(const Job& job) {
  return {kind_of(job), job.layout.pipeline, job.layout.chunks, job.batch_per_gpu, job.strategy.index()};
}

// Tolerance of the time that is expected from similar layouts. The lower bound alone needs none.
constexpr double slack = 1.05;

/// Memory of a candidate, and a lower bound of its step time.
struct Requirements {
  Bytes needs{};
  Seconds at_least{};
};

/// Enough micro-batches to fill the pipeline. More of them need no more memory and take the same time each.
int enough_micro_batches(const Job& job) {
  const auto& layout = job.layout;
  const bool keeps_all = layout.schedule == Schedule::gpipe || layout.schedule == Schedule::looped_bfs;
  return keeps_all ? job.accumulate : std::min(job.accumulate, 2 * layout.pipeline);
}

/// Lower bound of the step time, the larger of two bounds. One is the kernels of the slowest stage and the
/// passes of a micro-batch through the stages before it, at full clocks, which GPUs that often wait have;
/// separate passes for weight gradients fill the bubble. The other is the average of all stages' kernels at
/// the clocks of GPUs that never wait, because waiting costs more than the higher clocks gain.
/// @param planned micro-batches in `workload`
/// @param slowdown of passes on a GPU that never waits
Seconds least_time(const Workload& workload, const Job& job, int planned, double slowdown) {
  const auto pipeline = pipeline_of(job.layout);
  Seconds least{};
  Seconds way{};
  Seconds of_all{};
  for (const auto& program : workload.programs) {
    Seconds busy{};
    for (const auto& task : program.tasks) {
      const auto* kernel = std::get_if<Kernel>(&task.work);
      if (kernel != nullptr && (task.phase == Phase::forward || task.phase == Phase::backward))
        busy += kernel->work;
    }
    const auto of_micro_batch = busy / planned;
    of_all += of_micro_batch * job.accumulate;
    least = std::max(least, way + of_micro_batch * job.accumulate);
    if (!pipeline.splits_backward()) way += of_micro_batch / pipeline.chunks;
  }
  return std::max(least, of_all / static_cast<double>(workload.programs.size()) * slowdown);
}

/// Estimates memory and a lower bound of the step time of candidates without simulating them. Not
/// thread-safe.
class RequirementEstimator {
 public:
  explicit RequirementEstimator(const Scenario& written) : scenario_{written} {}

  Requirements estimate(const Job& job) {
    scenario_.job = job;
    scenario_.job.accumulate = enough_micro_batches(job);
    auto [at, is_new] = costs_.try_emplace({job.strategy.index(), job.batch_per_gpu});
    auto& [costs, slowdown] = at->second;
    if (is_new) {
      costs = compute_costs(scenario_, WaitRatio::always());
      if (const auto least = time_of_passes(costs); least > Seconds{})
        slowdown = time_of_passes(compute_costs(scenario_)) / least;
    }
    const auto workload = plan(scenario_, costs);
    Requirements required{.at_least = least_time(workload, job, scenario_.job.accumulate, slowdown)};
    for (const auto& program : workload.programs)
      required.needs = std::max(required.needs, program.memory.needed());
    return required;
  }

 private:
  struct Passes {
    ComputeCosts at_full_clocks;
    double slowdown = 1;  ///< on a GPU that never waits
  };

  static Seconds time_of_passes(const ComputeCosts& costs) {
    return total(costs.forward) + total(costs.backward);
  }

  Scenario scenario_;
  std::map<std::pair<std::size_t, int>, Passes> costs_;  ///< by strategy and batch
};

class LayoutSearch {
 public:
  LayoutSearch(const Scenario& written, const std::string& engine, const ForEach& for_each,
               const ProgressCallback& on_progress, const std::function<bool()>& is_stopped)
      : written_{written},
        engine_{engine},
        for_each_{for_each},
        on_progress_{on_progress},
        is_stopped_{is_stopped} {}

  LayoutSearchResult run(std::vector<Job> candidates) {
    found_.candidates = candidates.size();
    estimate_all(std::move(candidates));
    std::ranges::stable_sort(fitting_, {}, &Fitting::at_least);
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
  };

  bool is_stopped() const { return !found_.ranked.empty() && is_stopped_ && is_stopped_(); }

  /// Runs work in parallel. @throws the error of the first that failed
  template <class Work>
  void each(std::size_t count, const Work& work) {
    std::vector<std::exception_ptr> failures(count);
    for_each_(count, [&](std::size_t i) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
    for (const auto& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

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
    each(kinds.size(), [&](std::size_t i) {
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
          fitting.push_back({std::move(job), required.at_least});
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

  /// The least step time to expect: the lower bound, scaled by what similar layouts took.
  Seconds expected_time(const Fitting& one) const {
    const auto known = least_ratios_.find(replica_family(one.job));
    return known == least_ratios_.end() ? one.at_least : one.at_least * known->second;
  }

  void simulate_in_order() {
    auto rest = fitting_;
    while (!rest.empty()) {
      if (!found_.ranked.empty()) {
        found_.slower +=
            std::erase_if(rest, [&](const Fitting& one) { return expected_time(one) > best_ * slack; });
        std::ranges::stable_sort(rest, {}, [&](const Fitting& one) { return expected_time(one); });
      }
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
      if (!one.job.layout.sequence || one.metrics.step_time > best_ * (1 + near_best_without_sequence))
        continue;
      auto job = one.job;
      job.layout.sequence = false;
      variants.push_back({std::move(job), {}});
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
      if (job && seen.insert(cut_of(*job)).second) variants.push_back({*std::move(job), {}});
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
    each(keys.size(), [&](std::size_t i) {
      auto job = best.job;
      keys[i].change(job);
      tried[i] = simulate_if_feasible(job);
    });
    auto all = best.job;
    KeyGain together;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!tried[i] || tried[i]->metrics.step_time > best.metrics.step_time * (1 - least_reported_gain))
        continue;
      found_.key_gains.push_back({keys[i].set, tried[i]->metrics.step_time, tried[i]->memory});
      keys[i].change(all);
      together.set.insert(together.set.end(), keys[i].set.begin(), keys[i].set.end());
    }
    if (found_.key_gains.size() < 2) return;
    const auto tried_together = simulate_if_feasible(all);
    if (!tried_together) return;
    together.step_time = tried_together->metrics.step_time;
    together.memory = tried_together->memory;
    found_.key_gains.push_back(std::move(together));
  }

  /// None if NCCL refuses the job, or if it does not fit.
  std::optional<LayoutResult> simulate_if_feasible(const Job& job) const {
    try {
      auto tried = simulate_one(job);
      if (fits(tried.memory)) return tried;
    } catch (const ConfigError&) {
      return std::nullopt;
    }
    return std::nullopt;
  }

  void simulate_all(const std::vector<Fitting>& jobs) {
    std::vector<std::optional<LayoutResult>> results(jobs.size());
    std::vector<std::string> reasons(jobs.size());
    each(jobs.size(), [&](std::size_t i) {
      try {
        results[i] = simulate_one(jobs[i].job);
      } catch (const ConfigError& error) {
        reasons[i] = error.problems().front().what;
      }
    });
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (results[i]) {
        take(std::move(*results[i]), jobs[i].at_least);
      } else {
        found_.refused.push_back({jobs[i].job, reasons[i]});
      }
    }
  }

  LayoutResult simulate_one(const Job& job) const {
    auto scenario = written_;
    scenario.job = job;
    const auto run = simulate(std::move(scenario), engine_);
    return {.job = job,
            .metrics = run.measured.metrics,
            .range = run.range,
            .errors = run.errors,
            .memory = run.measured.memory.needed(),
            .verdict = memory_range(run.scenario, run.measured.memory).verdict,
            .basis = run.basis,
            .warnings = run.warnings};
  }

  /// Adds a result. With NCCL's buffers the layout may not fit any more.
  void take(LayoutResult tried, Seconds at_least) {
    ++found_.simulated;
    const auto step = tried.metrics.step_time;
    if (at_least > Seconds{}) {
      auto& least = least_ratios_.try_emplace(replica_family(tried.job), step / at_least).first->second;
      least = std::min(least, step / at_least);
    }
    if (!fits(tried.memory)) {
      ++found_.do_not_fit;
      found_.unfit.push_back({std::move(tried.job), tried.memory});
      return;
    }
    best_ = std::min(best_, step);
    found_.ranked.push_back(std::move(tried));
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
  const std::string& engine_;
  const ForEach& for_each_;
  const ProgressCallback& on_progress_;
  const std::function<bool()>& is_stopped_;
  LayoutSearchResult found_;
  std::vector<Fitting> fitting_;
  Seconds best_ = Seconds::infinite();            ///< the least step time so far
  std::map<ReplicaFamily, double> least_ratios_;  ///< smallest ratio of step time to bound
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
  if (!model.tensor && pipeline_units(model) < 2)
    refuse_layouts(fmt::format("the model '{}' cannot be distributed: it has neither layers for tensor "
                               "parallelism nor blocks for pipeline stages",
                               model.name),
                   "use a model with repeated blocks: gradway list models");
  if (written.job.framework == Framework::deepspeed)
    refuse_layouts("layouts are searched for PyTorch and Megatron, not for DeepSpeed",
                   "set job.framework=megatron, or pytorch");
}

}  // namespace

const LayoutResult& LayoutSearchResult::recommended() const {
  for (std::size_t i = 0; i < ranked.size(); ++i)
    if (ranked[i].verdict == MemoryVerdict::fits && leaders.has(i)) return ranked[i];
  return ranked.front();
}

LayoutSearchResult search_layouts(const Scenario& written, int global_batch, const std::string& engine,
                                  const ForEach& for_each, const ProgressCallback& on_progress,
                                  const std::function<bool()>& is_stopped) {
  check_can_be_cut(written);
  LayoutSearchResult found;
  for (const bool beyond_nodes : {false, true}) {
    auto candidates = candidate_layouts(written, global_batch, beyond_nodes);
    if (candidates.empty()) continue;
    auto more = LayoutSearch{written, engine, for_each, on_progress, is_stopped}.run(std::move(candidates));
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

}  // namespace gradway

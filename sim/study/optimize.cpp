// SPDX-License-Identifier: Apache-2.0
#include "sim/study/optimize.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "sim/base/contract.hpp"
#include "sim/study/tried_settings.hpp"

namespace gradway {
namespace {

constexpr double near_best = 0.02;
constexpr double equals = 1e-4;
constexpr int curve_points = 48;

/// PyTorch's default stands for both values where both are searched: what a static graph saves is not
/// modelled.
bool static_graph_of(const SearchSpace& space) {
  return std::ranges::find(space.static_graph, false) == space.static_graph.end();
}

/// All settings but for their buckets.
std::vector<Setting> families_of(const SearchSpace& space) {
  std::vector<Setting> families;
  for (std::size_t job = 0; job < space.jobs.size(); ++job) {
    for (const auto hook : space.hooks) {
      for (const auto rank : hook == CommHook::powersgd ? space.powersgd_ranks : std::vector{1}) {
        for (const bool view : space.views) {
          auto strategy = pytorch_defaults();
          strategy.static_graph = static_graph_of(space);
          strategy.gradient_as_bucket_view = view;
          strategy.comm_hook = hook;
          strategy.powersgd_rank = rank;
          families.push_back({job, strategy});
        }
      }
    }
  }
  return families;
}

/// From what PyTorch does when it is told nothing, and from the job as written.
int departures(const Tried& tried) {
  const auto& strategy = tried.strategy;
  return int{tried.job != 0} + int{strategy.bucket_cap.has_value()} + int{strategy.static_graph} +
         int{strategy.gradient_as_bucket_view} + int{strategy.comm_hook != CommHook::none} +
         int{strategy.powersgd_rank != 1};
}

/// What one has to change for a setting, and to put up with.
std::pair<int, bool> changes(const Tried& tried) {
  return {departures(tried), is_lossy(tried.strategy.comm_hook)};
}

class Search {
 public:
  Search(const SearchSpace& space, const std::string& engine, const ForEach& for_each)
      : space_{space},
        whole_{whole_caps(space.jobs.front().model)},
        cuts_{bucket_cuts(space.jobs.front().model, space.bucket_caps,
                          space.any_bucket_cap ? std::optional{whole_} : std::nullopt)},
        ranged_{static_cast<std::size_t>(
            std::ranges::count_if(cuts_, [](const SameBuckets& cut) { return cut.range.has_value(); }))},
        families_{families_of(space)},
        tried_{space.jobs, engine, for_each} {}

  SearchResult run() {
    try_cuts_at_spaced_caps();
    try_cuts_beside_good_ones();
    SearchResult result;
    const auto fitting = candidates();
    auto ranked = fitting;
    std::erase_if(ranked, [&](const Tried& tried) { return !meets_limits(tried); });
    result.none_meets = ranked.empty() && !fitting.empty();
    limits_count_ = !result.none_meets;
    result.optimum = optimum(limits_count_ ? ranked : fitting);
    if (limits_count_) result.missed = families_that_miss(fitting);
    result.left_out = tried_.left_out();
    result.settings = count_settings();
    result.simulated = tried_.simulated();
    return result;
  }

 private:
  Setting with_cut(Setting family, std::size_t cut) const {
    family.strategy.bucket_cap = simplest_cap(cuts_[cut], whole_);
    return family;
  }

  double cost(const Tried& tried) const { return time_per_sample(space_.jobs[tried.job].job, tried).value(); }

  /// The cut of a whole MiB; cuts with ranges come first, in order.
  std::size_t cut_of(int mib) const {
    const auto found =
        std::partition_point(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(ranged_),
                             [&](const SameBuckets& cut) { return cut.range->last < mib; });
    return static_cast<std::size_t>(found - cuts_.begin());
  }

  std::vector<int> spaced_caps() const {
    std::vector<int> caps;
    const auto most = std::log2(static_cast<double>(whole_.last));
    for (int i = 0; space_.any_bucket_cap && i < curve_points; ++i)
      caps.push_back(static_cast<int>(std::lround(std::exp2(most * i / (curve_points - 1)))));
    return caps;
  }

  void try_cuts_at_spaced_caps() {
    std::set<std::size_t> chosen;
    for (const auto mib : spaced_caps()) chosen.insert(cut_of(mib));
    std::vector<std::size_t> asked_for;
    for (std::size_t cut = 0; cut < cuts_.size(); ++cut) {
      if (!cuts_[cut].caps.empty()) asked_for.push_back(cut);
    }
    std::vector<Setting> settings;
    for (const auto& family : families_) {
      for (const auto cut : chosen) settings.push_back(with_cut(family, cut));
      for (const auto cut : asked_for) settings.push_back(with_cut(family, cut));
    }
    tried_.try_all(settings);
    spaced_.assign(chosen.begin(), chosen.end());
  }

  /// What has been tried and fits.
  std::vector<Tried> candidates() {
    std::vector<Tried> found;
    for (const auto& family : families_) {
      for (std::size_t cut = 0; cut < cuts_.size(); ++cut) {
        const auto setting = with_cut(family, cut);
        if (!tried_.has(setting)) continue;
        if (auto tried = tried_.get(setting); tried.cannot_run.empty()) found.push_back(std::move(tried));
      }
    }
    return found;
  }

  void try_cuts_beside_good_ones() {
    std::map<CommHook, double> best;
    for (const auto& tried : candidates()) {
      auto& least = best.emplace(tried.strategy.comm_hook, cost(tried)).first->second;
      least = std::min(least, cost(tried));
    }
    std::vector<Setting> settings;
    for (const auto& family : families_) {
      const auto is_good = [&](std::size_t cut) {
        const auto tried = tried_.get(with_cut(family, cut));
        return tried.cannot_run.empty() &&
               cost(tried) <= (1 + near_best) * best.at(family.strategy.comm_hook);
      };
      for (std::size_t i = 0; i + 1 < spaced_.size(); ++i) {
        if (!is_good(spaced_[i]) && !is_good(spaced_[i + 1])) continue;
        for (auto cut = spaced_[i] + 1; cut < spaced_[i + 1]; ++cut)
          settings.push_back(with_cut(family, cut));
      }
    }
    tried_.try_all(settings);
  }

  Choice choice(const Tried& tried) const { return choice_of(space_.jobs[tried.job].job, tried); }

  const Tried& fastest_of(const std::vector<const Tried*>& all) const {
    return **std::ranges::min_element(all, {}, [&](const Tried* one) { return cost(*one); });
  }

  /// Nobody can tell which of the two is faster, or nobody cares.
  bool as_good_as(const Tried& fastest, const Tried& one) const {
    return cost(one) <= (1 + equals) * cost(fastest) || are_level(choice(fastest), choice(one));
  }

  /// Of those that are as good as the fastest, the one that changes least; of those the fastest, and of those
  /// that are as fast the one that is least trouble.
  const Tried& simplest_of_best(const std::vector<const Tried*>& all) const {
    const auto& fastest = fastest_of(all);
    auto least = changes(fastest);
    std::vector<const Tried*> good;
    for (const auto* one : all) {
      if (changes(*one) > least || !as_good_as(fastest, *one)) continue;
      least = changes(*one);
      good.push_back(one);
    }
    std::erase_if(good, [&](const Tried* one) { return changes(*one) > least; });
    const auto least_cost = cost(fastest_of(good));
    const auto trouble = [&](const Tried* one) {
      const auto cap = one->strategy.bucket_cap.value_or(0_B);
      return std::tuple{cost(*one) > (1 + equals) * least_cost, one->memory, digits_of(cap), cap, cost(*one)};
    };
    return **std::ranges::min_element(good, {}, trouble);
  }

  /// Nobody can tell the simplest from the fastest, but something between the two, which differs from it in
  /// less, may be faster than it for sure. Of such the one that changes least, until there is none.
  const Tried& recommended(const std::vector<const Tried*>& all) const {
    const auto* best = &simplest_of_best(all);
    for (;;) {
      std::vector<const Tried*> faster;
      for (const auto* one : all) {
        if (cost(*one) < cost(*best) && !as_good_as(*one, *best)) faster.push_back(one);
      }
      if (faster.empty()) return *best;
      best = *std::ranges::min_element(faster, {}, [&](const Tried* one) {
        return std::pair{changes(*one), cost(*one)};
      });
    }
  }

  bool meets_limits(const Tried& tried) const { return meets(space_.goal, tried.metrics, tried.range); }

  /// @param fitting family by family, as `candidates` lists them
  std::vector<Tried> families_that_miss(const std::vector<Tried>& fitting) const {
    const auto family_of = [](const Tried& tried) {
      const auto& strategy = tried.strategy;
      return std::tuple{tried.job, strategy.comm_hook, strategy.powersgd_rank,
                        strategy.gradient_as_bucket_view};
    };
    std::vector<Tried> missed;
    for (auto first = fitting.begin(); first != fitting.end();) {
      const auto last = std::find_if(
          first, fitting.end(), [&](const Tried& other) { return family_of(other) != family_of(*first); });
      if (std::none_of(first, last, [&](const Tried& one) { return meets_limits(one); }))
        missed.push_back(*std::min_element(
            first, last, [&](const Tried& a, const Tried& b) { return cost(a) < cost(b); }));
      first = last;
    }
    return missed;
  }

  /// @param all that are ranked
  std::optional<Optimum> optimum(const std::vector<Tried>& all) {
    if (all.empty()) return std::nullopt;
    std::map<std::pair<CommHook, int>, std::vector<const Tried*>> by_hook;
    std::vector<const Tried*> every;
    for (const auto& tried : all) {
      every.push_back(&tried);
      by_hook[{tried.strategy.comm_hook, tried.strategy.powersgd_rank}].push_back(&tried);
    }
    Optimum found;
    found.fastest = fastest_of(every);
    found.best = without_idle_settings(recommended(every), found.fastest);
    found.defaults = tried_.get({0, pytorch_defaults()});
    found.as_written = tried_.get({0, std::get<Ddp>(space_.jobs.front().job.strategy)});
    for (const auto& [hook, tried] : by_hook) found.best_of_hooks.push_back(recommended(tried));
    found.turned_back = turned_back(found.best);
    add_curve(found);
    return found;
  }

  /// Turns back what brings nothing, or nothing that is sure, to values that are searched.
  Tried without_idle_settings(Tried best, const Tried& fastest) {
    const auto is_idle = [&](const TurnedBack& one) {
      return has(space_, one.without.strategy) && one.without.cannot_run.empty() &&
             (!limits_count_ || meets_limits(one.without)) && as_good_as(best, one.without) &&
             as_good_as(fastest, one.without);
    };
    for (;;) {
      const auto settings = turned_back(best);
      const auto idle = std::ranges::find_if(settings, is_idle);
      if (idle == settings.end()) return best;
      best = idle->without;
    }
  }

  std::vector<TurnedBack> turned_back(const Tried& best) {
    std::vector<TurnedBack> list;
    const auto add = [&](const char* key, auto change) {
      Setting setting{best.job, best.strategy};
      change(setting);
      list.push_back({key, tried_.get(setting)});
    };
    if (best.job != 0) add("", [](Setting& it) { it.job = 0; });
    const auto& strategy = best.strategy;
    const bool caps = space_.any_bucket_cap || space_.bucket_caps.size() > 1;
    if (caps && strategy.bucket_cap) add("bucket_cap", [](Setting& it) { it.strategy.bucket_cap.reset(); });
    if (space_.views.size() > 1 && strategy.gradient_as_bucket_view)
      add("gradient_as_bucket_view", [](Setting& it) { it.strategy.gradient_as_bucket_view = false; });
    if (space_.hooks.size() > 1 && strategy.comm_hook != CommHook::none) {
      add("comm_hook", [](Setting& it) {
        it.strategy.comm_hook = CommHook::none;
        it.strategy.powersgd_rank = 1;
      });
    }
    if (space_.powersgd_ranks.size() > 1 && strategy.powersgd_rank != 1)
      add("powersgd_rank", [](Setting& it) { it.strategy.powersgd_rank = 1; });
    return list;
  }

  /// The best's steps over all caps, and how far one can go from its cap.
  void add_curve(Optimum& found) {
    if (!space_.any_bucket_cap) return;
    const Setting best{found.best.job, found.best.strategy};
    for (const auto mib : spaced_caps())
      found.curve.push_back({mib, tried_.get(with_cut(best, cut_of(mib)))});
    const auto is_flat = [&](std::size_t cut) {
      const auto setting = with_cut(best, cut);
      return tried_.has(setting) && cost(tried_.get(setting)) <= (1 + flatness) * cost(found.best);
    };
    const auto middle = where_to_start(found, is_flat);
    if (!middle) return;
    auto low = *middle;
    auto high = *middle;
    while (low > 0 && is_flat(low - 1)) --low;
    while (high + 1 < ranged_ && is_flat(high + 1)) ++high;
    found.flat = {cuts_[low].range->first, cuts_[high].range->last};
    found.flat_to_the_end = high + 1 == ranged_;
  }

  /// The cut of the best's cap, or the best among the whole MiB if that is PyTorch's default.
  template <class IsFlat>
  std::optional<std::size_t> where_to_start(const Optimum& found, const IsFlat& is_flat) {
    const Setting best{found.best.job, found.best.strategy};
    std::optional<std::size_t> start;
    double least = 0;
    for (std::size_t cut = 0; cut < ranged_; ++cut) {
      if (!is_flat(cut)) continue;
      const auto setting = with_cut(best, cut);
      if (setting.strategy.bucket_cap == found.best.strategy.bucket_cap) return cut;
      const auto time = cost(tried_.get(setting));
      if (!start || time < least) {
        start = cut;
        least = time;
      }
    }
    return start;
  }

  double count_settings() const {
    auto caps = static_cast<double>(space_.bucket_caps.size());
    if (space_.any_bucket_cap) caps += whole_.last;
    return static_cast<double>(families_.size() * space_.static_graph.size()) * caps;
  }

  const SearchSpace& space_;
  CapRange whole_;
  std::vector<SameBuckets> cuts_;
  std::size_t ranged_;  ///< cuts that whole MiB give
  std::vector<Setting> families_;
  TriedSettings tried_;
  std::vector<std::size_t> spaced_;  ///< cuts that every family was tried with, in order
  bool limits_count_ = true;         ///< settings that miss those of the training are not ranked
};

}  // namespace

Seconds time_per_sample(const Job& job, const Tried& tried) {
  return tried.metrics.step_time / job.samples();
}

Choice choice_of(const Job& job, const Tried& tried) {
  return {time_per_sample(job, tried).value(), tried.metrics.step_time, tried.errors};
}

SearchResult optimize(const SearchSpace& space, const std::string& engine, const ForEach& for_each) {
  for (const auto& job : space.jobs)
    expects(std::holds_alternative<Ddp>(job.job.strategy), "every job of the search is one of DDP");
  return Search{space, engine, for_each}.run();
}

}  // namespace gradway

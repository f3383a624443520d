// SPDX-License-Identifier: Apache-2.0
// The settings of DDP that a search tries.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/study/search/settings_search.hpp"

namespace gradway {
namespace {

constexpr double near_best = 0.02;  // relative difference of the cost from the best with the same hook
constexpr int curve_points = 48;

/// Settings that differ in their buckets only.
struct Family {
  std::size_t job = 0;
  Ddp strategy;
};

std::vector<Family> families_of(const SearchSpace& space) {
  const auto graphs = values_to_try(space, "static_graph", &Ddp::static_graph);
  auto strategy = pytorch_defaults();
  // Of both values PyTorch's default is simulated, because the effect of a static graph is not modelled.
  strategy.static_graph = std::ranges::find(graphs, false) == graphs.end();
  std::vector<Family> families;
  for (std::size_t job = 0; job < space.jobs.size(); ++job) {
    for (const auto hook : values_to_try(space, "comm_hook", &Ddp::comm_hook)) {
      const auto ranks = values_to_try(space, "powersgd_rank", &Ddp::powersgd_rank);
      for (const auto rank : hook == CommHook::powersgd ? ranks : std::vector{1}) {
        for (const bool view :
             values_to_try(space, "gradient_as_bucket_view", &Ddp::gradient_as_bucket_view)) {
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

class DdpSettings final : public SettingGenerator {
 public:
  explicit DdpSettings(const SearchSpace& space)
      : space_{space},
        caps_{values_to_try(space, "bucket_cap", &Ddp::bucket_cap)},
        cap_range_{full_cap_range(space.jobs.front().model)},
        cuts_{equivalent_caps(space.jobs.front().model, caps_,
                              space.any_bucket_cap ? std::optional{cap_range_} : std::nullopt)},
        ranged_{static_cast<std::size_t>(
            std::ranges::count_if(cuts_, [](const EquivalentCaps& cut) { return cut.range.has_value(); }))},
        families_{families_of(space)} {}

  void try_settings(SettingSimulator& simulator) const override {
    simulator.try_all(at_spaced_caps());
    simulator.try_all(near_good_ones(simulator));
  }

  std::vector<Setting> settings() const override {
    std::vector<Setting> settings;
    for (const auto& family : families_)
      for (std::size_t cut = 0; cut < cuts_.size(); ++cut) settings.push_back(with_cut(family, cut));
    return settings;
  }

  double count() const override {
    auto caps = static_cast<double>(caps_.size());
    if (space_.any_bucket_cap) caps += cap_range_.last;
    const auto graphs = values_to_try(space_, "static_graph", &Ddp::static_graph).size();
    return static_cast<double>(families_.size() * graphs) * caps;
  }

 private:
  Setting with_cut(Family family, std::size_t cut) const {
    family.strategy.bucket_cap = simplest_cap(cuts_[cut], cap_range_);
    return {family.job, family.strategy};
  }

  /// Index in `cuts_` of a cap in whole MiB. Partitions with ranges come first, in order.
  std::size_t cut_of(int mib) const {
    const auto position =
        std::partition_point(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(ranged_),
                             [&](const EquivalentCaps& cut) { return cut.range->last < mib; });
    return static_cast<std::size_t>(position - cuts_.begin());
  }

  std::vector<int> spaced_caps() const {
    std::vector<int> caps;
    const auto most = std::log2(static_cast<double>(cap_range_.last));
    for (int i = 0; space_.any_bucket_cap && i < curve_points; ++i)
      caps.push_back(static_cast<int>(std::lround(std::exp2(most * i / (curve_points - 1)))));
    return caps;
  }

  /// The partitions of the spaced caps, in order.
  std::set<std::size_t> spaced_cuts() const {
    std::set<std::size_t> spaced;
    for (const auto mib : spaced_caps()) spaced.insert(cut_of(mib));
    return spaced;
  }

  std::vector<Setting> at_spaced_caps() const {
    std::vector<Setting> settings;
    const auto spaced = spaced_cuts();
    for (const auto& family : families_) {
      for (const auto cut : spaced) settings.push_back(with_cut(family, cut));
      for (std::size_t cut = 0; cut < cuts_.size(); ++cut)
        if (!cuts_[cut].caps.empty()) settings.push_back(with_cut(family, cut));
    }
    return settings;
  }

  /// All partitions beside those that are nearly as fast as the best with the same hook.
  std::vector<Setting> near_good_ones(SettingSimulator& simulator) const {
    std::map<CommHook, double> best;
    for (const auto& tried : simulator.runnable(settings())) {
      const auto hook = std::get<Ddp>(tried.job.strategy).comm_hook;
      auto& least = best.emplace(hook, cost(tried)).first->second;
      least = std::min(least, cost(tried));
    }
    const auto cuts = spaced_cuts();
    const std::vector spaced(cuts.begin(), cuts.end());
    std::vector<Setting> added;
    for (const auto& family : families_) {
      const auto is_good = [&](std::size_t cut) {
        const auto result = simulator.get(with_cut(family, cut));
        return result.can_run() && cost(result) <= (1 + near_best) * best.at(family.strategy.comm_hook);
      };
      for (std::size_t i = 0; i + 1 < spaced.size(); ++i) {
        if (!is_good(spaced[i]) && !is_good(spaced[i + 1])) continue;
        for (auto cut = spaced[i] + 1; cut < spaced[i + 1]; ++cut) added.push_back(with_cut(family, cut));
      }
    }
    return added;
  }

  /// Adds the step times over all caps with the best's other settings, and the range of caps that are as
  /// good.
  void add_details(Optimum& optimum, SettingSimulator& simulator) const override {
    if (!space_.any_bucket_cap) return;
    const Family best{optimum.best.scenario, std::get<Ddp>(optimum.best.job.strategy)};
    for (const auto mib : spaced_caps())
      optimum.curve.push_back({mib, simulator.get(with_cut(best, cut_of(mib)))});
    const auto is_flat = [&](std::size_t cut) {
      const auto setting = with_cut(best, cut);
      return simulator.has(setting) && cost(simulator.get(setting)) <= (1 + flatness) * cost(optimum.best);
    };
    const auto middle = start_of_flat_range(optimum, is_flat, simulator);
    if (!middle) return;
    auto low = *middle;
    auto high = *middle;
    while (low > 0 && is_flat(low - 1)) --low;
    while (high + 1 < ranged_ && is_flat(high + 1)) ++high;
    optimum.flat = {cuts_[low].range->first, cuts_[high].range->last};
    optimum.is_flat_to_end = high + 1 == ranged_;
  }

  /// The partition of the best's cap. If that is PyTorch's default: the best one of a cap in whole MiB.
  template <class IsFlat>
  std::optional<std::size_t> start_of_flat_range(const Optimum& optimum, const IsFlat& is_flat,
                                                 SettingSimulator& simulator) const {
    const Family best{optimum.best.scenario, std::get<Ddp>(optimum.best.job.strategy)};
    std::optional<std::size_t> start;
    double least = 0;
    for (std::size_t cut = 0; cut < ranged_; ++cut) {
      if (!is_flat(cut)) continue;
      const auto setting = with_cut(best, cut);
      if (std::get<Ddp>(setting.strategy) == best.strategy) return cut;
      const auto time = cost(simulator.get(setting));
      if (!start || time < least) {
        start = cut;
        least = time;
      }
    }
    return start;
  }

  const SearchSpace& space_;
  std::vector<BucketCap> caps_;
  CapRange cap_range_;
  std::vector<EquivalentCaps> cuts_;
  std::size_t ranged_;  ///< number of partitions that caps in whole MiB give
  std::vector<Family> families_;
};

}  // namespace

std::unique_ptr<SettingGenerator> settings_of_ddp(const SearchSpace& space) {
  return std::make_unique<DdpSettings>(space);
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/folding.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <utility>

namespace gradway {
namespace {

/// Members of classes, all of one class at first.
class Classes {
 public:
  explicit Classes(std::size_t members) : class_(members, 0), size_{members} {}

  std::size_t of(std::size_t member) const { return class_[member]; }
  /// That have members.
  std::size_t count() const { return count_; }

  /// Parts members of a class that have different keys, from each other and from those that are not named.
  /// @param key a number of the member
  template <class Members, class Key>
  void part(const Members& members, const Key& key) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> made;
    for (const auto member : members) {
      auto& of = class_[member];
      const auto [place, is_new] =
          made.try_emplace({of, key(member)}, static_cast<std::uint32_t>(size_.size()));
      if (is_new) {
        size_.push_back(0);
        ++count_;
      }
      if (--size_[of] == 0) --count_;
      of = place->second;
      ++size_[of];
    }
  }

  /// By member: the first one of its class.
  std::vector<std::size_t> representatives() const {
    std::vector<std::size_t> first(size_.size(), class_.size());
    std::vector<std::size_t> result(class_.size());
    for (std::size_t i = 0; i < class_.size(); ++i) {
      if (first[class_[i]] == class_.size()) first[class_[i]] = i;
      result[i] = first[class_[i]];
    }
    return result;
  }

 private:
  std::vector<std::uint32_t> class_;  ///< by member
  std::vector<std::size_t> size_;     ///< by class
  std::size_t count_ = 1;
};

/// Numbers what it is asked for, in the order in which it comes.
template <class Thing>
class Numbers {
 public:
  std::uint64_t of(const Thing& thing) { return known_.try_emplace(thing, known_.size()).first->second; }

 private:
  std::map<Thing, std::uint64_t> known_;
};

/// Each round costs as much as the paths are long.
class Refinement {
 public:
  Refinement(const std::vector<std::vector<ResourceId>>& rank_paths, const Platform& platform)
      : rank_paths_{rank_paths},
        ranks_{rank_paths.size()},
        resources_{platform.resources.size()},
        uses_(platform.resources.size(), 0) {
    Numbers<std::pair<ResourceKind, double>> numbers;
    resources_.part(std::views::iota(std::size_t{0}, platform.resources.size()), [&](std::size_t i) {
      return numbers.of({platform.resources[i].kind, platform.resources[i].rate()});
    });
  }

  void part_by_use(const std::vector<ResourceId>& path) {
    count_uses(path);
    part_resources();
  }

  Folding run() {
    for (std::size_t before = 0, now = 1; now != before;) {
      before = now;
      part_resources_by_ranks();
      part_ranks();
      now = resources_.count() + ranks_.count();
    }
    Folding folding{ranks_.representatives(), {}};
    for (const auto first : resources_.representatives()) folding.resource_representative.emplace_back(first);
    return folding;
  }

 private:
  void count_uses(const std::vector<ResourceId>& path) {
    for (const auto resource : path) {
      if (uses_[resource.index()]++ == 0) used_.push_back(resource.index());
    }
  }

  void part_resources() {
    resources_.part(used_, [&](std::size_t resource) { return uses_[resource]; });
    for (const auto resource : used_) uses_[resource] = 0;
    used_.clear();
  }

  /// How often a class of ranks uses each, class by class.
  void part_resources_by_ranks() {
    std::vector<std::size_t> order(rank_paths_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t rank) { return ranks_.of(rank); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      count_uses(rank_paths_[order[i]]);
      if (i + 1 == order.size() || ranks_.of(order[i]) != ranks_.of(order[i + 1])) part_resources();
    }
  }

  /// By the classes of the resources on a rank's path.
  void part_ranks() {
    Numbers<std::vector<std::size_t>> numbers;
    std::vector<std::size_t> on_path;
    ranks_.part(std::views::iota(std::size_t{0}, rank_paths_.size()), [&](std::size_t rank) {
      on_path.clear();
      for (const auto resource : rank_paths_[rank]) on_path.push_back(resources_.of(resource.index()));
      std::ranges::sort(on_path);
      return numbers.of(on_path);
    });
  }

  const std::vector<std::vector<ResourceId>>& rank_paths_;
  Classes ranks_;
  Classes resources_;
  std::vector<std::uint32_t> uses_;  ///< by resource, of what is counted just now
  std::vector<std::size_t> used_;    ///< those that it uses
};

}  // namespace

std::vector<ResourceId> Folding::fold(const std::vector<ResourceId>& path) const {
  std::vector<ResourceId> kept;
  std::ranges::copy_if(path, std::back_inserter(kept), [&](ResourceId id) { return stands_for_itself(id); });
  return kept;
}

std::size_t Folding::simulated_ranks() const {
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < rank_representative.size(); ++rank)
    count += stands_for_itself(rank) ? 1 : 0;
  return count;
}

Folding no_folding(std::size_t ranks, const Platform& platform) {
  Folding folding;
  folding.rank_representative.resize(ranks);
  std::iota(folding.rank_representative.begin(), folding.rank_representative.end(), std::size_t{0});
  for (std::size_t i = 0; i < platform.resources.size(); ++i) folding.resource_representative.emplace_back(i);
  return folding;
}

Folding find_folding(const std::vector<std::vector<ResourceId>>& rank_paths,
                     const std::vector<const std::vector<ResourceId>*>& collective_paths,
                     const Platform& platform) {
  Refinement refinement{rank_paths, platform};
  for (const auto* path : collective_paths) refinement.part_by_use(*path);
  return refinement.run();
}

}  // namespace gradway

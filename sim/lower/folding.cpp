// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/folding.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace gradway {
namespace {

using Colour = std::uint32_t;

/// What tells members of a class apart: numbers in a fixed order, then pairs (neighbour, how often), sorted.
struct Signature {
  std::vector<double> own;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> neighbours;

  auto operator<=>(const Signature&) const = default;
};

/// Adds (neighbour, 1) pairs up to (neighbour, count), in order of the neighbour.
void count_up(std::vector<std::pair<std::uint64_t, std::uint32_t>>& neighbours) {
  std::ranges::sort(neighbours);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if (kept > 0 && neighbours[kept - 1].first == neighbours[i].first) {
      neighbours[kept - 1].second += neighbours[i].second;
    } else {
      neighbours[kept++] = neighbours[i];
    }
  }
  neighbours.resize(kept);
}

/// Numbers the signatures; equal ones get equal numbers. @return how many there are
std::size_t colour(const std::vector<Signature>& signatures, std::vector<Colour>& colours) {
  std::map<Signature, Colour> known;
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    colours[i] = known.try_emplace(signatures[i], static_cast<Colour>(known.size())).first->second;
  }
  return known.size();
}

/// The first member of each colour.
std::vector<std::size_t> representatives(const std::vector<Colour>& colours) {
  std::map<Colour, std::size_t> first;
  std::vector<std::size_t> result(colours.size());
  for (std::size_t i = 0; i < colours.size(); ++i) result[i] = first.try_emplace(colours[i], i).first->second;
  return result;
}

class Refinement {
 public:
  Refinement(const std::vector<std::vector<ResourceId>>& rank_paths,
             const std::vector<const std::vector<ResourceId>*>& collective_paths, const Platform& platform)
      : rank_paths_{rank_paths},
        platform_{platform},
        ranks_(rank_paths.size(), 0),
        resources_(platform.resources.size(), 0) {
    fixed_.resize(platform.resources.size());
    for (std::size_t flow = 0; flow < collective_paths.size(); ++flow) {
      for (const auto resource : *collective_paths[flow]) fixed_[resource.index()].emplace_back(flow, 1);
    }
    for (auto& uses : fixed_) count_up(uses);
  }

  Folding run() {
    for (std::size_t before = 0, now = 1; now != before;) {
      before = now;
      now = refine_resources() + refine_ranks();
    }
    const auto resource_firsts = representatives(resources_);
    Folding folding{representatives(ranks_), {}};
    for (const auto first : resource_firsts) folding.resource_representative.emplace_back(first);
    return folding;
  }

 private:
  std::size_t refine_resources() {
    std::vector<Signature> signatures(resources_.size());
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      const auto& resource = platform_.resources[i];
      signatures[i].own = {static_cast<double>(resource.kind), resource.rate(),
                           static_cast<double>(resources_[i])};
    }
    // Ranks come behind the collective flows among the neighbours.
    for (std::size_t rank = 0; rank < rank_paths_.size(); ++rank) {
      for (const auto resource : rank_paths_[rank]) {
        signatures[resource.index()].neighbours.emplace_back(rank_mark | ranks_[rank], 1);
      }
    }
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      auto& neighbours = signatures[i].neighbours;
      neighbours.insert(neighbours.end(), fixed_[i].begin(), fixed_[i].end());
      count_up(neighbours);
    }
    return colour(signatures, resources_);
  }

  std::size_t refine_ranks() {
    std::vector<Signature> signatures(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      signatures[rank].own = {static_cast<double>(ranks_[rank])};
      for (const auto resource : rank_paths_[rank])
        signatures[rank].neighbours.emplace_back(resources_[resource.index()], 1);
      count_up(signatures[rank].neighbours);
    }
    return colour(signatures, ranks_);
  }

  static constexpr std::uint64_t rank_mark = std::uint64_t{1} << 63;

  const std::vector<std::vector<ResourceId>>& rank_paths_;
  const Platform& platform_;
  std::vector<Colour> ranks_;
  std::vector<Colour> resources_;
  std::vector<std::vector<std::pair<std::uint64_t, std::uint32_t>>> fixed_;
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
  return Refinement{rank_paths, collective_paths, platform}.run();
}

}  // namespace gradway

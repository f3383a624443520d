// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sim/engine/fluid/max_min.hpp"

using namespace gradway;

namespace {

using Path = std::vector<PathTable::Use>;

constexpr double no_cap = std::numeric_limits<double>::infinity();

/// All flows come, are solved together, and go. Items are flows.
void come_and_go(benchmark::State& state, const std::vector<Path>& paths, std::size_t links,
                 std::size_t longest) {
  MaxMin shares{std::vector<double>(links, 1.0), longest};
  std::vector<MaxMin::Slot> slots(paths.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < paths.size(); ++i) slots[i] = shares.add(paths[i], 1, no_cap);
    benchmark::DoNotOptimize(shares.solve().data());
    for (const auto slot : slots) shares.remove(slot);
    benchmark::DoNotOptimize(shares.solve().data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(paths.size()));
}

/// N flows over `hops` links each of N / 4 links, drawn at random: one component in which all meet.
std::vector<Path> random_paths(std::size_t flows, std::size_t hops) {
  std::mt19937 random{1};
  std::uniform_int_distribution<std::uint32_t> link{0, static_cast<std::uint32_t>(flows / 4 - 1)};
  std::vector<Path> paths(flows);
  for (auto& path : paths) {
    while (path.size() < hops) {
      const auto next = link(random);
      const bool is_new =
          std::none_of(path.begin(), path.end(), [&](const auto& use) { return use.resource == next; });
      if (is_new) path.push_back({next, 1});
    }
  }
  return paths;
}

/// Kernels: each flow has a link to itself.
void private_flows(benchmark::State& state) {
  std::vector<Path> paths;
  for (std::int64_t i = 0; i < state.range(0); ++i) paths.push_back({{static_cast<std::uint32_t>(i), 1}});
  come_and_go(state, paths, paths.size(), 1);
}
BENCHMARK(private_flows)->RangeMultiplier(8)->Range(8, 32768);

/// A ring all-reduce: one flow over many links. Items are links.
void one_flow_over_many_links(benchmark::State& state) {
  const auto links = static_cast<std::size_t>(state.range(0));
  Path path;
  for (std::size_t i = 0; i < links; ++i) path.push_back({static_cast<std::uint32_t>(i), 1});
  come_and_go(state, {path}, links, links);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(one_flow_over_many_links)->RangeMultiplier(8)->Range(8, 32768);

void random_crossing_flows(benchmark::State& state) {
  const auto flows = static_cast<std::size_t>(state.range(0));
  come_and_go(state, random_paths(flows, 4), flows / 4, 4);
}
BENCHMARK(random_crossing_flows)->RangeMultiplier(8)->Range(64, 32768);

/// One of the crossing flows goes and comes back: what one event costs when all flows can reach each other.
/// Items are the flows whose rates are solved again.
void one_change_among_crossing_flows(benchmark::State& state) {
  const auto flows = static_cast<std::size_t>(state.range(0));
  const auto paths = random_paths(flows, 4);
  MaxMin shares{std::vector<double>(flows / 4, 1.0), 4};
  std::vector<MaxMin::Slot> slots;
  for (const auto& path : paths) slots.push_back(shares.add(path, 1, no_cap));
  std::size_t next = 0;
  std::int64_t solved = 0;
  for (auto _ : state) {
    shares.remove(slots[next]);
    solved += static_cast<std::int64_t>(shares.solve().size());
    slots[next] = shares.add(paths[next], 1, no_cap);
    solved += static_cast<std::int64_t>(shares.solve().size());
    next = (next + 1) % flows;
  }
  state.SetItemsProcessed(solved);
}
BENCHMARK(one_change_among_crossing_flows)->RangeMultiplier(8)->Range(64, 4096);

}  // namespace

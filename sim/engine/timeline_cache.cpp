// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/timeline_cache.hpp"

#include <algorithm>
#include <utility>

namespace gradway {
namespace {

constexpr std::size_t most_ops = 500'000;  // of one graph: about 80 MB
// Of all but the last one. Equal points mostly follow each other, and more memory than a processor caches
// makes each point slower.
constexpr std::size_t most_older_ops = 50'000;

std::vector<double> rates_of(const Platform& platform, const OpGraph& graph) {
  std::vector<double> rates;
  for (const auto& path : graph.paths())
    for (const auto resource : path) rates.push_back(platform.resources[resource.index()].rate());
  return rates;
}

}  // namespace

std::optional<Timeline> TimelineCache::take(const std::string& engine, const Platform& platform,
                                            const OpGraph& graph) {
  const auto rates = rates_of(platform, graph);
  const std::lock_guard lock{mutex_};
  const auto match = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.graph.size() == graph.size() && entry.engine == engine && entry.rates == rates &&
           entry.graph == graph;
  });
  if (match == entries_.end()) return std::nullopt;
  auto timeline = std::move(match->timeline);
  ops_ -= graph.size();
  entries_.erase(match);
  return timeline;
}

void TimelineCache::keep(const std::string& engine, const Platform& platform, OpGraph graph,
                         Timeline timeline) {
  if (graph.size() > most_ops) return;
  auto rates = rates_of(platform, graph);
  const std::lock_guard lock{mutex_};
  ops_ += graph.size();
  entries_.push_front({engine, std::move(rates), std::move(graph), std::move(timeline)});
  const auto last = entries_.front().graph.size();
  for (; ops_ - last > most_older_ops; entries_.pop_back()) ops_ -= entries_.back().graph.size();
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "calibration/harness/sizes.hpp"
#include "calibration/probe/copies.hpp"
#include "calibration/probe/copy_route.hpp"
#include "calibration/probe/gate.hpp"

namespace gradway::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int copies_in_a_row = 4;  // Limits the weight of the end, when some copies have finished.

struct Pattern {
  std::string name;
  std::vector<Route> routes;
};

/// Data of one route of a pattern; all gates are opened at once.
struct Lane {
  Lane(const Route& route, std::size_t bytes) : engine{on(route.engine())}, buffers{route, bytes} {}
  static int on(int gpu) {
    check(cudaSetDevice(gpu), "choosing a GPU");
    return gpu;
  }

  int engine;
  Stream stream;
  Gate gate;
  Event first;
  Event last;
  CopyBuffers buffers;
};

void one_round(std::vector<std::unique_ptr<Lane>>& lanes, std::size_t bytes,
               std::vector<std::vector<Seconds>>& times, std::vector<Seconds>& walls) {
  for (auto& lane : lanes) {
    Lane::on(lane->engine);
    lane->gate.close(lane->stream);
    lane->first.record(lane->stream);
    for (int i = 0; i < copies_in_a_row; ++i) lane->buffers.copy(lane->stream, bytes);
    lane->last.record(lane->stream);
  }
  for (auto& lane : lanes) lane->gate.open();
  for (auto& lane : lanes) lane->stream.wait();
  Seconds slowest{};
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    times[i].push_back(between(lanes[i]->first, lanes[i]->last) / copies_in_a_row);
    slowest = std::max(slowest, times[i].back());
  }
  // Copies of one engine may run one after the other in a changing order: then no route's median shows how
  // long all of them take.
  walls.push_back(slowest);
}

void measure_pattern(Context& context, const Pattern& pattern) {
  const std::size_t bytes = (context.quick ? 64 : 256) << 20;  // Per copy.
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const auto& route : pattern.routes) lanes.push_back(std::make_unique<Lane>(route, bytes));
  std::vector<std::vector<Seconds>> times(lanes.size());
  std::vector<Seconds> walls;
  one_round(lanes, bytes, times, walls);  // Warm-up.
  for (auto& samples : times) samples.clear();
  walls.clear();
  const auto begin = Clock::now();
  do one_round(lanes, bytes, times, walls);
  while (judge(context.rule, walls, Seconds{std::chrono::duration<double>(Clock::now() - begin).count()}) ==
         Verdict::go_on);
  auto row = measured({{"kind", "pattern"}, {"name", pattern.name}}, concluded(context.rule, walls));
  row["copies"] = Row::array();
  for (const auto& route : pattern.routes) row["copies"].push_back(to_row(route));
  row["bytes"] = bytes;
  row["wall"] = row["seconds"];
  row["seconds"] = Row::array();
  for (const auto& samples : times)
    row["seconds"].push_back(measured({}, summary(samples, false))["seconds"]);
  context.emit(row);
}

std::vector<Route> to_gpus(int gpus) {
  std::vector<Route> routes;
  for (int gpu = 0; gpu < gpus; ++gpu) routes.push_back({{}, {gpu}});
  return routes;
}

std::vector<Route> from_gpus(int gpus) {
  std::vector<Route> routes;
  for (int gpu = 0; gpu < gpus; ++gpu) routes.push_back({{gpu}, {}});
  return routes;
}

std::vector<Route> both_ways(int gpus) {
  auto routes = to_gpus(gpus);
  for (const auto& route : from_gpus(gpus)) routes.push_back(route);
  return routes;
}

/// Copies between the pairs of GPUs selected by `wanted`.
template <class Wanted>
std::vector<Route> among(int gpus, Wanted wanted) {
  std::vector<Route> routes;
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from != to && wanted(from, to)) routes.push_back({{from}, {to}});
    }
  }
  return routes;
}

std::vector<Pattern> patterns(int gpus, bool quick) {
  std::vector<Pattern> all{{"h2d_0+d2h_0", both_ways(1)}};
  auto counts = rank_counts(gpus);
  if (quick && counts.size() > 1) counts = {gpus};
  for (const int count : counts) {
    all.push_back({fmt::format("h2d_x{}", count), to_gpus(count)});
    all.push_back({fmt::format("d2h_x{}", count), from_gpus(count)});
    all.push_back({fmt::format("h2d+d2h_x{}", count), both_ways(count)});
    all.push_back({fmt::format("ring_x{}", count),
                   among(count, [=](int from, int to) { return to == (from + 1) % count; })});
  }
  if (gpus < 2) return all;
  all.push_back({"bidir_0<>1", among(2, [](int, int) { return true; })});
  if (gpus > 3) all.push_back({"pairs_0>1_2>3", {{{0}, {1}}, {{2}, {3}}}});
  if (gpus == 2) return all;
  all.push_back({fmt::format("fan_in_x{}", gpus), among(gpus, [](int, int to) { return to == 0; })});
  all.push_back({fmt::format("fan_out_x{}", gpus), among(gpus, [](int from, int) { return from == 0; })});
  all.push_back({fmt::format("all_to_all_x{}", gpus), among(gpus, [](int, int) { return true; })});
  return all;
}

}  // namespace

void probe_patterns(Context& context) {
  enable_peer_access(context.gpus);
  const auto all = patterns(context.gpus, context.quick);
  for (std::size_t i = 0; i < all.size(); ++i) {
    measure_pattern(context, all[i]);
    context.done(static_cast<double>(i + 1) / static_cast<double>(all.size()));
  }
}

}  // namespace gradway::probe

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/engine/timeline.hpp"

namespace gradway {

namespace {

/// Engines round, and give one date to events that differ by less than this share.
constexpr double rounding = 1e-9;

/// The time in which a flow moves its amount: from the end of its latency to its end.
struct Transfer {
  double begin = 0;
  double end = 0;
  double amount = 0;
  double cap = 0;
  std::uint32_t contender = Op::absent;
};

bool moves(const Op& op) {
  return op.kind == OpKind::flow && op.amount > 0 && !op.is_endless();
}

Transfer transfer_of(const Timeline& timeline, const OpGraph& graph, std::size_t op) {
  const auto& flow = graph.ops()[op];
  return {(timeline.start[op] + flow.latency).value(), timeline.end[op].value(), flow.amount, flow.cap,
          flow.contender};
}

/// The transfers of each path in order of their begin.
class FlowsByPath {
 public:
  FlowsByPath(const Timeline& timeline, const OpGraph& graph) : first_(graph.paths().size() + 1, 0) {
    for (const auto& op : graph.ops())
      if (moves(op)) ++first_[op.path + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    flows_.resize(first_.back());
    auto next = first_;
    for (std::size_t i = 0; i < graph.size(); ++i)
      if (const Op& op = graph.ops()[i]; moves(op)) flows_[next[op.path]++] = transfer_of(timeline, graph, i);
    for (std::size_t path = 0; path + 1 < first_.size(); ++path) {
      const auto of_path = std::span{flows_}.subspan(first_[path], first_[path + 1] - first_[path]);
      if (!std::ranges::is_sorted(of_path, {}, &Transfer::begin))
        std::ranges::sort(of_path, {}, &Transfer::begin);
    }
  }

  std::span<const Transfer> of(std::uint32_t path) const {
    return std::span{flows_}.subspan(first_[path], first_[path + 1] - first_[path]);
  }
  std::span<const Transfer> all() const { return flows_; }

 private:
  std::vector<std::size_t> first_;
  std::vector<Transfer> flows_;
};

/// A path that uses a resource, and how often it names the resource.
struct Use {
  std::uint32_t path;
  std::uint32_t times;
  auto operator<=>(const Use&) const = default;
};

/// All paths that use a resource.
using Users = std::vector<Use>;

/// The smallest capacity among resources that the same paths use equally often.
std::map<Users, double> narrowest(const OpGraph& graph, const Platform& platform) {
  std::unordered_map<ResourceId, Users> users;  // with folding, paths use few resources of a large platform
  for (std::uint32_t path = 0; path < graph.paths().size(); ++path) {
    for (const auto resource : graph.path(path)) {
      auto& path_users = users[resource];
      if (path_users.empty() || path_users.back().path != path) path_users.push_back({path, 0});
      ++path_users.back().times;
    }
  }
  std::map<Users, double> capacities;
  for (auto& [resource, path_users] : users) {
    const double capacity = platform.resources[resource.index()].rate();
    if (std::isinf(capacity)) continue;
    const auto [place, is_new] = capacities.try_emplace(std::move(path_users), capacity);
    if (!is_new) place->second = std::min(place->second, capacity);
  }
  return capacities;
}

/// The total time covered by transfers, within any interval.
class Coverage {
 public:
  void add(const Transfer& transfer) { parts_.push_back({transfer.begin, transfer.end}); }

  /// Joins overlapping transfers. @pre called once, before `within`
  void close() {
    if (!std::ranges::is_sorted(parts_, {}, &Part::begin)) std::ranges::sort(parts_, {}, &Part::begin);
    std::size_t joined = 0;
    for (auto part : parts_) {
      if (joined > 0 && part.begin <= parts_[joined - 1].end) {
        parts_[joined - 1].end = std::max(parts_[joined - 1].end, part.end);
      } else {
        part.before = joined == 0 ? 0 : until(parts_[joined - 1]);
        parts_[joined++] = part;
      }
    }
    parts_.resize(joined);
  }

  /// Covered time between two dates. Fast if queries come roughly in order of date.
  double within(double begin, double end) const {
    near_ = first_after(end);
    if (near_ == 0 || parts_[near_ - 1].end <= begin) return 0;
    return before(near_, end) - before(first_after(begin), begin);
  }

 private:
  struct Part {
    double begin = 0;
    double end = 0;
    double before = 0;  ///< total length of the parts before it
  };

  static double until(const Part& part) { return part.before + part.end - part.begin; }

  /// @param next the first part that begins after the date
  double before(std::size_t next, double date) const {
    if (next == 0) return 0;
    const auto& part = parts_[next - 1];
    return part.before + std::min(date, part.end) - part.begin;
  }

  /// The first part that begins after the date. Searches near the last answer first, then by bisection.
  std::size_t first_after(double date) const {
    auto place = near_;
    for (int steps = 0; steps < 8; ++steps) {
      if (place < parts_.size() && parts_[place].begin <= date) {
        ++place;
      } else if (place > 0 && parts_[place - 1].begin > date) {
        --place;
      } else {
        return place;
      }
    }
    const auto after = std::ranges::upper_bound(parts_, date, {}, &Part::begin);
    return static_cast<std::size_t>(after - parts_.begin());
  }

  mutable std::size_t near_ = 0;
  std::vector<Part> parts_;
};

/// When kernels and collectives on the same GPU move at the same time.
class Contention {
 public:
  Contention(const FlowsByPath& flows, const OpGraph& graph)
      : graph_{graph}, in_flow_(graph.contenders().size()) {
    if (graph.contenders().empty()) return;
    for (const auto& flow : flows.all())
      if (flow.contender != Op::absent) in_flow_[flow.contender].add(flow);
    for (auto& side : in_flow_) side.close();
    for (std::uint32_t side = 0; side < graph.contenders().size(); ++side) {
      for (const auto gpu : graph.contenders()[side].gpus) {
        if (gpu >= on_gpu_.size()) on_gpu_.resize(gpu + 1);
        on_gpu_[gpu][graph.contenders()[side].kind == Contender::Kind::kernel ? 0 : 1].push_back(side);
      }
    }
  }

  /// A lower bound for the time in which an op of the other kind slowed this one.
  double contended_time(const Transfer& when) const {
    double longest = 0;
    const Contender& contender = graph_.contenders()[when.contender];
    for (const auto gpu : contender.gpus) {
      for (const auto side : on_gpu_[gpu][contender.kind == Contender::Kind::kernel ? 1 : 0])
        longest = std::max(longest, in_flow_[side].within(when.begin, when.end));
    }
    return longest;
  }

 private:
  const OpGraph& graph_;
  std::vector<Coverage> in_flow_;  ///< by side
  std::vector<std::array<std::vector<std::uint32_t>, 2>>
      on_gpu_;  ///< by GPU: sides of kernels, sides of collectives
};

/// By path: its rate if it has all its resources to itself.
std::vector<double> path_limits(const OpGraph& graph, const std::map<Users, double>& resources) {
  std::vector<double> limits(graph.paths().size(), std::numeric_limits<double>::infinity());
  for (const auto& [users, capacity] : resources) {
    for (const auto& use : users) limits[use.path] = std::min(limits[use.path], capacity / use.times);
  }
  return limits;
}

void check_flows(const FlowsByPath& flows, const OpGraph& graph, const std::vector<double>& limits,
                 double slack) {
  const Contention contention{flows, graph};
  for (std::uint32_t path = 0; path < limits.size(); ++path) {
    const double limit = limits[path];
    for (const auto& flow : flows.of(path)) {
      const double most = std::min(flow.cap, limit);
      if (std::isinf(most)) continue;
      double could = (flow.end - flow.begin + slack) * most;
      const double slowdown = flow.contender == Op::absent ? 1 : graph.contenders()[flow.contender].slowdown;
      if (slowdown > 1 && std::isfinite(flow.cap))
        could -= contention.contended_time(flow) * (most - std::min(flow.cap / slowdown, limit));
      expects(flow.amount <= could * (1 + rounding),
              "no flow is faster than its path, its cap and contention allow");
    }
  }
}

/// Sums of all values from an index on (a Fenwick tree).
class SuffixSums {
 public:
  explicit SuffixSums(std::size_t places) : sums_(places + 1, 0) {}
  void add(std::size_t place, double amount) {
    for (auto i = sums_.size() - 1 - place; i < sums_.size(); i += i & (~i + 1)) sums_[i] += amount;
  }
  double from(std::size_t place) const {
    double sum = 0;
    for (auto i = sums_.size() - 1 - place; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<double> sums_;
};

/// Checks the sum of all transfers that lie within each transfer.
/// @param flows in order of their begin
template <class Fits>
void check_within_flows(std::span<const Transfer> flows, const Fits& fits) {
  constexpr auto law = "no resource carries more than its capacity while a flow lasts";
  // If each transfer ends after the one before it, none lies within another.
  if (std::ranges::adjacent_find(flows, std::ranges::greater_equal{}, &Transfer::end) == flows.end()) {
    for (const auto& flow : flows) expects(fits(flow.amount, flow.begin, flow.end), law);
    return;
  }
  std::vector<std::size_t> by_end(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) by_end[i] = i;
  // Transfers that end together are added last begin first, so that the longest one includes all of them.
  std::ranges::sort(by_end, [&](std::size_t a, std::size_t b) {
    return std::pair{flows[a].end, b} < std::pair{flows[b].end, a};
  });
  SuffixSums ended{flows.size()};
  for (const auto i : by_end) {
    ended.add(i, flows[i].amount);
    expects(fits(ended.from(i), flows[i].begin, flows[i].end), law);
  }
}

/// @param flows in order of their begin
void check_windows(std::span<const Transfer> flows, double capacity, double slack) {
  const auto fits = [&](double amount, double begin, double end) {
    return amount <= capacity * (end - begin + slack) * (1 + rounding);
  };
  check_within_flows(flows, fits);
  double begin = 0;
  double end = -1;
  double amount = 0;
  for (const auto& flow : flows) {
    if (flow.begin > end) {
      begin = flow.begin;
      amount = 0;
    }
    end = std::max(end, flow.end);
    amount += flow.amount;
    expects(fits(amount, begin, end), "no resource carries more than its capacity while it is in use");
  }
}

/// The flows of all paths that use a resource, in order of their begin.
/// @param merged memory for them
std::span<const Transfer> merged_flows(const FlowsByPath& by_path, const Users& users,
                                       std::vector<Transfer>& merged) {
  merged.clear();
  for (const auto& [path, times] : users) {
    const auto before = static_cast<std::ptrdiff_t>(merged.size());
    for (auto flow : by_path.of(path)) {
      flow.amount *= times;
      merged.push_back(flow);
    }
    std::ranges::inplace_merge(merged, merged.begin() + before, {}, &Transfer::begin);
  }
  return merged;
}

}  // namespace

void check_amounts(const Timeline& timeline, const OpGraph& graph, const Platform& platform) {
  const double slack = timeline.makespan().value() * rounding;
  const auto resources = narrowest(graph, platform);
  const FlowsByPath by_path{timeline, graph};
  check_flows(by_path, graph, path_limits(graph, resources), slack);
  std::vector<Transfer> merged;
  for (const auto& [users, capacity] : resources) {
    const auto flows = users.size() == 1 && users.front().times == 1 ? by_path.of(users.front().path)
                                                                     : merged_flows(by_path, users, merged);
    if (flows.size() < 2) continue;  // check_flows covers it
    check_windows(flows, capacity, slack);
  }
}

}  // namespace gradway

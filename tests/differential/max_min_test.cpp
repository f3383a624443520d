// SPDX-License-Identifier: Apache-2.0
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "sim/engine/fluid/date_heap.hpp"
#include "sim/engine/fluid/max_min.hpp"
#include "tests/support/brute_force_rates.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

/// A solver and a copy of its flows, which progressive filling solves from scratch.
class Twin {
 public:
  Twin(Dice& dice, std::size_t resources) : dice_{dice} {
    for (std::size_t i = 0; i < resources; ++i) capacities_.push_back(dice.between(1e-3, 1e12));
    solver_ = std::make_unique<MaxMin>(capacities_, 4);
  }

  void change() {
    const double action = dice_.unit();
    if (flows_.empty() || action < 0.5) return add();
    auto chosen = std::next(flows_.begin(), static_cast<std::ptrdiff_t>(dice_.roll(flows_.size())));
    if (action < 0.75) {
      solver_->remove(chosen->first);
      flows_.erase(chosen);
    } else {
      chosen->second.cap = dice_.between(1e-2, 1e12);
      solver_->set_cap(chosen->first, chosen->second.cap);
    }
  }

  /// The largest relative error of a rate.
  double error() {
    solver_->solve();
    std::vector<BruteForceFlow> flows;
    for (const auto& [slot, flow] : flows_) flows.push_back(flow);
    const std::vector<double> expected = brute_force_rates(capacities_, flows);
    double worst = 0;
    std::size_t i = 0;
    for (const auto& [slot, flow] : flows_)
      worst = std::max(worst, std::abs(solver_->rate(slot) / expected[i++] - 1));
    return worst;
  }

 private:
  void add() {
    std::map<std::uint32_t, std::uint32_t> times;
    for (std::size_t hops = dice_.roll(4); hops > 0; --hops) {
      times[static_cast<std::uint32_t>(dice_.roll(capacities_.size()))] +=
          1 + static_cast<std::uint32_t>(dice_.roll(2));
    }
    BruteForceFlow flow{.path = {}, .weight = dice_.between(0.01, 100)};
    std::vector<PathTable::Use> uses;
    for (const auto& [resource, count] : times) {
      uses.push_back({resource, count});
      flow.path.insert(flow.path.end(), count, ResourceId{resource});
    }
    if (uses.empty() || dice_.chance(0.5)) flow.cap = dice_.between(1e-2, 1e12);
    flows_[solver_->add(uses, flow.weight, flow.cap)] = flow;
  }

  Dice& dice_;
  std::vector<double> capacities_;
  std::unique_ptr<MaxMin> solver_;
  std::map<MaxMin::Slot, BruteForceFlow> flows_;
};

}  // namespace

TEST_CASE("after any changes the solver's rates are those of progressive filling from scratch", "[max-min]") {
  const bool holds = rc::check([](std::uint64_t seed) {
    Dice dice{seed};
    Twin twin{dice, 1 + dice.roll(12)};
    for (int i = 0; i < 60; ++i) {
      for (std::size_t changes = 1 + dice.roll(4); changes > 0; --changes) twin.change();
      RC_ASSERT(twin.error() <= tolerance::closed_form);
    }
  });
  CHECK(holds);
}

TEST_CASE("a change leaves flows that it cannot reach alone", "[max-min]") {
  MaxMin solver{{10, 20, 30}, 2};
  const std::vector<PathTable::Use> left{{0, 1}}, right{{1, 1}, {2, 1}}, far{{2, 2}};
  const auto a = solver.add(left, 1, 100);
  const auto b = solver.add(right, 1, 100);
  CHECK(solver.solve().size() == 2);

  const auto c = solver.add(far, 1, 100);
  const auto reached = solver.solve();

  // Link 2: b + 2c = 30, so both get 10.
  CHECK(std::set<MaxMin::Slot>(reached.begin(), reached.end()) == std::set<MaxMin::Slot>{b, c});
  CHECK(solver.rate(a) == 10);
  CHECK(solver.rate(b) == 10);
  CHECK(solver.rate(c) == 10);
}

TEST_CASE("the rates of light flows do not drown in the rounding of a heavy one", "[max-min]") {
  MaxMin solver{{1e9}, 1};
  const std::vector<PathTable::Use> link{{0, 1}};
  const auto heavy = solver.add(link, 1e12, 9e8);
  const auto a = solver.add(link, 0.1, 1e30);
  const auto b = solver.add(link, 0.3, 1e30);
  solver.solve();

  // The heavy one reaches its cap; the others share 1e8 as one to three.
  CHECK(solver.rate(heavy) == 9e8);
  CHECK(solver.rate(a) == Approx(0.25e8).epsilon(tolerance::closed_form));
  CHECK(solver.rate(b) == Approx(0.75e8).epsilon(tolerance::closed_form));
}

TEST_CASE("the heap of dates has the earliest item on top after any changes", "[date-heap]") {
  const bool holds = rc::check([](std::uint64_t seed) {
    Dice dice{seed};
    DateHeap heap;
    std::map<std::uint32_t, double> expected;
    for (int i = 0; i < 300; ++i) {
      const auto item = static_cast<std::uint32_t>(dice.roll(40));
      if (dice.chance(0.4)) {
        heap.remove(item);
        expected.erase(item);
      } else {
        expected[item] = dice.unit();
        heap.set(item, Seconds{expected[item]});
      }
      RC_ASSERT(heap.empty() == expected.empty());
      if (expected.empty()) continue;
      const auto least = std::min_element(expected.begin(), expected.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      RC_ASSERT(heap.top_date() == Seconds{least->second});
      RC_ASSERT(heap.top() == least->first);
    }
  });
  CHECK(holds);
}

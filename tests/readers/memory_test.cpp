// SPDX-License-Identifier: Apache-2.0
// Memory from a trace: as recorded by the profiler, or from the shapes of operations.
#include <algorithm>

#include <catch2/catch.hpp>

#include "readers/kineto/memory/step_memory.hpp"
#include "sim/config/config.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

const std::string two = R"(["float","float"])";

Made forward(Op op) {
  return {.op = std::move(op), .kernel = {.name = "a_kernel"}};
}

/// A copy of 4 samples, these operations, and a backward pass with the gradient of a weight of 8 x 16.
std::vector<Made> step_of(const std::vector<Op>& operations) {
  auto step = small_step();
  const auto first = std::ranges::find(step, ProfiledPhase::backward, &Made::phase);
  std::vector<Made> result{step.front()};
  for (const auto& op : operations) result.push_back(forward(op));
  result.insert(result.end(), first, step.end());
  return result;
}

double most(const Profile& profile, ProfiledPhase phase) {
  double bytes = 0;
  for (const auto& moment : profile.memory) {
    if (moment.phase == phase) bytes = std::max(bytes, (moment.grows + moment.fixed).value());
  }
  return bytes;
}

}  // namespace

TEST_CASE("without recorded memory, what autograd keeps follows from shapes", "[import][memory]") {
  // x W of 4 x 16 numbers, kept by gelu, whose result the second product keeps: 2 x 256 bytes
  const auto imported = import_loop(step_of({{"aten::mm", "[[4,8],[8,16]]", two},
                                             {"aten::gelu", "[[4,16],[]]", R"(["float",""])"},
                                             {"aten::mm", "[[4,16],[16,8]]", two}}));

  const auto& profile = imported.profile;
  CHECK(profile.memory_from == MemorySource::shapes);
  CHECK(profile.memory_lacks.empty());
  // at the end also the result of the second product, 4 x 8 numbers
  CHECK(most(profile, ProfiledPhase::forward) == 2 * 256 + 128);
  // when gelu's backward pass runs: its input, and the gradients of its input and output
  CHECK(most(profile, ProfiledPhase::backward) == 3 * 256);
}

TEST_CASE("a tensor that two operations keep counts once, and a tensor that none keeps is freed",
          "[import][memory]") {
  // relu in place keeps its result, which is what the product keeps too
  const auto relu = import_loop(step_of({{"aten::mm", "[[4,8],[8,16]]", two},
                                         {"aten::relu_", "[[4,16]]", R"(["float"])"},
                                         {"aten::mm", "[[4,16],[16,8]]", two}}));
  CHECK(most(relu.profile, ProfiledPhase::forward) == 256 + 128);
  // a sum keeps nothing: its operands go
  const auto sum = import_loop(step_of({{"aten::mm", "[[4,8],[8,16]]", two},
                                        {"aten::add", "[[4,16],[],[]]", R"(["float","Scalar","Scalar"])"},
                                        {"aten::add", "[[4,16],[],[]]", R"(["float","Scalar","Scalar"])"}}));
  CHECK(most(sum.profile, ProfiledPhase::forward) == 2 * 256);
}

TEST_CASE("an unknown operation is named, and is not evidence", "[import][memory]") {
  const auto imported = import_loop(
      step_of({{"aten::mm", "[[4,8],[8,16]]", two}, {"mine::attention", "[[4,16]]", R"(["float"])"}}));

  CHECK(imported.profile.memory_lacks == std::vector<std::string>{"mine::attention"});
  CHECK(std::ranges::any_of(imported.warnings, [](const std::string& warning) {
    return warning.find("the memory that autograd keeps for mine::attention is unknown") != std::string::npos;
  }));
}

TEST_CASE("without numbers of nodes, recomputation cannot be inferred from shapes", "[import][memory]") {
  auto step = small_step();
  const auto backward = std::ranges::find(step, ProfiledPhase::backward, &Made::phase);
  backward->op = {"aten::linear", "[[4,8],[16,8]]", two};

  const auto imported = import_loop(step);

  CHECK(imported.profile.memory_from == MemorySource::none);
  CHECK(imported.profile.memory.empty());
}

TEST_CASE("recorded memory counts allocations of the step's passes", "[import][memory]") {
  Loop loop;
  loop.beside = [](TraceBuilder& trace, int step, std::size_t launch, double time) {
    const auto address = [&](int tensor) { return 1000 * step + tensor; };
    if (launch == 1) {
      trace.allocation(time, 4096, address(1));     // kept until the backward pass
      trace.allocation(time + 1, 512, address(2));  // gone at once
      trace.allocation(time + 2, -512, address(2));
      trace.allocation(time + 3, 1 << 20, address(3), main_thread, 0);  // on the host
    }
    if (launch == 3) {
      trace.allocation(time, 1024, address(4), autograd_thread);     // a gradient: stays
      trace.allocation(time + 1, 256, address(5), autograd_thread);  // of an activation: goes
      trace.allocation(time + 2, -256, address(5), autograd_thread);
      trace.allocation(time + 3, -4096, address(1), autograd_thread);
    }
    if (launch == 5) trace.allocation(time + 3, -1024, address(4));
  };
  const auto profile = import_loop(small_step(), loop).profile;

  CHECK(profile.memory_from == MemorySource::recorded);
  CHECK(most(profile, ProfiledPhase::forward) == 4096 + 512);
  CHECK(most(profile, ProfiledPhase::backward) == 4096 + 256);
  REQUIRE(profile.memory.back().phase == ProfiledPhase::backward);
  CHECK(profile.memory.back().gradients == Bytes{1024});
}

TEST_CASE("a trace shows whether gradients stay during the next forward pass", "[import][memory]") {
  const auto keeps = [](std::size_t behind_launch) {
    Loop loop;
    loop.beside = [&](TraceBuilder& trace, int, std::size_t launch, double time) {
      // after the optimizer's step, whose range ends 0.9 us after its last launch
      if (launch == behind_launch) trace.annotation("Optimizer.zero_grad#SGD.zero_grad", time + 0.95, 0.5);
    };
    return import_loop(small_step(), loop).profile.keeps_gradients;
  };
  CHECK(keeps(5) == false);  // optimizer.step(), optimizer.zero_grad()
  CHECK(keeps(0) == false);  // after the copy of the input, before the first kernel
  CHECK(keeps(2) == true);   // right before loss.backward()
  CHECK_FALSE(keeps(99).has_value());
}

TEST_CASE("moments that are not the peak for any batch are left out", "[import][memory]") {
  const auto moment = [](double grows, double fixed) {
    return ProfiledMoment{.grows = Bytes{grows}, .fixed = Bytes{fixed}};
  };
  const auto kept = possible_peaks(
      {moment(1, 10), moment(5, 6.2), moment(5.4, 5.8), moment(10, 0), moment(3, 7), moment(9, 0)});
  std::vector<double> grows;
  for (const auto& it : kept) grows.push_back(it.grows.value());
  // 1.2 times the batch makes 1.2 x 5.4 + 5.8 the largest; at 3 and 9 something is always more
  CHECK(grows == std::vector<double>{1, 5, 5.4, 10});
}

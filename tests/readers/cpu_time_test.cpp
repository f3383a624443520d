// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

double cpu_us(const Profile& profile, std::size_t launch) {
  return profile.launches[launch].cpu.value() * 1e6;
}

/// Indices of all launches after which the CPU waits.
std::vector<std::size_t> waits_of(const Profile& profile) {
  std::vector<std::size_t> waits;
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    if (profile.launches[i].host_waits) waits.push_back(i);
  }
  return waits;
}

}  // namespace

TEST_CASE("the profiler's own time does not count as time of the program", "[import]") {
  // 12 us of it lie in the third launch of each step, 4 us in its call and the rest before it.
  auto step = small_step();
  step[2].cpu = 15 + 12;
  step[2].call = 8;
  const Loop loop{.beside = [](TraceBuilder& trace, int, std::size_t launch, double time) {
    if (launch == 2) trace.overhead(time - 16, 12);
  }};

  const auto profile = import_loop(step, loop).profile;

  CHECK(cpu_us(profile, 2) == Approx(15));
  CHECK(cpu_us(profile, 3) == Approx(30));
}

TEST_CASE("a synchronisation is waiting, noted at the launch before it", "[import]") {
  const auto* const name = GENERATE("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize");
  CAPTURE(name);
  auto step = small_step();
  step[3].cpu = 30 + 100;
  const Loop loop{.beside = [&](TraceBuilder& trace, int, std::size_t launch, double time) {
    if (launch == 2) trace.call(name, time + 3, 100);
  }};

  const auto profile = import_loop(step, loop).profile;

  CHECK(waits_of(profile) == std::vector<std::size_t>{2});
  CHECK(cpu_us(profile, 3) == Approx(30));
}

TEST_CASE("a synchronisation after each step counts, the one that ends a trace does not", "[import]") {
  const bool each = GENERATE(false, true);
  auto step = small_step();
  if (each) step[0].cpu = 50 + 40;
  const Loop loop{.steps = 2,
                  .beside = [&](TraceBuilder& trace, int number, std::size_t launch, double time) {
                    if (launch == 5 && (each || number == 1))
                      trace.call("cudaDeviceSynchronize", time + 1, 40);
                  }};

  const auto profile = import_loop(step, loop).profile;

  CHECK(waits_of(profile) == (each ? std::vector<std::size_t>{5} : std::vector<std::size_t>{}));
  CHECK(cpu_us(profile, 0) == Approx(50));
}

TEST_CASE("waiting of threads that launch nothing does not count", "[import]") {
  const Loop loop{.beside = [](TraceBuilder& trace, int, std::size_t launch, double time) {
    constexpr int loader_thread = 300;
    if (launch == 2) trace.call("cudaEventSynchronize", time - 10, 30, loader_thread);
  }};

  const auto profile = import_loop(small_step(), loop).profile;

  CHECK(waits_of(profile).empty());
  CHECK(cpu_us(profile, 2) == Approx(15));
  CHECK(cpu_us(profile, 3) == Approx(30));
}

TEST_CASE("a blocking copy waits inside its call", "[import]") {
  // The call lasts 200 us; it counts as the usual 4 us of a launch.
  auto step = small_step();
  step[2].kernel = {.name = "Memcpy DtoH (Device -> Pageable)", .category = "gpu_memcpy", .bytes = 4};
  step[2].cpu = 15 + 196;
  step[2].call = 4 + 196;
  step[2].call_name = "cudaMemcpy";

  const auto profile = import_loop(step).profile;

  CHECK(profile.launches[2].kind == KernelClass::copy_out);
  CHECK(waits_of(profile) == std::vector<std::size_t>{2});
  CHECK(cpu_us(profile, 2) == Approx(15));
}

TEST_CASE("calls that wait in a full queue of launches count as usual ones", "[import]") {
  // 1,500 launches of kernels that take four times as long: from 1,024 on, each call lasts as long as a
  // kernel, which would not be conspicuous elsewhere.
  constexpr std::size_t many = 1500;
  constexpr double kernel = 40;
  const bool is_full = GENERATE(true, false);
  auto step = small_step();
  step.insert(step.begin() + 2, many, Made{.cpu = 10, .gpu = is_full ? kernel : 5});
  const Loop loop{.edit = [&](int, std::vector<Made>& launches) {
    for (std::size_t i = 1200; i < many; ++i) {
      launches[i].cpu += kernel - 10;
      launches[i].call += kernel - 10;
    }
  }};

  const auto profile = import_loop(step, loop).profile;

  CHECK(cpu_us(profile, 600) == Approx(10));
  CHECK(cpu_us(profile, 1400) == Approx(is_full ? 10 : 40));
}

TEST_CASE("a call that lasts far longer than its kind counts as a usual one", "[import]") {
  const double call = GENERATE(8, 300);  // twice as long is a matter of chance, 75 times is not
  auto step = small_step();
  step[2].cpu = 11 + call;
  step[2].call = call;

  const auto profile = import_loop(step).profile;

  CHECK(cpu_us(profile, 2) == Approx(call == 8 ? 19 : 15));
}

TEST_CASE("calls of a kind that takes long may take twice as long", "[import]") {
  auto step = small_step();
  for (const auto i : {1, 2, 3}) {
    step[i].call_name = "cudaGraphLaunch";
    step[i].call = i == 2 ? 100 : 40;
    step[i].cpu = step[i].call + 10;
  }

  const auto profile = import_loop(step).profile;

  CHECK(cpu_us(profile, 1) == Approx(50));
  CHECK(cpu_us(profile, 2) == Approx(110));
}

TEST_CASE("the kernels of a graph cost the CPU one launch", "[import]") {
  const Loop loop{.beside = [](TraceBuilder& own, int, std::size_t launch, double time) {
    if (launch == 2) own.kernel_of_last_call({.stream = 8}, time + 500, 10, 0);
  }};

  const auto profile = import_loop(small_step(), loop).profile;

  REQUIRE(profile.launches.size() == 7);
  CHECK(cpu_us(profile, 2) == Approx(15));
  CHECK(cpu_us(profile, 3) == 0);
  CHECK(cpu_us(profile, 4) == Approx(30));
}

TEST_CASE("the time before the first launch of a trace is that of the other steps", "[import]") {
  const Loop loop{.steps = 2, .edit = [](int number, std::vector<Made>& launches) {
                    if (number == 0) launches[0].cpu = 5;
                  }};

  CHECK(cpu_us(import_loop(small_step(), loop).profile, 0) == Approx(50));
}

TEST_CASE("autograd's accumulation of a gradient without a launch takes the usual time", "[import]") {
  const std::string name = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
  const auto with = [&](int a_step) {
    const Loop loop{.beside = [&](TraceBuilder& trace, int, std::size_t launch, double time) {
      if (launch != 4) return;
      for (int i = 0; i < a_step; ++i) trace.op({name, "[]", "[]"}, time - 1 + 0.01 * i, 0.125, 200);
      trace.op({name, "[]", "[]"}, time - 8, 7.5, 200);  // it adds to a gradient: its launch is another's
    }};
    return import_loop(small_step(), loop).profile.accumulate_grad;
  };
  REQUIRE(with(6));
  CHECK(with(6)->value() == Approx(0.125e-6));
  CHECK_FALSE(with(1));  // three steps: too few to tell
}

// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "sim/base/module.hpp"
#include "sim/engine/simgrid/answer.hpp"
#include "sim/engine/simgrid/child_process.hpp"
#include "sim/engine/simgrid/simgrid_engine.hpp"
#include "tests/support/small_graphs.hpp"

using namespace gradway;
using namespace gradway::testing;

TEST_CASE("a child returns a result of any size", "[child]") {
  const std::size_t size = GENERATE(0, 1, 65536, 5000000);
  const ChildResult child = run_in_child([size] { return std::string(size, 'x'); });
  CHECK(child.finished);
  CHECK(child.result == std::string(size, 'x'));
  CHECK(child.fate == "exit status 0");
}

TEST_CASE("a child that dies leaves its last output and exit status", "[child]") {
  const ChildResult child = run_in_child([]() -> std::string {
    std::fprintf(stderr, "a fault in the library\n");
    std::abort();
  });
  CHECK_FALSE(child.finished);
  CHECK(child.fate == "signal 6 (Aborted)");
  CHECK_THAT(child.last_words, Catch::Contains("a fault in the library"));
}

TEST_CASE("a child that exits early has not finished", "[child]") {
  const ChildResult child = run_in_child([]() -> std::string { ::_exit(3); });
  CHECK_FALSE(child.finished);
  CHECK(child.fate == "exit status 3");
  CHECK(child.last_words.empty());
}

TEST_CASE("only the end of a long output is kept", "[child]") {
  const ChildResult child = run_in_child([]() -> std::string {
    for (int i = 0; i < 100000; ++i) std::printf("line %d\n", i);
    std::fflush(stdout);
    return {};
  });
  CHECK(child.finished);
  CHECK(child.last_words.size() == 2000);
  CHECK_THAT(child.last_words, Catch::EndsWith("line 99999\n"));
}

TEST_CASE("a silent child is killed after its timeout", "[child]") {
  const ChildResult child = run_in_child(
      []() -> std::string {
        std::fprintf(stderr, "about to stop\n");
        std::raise(SIGSTOP);
        return "never";
      },
      Seconds{0.2});
  CHECK(child.out_of_time);
  CHECK_FALSE(child.finished);
  CHECK(child.fate == "signal 9 (Killed)");
  CHECK(child.last_words == "about to stop\n");
}

TEST_CASE("a child that answers within its timeout is not killed", "[child]") {
  const ChildResult child = run_in_child(
      [] {
        std::this_thread::sleep_for(std::chrono::milliseconds{300});
        return std::string{"done"};
      },
      Seconds{60});
  CHECK_FALSE(child.out_of_time);
  CHECK(child.result == "done");
}

TEST_CASE("an engine whose child gives no answer gives a hint", "[child]") {
  OpGraph graph;
  const auto path = path_over(graph, {0});
  for (int i = 0; i < 20000; ++i) graph.add(flow_op(1 + i, path));
  CHECK_THROWS_WITH(
      SimgridEngine{Seconds{0.1}}.run(resources_of({1}), graph),
      "SimGrid gave no answer within 0.1 s for 20000 ops; its process was killed\n"
      "  hint: '--engine fluid' gives the same times to 1e-9, and faster; or simulate fewer ranks");
}

TEST_CASE("an engine that is missing says where it must be", "[child]") {
  auto elsewhere = simgrid_module;
  elsewhere.file = "libgradway_elsewhere.so";
  CHECK_THROWS_WITH(function_of(elsewhere),
                    Catch::Contains("the engine 'simgrid' cannot be loaded: libgradway_elsewhere.so: ") &&
                        Catch::EndsWith("hint: 'libgradway_elsewhere.so' must be where the build or 'cmake "
                                        "--install' put it, and libsimgrid must be installed; '--engine "
                                        "fluid' needs neither and gives the same times to 1e-9"));
}

TEST_CASE("no child process remains", "[child]") {
  run_in_child([] { return std::string{}; });
  run_in_child([]() -> std::string { std::abort(); });
  run_in_child([]() -> std::string { return std::raise(SIGSTOP) == 0 ? "" : "?"; }, Seconds{0.05});
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("runs in several threads do not disturb each other", "[child]") {
  constexpr std::size_t threads = 4;
  std::vector<double> makespans(threads * 10);
  std::vector<std::thread> workers;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    workers.emplace_back([thread, &makespans] {
      for (std::size_t i = thread; i < makespans.size(); i += threads) {
        OpGraph graph;
        graph.add(flow_op(static_cast<double>(i + 1), path_over(graph, {0})));
        makespans[i] = run_with("simgrid", resources_of({1}), graph).makespan().value();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (std::size_t i = 0; i < makespans.size(); ++i)
    CHECK(makespans[i] == closed_form(static_cast<double>(i + 1)));
}

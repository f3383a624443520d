// SPDX-License-Identifier: Apache-2.0
// What a program reads back, SyncBatchNorm, buffers and the search for unused parameters.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/config/config.hpp"
#include "sim/plan/ddp/buckets.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

using Settings = std::vector<Override>;

Scenario two_gpus(Settings set, bool is_resnet = false) {
  if (is_resnet) set.insert(set.begin(), {Override{"model", "resnet50"}, Override{"optimizer", "sgd"}});
  return load_scenario("h100-2x/ddp_options", set, {{GRADWAY_SOURCE_DIR}});
}

Program program_of(const Scenario& scenario) {
  return plan(scenario, compute_costs(scenario)).first_program();
}

std::vector<Task> named(const Program& program, std::string_view part) {
  std::vector<Task> found;
  for (const auto& task : program.tasks)
    if (task.name.find(part) != std::string::npos) found.push_back(task);
  return found;
}

double step_ms(const Scenario& scenario) {
  return simulate(scenario, "fluid").measured.metrics.step_time.value() * 1e3;
}

}  // namespace

TEST_CASE("each value is copied to pageable memory, and the CPU waits for it") {
  const auto program = program_of(two_gpus({{"job.host_reads", "3"}, {"job.host_read_size", "1 MB"}}));
  const auto copies = named(program, "value read back");
  REQUIRE(copies.size() == 3);
  for (const auto& task : copies) {
    CHECK(task.host_waits);
    CHECK(std::get<Copy>(task.work).to == Place::host);
    CHECK_FALSE(std::get<Copy>(task.work).pinned);
    CHECK(std::get<Copy>(task.work).bytes == 1_MB);
  }
  CHECK(named(program, "value to read").size() == 2);  // the loss exists
  CHECK(program.tasks.back().name == "value seen by the CPU");
}

TEST_CASE("values are read after the phase that the scenario names") {
  const auto place = [](const char* phase) {
    const auto program = program_of(two_gpus({{"job.host_reads", "1"}, {"job.host_reads_after", phase}}));
    const auto is_read = [](const Task& task) { return task.name == "value read back"; };
    return *(std::ranges::find_if(program.tasks, is_read) - 1);
  };
  CHECK(place("forward").phase == Phase::forward);
  CHECK(place("backward").name.find("wait") != std::string::npos);  // for the last bucket
  CHECK(place("optimizer").name == "optimizer");
}

TEST_CASE("reduced metrics are all-reduced before they are read") {
  const auto program = program_of(two_gpus({{"job.host_reads", "2"}, {"job.reduced_metrics", "1"}}));
  const auto calls = named(program, "metric all-reduce");
  REQUIRE(calls.size() == 1);
  CHECK(std::get<Call>(calls.front().work).bytes == 4_B);
}

TEST_CASE("reading the loss costs the CPU its lead: the GPU waits for the optimizer's launches") {
  const auto without = step_ms(two_gpus({{"job.batch_per_gpu", "32"}}));
  const auto with = step_ms(
      two_gpus({{"job.batch_per_gpu", "32"}, {"job.host_reads", "1"}, {"job.host_reads_after", "backward"}}));
  // A GPU-bound step: two H100, 2026-11-24, 3 ms of 112 (own measurement).
  CHECK(with - without > 0.5);
  CHECK(with - without < 6);
}

TEST_CASE("SyncBatchNorm gathers 2 C + 1 numbers of each rank and reduces 2 C sums") {
  const auto scenario = two_gpus({{"job.sync_batch_norm", "true"}}, true);
  const auto program = program_of(scenario);
  const auto gathers = named(program, "statistics all-gather");
  const auto sums = named(program, "sums all-reduce");
  REQUIRE(gathers.size() == 53);
  REQUIRE(sums.size() == 53);
  CHECK(std::get<Call>(gathers.front().work).bytes == Bytes{2 * 4 * (2 * 64 + 1.0)});
  CHECK(std::get<Call>(sums.back().work).bytes == Bytes{4 * 2 * 64.0});
  CHECK(named(program, "number of ranks").size() == 3 * 53);
  CHECK(step_ms(scenario) > 1.2 * step_ms(two_gpus({}, true)));
}

TEST_CASE("DDP broadcasts the buffers of BatchNorms unless broadcast_buffers is false") {
  const auto sent = named(program_of(two_gpus({}, true)), "broadcast of buffers");
  REQUIRE(sent.size() == 2);      // fp32 and int64
  const double channels = 26560;  // of the 53 BatchNorms of torchvision's resnet50
  CHECK(std::get<Call>(sent[0].work).bytes == Bytes{2 * 4 * channels});
  CHECK(std::get<Call>(sent[1].work).bytes == Bytes{8 * 53.0});
  CHECK(named(program_of(two_gpus({{"strategy.broadcast_buffers", "false"}}, true)), "buffers").empty());
  CHECK(named(program_of(two_gpus({})), "buffers").empty());
}

TEST_CASE("find_unused_parameters searches the graph and shares a map of an int32 per parameter") {
  const auto scenario = two_gpus({{"strategy.find_unused_parameters", "true"}});
  const auto program = program_of(scenario);
  const auto parameters = static_cast<double>(scenario.model.parameter_tensors());
  REQUIRE(named(program, "search for unused").size() == 1);
  const auto shared = named(program, "all-reduce of used parameters");
  REQUIRE(shared.size() == 1);
  CHECK(std::get<Call>(shared.front().work).bytes == Bytes{4 * parameters});
  CHECK(named(program, "read back").empty());
  const auto unused = program_of(
      two_gpus({{"strategy.find_unused_parameters", "true"}, {"strategy.unused_parameters", "2"}}));
  REQUIRE(named(unused, "used parameters read back").size() == 1);
  CHECK(named(unused, "used parameters read back").front().host_waits);
}

TEST_CASE("a static graph is searched once, in the first step") {
  const auto program =
      program_of(two_gpus({{"strategy.find_unused_parameters", "true"}, {"strategy.static_graph", "true"}}));
  CHECK(named(program, "search for unused").empty());
  CHECK(named(program, "used parameters").empty());
}

TEST_CASE("buckets that are searched each step stay in the order of parameters, the small one last") {
  const auto model = two_gpus({}).model;
  const auto first = first_ddp_buckets(model, std::nullopt);
  const auto rebuilt = ddp_buckets(model, std::nullopt);
  const auto total = [](const std::vector<Unit>& buckets) {
    Bytes sum{};
    for (const auto& bucket : buckets) sum += bucket.size;
    return sum;
  };
  CHECK(total(first) == total(rebuilt));
  // The gradient that is ready first is in the first bucket of both.
  CHECK(first.front().gradients.front().layer == rebuilt.front().gradients.front().layer);
  CHECK(first.back().gradients.back().layer == 0);
}

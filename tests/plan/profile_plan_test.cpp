// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/plan.hpp"
#include "tests/support/profiles.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Program plan_of(const Scenario& scenario) {
  return plan(scenario, compute_costs(scenario)).first_program();
}

Seconds work_of(const Task& task) {
  const auto* kernel = std::get_if<Kernel>(&task.work);
  return kernel ? kernel->work : Seconds{};
}

Scenario ddp(const Profile& profile, Bytes cap) {
  auto scenario = profiled_scenario(profile);
  scenario.job.gpus = 4;
  scenario.job.strategy = Ddp{};
  std::get<Ddp>(scenario.job.strategy).bucket_cap = cap;
  return scenario;
}

std::vector<std::string> names(const Program& graph) {
  std::vector<std::string> all;
  for (const auto& task : graph.tasks) all.push_back(task.name);
  return all;
}

const Task& task_named(const Program& graph, const std::string& part) {
  const auto found = std::ranges::find_if(
      graph.tasks, [&](const Task& task) { return task.name.find(part) != std::string::npos; });
  REQUIRE(found != graph.tasks.end());
  return *found;
}

}  // namespace

TEST_CASE("a profile is issued launch by launch, with the pause before each kernel") {
  const auto profile = even_profile(3, 5_us, 20_us, 2_us);
  const auto graph = plan_of(profiled_scenario(profile));
  REQUIRE(graph.tasks.size() == 7);
  for (const auto& task : graph.tasks) {
    CHECK(work_of(task) == 20_us);
    CHECK(std::get<Kernel>(task.work).pause.value() == Approx(2e-6 * profiled_pause_share));
    CHECK(task.launch.value() == Approx(5e-6 * profiled_cpu_share));
  }
  CHECK(graph.tasks[2].phase == Phase::forward);
  CHECK(graph.tasks[3].phase == Phase::backward);
  CHECK(graph.tasks[6].phase == Phase::optimizer);
}

TEST_CASE("each gradient is copied into its bucket directly after the launch that completes it") {
  const auto graph = plan_of(ddp(even_profile(3, 5_us, 20_us), 8_MB));
  CHECK(names(graph) == std::vector<std::string>{"kernel", "kernel", "kernel", "kernel",
                                                 "kernel into bucket 0", "kernel", "kernel into bucket 0",
                                                 "bucket 0 all-reduce", "kernel", "kernel into bucket 1",
                                                 "bucket 1 all-reduce", "bucket 0 back to gradients",
                                                 "bucket 1 back to gradients", "kernel"});
  // one short kernel and 8 MB at 1 TB/s
  CHECK(work_of(task_named(graph, "into bucket 0")).value() == Approx((smallest_kernel + 8_us).value()));
  // The profile's launches set the CPU's speed relative to the host of `ddp_cpu`.
  const auto host = 5_us * profiled_cpu_share / measured_host_kernel;
  CHECK(task_named(graph, "into bucket 0").launch.value() == Approx(host * ddp_cpu.gradient.value()));
  CHECK(task_named(graph, "bucket 0 back").launch.value() == Approx(2 * host * ddp_cpu.copy_back.value()));
}

TEST_CASE("gradients that the trace shows after the backward pass are reduced, too") {
  auto profile = even_profile(2, 5_us, 20_us);
  profile.gradients.push_back({{10}, 4, profile.launches.size()});
  const auto graph = plan_of(ddp(profile, 1_GB));
  CHECK(bytes_of(task_named(graph, "all-reduce").work) == Bytes{4.0 * 2000010});
}

TEST_CASE("running means are broadcast before the forward pass, one flat tensor for each type") {
  auto profile = even_profile(1, 5_us, 20_us);
  profile.buffers = {{{64}, 4}, {{64}, 4}, {{}, 8}};
  const auto graph = plan_of(ddp(profile, 1_MB));
  std::vector<double> sent;
  for (const auto& task : graph.tasks)
    if (const auto* call = std::get_if<Call>(&task.work); call && call->kind == CollectiveKind::broadcast)
      sent.push_back(call->bytes.value());
  CHECK(sent == std::vector<double>{512, 8});
  CHECK(graph.tasks.front().name == "buffers into one");
  CHECK(plan_of(profiled_scenario(profile)).tasks.size() == 3);  // without DDP nothing is sent
}

TEST_CASE("a 16-bit hook lengthens the pauses, because each bucket is cast back on a separate stream") {
  auto scenario = ddp(even_profile(2, 5_us, 20_us, 2_us), 1_MB);
  const auto without = plan_of(scenario);
  std::get<Ddp>(scenario.job.strategy).comm_hook = GENERATE(CommHook::bf16, CommHook::fp16);
  const auto with = plan_of(scenario);
  CHECK(
      (std::get<Kernel>(with.tasks[0].work).pause - std::get<Kernel>(without.tasks[0].work).pause).value() ==
      Approx(pause_of_many_streams.value()));
}

TEST_CASE("another optimizer than the profile's is costed by its traffic") {
  auto scenario = profiled_scenario(even_profile(2, 5_us, 20_us));
  scenario.job.optimizer = Optimizer::adamw_fused;
  const auto graph = plan_of(scenario);
  CHECK(graph.tasks.back().name == "optimizer");
  CHECK(work_of(graph.tasks.back()).value() == Approx(28.0 * 2e6 / 1e12));
}

TEST_CASE("later micro-steps add to the gradients, and only the last one reduces") {
  auto scenario = ddp(even_profile(2, 5_us, 20_us), 1_GB);
  scenario.job.accumulate = 3;
  const auto graph = plan_of(scenario);
  const auto count = [&](const std::string& part) {
    return std::ranges::count_if(graph.tasks,
                                 [&](const Task& task) { return task.name.find(part) != std::string::npos; });
  };
  CHECK(count("accumulate") == 2 * 2);
  CHECK(count("all-reduce") == 1);
  CHECK(work_of(task_named(graph, "accumulate")).value() == Approx((smallest_kernel + 12_us).value()));
}

TEST_CASE("the memory of a profile grows with the batch if the profile says so") {
  auto profile = even_profile(3, 5_us, 20_us);  // three gradients of 4 MB, batch 8
  profile.memory_from = MemorySource::shapes;
  profile.memory = {{.grows = 80_MB, .fixed = 5_MB}, {ProfiledPhase::backward, 72_MB, 3_MB, 8_MB, 16_MB}};
  auto scenario = profiled_scenario(profile);
  scenario.job.batch_per_gpu = 16;
  const auto use = [&] { return plan_of(scenario).memory; };

  // peak in the forward pass: 2 x 80 + 5, without gradients of the step before
  CHECK(use().activations == 165_MB);
  CHECK(use().gradients == 0_B);
  // with these gradients, if the loop frees them between the forward and the backward pass
  scenario.job.zero_grad = ZeroGrad::before_backward;
  CHECK(use().activations == 165_MB);
  CHECK(use().gradients == 12_MB);
  // with 16 bits, parameters, gradients and the optimizer's state are half as large
  for (auto& gradient : profile.gradients) gradient.element_bytes = 2;
  profile.optimizer = Optimizer::adamw_fused;
  const auto half = profiled_scenario(profile);
  CHECK(plan_of(half).memory.parameters == 6_MB);
  CHECK(plan_of(half).memory.optimizer_state == 12_MB);
}

TEST_CASE("the host of a trace sets the time of DDP's hooks, whatever the program's launches take") {
  auto profile = even_profile(3, 5_us, 20_us, 2_us);
  profile.accumulate_grad = 2 * measured_host_gradient;
  const auto hooks_of = [](const Profile& it) {
    const auto graph = plan_of(ddp(it, 1_GiB));
    return std::pair{task_named(graph, "into bucket").launch, task_named(graph, "all-reduce").launch};
  };
  const auto [copy, reduction] = hooks_of(profile);
  CHECK(copy.value() == Approx(2 * ddp_cpu.gradient.value()));
  CHECK(reduction.value() == Approx(2 * ddp_cpu.bucket.value()));
  for (auto& launch : profile.launches) launch.cpu = 2_us;
  CHECK(hooks_of(profile) == std::pair{copy, reduction});
}

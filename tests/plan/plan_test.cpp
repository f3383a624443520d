// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <numeric>

#include "sim/plan/ddp/buckets.hpp"
#include "sim/plan/plan.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Scenario vit_scenario() {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(4));
  set_forward_pass(scenario.model, vision_transformer({224, 32, 24, 16, 1024, 4096, 1000}));
  scenario.model.input_per_sample = Bytes{3 * 224 * 224 * 4};
  scenario.job.gpus = 4;
  scenario.job.batch_per_gpu = 32;
  std::get<Ddp>(scenario.job.strategy).bucket_cap = 25_MiB;
  return scenario;
}

Program plan_of(const Scenario& scenario) {
  return plan(scenario, compute_costs(scenario)).first_program();
}

Seconds work_of(const Task& task) {
  const auto* kernel = std::get_if<Kernel>(&task.work);
  return kernel ? kernel->work : Seconds{};
}

template <class Kind>
int count(const Program& graph) {
  return static_cast<int>(std::ranges::count_if(
      graph.tasks, [](const Task& task) { return std::holds_alternative<Kind>(task.work); }));
}

/// Traffic of the memory-bound tasks whose name contains a word, on the round GPU (1 TB/s).
double gigabytes(const Program& graph, const std::string& word) {
  double seconds = 0;
  for (const auto& task : graph.tasks) {
    if (task.name.find(word) != std::string::npos) seconds += work_of(task).value();
  }
  return seconds * 1e3;
}

constexpr double gradients_gb = 1.2261416;

}  // namespace

TEST_CASE("vit_l_32 with a cap of 25 MiB has the 37 buckets that we traced on 4 H200") {
  const auto buckets = ddp_buckets(vit_scenario().model, 25_MiB);
  REQUIRE(buckets.size() == 37);
  const auto megabytes = [&](std::size_t i) { return buckets[i].size.value() / 1e6; };
  CHECK(megabytes(0) == Approx(37.7).epsilon(0.01));
  CHECK(megabytes(1) == Approx(33.6).epsilon(0.01));
  CHECK(megabytes(36) == Approx(12.8).epsilon(0.02));
}

TEST_CASE("100 MB buckets give 11 all-reduces, as the article saw") {
  CHECK(ddp_buckets(vit_scenario().model, 100_MiB).size() == 11);
  CHECK(ddp_buckets(vit_scenario().model, 2000_MiB).size() == 1);
}

TEST_CASE("without a cap the first bucket closes at 1 MiB and the others at 25 MiB") {
  const auto buckets = ddp_buckets(vit_scenario().model, std::nullopt);
  CHECK(buckets[0].size >= 1_MiB);
  CHECK(buckets[0].size < 25_MiB);
  CHECK(buckets[1].size >= 25_MiB);
}

TEST_CASE("buckets hold every gradient once, the last layer's first") {
  const auto model = vit_scenario().model;
  for (const auto cap : {1_B, 1_MiB, 40_MiB, 5000_MiB}) {
    const auto buckets = ddp_buckets(model, cap);
    std::size_t gradients = 0;
    Bytes size{};
    for (const auto& bucket : buckets) {
      gradients += bucket.gradients.size();
      size += bucket.size;
      if (&bucket != &buckets.back()) CHECK(bucket.size >= cap);
    }
    CHECK(gradients == model.parameter_tensors());
    CHECK(size.value() == 4.0 * static_cast<double>(model.parameter_count()));
    CHECK(buckets.front().gradients.front().layer > buckets.back().gradients.back().layer);
  }
}

TEST_CASE("without DDP nothing is reduced or copied") {
  auto scenario = vit_scenario();
  scenario.job.gpus = 1;
  scenario.job.strategy = NoExchange{};
  const auto graph = plan_of(scenario);
  CHECK(count<Call>(graph) == 0);
  CHECK(gigabytes(graph, "bucket") == 0);
}

TEST_CASE("a bucket names the task that fills it, and tasks name their bucket") {
  auto scenario = vit_scenario();
  std::get<Ddp>(scenario.job.strategy).comm_hook =
      GENERATE(CommHook::none, CommHook::bf16, CommHook::powersgd);
  scenario.job.accumulate = GENERATE(1, 2);
  const auto graph = plan_of(scenario);
  std::int32_t before = 0;
  for (std::size_t b = 0; b < graph.units.size(); ++b) {
    const auto& bucket = graph.units[b];
    REQUIRE(bucket.filled_by > before);
    before = bucket.filled_by;
    const auto filled_by = static_cast<std::size_t>(bucket.filled_by);
    const auto& task = graph.tasks[filled_by];
    CHECK(task.layer == bucket.gradients.back().layer);
    CHECK_THAT(task.name, Catch::EndsWith(" into bucket " + std::to_string(b)));
    // The next task in the order of issue is the first of its reduction.
    CHECK(graph.tasks[filled_by + 1].unit == static_cast<std::int32_t>(b));
    CHECK(graph.tasks[filled_by + 1].phase == Phase::communication);
  }
  for (const auto& task : graph.tasks) {
    CAPTURE(task.name);
    CHECK((task.unit != Task::none) == (task.phase == Phase::communication));
    if (task.unit != Task::none)
      CHECK((task.name + ' ').find("bucket " + std::to_string(task.unit) + ' ') != std::string::npos);
  }
}

TEST_CASE("DDP copies each gradient into its bucket, and back if gradients are not views") {
  auto scenario = vit_scenario();
  const auto graph = plan_of(scenario);
  CHECK(count<Call>(graph) == 37);
  // small tensors take the shortest kernel's time, so a little more than the traffic
  CHECK(gigabytes(graph, "into bucket") == Approx(2 * gradients_gb).epsilon(0.1));
  CHECK(gigabytes(graph, "back to gradients") == Approx(2 * gradients_gb).epsilon(0.1));
  std::get<Ddp>(scenario.job.strategy).gradient_as_bucket_view = true;
  const auto views = plan_of(scenario);
  CHECK(gigabytes(views, "into bucket") == gigabytes(graph, "into bucket"));
  CHECK(gigabytes(views, "back to gradients") == 0);
}

TEST_CASE("a hook in half precision casts, divides, sends half and casts back") {
  auto scenario = vit_scenario();
  std::get<Ddp>(scenario.job.strategy).comm_hook = GENERATE(CommHook::bf16, CommHook::fp16);
  const auto graph = plan_of(scenario);
  Bytes sent{};
  for (const auto& task : graph.tasks) {
    if (std::holds_alternative<Call>(task.work)) sent += bytes_of(task.work);
  }
  CHECK(sent.value() == 2.0 * 306535400);
  CHECK(gigabytes(graph, "divide") == Approx(gradients_gb));
  // 6 bytes per element; the copy back runs at half the rate
  CHECK(gigabytes(graph, "cast") == Approx(1.5 * gradients_gb + 3 * gradients_gb));
}

TEST_CASE("PowerSGD reduces factors in three all-reduces per bucket and blocks the CPU") {
  auto scenario = vit_scenario();
  std::get<Ddp>(scenario.job.strategy).comm_hook = CommHook::powersgd;
  std::get<Ddp>(scenario.job.strategy).bucket_cap = GENERATE(100_MiB, 2000_MiB);
  const auto buckets = ddp_buckets(scenario.model, std::get<Ddp>(scenario.job.strategy).bucket_cap).size();
  const auto graph = plan_of(scenario);
  CHECK(count<Call>(graph) == static_cast<int>(3 * buckets));
  CHECK(static_cast<std::size_t>(std::ranges::count(graph.tasks, true, &Task::host_waits)) == buckets);
  // 98 matrices (24 x 4, patches, head) are compressed. A block's are 3072 x 1024, 1024 x 1024, 4096 x 1024
  // and 1024 x 4096: sum of rows and columns 16384; the patches are 1024 x 3072, the head 1000 x 1024. The
  // rest is not compressed.
  const double factors = 24.0 * 16384 + 4096 + 2024;
  const double matrices = 24.0 * (3072 + 1024 + 4096 + 4096) * 1024 + 1024 * 3072 + 1000 * 1024;
  double sent = 0;
  for (const auto& task : graph.tasks) {
    if (std::holds_alternative<Call>(task.work)) sent += bytes_of(task.work).value() / 4;
  }
  CHECK(sent == factors + 306535400 - matrices);
  // 12 for the error, 8 for the clone, 4 each for P, Q and the product, 12 for the new error, besides the
  // copies
  CHECK(gigabytes(graph, "powersgd") == Approx((12 + 8 + 3 * 4 + 12) / 4.0 * gradients_gb).epsilon(0.15));
}

TEST_CASE("factors grow in proportion to PowerSGD's rank") {
  auto scenario = vit_scenario();
  std::get<Ddp>(scenario.job.strategy).comm_hook = CommHook::powersgd;
  std::get<Ddp>(scenario.job.strategy).bucket_cap = 2000_MiB;
  const auto sent = [&](int rank) {
    std::get<Ddp>(scenario.job.strategy).powersgd_rank = rank;
    double p_and_q = 0;
    for (const auto& task : plan_of(scenario).tasks) {
      if (task.name.ends_with("all-reduce P") || task.name.ends_with("all-reduce Q"))
        p_and_q += bytes_of(task.work).value();
    }
    return p_and_q;
  };
  CHECK(sent(4) == 4 * sent(1));
}

TEST_CASE("accumulation reduces once and adds up the gradients of the other micro-steps") {
  auto scenario = vit_scenario();
  scenario.job.accumulate = 3;
  const auto graph = plan_of(scenario);
  CHECK(count<Call>(graph) == 37);
  CHECK(count<Copy>(graph) == 3);
  CHECK(gigabytes(graph, "accumulate") == Approx(2 * 3 * gradients_gb).epsilon(0.1));
}

TEST_CASE("an anchor scales forward and backward so that one GPU without DDP meets it") {
  auto scenario = vit_scenario();
  scenario.job.gpus = 1;
  scenario.job.strategy = NoExchange{};
  Anchor anchor;
  anchor.gpu = "round";
  anchor.batch = 32;
  anchor.step_time = 123_ms;
  scenario.model.anchors = {anchor};
  const auto costs = compute_costs(scenario);
  const auto sum = std::accumulate(costs.forward.begin(), costs.forward.end(), Seconds{}) +
                   std::accumulate(costs.backward.begin(), costs.backward.end(), Seconds{});
  CHECK((sum + costs.optimizer + input_copy_time(scenario, 32)).value() == Approx(0.123));
  // at half the batch the same efficiency: about half the time
  scenario.job.batch_per_gpu = 16;
  CHECK(compute_costs(scenario).anchor_scale == costs.anchor_scale);
  scenario.model.anchors[0].precision = Precision::bf16;
  CHECK(compute_costs(scenario).anchor_scale == 1);
}

TEST_CASE("an anchor that leaves no time for the layers is the user's error") {
  auto scenario = vit_scenario();
  Anchor anchor;
  anchor.gpu = "round";
  anchor.batch = 32;
  anchor.step_time = 1_us;
  scenario.model.name = "vit";
  scenario.model.anchors = {anchor};
  CHECK_THROWS_WITH(
      compute_costs(scenario),
      Catch::StartsWith("error: model 'vit': the anchor of 0.001 ms per step on round leaves no time for the "
                        "layers: input copy and optimizer take "));
}

TEST_CASE("the CPU waits for a copy from pageable memory, not for one from pinned memory") {
  auto scenario = vit_scenario();
  CHECK_FALSE(plan_of(scenario).tasks.front().host_waits);
  scenario.job.input.pin_memory = false;
  CHECK(plan_of(scenario).tasks.front().host_waits);
}

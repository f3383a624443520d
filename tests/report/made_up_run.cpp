// SPDX-License-Identifier: Apache-2.0
#include "tests/report/made_up_run.hpp"
#include "sim/base/make_warning.hpp"

#include "sim/plan/plan.hpp"
#include "sim/plan/task_list.hpp"
#include "sim/platform/description.hpp"

namespace gradway::testing {
namespace {

constexpr std::int32_t input = 0;
constexpr std::int32_t compute = 1;
constexpr std::int32_t reduce = 2;
constexpr std::int32_t optimizer = 3;

Task task(std::string name, TaskWork work, Phase phase, StreamId stream) {
  Task task;
  task.name = std::move(name);
  task.work = std::move(work);
  task.phase = phase;
  task.stream = stream;
  return task;
}

Workload made_up_workload(const Scenario& scenario) {
  Program program{.name = "rank", .streams = streams_of_a_rank()};
  program.tasks = {
      task("input copy", Copy{.bytes = Bytes{1000}}, Phase::input, compute_stream),
      task("layer \"one\"", Kernel{}, Phase::backward, compute_stream),
      task("bucket 0 all-reduce", Call{CollectiveKind::all_reduce, 4_MiB, Slot{0}}, Phase::communication,
           communicator_stream),
      task("optimizer", Kernel{}, Phase::optimizer, compute_stream),
  };
  program.tasks[compute].layer = 0;
  program.tasks[reduce].unit = 0;
  program.units = {{{{0, 0, 4_MiB}}, 4_MiB}};
  return on_all_ranks(std::move(program), scenario);
}

/// Adds ops together with their times.
class OpsWithDates {
 public:
  explicit OpsWithDates(Run& run) : run_{run} {}

  void add(std::int32_t task, std::int32_t rank, Activity activity, Seconds start, Seconds end,
           OpKind kind = OpKind::delay) {
    Op op;
    op.kind = kind;
    op.latency = end - start;
    op.origin = {.task = task,
                 .actor = rank,
                 .step = 0,
                 .group = rank == Origin::none ? 0 : Origin::none,
                 .program = 0,
                 .activity = activity,
                 .phase = run_.workload.first_program().tasks[static_cast<std::size_t>(task)].phase};
    run_.ops.add(op);
    run_.timeline.start.push_back(start);
    run_.timeline.end.push_back(end);
  }

 private:
  Run& run_;
};

Measured made_up_measured() {
  Measured measured;
  auto& metrics = measured.metrics;
  metrics.step_time = 10_ms;
  metrics.steps_per_s = 100;
  metrics.samples_per_s = 6400;
  metrics.compute = 5_ms;
  metrics.communication = 5_ms;
  metrics.exposed_communication = 3_ms;
  metrics.input_wait = 1_ms;
  metrics.optimizer = 1_ms;
  metrics.gpu_busy_fraction = 0.6;
  metrics.tflops_per_gpu = 12.5;
  metrics.collectives = 1;
  metrics.bytes_sent_per_gpu = 4_MiB;
  metrics.peak_memory = 2_GB;
  metrics.cost_per_hour = UsdPerHour{36};
  metrics.cost_usd_per_million_samples = 1.5625;
  measured.bottleneck = bottleneck::Communication{
      .share = 0.07, .sent = 4_MiB, .rate = 2_GBps, .limit = bottleneck::FullLink{"gpu0 -> gpu1", false}};
  measured.links = {{"gpu0 -> gpu1", 0.25, 4_MiB}, {"gpu1 -> gpu0", 0.125, Bytes{0.5}}};
  return measured;
}

}  // namespace

Platform made_up_platform(int gpus) {
  Gpu gpu;
  gpu.name = "ideal";
  gpu.ideal = true;
  PlatformDescription description;
  description.name = "made-up";
  description.source = "made up for tests. Nothing else.";
  description.hardware =
      GeneratedPlatform{GeneratedPlatform::Topology::ring, 50_GBps, 1_us, 8, 1, BytesPerSecond{}};
  return build_platform(description, gpu, gpus);
}

Run made_up_run(int ranks) {
  Run run;
  run.scenario.name = "made-up-run";
  run.scenario.model.name = "tiny";
  run.scenario.model.layers = {Layer{"one", {Parameter{"weight", {1024, 1024}}}, {}, {}}};
  run.scenario.platform = made_up_platform(ranks);
  run.scenario.job.gpus = ranks;
  run.scenario.job.batch_per_gpu = 32;
  std::get<Ddp>(run.scenario.job.strategy).bucket_cap = 4_MiB;
  run.scenario.job.nccl = {{"NCCL_ALGO", "RING"}};
  run.engine = "fluid";
  run.workload = made_up_workload(run.scenario);
  run.folding = no_folding(run.workload, run.scenario.platform);
  OpsWithDates ops{run};
  for (int rank = 0; rank < ranks; ++rank) {
    ops.add(input, rank, Activity::launch, 0_ms, 5_us);
    ops.add(input, rank, Activity::copy, 0_ms, 1_ms);
    ops.add(compute, rank, Activity::kernel, 1_ms, 6_ms);
    ops.add(optimizer, rank, Activity::kernel, 9_ms, 10_ms);
  }
  ops.add(reduce, Origin::none, Activity::marker, 4_ms, 4_ms, OpKind::join);
  ops.add(reduce, Origin::none, Activity::collective, 4_ms, 7_ms);
  ops.add(reduce, Origin::none, Activity::collective, 5_ms, 9_ms);
  run.window = {0, 0_ms, 10_ms};
  run.measured = made_up_measured();
  run.range = {9_ms, 12_ms};
  run.basis = {{"compute", "explicit times of the model"}, {"", "", "platform made-up: a book"}};
  run.warnings = {make_warning<"unmodelled-nccl-variable", "name", "value">("NCCL_ALGO", "RING")};
  return run;
}

Run made_up_run() {
  return made_up_run(2);
}

}  // namespace gradway::testing

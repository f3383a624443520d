// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/metrics/steps.hpp"

using namespace gradway;

namespace {

/// A run of one kernel a step, which ends when the step does.
struct Kernels {
  explicit Kernels(const std::vector<double>& lengths) {
    Seconds date{};
    for (std::size_t step = 0; step < lengths.size(); ++step) {
      Op op;
      op.kind = OpKind::delay;
      op.origin = Origin{
          .task = 0, .actor = 0, .step = static_cast<std::int32_t>(step), .activity = Activity::kernel};
      ops.add(op);
      timeline.start.push_back(date);
      date += Seconds{lengths[step]};
      timeline.end.push_back(date);
    }
    workload.steps = static_cast<int>(lengths.size());
  }

  std::optional<StepWindow> repeating() const { return repeating_steps(workload, ops, timeline); }
  std::optional<StepWindow> level() const { return stable_steps(workload, ops, timeline); }

  Workload workload;
  OpGraph ops;
  Timeline timeline;
};

}  // namespace

TEST_CASE("the steady step is the last of two alike behind the first one") {
  const Kernels run{{5, 2, 2}};
  REQUIRE(run.repeating());
  CHECK(run.repeating()->steps == 1);
  CHECK(run.repeating()->step == 2);
  CHECK(run.repeating()->each().value() == Approx(2));
  CHECK_FALSE(Kernels{{2, 2}}.repeating());
  CHECK_FALSE(Kernels{{5, 2, 2.1}}.repeating());
}

TEST_CASE("steps that alternate are one period") {
  const Kernels run{{9, 1, 3, 1, 3}};
  REQUIRE(run.repeating());
  CHECK(run.repeating()->steps == 2);
  CHECK(run.repeating()->each().value() == Approx(2));
  CHECK(run.repeating()->has(3));
  CHECK(run.repeating()->has(4));
  CHECK_FALSE(run.repeating()->has(2));
}

TEST_CASE("steps behind the reported ones do not count") {
  Kernels run{{5, 2, 2, 7, 8}};
  CHECK_FALSE(run.repeating());
  run.workload.after_reported = 2;
  REQUIRE(run.repeating());
  CHECK(run.repeating()->step == 2);
}

TEST_CASE("a last step that is shorter because none follows it does not count") {
  const Kernels run{{5, 2, 2, 2, 1.9}};
  REQUIRE(run.repeating());
  CHECK(run.repeating()->step == 3);
  CHECK(run.repeating()->each().value() == Approx(2));
  CHECK_FALSE(Kernels{{5, 2, 2, 2, 2.1}}.repeating());  // the CPU may have lost its lead
  CHECK_FALSE(Kernels{{5, 2, 2, 1}}.repeating());       // two steps may alternate with a shorter one
}

TEST_CASE("steps of one length that hold other things do not repeat") {
  Kernels run{{5, 2, 2}};
  // A second kernel, under way at another time of each step.
  for (int step = 0; step < 3; ++step) {
    Op op;
    op.kind = OpKind::delay;
    op.origin = Origin{.task = 1, .actor = 0, .step = step, .activity = Activity::kernel};
    run.ops.add(op);
  }
  // Ops stand step by step in a graph: rebuild it so.
  OpGraph ops;
  Timeline timeline;
  for (std::size_t step = 0; step < 3; ++step) {
    ops.add(run.ops.ops()[step]);
    ops.add(run.ops.ops()[3 + step]);
    timeline.start.insert(timeline.start.end(), 2, run.timeline.start[step]);
    timeline.end.insert(
        timeline.end.end(),
        {run.timeline.end[step], run.timeline.start[step] + 0.1_ms * static_cast<double>(1 + step)});
  }
  CHECK_FALSE(repeating_steps(run.workload, ops, timeline));
}

TEST_CASE("steps that drift by less than 0.01 % count once drift is allowed, unless the CPU falls behind") {
  const Kernels drifting{{5, 2, 2.0001, 2.0002}};
  CHECK_FALSE(drifting.repeating());
  const auto found = repeating_steps(drifting.workload, drifting.ops, drifting.timeline, Drift::small);
  REQUIRE(found);
  CHECK(found->each().value() == Approx(2.0002));
  const Kernels growing{{5, 2, 2.001, 2.002}};
  CHECK_FALSE(repeating_steps(growing.workload, growing.ops, growing.timeline, Drift::small));

  // A CPU that takes a little longer for each step than the GPU loses its lead and then slows all steps; one
  // that takes less gains a lead, which changes nothing.
  const auto with_cpu = [](double step_of_cpu) {
    Kernels run{{}};
    for (std::int32_t step = 0; step < 6; ++step) {
      for (const auto activity : {Activity::launch, Activity::kernel}) {
        Op op;
        op.kind = OpKind::delay;
        op.origin = Origin{.task = 0, .actor = 0, .step = step, .activity = activity};
        run.ops.add(op);
      }
      const double kernel = 20 + 2.0 * step;
      run.timeline.start.insert(run.timeline.start.end(), {Seconds{step_of_cpu * step}, Seconds{kernel}});
      run.timeline.end.insert(run.timeline.end.end(),
                              {Seconds{step_of_cpu * (step + 1)}, Seconds{kernel + 2}});
    }
    run.workload.steps = 6;
    return repeating_steps(run.workload, run.ops, run.timeline, Drift::small);
  };
  CHECK(with_cpu(1.5));
  CHECK(with_cpu(2.0001));
  CHECK_FALSE(with_cpu(2.001));
}

TEST_CASE("steps that never repeat count if both halves of the later ones take equally long") {
  std::vector<double> lengths;
  for (int i = 0; i < 64; ++i) lengths.push_back(1 + 0.3 * ((i * 37 % 64) / 64.0));
  const Kernels run{lengths};
  CHECK_FALSE(run.repeating());
  REQUIRE(run.level());
  CHECK(run.level()->each().value() == Approx(1.15).epsilon(0.02));
  std::vector<double> growing;
  for (int i = 0; i < 64; ++i) growing.push_back(1 + i);
  CHECK_FALSE(Kernels{growing}.level());
}

TEST_CASE("steps that take turns ever more unequally are level, however many were simulated") {
  // As a CPU far ahead lets them: a long one and a short one take together always the same.
  for (const std::size_t count : {141, 142, 143, 144, 145}) {
    std::vector<double> lengths;
    for (std::size_t i = 0; i < count; ++i) {
      const auto more = 0.3 + 0.001 * static_cast<double>(i);
      lengths.push_back(i % 2 == 0 ? 1 + more : 1 - more);
    }
    CAPTURE(count);
    const Kernels run{lengths};
    CHECK_FALSE(run.repeating());
    REQUIRE(run.level());
    CHECK(run.level()->each().value() == Approx(1).epsilon(0.01));
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "observe/diagnose/diagnose.hpp"
#include "sim/base/random.hpp"
#include "sim/config/config.hpp"
#include "tests/support/diagnosis_basis.hpp"

using namespace gradway;
using Catch::Matchers::Contains;
using test::basis_on;

namespace {

/// Factor on the durations of kernels that makes launches take longer than they.
constexpr double launch_bound = 0.01;

/// A rank that trains: kernels of a millisecond, each launched in 100 us under the profiler.
struct MadeRank {
  int rank = 0;
  int ranks = 1;
  int steps = 3;
  int kernels = 20;
  double pause = 0;         ///< nanoseconds before the first launch of each step
  double all_reduce = 0;    ///< bytes of a collective at the end of each step; 0: none
  double transfer = 1e6;    ///< its time after all ranks have reached it
  double slow_kernels = 1;  ///< factor on their durations
  int channels = 24;
  double flops = 0;                    ///< of each kernel
  std::vector<double> step_kernels{};  ///< more factors on the durations of kernels, by step
  std::vector<double> step_pauses{};   ///< more nanoseconds of pauses, by step
  bool waits = false;                  ///< the CPU waits for the GPU at the end of each step
};

RankRun made(const MadeRank& of, KernelNames& names) {
  RankRun run;
  run.file = fmt::format("rank{}.json", of.rank);
  run.rank = of.rank;
  run.ranks = of.ranks;
  run.gpu = "NVIDIA H100 80GB HBM3";
  run.precision = Precision::bf16;
  run.streams = 2;
  std::int64_t gpu = 0;
  for (int step = 0; step < of.steps; ++step) {
    RunStep made_step;
    const auto add = [&](CpuItem item) { made_step.items.push_back(item); };
    const auto at_step = [&](const std::vector<double>& values, double otherwise) {
      return values.empty() ? otherwise : values[static_cast<std::size_t>(step)];
    };
    const auto pause = of.pause + at_step(of.step_pauses, 0);
    if (pause > 0) add({.kind = CpuItem::Kind::pause, .is_before_batch = true, .time = pause});
    for (int i = 0; i <= of.kernels; ++i) {
      const bool is_collective = i == of.kernels;
      if (is_collective && of.all_reduce <= 0) break;
      RunActivity activity;
      activity.duration = static_cast<std::int64_t>(
          is_collective ? of.transfer : 1e6 * of.slow_kernels * at_step(of.step_kernels, 1));
      activity.start = gpu;
      gpu = activity.end();
      activity.step = step;
      activity.kernel = names.kernels.id(is_collective ? "nccl|24|544" : "kernel|100|256");
      activity.operation = names.operations.id(is_collective ? "c10d::allreduce_" : "aten::mm");
      activity.work = is_collective ? WorkClass::collective : WorkClass::elementwise;
      activity.stream = is_collective ? 1 : 0;
      if (!is_collective && of.flops > 0) activity.work = WorkClass::matrix;
      if (!is_collective) activity.flops = of.flops;
      CpuItem launch{.kind = CpuItem::Kind::launch};
      launch.activity = static_cast<std::int32_t>(run.activities.size());
      launch.first_dependence = static_cast<std::int32_t>(run.dependences.size());
      if (is_collective || (i == 0 && step > 0 && of.all_reduce > 0)) {
        launch.dependences = 1;  // The collective follows the kernels, the next step the collective.
        run.dependences.push_back(launch.activity - 1);
      }
      if (is_collective) {
        activity.collective = static_cast<std::int32_t>(run.collectives.size());
        run.collectives.push_back({.activity = launch.activity,
                                   .kind = CollectiveKind::all_reduce,
                                   .group = "0 [0, 1]",
                                   .bytes = of.all_reduce,
                                   .ranks = of.ranks,
                                   .channels = of.channels});
      }
      add({.kind = CpuItem::Kind::work, .time = 100e3});
      add(launch);
      run.activities.push_back(activity);
    }
    if (of.waits) add({.kind = CpuItem::Kind::wait});
    run.steps.push_back(std::move(made_step));
  }
  return run;
}

/// Lets the ranks wait for each other in the collective at the end of each step.
void synchronise(std::vector<RankRun>& ranks) {
  std::int64_t begin = 0;
  const auto steps = ranks.front().steps.size();
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<std::int64_t> arrivals;
    std::vector<RunActivity*> collectives;
    std::int64_t transfer = 0;
    for (auto& rank : ranks) {
      auto at = begin;
      for (auto& activity : rank.activities) {
        if (activity.step != static_cast<int>(step)) continue;
        activity.start = at;
        at = activity.end();
        if (activity.collective < 0) continue;
        arrivals.push_back(activity.start);
        collectives.push_back(&activity);
        transfer = activity.duration;
      }
    }
    if (collectives.empty()) return;
    begin = *std::ranges::max_element(arrivals) + transfer;
    for (auto* collective : collectives) collective->duration = begin - collective->start;
  }
}

JobRun made_job(const std::vector<MadeRank>& ranks) {
  KernelNames names;
  std::vector<RankRun> runs;
  for (const auto& rank : ranks) runs.push_back(made(rank, names));
  synchronise(runs);
  return job_run(std::move(runs), std::move(names));
}

Diagnosis diagnosed(const std::vector<MadeRank>& ranks) {
  const auto run = made_job(ranks);
  return diagnose(run, basis_on("dgx-h100", 8), std::nullopt);
}

Seconds found(const Diagnosis& diagnosis) {
  Seconds sum{};
  for (const auto* list : {&diagnosis.causes, &diagnosis.possible, &diagnosis.harmless}) {
    for (const auto& cause : *list) sum += cause.lost;
  }
  return sum;
}

double milliseconds(Seconds time) {
  return time.value() * 1e3;
}

}  // namespace

TEST_CASE("a pause on the critical path costs its time", "[study][diagnose]") {
  const auto diagnosis = diagnosed({{.pause = 7e6, .slow_kernels = launch_bound}});

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(diagnosis.causes[0].kind == CauseKind::late_batches);
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(7).epsilon(1e-6));
}

TEST_CASE("a pause that the GPU's work hides costs nothing", "[study][diagnose]") {
  const auto diagnosis = diagnosed({{.pause = 7e6}});

  CHECK(diagnosis.causes.empty());
  const auto pause = std::ranges::find(diagnosis.harmless, CauseKind::late_batches, &RunCause::kind);
  REQUIRE(pause != diagnosis.harmless.end());
  CHECK(pause->lost == Seconds{});
}

TEST_CASE("a pause that was seen once may be chance, one in each step is a cause", "[study][diagnose]") {
  const auto diagnosed_with = [](int number) {
    auto run = made_job({{.steps = 10, .pause = 4e5, .slow_kernels = launch_bound}});
    for (auto& step : run.ranks[0].steps) {
      step.items[0].is_before_batch = false;
      if (number-- <= 0) step.items.erase(step.items.begin());
    }
    return diagnose(run, basis_on("dgx-h100", 8), std::nullopt);
  };
  CHECK(diagnosed_with(2).causes.empty());
  CHECK(milliseconds(found(diagnosed_with(2))) == Approx(0.08));
  REQUIRE(diagnosed_with(10).causes.size() == 1);
  CHECK(diagnosed_with(10).causes[0].kind == CauseKind::pauses);
  CHECK(milliseconds(diagnosed_with(10).causes[0].lost) == Approx(0.4));
}

TEST_CASE("memory that is freed waits for the GPU", "[study][diagnose]") {
  constexpr double freeing = 3e6;
  const auto diagnosed_with = [&](bool awaits_gpu) {
    auto run = made_job({{}});
    for (auto& step : run.ranks[0].steps) {
      CpuItem item{.kind = CpuItem::Kind::allocate, .awaits_gpu = awaits_gpu, .time = freeing};
      step.items.insert(step.items.begin(), item);
    }
    return diagnose(run, basis_on("dgx-h100", 8), std::nullopt);
  };
  // The CPU is far ahead of 20 kernels of a millisecond, unless it waits for them before it frees.
  CHECK(found(diagnosed_with(false)) == Seconds{});
  REQUIRE(diagnosed_with(true).causes.size() == 1);
  CHECK(diagnosed_with(true).causes[0].kind == CauseKind::allocations);
  CHECK(milliseconds(diagnosed_with(true).causes[0].lost) == Approx(freeing / 1e6).epsilon(0.05));
}

TEST_CASE("a late rank makes all ranks wait", "[study][diagnose]") {
  const auto diagnosis =
      diagnosed({{.rank = 0, .ranks = 2, .all_reduce = 300e6, .slow_kernels = launch_bound},
                 {.rank = 1, .ranks = 2, .pause = 9e6, .all_reduce = 300e6, .slow_kernels = launch_bound}});

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(diagnosis.causes[0].kind == CauseKind::late_batches);
  CHECK(diagnosis.causes[0].ranks == std::vector<int>{1});
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(9).epsilon(0.02));
}

TEST_CASE("a rank with slower kernels costs their additional time", "[study][diagnose]") {
  const auto diagnosis = diagnosed({{.rank = 0, .ranks = 2, .all_reduce = 300e6, .slow_kernels = 1.5},
                                    {.rank = 1, .ranks = 2, .all_reduce = 300e6}});

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(diagnosis.causes[0].kind == CauseKind::shared_gpu);
  CHECK(diagnosis.causes[0].ranks == std::vector<int>{0});
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(10).epsilon(1e-3));
}

TEST_CASE("shapes distinguish a rank with more work from a slow one", "[study][diagnose]") {
  const auto diagnosis =
      diagnosed({{.rank = 0, .ranks = 2, .all_reduce = 300e6, .flops = 0.7e12},
                 {.rank = 1, .ranks = 2, .all_reduce = 300e6, .slow_kernels = 1.5, .flops = 1.05e12}});

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(diagnosis.causes[0].kind == CauseKind::unequal_work);
  CHECK(diagnosis.causes[0].ranks == std::vector<int>{1});
  CHECK(diagnosis.causes[0].arithmetic_ratio == Approx(1.5));
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(10).epsilon(1e-3));
}

TEST_CASE("stragglers at random cost the expected maximum of the ranks' times less their mean",
          "[study][diagnose]") {
  // Of k uniform draws from 0 to 1, the expected maximum is k / (k + 1), their mean 1 / 2.
  const int k = GENERATE(2, 4, 8);
  constexpr int steps = 200;
  constexpr double range = 0.2;
  std::vector<MadeRank> ranks(static_cast<std::size_t>(k), {.ranks = k, .steps = steps, .all_reduce = 300e6});
  Random random{7, RandomStream::stragglers};
  for (int rank = 0; rank < k; ++rank) {
    auto& made = ranks[static_cast<std::size_t>(rank)];
    made.rank = rank;
    for (int step = 0; step < steps; ++step) made.step_kernels.push_back(1 + range * random.uniform());
  }
  const auto diagnosis = diagnosed(ranks);

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(diagnosis.causes[0].kind == CauseKind::random_stragglers);
  const double draws = k;
  const double work = 20 * range;  // milliseconds of the 20 kernels
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(work * (draws / (draws + 1) - 0.5)).epsilon(0.05));
}

TEST_CASE("pauses of single ranks at random cost their length less their mean over ranks",
          "[study][diagnose]") {
  std::vector<MadeRank> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back({.rank = rank,
                     .ranks = 4,
                     .steps = 8,
                     .all_reduce = 300e6,
                     .slow_kernels = launch_bound,
                     .waits = true});
    for (int step = 0; step < 8; ++step) ranks.back().step_pauses.push_back(step % 4 == rank ? 20e6 : 0);
  }
  const auto diagnosis = diagnosed(ranks);

  REQUIRE(diagnosis.causes.size() == 2);
  CHECK(diagnosis.causes[0].kind == CauseKind::random_stragglers);
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(15).epsilon(1e-3));
  CHECK(diagnosis.causes[1].kind == CauseKind::late_batches);
  CHECK(milliseconds(diagnosis.causes[1].lost) == Approx(5).epsilon(1e-3));
}

TEST_CASE("a slow rank, a stall of all ranks and a slow link are no stragglers at random",
          "[study][diagnose]") {
  std::vector<MadeRank> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.push_back(
        {.rank = rank, .ranks = 4, .steps = 8, .all_reduce = 300e6, .slow_kernels = launch_bound});
  const auto has_stragglers = [](const Diagnosis& diagnosis) {
    return std::ranges::find(diagnosis.causes, CauseKind::random_stragglers, &RunCause::kind) !=
           diagnosis.causes.end();
  };
  SECTION("a slow rank") {
    ranks[2].slow_kernels *= 50;
    const auto diagnosis = diagnosed(ranks);
    CHECK(diagnosis.causes.at(0).kind == CauseKind::shared_gpu);
    CHECK_FALSE(has_stragglers(diagnosis));
  }
  SECTION("a rank that stalls now and then") {
    ranks[1].step_pauses = {0, 0, 20e6, 0, 0, 0, 20e6, 0};
    const auto diagnosis = diagnosed(ranks);
    CHECK(diagnosis.causes.at(0).ranks == std::vector<int>{1});
    CHECK_FALSE(has_stragglers(diagnosis));
  }
  SECTION("all ranks stall in every fourth step") {
    for (auto& rank : ranks) rank.step_pauses = {0, 0, 0, 20e6, 0, 0, 0, 20e6};
    const auto diagnosis = diagnosed(ranks);
    CHECK(diagnosis.causes.at(0).kind == CauseKind::late_batches);
    CHECK(diagnosis.causes.at(0).is_sporadic);
    CHECK_FALSE(has_stragglers(diagnosis));
  }
  SECTION("a slow link") {
    for (auto& rank : ranks) rank.transfer = 7e6;
    const auto diagnosis = diagnosed(ranks);
    CHECK(diagnosis.causes.at(0).kind != CauseKind::random_stragglers);
    CHECK_FALSE(has_stragglers(diagnosis));
  }
}

TEST_CASE("few channels are told from host memory by their number and time", "[study][diagnose]") {
  struct Row {
    int channels;
    double transfer;  ///< nanoseconds
    CauseKind kind;
    std::optional<SlowWay> way;
  };
  // 300 MB: 0.85 ms are expected, 7.2 ms over two channels, 6.3 ms through host memory over its four.
  const auto row = GENERATE(values<Row>({{2, 7.5e6, CauseKind::few_channels, SlowWay::few_channels},
                                         {4, 7e6, CauseKind::slow_transport, SlowWay::shm},
                                         {2, 200e6, CauseKind::slow_transport, SlowWay::net}}));
  CAPTURE(row.channels, row.transfer);
  const MadeRank rank{.ranks = 2, .all_reduce = 300e6, .transfer = row.transfer, .channels = row.channels};
  auto other = rank;
  other.rank = 1;
  const auto diagnosis = diagnosed({rank, other});

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(diagnosis.causes[0].kind == row.kind);
  CHECK(diagnosis.causes[0].way == row.way);
}

TEST_CASE("traces of different jobs are refused", "[study][diagnose]") {
  const std::vector<MadeRank> different{{.rank = 0, .ranks = 2, .all_reduce = 1e6},
                                        {.rank = 1, .ranks = 2, .all_reduce = 2e6}};
  CHECK_THROWS_WITH(made_job(different),
                    Contains("rank1.json: error: rank 1 reduces other buffers than rank 0, "
                             "'rank0.json', in the same group"));
  const std::vector<MadeRank> twice{{.rank = 0, .ranks = 2}, {.rank = 0, .ranks = 2}};
  CHECK_THROWS_WITH(made_job(twice), Contains("rank 0 has two traces"));
}

TEST_CASE("a step time out of reach of the traces is refused, or not called healthy", "[study][diagnose]") {
  const auto run = made_job({MadeRank{}});  // 20 kernels of a millisecond
  const auto with = [&](Seconds step_time) { return diagnose(run, basis_on("dgx-h100", 8), step_time); };
  CHECK_THROWS_WITH(with(9_ms), Contains("less than half of what a GPU of the traces works in a step"));
  CHECK_THROWS_WITH(with(1.0_s), Contains("more than ten times that of the traces"));
  CHECK(with(20.5_ms).is_healthy(basis_on("dgx-h100", 8)));
  CHECK_FALSE(with(40_ms).is_healthy(basis_on("dgx-h100", 8)));
}

TEST_CASE("two causes share no time", "[study][diagnose]") {
  // The transfer of 12 ms runs during the pause of 20 ms: without the pause, the step takes 12 ms.
  const auto diagnosis =
      diagnosed({{.rank = 0, .ranks = 2, .all_reduce = 300e6, .transfer = 12e6, .slow_kernels = launch_bound},
                 {.rank = 1,
                  .ranks = 2,
                  .pause = 20e6,
                  .all_reduce = 300e6,
                  .transfer = 12e6,
                  .slow_kernels = launch_bound}});

  REQUIRE(diagnosis.causes.size() == 2);
  CHECK(diagnosis.causes[0].kind == CauseKind::slow_transport);  // 47 GB/s are nearest to host memory.
  CHECK(diagnosis.causes[1].kind == CauseKind::late_batches);
  CHECK(milliseconds(diagnosis.causes[1].lost) < 10);
  CHECK(milliseconds(found(diagnosis)) ==
        Approx(milliseconds(diagnosis.measured - diagnosis.expected)).epsilon(1e-9));
}

TEST_CASE("a single rank's trace shows slow collectives by their channels only", "[study][diagnose]") {
  // An all-reduce of 300 MB takes 0.85 ms alone.
  const MadeRank rank{.ranks = 2, .all_reduce = 300e6, .transfer = 7e6, .channels = 24};
  const auto waiting = diagnosed({rank});
  CHECK(waiting.causes.empty());
  REQUIRE(waiting.possible.size() == 1);
  CHECK(waiting.possible[0].kind == CauseKind::absent_ranks);

  auto through_memory = rank;
  through_memory.channels = 4;
  const auto slow = diagnosed({through_memory});
  REQUIRE(slow.causes.size() == 1);
  CHECK(slow.causes[0].kind == CauseKind::slow_transport);
}

TEST_CASE("on another network, a step is longer by what its exposed collectives take longer",
          "[study][diagnose]") {
  constexpr double transfer = 4e6;  // nanoseconds
  std::vector<MadeRank> ranks;
  for (int rank = 0; rank < 16; ++rank)
    ranks.push_back({.rank = rank, .ranks = 16, .all_reduce = 300e6, .transfer = transfer});
  const auto run = made_job(ranks);
  const auto here = basis_on("dgx-h100", 16);
  const auto same = diagnose(run, here, std::nullopt, &here);
  CHECK(same.elsewhere->step == same.expected);

  const auto there = basis_on("gcp-a3-highgpu-8g", 16);
  const auto time_on = [&](const DiagnosisBasis& basis) {
    return *CollectiveExpectations{basis}.time(run.collectives.front());
  };
  const auto ratio = time_on(there) / time_on(here);
  CHECK(ratio > 2);
  const auto moved = diagnose(run, here, std::nullopt, &there);
  CHECK(moved.elsewhere->platform == "gcp-a3-highgpu-8g");
  CHECK(moved.expected == same.expected);
  // The second and the third step wait for the collective of the one before.
  const auto exposed = milliseconds(same.classes.back().expected) * 2 / 3;
  CHECK(milliseconds(moved.elsewhere->step - moved.expected) == Approx(exposed * (ratio - 1)));

  CHECK_THROWS_WITH(diagnose(made_job({MadeRank{}}), here, std::nullopt, &there),
                    Contains("no collective of these traces can be moved to gcp-a3-highgpu-8g"));
}

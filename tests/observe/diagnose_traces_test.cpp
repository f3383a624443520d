// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "observe/diagnose/diagnose.hpp"
#include "readers/kineto/read/read_trace.hpp"
#include "sim/config/config.hpp"
#include "tests/support/diagnosis_basis.hpp"

using namespace gradway;
using test::basis_on;

namespace {

std::string file_of(const std::string& name, int rank) {
  return fmt::format("{}/tests/observe/data/diagnose/{}-r{}.json.gz", GRADWAY_SOURCE_DIR, name, rank);
}

JobRun real_job(const std::string& name, std::int64_t shift = 0, bool reverse = false) {
  KernelNames names;
  std::vector<RankRun> ranks;
  for (const int rank : {0, 1}) {
    const auto file = file_of(name, reverse ? 1 - rank : rank);
    auto trace = read_trace(file, file);
    if (rank == 1) {
      const auto move = [&](auto& spans) {
        for (auto& span : spans) span.start += shift;
      };
      move(trace.calls);
      move(trace.other_calls);
      move(trace.activities);
      move(trace.operations);
      move(trace.optimizer_steps);
      move(trace.profiler_steps);
      move(trace.overheads);
      move(trace.parts);
      move(trace.zero_grads);
    }
    ranks.push_back(rank_run(std::move(trace), file, names));
  }
  return job_run(std::move(ranks), std::move(names));
}

Diagnosis diagnosed(const JobRun& run, std::optional<Seconds> step_time = std::nullopt) {
  return diagnose(run, basis_on("aws-p5.48xlarge", 8), step_time);
}

double milliseconds(Seconds time) {
  return time.value() * 1e3;
}

}  // namespace

TEST_CASE("kernels whose launches a trace lacks are no interruptions", "[study][diagnose]") {
  const auto file = file_of("healthy", 0);
  const auto interruptions = [&](bool is_cut) {
    auto trace = read_trace(file, file);
    std::size_t i = 0;
    if (is_cut) std::erase_if(trace.calls, [&](const auto&) { return ++i % 3 == 0; });
    KernelNames names;
    double sum = 0;
    for (const auto& activity : rank_run(std::move(trace), file, names).activities)
      sum += activity.interruption;
    return sum;
  };
  CHECK(interruptions(true) <= interruptions(false));
}

TEST_CASE("reads of a rank alone may wait for the ranks without traces", "[study][diagnose]") {
  const auto file = file_of("item", 0);
  KernelNames names;
  std::vector<RankRun> ranks;
  ranks.push_back(rank_run(read_trace(file, file), file, names));
  const auto alone = diagnosed(job_run(std::move(ranks), std::move(names)));
  CHECK(std::ranges::find(alone.causes, CauseKind::host_reads, &RunCause::kind) == alone.causes.end());
}

TEST_CASE("collectives of a single rank's trace are taken as they are", "[study][diagnose]") {
  KernelNames names;
  const auto file = file_of("shm", 0);
  auto rank = rank_run(read_trace(file, file), file, names);
  std::vector<RankRun> ranks;
  ranks.push_back(std::move(rank));
  const auto diagnosis = diagnosed(job_run(std::move(ranks), std::move(names)));

  REQUIRE_FALSE(diagnosis.causes.empty());
  CHECK(diagnosis.causes[0].kind == CauseKind::slow_transport);
  CHECK(diagnosis.causes[0].confidence == Confidence::medium);
}

namespace {

std::string fault_file(const std::string& name) {
  return fmt::format("{}/tests/validation/data/faults/resnet50-{}.json.gz", GRADWAY_SOURCE_DIR, name);
}

JobRun job_of(Trace trace) {
  KernelNames names;
  std::vector<RankRun> ranks;
  ranks.push_back(rank_run(std::move(trace), "trace.json", names));
  return job_run(std::move(ranks), std::move(names));
}

/// What causes cost, or those of a kind.
Seconds found(const Diagnosis& diagnosis, std::optional<CauseKind> kind = std::nullopt) {
  Seconds sum{};
  for (const auto* list : {&diagnosis.causes, &diagnosis.possible, &diagnosis.harmless})
    for (const auto& cause : *list) sum += !kind || cause.kind == *kind ? cause.lost : Seconds{};
  return sum;
}

}  // namespace

TEST_CASE("waits for workers grow by what the profiler adds to the program's work", "[study][diagnose]") {
  const auto diagnosed_with = [&](const std::string& iterator) {
    auto trace = read_trace(fault_file("workers"), "workers");
    for (auto& part : trace.parts)
      if (part.name.starts_with("enumerate(DataLoader)")) part.name = "enumerate(DataLoader)#" + iterator;
    const auto run = job_of(std::move(trace));
    return std::pair{diagnose(run, basis_on("h200-1x", 1), std::nullopt), run.cpu_work.front()};
  };
  const auto [workers, cpu_work] = diagnosed_with("_MultiProcessingDataLoaderIter.__next__");
  const auto [alone, same_work] = diagnosed_with("_SingleProcessDataLoaderIter.__next__");
  double work = 0;
  for (const auto step : cpu_work) work += step / 1e9 / static_cast<double>(cpu_work.size());
  const auto difference = found(workers, CauseKind::late_batches) - found(alone, CauseKind::late_batches);
  CHECK(difference.value() == Approx((1 - alone.cpu_share) * work).epsilon(0.05));
}

TEST_CASE("all that a loader without workers does is a wait for its batch", "[study][diagnose]") {
  const auto late = [&](bool augments) {
    auto trace = read_trace(fault_file("workers"), "workers");
    const auto part = std::ranges::max_element(trace.parts, {}, [](const auto& span) {
      return span.name.starts_with("enumerate(DataLoader)") ? span.duration : 0;
    });
    auto operation = trace.operations.front();  // of an augmentation
    static_cast<Span&>(operation) = {part->start + part->duration / 4, part->duration / 2};
    operation.thread = part->thread;
    if (augments) trace.operations.push_back(operation);
    return found(diagnose(job_of(std::move(trace)), basis_on("h200-1x", 1), std::nullopt),
                 CauseKind::late_batches);
  };
  CHECK(late(false) > Seconds{});
  CHECK(late(true) == late(false));
}

TEST_CASE("products in 16 bits reach no larger share of their rate than in TF32", "[study][diagnose]") {
  const auto diagnosis =
      diagnose(job_of(read_trace(fault_file("fp32"), "fp32")), basis_on("h200-1x", 1), std::nullopt);
  const auto products = std::ranges::find(diagnosis.classes, WorkClass::matrix, &ClassTimes::work);
  // platforms/gpus/h200.yaml: 494.5 and 989 TFLOP/s, of which products reach 0.74 and 0.78.
  CHECK(products->expected >=
        products->measured * (494.5 * 0.74 / (989 * 0.78)) * 0.95);  // The last layer is in fp32.
  CHECK(products->expected <= products->measured);
}

TEST_CASE("faults of ResNet-50 on one H200 are named", "[study][diagnose]") {
  // tests/validation/data/faults/README.md says what was done and what it cost.
  struct Row {
    std::string fault;
    std::vector<std::string> files;
    std::optional<CauseKind> first;
  };
  const auto row =
      GENERATE(values<Row>({{"healthy", {"healthy"}, std::nullopt},
                            {"hidden", {"hidden"}, std::nullopt},
                            {"workers", {"workers"}, CauseKind::late_batches},
                            {"pageable", {"pageable"}, CauseKind::pageable_copies},
                            {"fp32", {"fp32"}, CauseKind::wide_precision},
                            {"hog", {"hog"}, CauseKind::slow_operations},
                            {"neighbour", {"neighbour"}, CauseKind::shared_gpu},
                            {"checkpoint", {"checkpoint"}, CauseKind::checkpoint},
                            {"loader1", {"loader1-r0", "loader1-r1"}, CauseKind::late_batches}}));
  CAPTURE(row.fault);
  KernelNames names;
  std::vector<RankRun> ranks;
  for (const auto& name : row.files) {
    const auto file = fault_file(name);
    ranks.push_back(rank_run(read_trace(file, file), file, names));
  }
  const auto run = job_run(std::move(ranks), std::move(names));
  const auto diagnosis = diagnose(run, basis_on("h200-2x", 2), std::nullopt);

  REQUIRE(diagnosis.causes.empty() == !row.first);
  if (!row.first) return;
  CHECK(diagnosis.causes[0].kind == *row.first);
  CHECK(diagnosis.causes[0].lost > Seconds{});
  if (row.fault == "loader1") CHECK(diagnosis.causes[0].ranks == std::vector<int>{1});
}

TEST_CASE("faults on two H100 are named, with the time that they cost", "[study][diagnose]") {
  struct Row {
    std::string trace;
    CauseKind first;
    double lost;       ///< milliseconds, measured without the profiler: of the healthy step 152.41 ms
    double step;       ///< the same of the faulty step
    double tolerance;  ///< of the time lost
  };
  // Of the 12.3 ms that reads cost, gradient clipping, which is in that program only, has 1.7 ms.
  const auto row = GENERATE(values<Row>({{"shm", CauseKind::slow_transport, 13.42, 165.83, 0.15},
                                         {"loader1", CauseKind::late_batches, 45.03, 197.44, 0.15},
                                         {"item", CauseKind::host_reads, 12.31, 164.72, 0.25}}));
  CAPTURE(row.trace);
  const auto run = real_job(row.trace);
  const auto diagnosis = diagnosed(run);

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(diagnosis.causes[0].kind == row.first);
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(row.lost).epsilon(row.tolerance));
  CHECK(milliseconds(diagnosis.replayed) == Approx(row.step).epsilon(0.02));
  if (row.trace == "loader1") CHECK(diagnosis.causes[0].ranks == std::vector<int>{1});
}

TEST_CASE("reads cost what was lost if the measured step is given", "[study][diagnose]") {
  const auto diagnosis = diagnosed(real_job("item"), 164.72_ms);

  REQUIRE(diagnosis.causes.size() == 1);
  CHECK(milliseconds(diagnosis.causes[0].lost) == Approx(12.31).epsilon(0.15));
  CHECK(milliseconds(diagnosis.replayed) == Approx(164.72).epsilon(0.002));
}

TEST_CASE("healthy steps on two H100 are called healthy", "[study][diagnose]") {
  struct Row {
    std::string trace;
    double step;  ///< milliseconds, measured without the profiler
    double tolerance;
  };
  const auto row = GENERATE(values<Row>({{"healthy", 152.41, 0.01}, {"resnet101", 71.71, 0.05}}));
  CAPTURE(row.trace);
  const auto diagnosis = diagnosed(real_job(row.trace));

  CHECK(diagnosis.causes.empty());
  CHECK(diagnosis.possible.empty());
  CHECK(milliseconds(diagnosis.replayed) == Approx(row.step).epsilon(row.tolerance));
}

TEST_CASE("small buckets that communication hides are harmless", "[study][diagnose]") {
  const auto diagnosis = diagnosed(real_job("buckets"));

  CHECK(diagnosis.causes.empty());
  const auto buckets = std::ranges::find(diagnosis.harmless, CauseKind::small_buckets, &RunCause::kind);
  REQUIRE(buckets != diagnosis.harmless.end());
  CHECK(milliseconds(buckets->lost) < 2);
}

TEST_CASE("neither the clock of a trace nor the order of traces matters", "[study][diagnose]") {
  const auto first = diagnosed(real_job("shm"));
  const auto moved = diagnosed(real_job("shm", 123'456'789'123));
  const auto reversed = diagnosed(real_job("shm", 0, true));

  for (const auto* other : {&moved, &reversed}) {
    CHECK(other->replayed == first.replayed);
    CHECK(other->expected == first.expected);
    REQUIRE(other->causes.size() == first.causes.size());
    CHECK(other->causes[0].lost == first.causes[0].lost);
  }
}

TEST_CASE("what was found and what is expected add up to the measured step", "[study][diagnose]") {
  const auto diagnosis = diagnosed(real_job("shm"), 170_ms);

  CHECK(milliseconds(diagnosis.expected + found(diagnosis) + diagnosis.unexplained()) ==
        Approx(170).epsilon(1e-12));
}

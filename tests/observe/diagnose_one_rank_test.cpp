// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "observe/diagnose/diagnose.hpp"
#include "readers/kineto/read/read_trace.hpp"
#include "sim/config/config.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

DiagnosisBasis basis_on(const std::string& name, int gpus) {
  DiagnosisBasis basis;
  basis.platform_name = name;
  basis.platform = load_platform(name, gpus, data, &basis.calibration);
  return basis;
}

std::string file_of(const std::string& name, int rank) {
  return fmt::format("{}/tests/observe/data/diagnose/{}-r{}.json.gz", GRADWAY_SOURCE_DIR, name, rank);
}

Diagnosis diagnosed(const JobRun& run) {
  return diagnose(run, basis_on("aws-p5.48xlarge", 8), std::nullopt);
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

Seconds lost_to(const Diagnosis& diagnosis, CauseKind kind) {
  Seconds sum{};
  for (const auto* list : {&diagnosis.causes, &diagnosis.possible, &diagnosis.harmless})
    for (const auto& cause : *list) sum += cause.kind == kind ? cause.lost : Seconds{};
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
  const auto difference = lost_to(workers, CauseKind::late_batches) - lost_to(alone, CauseKind::late_batches);
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
    return lost_to(diagnose(job_of(std::move(trace)), basis_on("h200-1x", 1), std::nullopt),
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

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
    const auto file =
        fmt::format("{}/tests/validation/data/faults/resnet50-{}.json.gz", GRADWAY_SOURCE_DIR, name);
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

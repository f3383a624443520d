// SPDX-License-Identifier: Apache-2.0
// Collectives of our own node against the prediction, through everything that a scenario goes through:
// transport, NCCL's choice, the calibration's tables, links and an engine.
#include <algorithm>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "readers/fit/collective_tables.hpp"
#include "sim/config/config.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/world_communicator.hpp"
#include "tests/validation/own_collectives.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

std::string title(const CollectiveRow& row) {
  auto text = fmt::format("{} {} on {}", name_of(row.transport), name_of(row.kind), row.ranks);
  if (row.algorithm) text += fmt::format(", {} {}", name_of(*row.algorithm), name_of(*row.protocol));
  return text;
}

/// The node, ready to be asked for a row's collective.
class Node {
 public:
  Node() {
    scenario_.platform = load_platform("h200-4x", 4, DataPath{{GRADWAY_SOURCE_DIR}}, &scenario_.calibration);
  }

  /// Predicted over measured, less 1.
  double error(const CollectiveRow& row, const char* engine = "fluid") {
    scenario_.job.gpus = row.ranks;
    scenario_.job.nccl = variables(row);
    const WorldCommunicator lowering{scenario_};
    REQUIRE(lowering->facts().transport == row.transport);
    return test::time_alone(*lowering, row.kind, row.size, scenario_.platform, engine) / row.time - 1;
  }

 private:
  Scenario scenario_;
};

struct Errors {
  std::vector<double> all;

  void add(double error) { all.push_back(std::abs(error)); }
  double mean() const {
    double sum = 0;
    for (const auto error : all) sum += error;
    return sum / static_cast<double>(all.size());
  }
  double worst() const { return *std::ranges::max_element(all); }
};

bool is_outlier(const std::vector<CollectiveTable>& tables, const CollectiveRow& row) {
  return std::ranges::any_of(tables, [&](const CollectiveTable& table) {
    return table.transport == row.transport && table.kind == row.kind && table.algorithm == row.algorithm &&
           table.protocol == row.protocol && table.ranks == row.ranks &&
           std::ranges::find(table.outliers, row.size, &SizedTime::size) != table.outliers.end();
  });
}

}  // namespace

TEST_CASE("collectives of the calibration's own samples are met within 5 % on average, 12 % from 1 to 64 MiB",
          "[validation]") {
  Node node;
  const auto rows = own_rows();
  const auto tables = fit_collectives(rows);
  Errors from_64_kib;
  Errors from_1_to_64_mib;
  std::string outliers;
  for (const auto& row : rows) {
    if (row.size < 64_KiB) continue;
    const auto error = node.error(row);
    if (is_outlier(tables, row)) {
      outliers += fmt::format("\n  {}, {} KiB: {:.1f} us measured, {:+.1f} %", title(row),
                              row.size.value() / 1024, row.time.value() * 1e6, error * 100);
      continue;
    }
    from_64_kib.add(error);
    CAPTURE(title(row), row.size.value(), error);
    CHECK(std::abs(error) < 0.30);
    if (row.size < 1_MiB || row.size > 64_MiB) continue;
    from_1_to_64_mib.add(error);
    CHECK(std::abs(error) < 0.12);
  }
  INFO("outliers of the measurement, not counted:" << outliers);
  CAPTURE(from_64_kib.mean(), from_64_kib.worst(), from_1_to_64_mib.mean(), from_1_to_64_mib.worst());
  CHECK(from_64_kib.all.size() == 183);  // nothing is dropped silently
  CHECK(std::ranges::count(outliers, '\n') == 3);
  CHECK(from_64_kib.mean() < 0.02);
  CHECK(from_1_to_64_mib.mean() < 0.02);
}

TEST_CASE("all-to-alls of PyTorch on two GPUs are met within 4 % on average, 10 % at worst", "[validation]") {
  // Measured by PyTorch on another machine of the kind than the one whose probe the tables are of.
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  const auto cases = load_cases(GRADWAY_SOURCE_DIR "/scenarios/h200-2x/all-to-all.yaml", data);
  REQUIRE(cases.cases.size() == 8);
  Errors errors;
  for (const auto& row : cases.cases) {
    const auto scenario = load_scenario(row.scenario_file, row.set, data);
    const WorldCommunicator lowering{scenario};
    const auto size = std::get<OneCollective>(scenario.job.strategy).size;
    errors.add(test::time_alone(*lowering, CollectiveKind::all_to_all, size, scenario.platform, "fluid") /
                   row.measured -
               1);
  }
  CAPTURE(errors.mean(), errors.worst());
  CHECK(errors.mean() < 0.04);
  CHECK(errors.worst() < 0.10);
}

TEST_CASE("all-reduces of another machine of the same kind are met as far as two such machines agree",
          "[validation]") {
  // Nothing of this machine was fitted to. Its own noise stands behind the wide limits: on 4 GPUs over host
  // memory it takes 35 us where the calibrated one takes 19, and from 4 MiB on 5 to 19 % more or less. 3
  // ranks over NVLink and TCP lie between 2 and 4; 2 and 3 ranks over host memory have the bus bandwidth
  // of 4.
  struct Limits {
    Transport transport;
    int ranks;
    std::size_t rows;
    double mean, worst;            // from 64 KiB on
    double bulk_mean, bulk_worst;  // from 4 MiB on
  };
  const auto limits = GENERATE(values<Limits>({{Transport::p2p, 4, 15, 0.03, 0.10, 0.02, 0.03},
                                               {Transport::p2p, 3, 15, 0.07, 0.21, 0.04, 0.14},
                                               {Transport::shm, 4, 13, 0.14, 0.45, 0.09, 0.20},
                                               {Transport::shm, 3, 13, 0.08, 0.30, 0.06, 0.10},
                                               {Transport::shm, 2, 13, 0.08, 0.21, 0.06, 0.12},
                                               {Transport::net, 3, 13, 0.07, 0.15, 0.06, 0.08}}));
  Node node;
  Errors errors;
  Errors bulk;
  for (const auto& row : held_out_rows()) {
    if (row.size < 64_KiB || row.transport != limits.transport || row.ranks != limits.ranks) continue;
    const auto error = node.error(row);
    errors.add(error);
    if (row.size >= 4_MiB) bulk.add(error);
  }
  REQUIRE(errors.all.size() == limits.rows);
  CAPTURE(name_of(limits.transport), limits.ranks, errors.mean(), errors.worst(), bulk.mean(), bulk.worst());
  CHECK(errors.mean() < limits.mean);
  CHECK(errors.worst() < limits.worst);
  CHECK(bulk.mean() < limits.bulk_mean);
  CHECK(bulk.worst() < limits.bulk_worst);
}

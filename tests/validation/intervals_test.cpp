// SPDX-License-Identifier: Apache-2.0
// Do the intervals keep what they promise: nine of ten measured steps inside, and no wider than need be?
#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/report/run/validation.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/compare/proposed_anchor.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/world_communicator.hpp"
#include "tests/validation/own_collectives.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

/// Half of an interval, as a fraction.
double width(const Run& run) {
  return run.range.high / run.measured.metrics.step_time - 1;
}

/// The smallest factor, less 1, that nine of ten ratios are within, up or down.
double nine_of_ten(std::vector<double> ratios) {
  REQUIRE_FALSE(ratios.empty());
  for (auto& ratio : ratios) ratio = std::max(ratio, 1 / ratio) - 1;
  std::ranges::sort(ratios);
  return ratios[static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(ratios.size()))) - 1];
}

Run simulated(const std::string& scenario, const std::vector<Override>& set) {
  return simulate(load_scenario(scenario, set, data));
}

}  // namespace

TEST_CASE("nine of ten measured steps are inside their interval, which is not just wide", "[validation]") {
  // The uncertainties were taken from cases.yaml of our own node, and from collectives and machines alone;
  // the other two files had no part in them.
  struct File {
    const char* name;
    std::size_t cases;
    double most_on_average;  ///< a guard, drawn after the result: 0.104, 0.051, 0.083 (0.084, 0.050 and 0.074
                             ///< without 0037)
  };
  const auto file = GENERATE(values<File>({{"article/cases.yaml", 14, 0.105},
                                           {"h200-4x/cases.yaml", 63, 0.06},
                                           {"h200-4x/other-models.yaml", 66, 0.085}}));
  const auto cases = load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/" + file.name, data);
  REQUIRE(cases.cases.size() == file.cases);
  std::size_t inside = 0;
  double widths = 0;
  std::string outside;
  for (const auto& one : cases.cases) {
    const auto run = simulated(one.scenario_file, one.set);
    const bool is_inside = run.range.low <= one.measured && one.measured <= run.range.high;
    inside += is_inside ? 1 : 0;
    if (!is_inside) outside += "\n  " + one.name;
    widths += width(run);
  }
  INFO(file.name << ": outside are" << outside);
  CAPTURE(widths / static_cast<double>(file.cases));
  CHECK(static_cast<double>(inside) >= 0.9 * static_cast<double>(file.cases));
  CHECK(widths / static_cast<double>(file.cases) < file.most_on_average);
}

TEST_CASE("intervals hold in every group of more than twenty rows, and are not just wide", "[validation]") {
  // The uncertainty of several GPUs was taken from these rows with one machine left out (decision 0012); all
  // other uncertainties from elsewhere. What the CPU bounds is held by sharded_test.cpp.
  report::Validation validation;
  for (const auto* file : {"article/cases.yaml", "h200-4x/cases.yaml", "h200-4x/other-models.yaml",
                           "h200-2x/sharded.yaml", "h100-2x/sharded.yaml", "published/ddp-scaling.yaml"}) {
    const auto cases = load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/" + file, data);
    for (const auto& one : cases.cases) {
      const auto run = simulated(one.scenario_file, one.set);
      validation.cases.push_back({one.name,
                                  one.measured,
                                  run.measured.metrics.step_time,
                                  run.range,
                                  {},
                                  report::group_of(run),
                                  meets_given_step(run.scenario)});
    }
  }
  std::vector<std::string> large;
  for (const auto& [group, count, inside] : validation.coverage()) {
    CAPTURE(group, count, inside);
    if (count <= 20) continue;
    large.push_back(group);
    CHECK(static_cast<double>(inside) >= 0.85 * static_cast<double>(count));
    CHECK(static_cast<double>(inside) <= 0.96 * static_cast<double>(count));  // a guard; 95 % are the goal
  }
  std::ranges::sort(large);
  CHECK(large ==
        std::vector<std::string>{"anchored, P2P", "anchored, SHM", "measured, P2P", "measured, SHM"});
}

TEST_CASE("ranks that exchange can only lengthen a step, the more the less was measured", "[validation]") {
  Metrics metrics;
  metrics.step_time = 100_ms;
  metrics.compute = 80_ms;
  metrics.optimizer = 10_ms;
  StepBasis step_basis;  // all given but for what ranks cost
  const auto range = [&](Basis basis) {
    step_basis.contention = basis;
    return step_range(metrics, step_basis);
  };
  CHECK(range(Basis::nominal).high == 100_ms);  // nothing is exchanged
  metrics.communication = metrics.exposed_communication = 10_ms;
  CHECK(range(Basis::given).high == 100_ms);
  CHECK(range(Basis::measured).high.value() == Approx(0.1 + 0.015 * 0.09));
  for (const auto basis : {Basis::stretched, Basis::elsewhere, Basis::nominal}) {
    CHECK(range(basis).high.value() == Approx(0.1 + 0.08 * 0.09));
    CHECK(range(basis).low == 100_ms);
  }
}

TEST_CASE("what rests on less has a wider interval", "[validation]") {
  const auto measured = simulated("h200-4x/vit_l_32", {});
  const auto kernels = simulated("unmeasured/h200", {{"job.batch_per_gpu", "32"}});
  const auto moved =
      simulated("unmeasured/h200", {{"job.batch_per_gpu", "32"}, {"platform", "aws-p4d.24xlarge"}});
  const auto profile = simulated("h200-4x/vit_l_32", {{"platform", "aws-p4d.24xlarge"}});
  CHECK(width(measured) < width(kernels));
  CHECK(width(kernels) < width(moved));
  CHECK(width(moved) < width(profile));

  auto scenario = load_scenario("h200-4x/vit_l_32", {{"nccl.NCCL_P2P_DISABLE", "1"}}, data);
  const auto tables = width(simulate(scenario));
  scenario.calibration.tables.clear();
  const auto nominal = width(simulate(scenario));
  CHECK(tables < nominal);
}

TEST_CASE("tables meet another machine of their kind as well as their doubt says", "[validation]") {
  // All-reduces from 1 MiB on, as buckets are of a machine that nothing was fitted to.
  struct Rows {
    Transport transport;
    int ranks;
    Basis basis;
  };
  const auto rows = GENERATE(values<Rows>({{Transport::p2p, 4, Basis::measured},
                                           {Transport::p2p, 3, Basis::stretched},
                                           {Transport::shm, 4, Basis::measured},
                                           {Transport::shm, 2, Basis::stretched},
                                           {Transport::shm, 3, Basis::stretched},
                                           {Transport::net, 3, Basis::stretched}}));
  Scenario scenario;
  scenario.platform = load_platform("h200-4x", 4, data, &scenario.calibration);
  scenario.job.gpus = rows.ranks;
  std::vector<double> ratios;
  for (const auto& row : held_out_rows()) {
    if (row.transport != rows.transport || row.ranks != rows.ranks || row.size < 1_MiB) continue;
    scenario.job.nccl = variables(row);
    const WorldCommunicator lowering{scenario};
    ratios.push_back(test::time_alone(*lowering, row.kind, row.size, scenario.platform, "fluid") / row.time);
    for (const auto& evidence : lowering->lower(row.kind, row.size).provenance)
      CHECK(evidence.basis == rows.basis);
  }
  const auto off = nine_of_ten(ratios);
  CAPTURE(name_of(rows.transport), rows.ranks, ratios.size(), off);
  CHECK(off <= uncertainty_of_collectives(rows.basis, rows.transport));
}

TEST_CASE("NCCL's nominal rates are as far off as their doubt says", "[validation]") {
  // Our own all-reduces from 1 MiB on, as buckets are, predicted as if nothing had been measured on the node.
  Scenario scenario;
  scenario.platform = load_platform("h200-4x", 4, data);
  const auto transport = GENERATE(Transport::p2p, Transport::shm, Transport::net);
  std::vector<double> ratios;
  for (const auto& row : own_rows()) {
    if (row.transport != transport || row.kind != CollectiveKind::all_reduce || row.algorithm ||
        row.size < 1_MiB)
      continue;
    scenario.job.gpus = row.ranks;
    scenario.job.nccl = variables(row);
    const WorldCommunicator lowering{scenario};
    ratios.push_back(test::time_alone(*lowering, row.kind, row.size, scenario.platform, "fluid") / row.time);
  }
  if (transport == Transport::shm) {  // and the one of the article's g6e
    auto g6e = load_scenario("article/g6e", {}, data);
    const auto measured = g6e.calibration.collectives.at(0);
    g6e.calibration.collectives.clear();
    ratios.push_back(
        test::time_alone(*WorldCommunicator{g6e}, measured.kind, measured.size, g6e.platform, "fluid") /
        measured.time);
  }
  const auto off = nine_of_ten(ratios);
  CAPTURE(name_of(transport), ratios.size(), off);
  CHECK(off <= uncertainty_of_collectives(Basis::nominal, transport));
  // Host memory: these machines are alike, but hosts that others describe differ by a factor of 2.3.
  if (transport != Transport::shm) CHECK(off >= 0.5 * uncertainty_of_collectives(Basis::nominal, transport));
}

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "tests/support/builders.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr auto all_reduce = CollectiveKind::all_reduce;

CollectiveTable measured(Transport transport, int ranks, const std::vector<SizedTime>& points) {
  CollectiveTable table;
  table.transport = transport;
  table.ranks = ranks;
  table.samples = static_cast<int>(points.size());
  table.points = points;
  table.latency = points.front().time;
  table.residual = FitError{0.001, 0.02};
  table.interpolation = FitError{0.03, 0.1};
  return table;
}

Scenario scenario_with(std::vector<CollectiveTable> tables, int ranks = 6) {
  Scenario scenario;
  scenario.platform = built_platform(tree_node());
  scenario.job.gpus = ranks;
  scenario.job.nccl = {{"NCCL_P2P_DISABLE", "1"}};
  scenario.calibration.name = "lab";
  scenario.calibration.date = "2026-11-21";
  scenario.calibration.tables = std::move(tables);
  return scenario;
}

const CollectiveTable six = measured(Transport::shm, 6, {{1_KiB, 20_us}, {1_GiB, 500_ms}});

using Extrapolations = std::vector<std::string>;  // sentences

/// Provenance and extrapolations of some calls, each once.
struct Facts {
  Facts(const WorldCommunicator& lowering, const Calibration& calibration,
        const std::vector<std::pair<CollectiveKind, Bytes>>& calls) {
    std::vector<CollectiveProvenance> all;
    for (const auto& [kind, size] : calls) add(all, lowering->lower(kind, size).provenance);
    const auto once = [](auto& list, const auto& fact) {
      if (std::ranges::find(list, fact) == list.end()) list.push_back(fact);
    };
    for (const auto& collective : all) {
      once(basis, collectives_from(collective, calibration));
      for (const auto& one : extrapolations_of(collective)) once(extrapolated, one.sentence);
    }
  }

  std::vector<ProvenanceFact> basis;
  Extrapolations extrapolated;
};

}  // namespace

TEST_CASE("latency and flow of a measured collective add up to its time", "[lower]") {
  const auto scenario = scenario_with({six});
  const WorldCommunicator lowering{scenario};
  for (const auto size : {1_KiB, 1_MiB, 1_GiB}) {
    const auto lowered = lowering->lower(all_reduce, size);
    REQUIRE(lowered.flows.size() == 1);
    const auto& flow = lowered.flows[0];
    CHECK(lowered.latency.value() + flow.amount.value() / flow.cap ==
          Approx(time_at(six, size).value()).epsilon(1e-12));
    CHECK(flow.amount.value() <= 10.0 / 6 * size.value() * (1 + 1e-12));
  }
}

TEST_CASE("the latency is NCCL's own, but for times that leave less room", "[lower]") {
  const auto scenario = scenario_with({measured(Transport::shm, 6, {{1_KiB, 10_us}, {1_GiB, 500_ms}})});
  const WorldCommunicator lowering{scenario};
  CHECK(lowering->lower(all_reduce, 1_KiB).latency.value() == Approx(9e-6));
  const auto large = lowering->lower(all_reduce, 1_GiB);
  CHECK(large.latency == lowering->choose(all_reduce, 1_GiB).latency);
}

TEST_CASE("bytes that a link could not carry in the measured time are not carried", "[lower]") {
  // A ring of six over host memory crosses the link between the sockets once each way, at 20 GB/s.
  const auto scenario = scenario_with({measured(Transport::shm, 6, {{1_KiB, 20_us}, {1_GiB, 50_ms}})});
  const auto lowered = (*WorldCommunicator{scenario}).lower(all_reduce, 1_GiB);
  const auto moving = 50e-3 - lowered.latency.value();
  CHECK(lowered.flows[0].cap <= 20e9 * (1 + 1e-12));
  CHECK(lowered.flows[0].amount.value() == Approx(lowered.flows[0].cap * moving));
  CHECK(lowered.flows[0].amount.value() < 10.0 / 6 * 1073741824);
}

TEST_CASE("a table is one fact of the provenance, with its date and its errors", "[lower]") {
  const auto scenario = scenario_with({six});
  const WorldCommunicator lowering{scenario};
  const Facts facts{
      lowering, scenario.calibration, {{all_reduce, 1_MiB}, {all_reduce, 2_MiB}, {all_reduce, 3_MiB}}};
  REQUIRE(facts.basis.size() == 1);
  const auto percent = [](double fraction) { return fmt::format("{:.1f} %", 100 * fraction); };
  CHECK(facts.basis[0] ==
        ProvenanceFact{"SHM all-reduce", "calibration lab of 2026-11-21, 6 ranks, 1 KiB to 1 GiB",
                       fmt::format("; fits its samples within {} (worst {}), a size left out within {} "
                                   "(worst {})",
                                   percent(six.residual->median), percent(six.residual->worst),
                                   percent(six.interpolation->median), percent(six.interpolation->worst))});
  CHECK(facts.extrapolated.empty());
}

TEST_CASE("each thing that was not measured is a warning, once", "[lower]") {
  auto scenario = scenario_with({six}, 4);
  scenario.calibration.tables[0].predicted_from = "copies";
  scenario.job.nccl["NCCL_ALGO"] = "Tree";
  const WorldCommunicator lowering{scenario};
  const auto broadcast = CollectiveKind::broadcast;
  const Facts facts{
      lowering, scenario.calibration, {{all_reduce, 2_GiB}, {all_reduce, 4_GiB}, {broadcast, 1_MiB}}};
  CHECK(facts.extrapolated ==
        Extrapolations{
            "SHM all-reduce was not measured: its time is predicted from copies",
            "SHM all-reduce was not measured with the algorithm and protocol that NCCL's variables force: "
            "its time is scaled by NCCL's own estimates",
            "SHM collectives were measured on 6 ranks, not on 4: the same bus bandwidth is assumed",
            "SHM all-reduce was measured up to 1 GiB: larger sizes are assumed to reach the same bandwidth",
            "SHM broadcast was not measured: its time is predicted from copies",
            "SHM broadcast was not measured: all-reduce is scaled by the bytes that each moves"});
}

TEST_CASE("tables of one node that serve several are a warning", "[lower]") {
  auto scenario = scenario_with({measured(Transport::net, 8, {{1_KiB, 50_us}, {1_GiB, 500_ms}})}, 8);
  scenario.platform = built_platform(nvswitch_node(4), 2, star_fabric());
  scenario.job.nccl.clear();
  const WorldCommunicator lowering{scenario};
  const auto lowered = lowering->lower(all_reduce, 1_GiB);
  CHECK(lowered.flows.size() > 1);
  CHECK(lowered.latency.value() + lowered.flows[0].amount.value() / lowered.flows[0].cap == Approx(0.5));
  CHECK(Facts{lowering, scenario.calibration, {{all_reduce, 1_GiB}}}.extrapolated ==
        Extrapolations{
            "NET all-reduce was measured inside one node, the job has 2: the same times are assumed"});
}

TEST_CASE("a number of ranks between two tables is in the provenance", "[lower]") {
  const auto scenario =
      scenario_with({measured(Transport::shm, 2, {{1_KiB, 10_us}, {1_GiB, 100_ms}}), six}, 4);
  const WorldCommunicator lowering{scenario};
  const Facts facts{lowering, scenario.calibration, {{all_reduce, 1_MiB}}};
  REQUIRE(facts.basis.size() == 1);
  CHECK_THAT(facts.basis[0].statement, Catch::Contains(", 4 ranks from 2 and 6, "));
  CHECK(facts.extrapolated.empty());
}

TEST_CASE("tables that fit nothing that is asked for leave NCCL's nominal rates, with a warning", "[lower]") {
  auto tree = six;
  tree.algorithm = Algorithm::tree;
  tree.protocol = Protocol::ll128;
  const auto scenario = scenario_with({tree});
  const WorldCommunicator lowering{scenario};
  const Facts facts{lowering, scenario.calibration, {{all_reduce, 1_GiB}, {all_reduce, 2_GiB}}};
  CHECK(facts.basis ==
        std::vector<ProvenanceFact>{{"SHM all-reduce", "NCCL's nominal channel rates, nothing measured"}});
  CHECK(facts.extrapolated.size() == 1);
}

TEST_CASE("a table wins over a single measured collective of its transport", "[lower]") {
  auto scenario = scenario_with({six});
  scenario.calibration.collectives = {{all_reduce, Transport::shm, 6, 1000_MB, 5_ms, "test"}};
  const WorldCommunicator lowering{scenario};
  const auto lowered = lowering->lower(all_reduce, 1_GiB);
  CHECK(lowered.latency.value() + lowered.flows[0].amount.value() / lowered.flows[0].cap == Approx(0.5));
}

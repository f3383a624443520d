// SPDX-License-Identifier: Apache-2.0
// Collectives between nodes that are far from each other.
#include "sim/nccl/far_network.hpp"

#include <catch2/catch.hpp>

#include "sim/platform/with_network.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

FabricDescription fabric_of(NetworkKind kind) {
  auto fabric = star_fabric();
  fabric.network.kind = kind;
  fabric.network.gpudirect = kind != NetworkKind::tcp;
  return fabric;
}

LoweredCollective all_reduce(const FabricDescription& fabric, const NetworkConditions& conditions, Bytes size,
                             std::map<std::string, std::string> variables = {}, int nodes = 4) {
  Scenario scenario;
  scenario.platform = with_network(built_platform(nvswitch_node(1), nodes, fabric), conditions, 1);
  scenario.job.gpus = nodes;
  scenario.job.nccl = std::move(variables);
  scenario.job.nccl.emplace("NCCL_ALGO", "Ring");
  scenario.job.nccl.emplace("NCCL_PROTO", "Simple");
  return (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, size);
}

int channels_of(const FabricDescription& fabric) {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(1), 4, fabric);
  scenario.job.gpus = 4;
  scenario.job.nccl = {{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "Simple"}};
  return (*WorldCommunicator{scenario}).channels();
}

}  // namespace

TEST_CASE("each step of a ring takes half a round trip, of which NCCL does not know", "[nccl][network]") {
  const auto fabric = fabric_of(NetworkKind::tcp);
  const auto near = all_reduce(fabric, {}, 1_KiB);
  const auto far = all_reduce(fabric, {.round_trip = 40_ms}, 1_KiB);
  CHECK((far.latency - near.latency).value() == Approx(6 * 20e-3).epsilon(0.01));
  // The figure of the network is a part of the half round trip.
  auto slow = fabric;
  slow.network.message_latency = 30_ms;
  CHECK(all_reduce(slow, {.round_trip = 40_ms}, 1_KiB).latency.value() ==
        Approx(all_reduce(slow, {}, 1_KiB).latency.value()).epsilon(0.001));
}

TEST_CASE("a channel carries a window or a buffer per round trip, and what losses leave", "[nccl][network]") {
  const auto fabric = fabric_of(NetworkKind::tcp);
  const double channels = channels_of(fabric);
  const auto rate = [&](const NetworkConditions& conditions,
                        std::map<std::string, std::string> variables = {}) {
    const auto lowered = all_reduce(fabric, conditions, 1_GiB, std::move(variables));
    return lowered.flows.front().cap / channels;
  };
  const auto limit = [&](const NetworkConditions& conditions) {
    return all_reduce(fabric, conditions, 1_GiB).limit->far;
  };
  const NetworkConditions far{.round_trip = 40_ms};
  CHECK(rate(far) == Approx(4 * 1048576 / 40e-3));
  CHECK(limit(far) == FarLimit::buffer);
  CHECK(rate(far, {{"NCCL_BUFFSIZE", "16777216"}}) == Approx(16 * 1048576 / 40e-3));
  const NetworkConditions narrow{.round_trip = 40_ms, .window = 1_MB};
  CHECK(rate(narrow) == Approx(1e6 / 40e-3));
  CHECK(limit(narrow) == FarLimit::window);
  CHECK(rate(narrow, {{"NCCL_SOCKET_NTHREADS", "2"}}) == Approx(2e6 / 40e-3));
  const NetworkConditions lossy{.round_trip = 40_ms, .loss = 1e-3};
  CHECK(rate(lossy) == Approx(connection_rate({40_ms, {}, 1e-3, Congestion::cubic}).value()));
  CHECK(limit(lossy) == FarLimit::loss);
  CHECK(rate({.round_trip = 40_ms, .loss = 1e-3, .congestion = Congestion::bbr}) == rate(far));
  CHECK(limit({}) == FarLimit::none);
}

TEST_CASE("nodes of a leaf are near each other", "[nccl][network]") {
  auto fabric = fabric_of(NetworkKind::tcp);
  fabric.kind = FabricDescription::Kind::leaf_spine;
  fabric.nodes_per_leaf = 2;
  fabric.spines = 1;
  fabric.uplink_bandwidth = BytesPerSecond{12.5e9};
  const NetworkConditions far{.round_trip = 40_ms};
  const auto added = [&](int nodes) {
    const auto latency = all_reduce(fabric, far, 1_KiB, {}, nodes).latency;
    return (latency - all_reduce(fabric, {}, 1_KiB, {}, nodes).latency).value();
  };
  CHECK(added(2) == 0);
  CHECK(added(4) == Approx(2 * 20e-3).epsilon(0.01));
  CHECK(added(8) == Approx(6 * 20e-3).epsilon(0.01));
}

TEST_CASE("messages follow each other as often as an algorithm has steps between places", "[nccl][network]") {
  CHECK(messages_in_a_row(CollectiveKind::all_reduce, Algorithm::ring, 8) == 14);
  CHECK(messages_in_a_row(CollectiveKind::all_gather, Algorithm::ring, 8) == 7);
  CHECK(messages_in_a_row(CollectiveKind::all_reduce, Algorithm::tree, 8) == 6);
  CHECK(messages_in_a_row(CollectiveKind::all_to_all, Algorithm::ring, 8) == 1);
  CHECK(messages_in_a_row(CollectiveKind::all_reduce, Algorithm::ring, 1) == 0);
}

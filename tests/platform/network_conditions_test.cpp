// SPDX-License-Identifier: Apache-2.0
// Closed forms of congestion control, retransmission and hashed flows.
#include <cmath>
#include <tuple>

#include <catch2/catch.hpp>

#include "sim/platform/congestion.hpp"
#include "sim/platform/ecmp.hpp"
#include "sim/platform/network_conditions.hpp"
#include "sim/platform/with_network.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// Mean window of a connection in segments of 1,460 bytes, on a round trip of 100 ms.
double window(double loss, Congestion congestion) {
  const Seconds round_trip = 100_ms;
  const auto rate = connection_rate({round_trip, {}, loss, congestion});
  return (rate * round_trip).value() / 1460;
}

/// Mean of the largest number of flows on an uplink, by enumeration of all hashes.
double enumerated(int flows, int uplinks) {
  const auto all = static_cast<int>(std::lround(std::pow(uplinks, flows)));
  double sum = 0;
  for (int code = 0; code < all; ++code) {
    std::vector<int> loads(static_cast<std::size_t>(uplinks), 0);
    for (int flow = 0, rest = code; flow < flows; ++flow, rest /= uplinks)
      ++loads[static_cast<std::size_t>(rest % uplinks)];
    sum += *std::ranges::max_element(loads);
  }
  return sum / all;
}

}  // namespace

TEST_CASE("windows under loss are those of the RFC's tables", "[network]") {
  // RFC 8312 (and 9438), table 1: round trip of 0.1 s, C = 0.4.
  const auto [loss, reno, cubic] =
      GENERATE(std::tuple{1e-4, 120.0, 187.0}, std::tuple{1e-5, 379.0, 1054.0},
               std::tuple{1e-6, 1200.0, 5926.0}, std::tuple{1e-8, 12000.0, 187400.0});
  CAPTURE(loss);
  CHECK(window(loss, Congestion::cubic) == Approx(cubic).epsilon(0.005));
  CHECK(window(loss, Congestion::reno) == Approx(reno).epsilon(0.03));       // 1.2 instead of sqrt(3/2)
  CHECK(window(1e-2, Congestion::cubic) == window(1e-2, Congestion::reno));  // no slower than Reno
}

TEST_CASE("BBR loses what is lost and 2 % of the time, whatever the round trip", "[network]") {
  const auto round_trip = GENERATE(1_ms, 40_ms, 150_ms);
  for (const auto version : {Congestion::bbr, Congestion::bbr2}) {
    CHECK(delivered_share({round_trip, {}, 0, version}) == Approx(0.98).epsilon(0.001));
    CHECK(delivered_share({round_trip, {}, 0.01, version}) == Approx(0.99 * 0.98).epsilon(0.001));
    CHECK(connection_rate({round_trip, {}, 0.01, version}) == BytesPerSecond::infinite());
    CHECK(connection_rate({round_trip, 1_MB, 0.01, version}) == 1_MB / round_trip);
  }
  CHECK(most_loss(Congestion::bbr) == Approx(0.2));
}

TEST_CASE("go-back-N repeats a round trip of packets after each loss", "[network]") {
  const LossyLink link{50_GBps, 10_us, 1024_B, 1e-3};
  CHECK(goodput(link, Retransmission::selective) == Approx(0.999));
  // Each packet is lost k times with probability p^k (1 - p), each time with all that follow in a round trip.
  const auto repeated = 1 + 50e9 * 10e-6 / 1024;
  double sent = 0;
  for (int lost = 0; lost < 50; ++lost) sent += std::pow(1e-3, lost) * 0.999 * (1 + lost * repeated);
  CHECK(goodput(link, Retransmission::go_back_n) == Approx(1 / sent));
  CHECK(goodput({50_GBps, {}, 1024_B, 1e-3}, Retransmission::go_back_n) == Approx(0.999));
  CHECK(goodput({50_GBps, 10_us, 1024_B, 0}, Retransmission::go_back_n) == 1);
}

TEST_CASE("the most loaded uplink has as many flows as all hashes on average", "[network]") {
  CHECK(most_loaded({1, 7}) == 1);
  CHECK(most_loaded({9, 1}) == 9);
  CHECK(most_loaded({2, 5}) == Approx(1.2));
  CHECK(most_loaded({2, 2, 2}) == Approx(1.75));  // one of four pairs of hashes has no collision
  const auto [flows, uplinks] = GENERATE(std::pair{5, 3}, std::pair{8, 2}, std::pair{6, 4}, std::pair{3, 8});
  CHECK(most_loaded({flows, uplinks}) == Approx(enumerated(flows, uplinks)).epsilon(1e-9));
  CHECK(hashed_share({flows, uplinks}) ==
        Approx(flows / (uplinks * enumerated(flows, uplinks))).epsilon(1e-9));
}

TEST_CASE("two connections collide on one of k uplinks with a probability of 1 / k", "[network]") {
  const int uplinks = GENERATE(2, 4, 16, 64);
  CHECK(most_loaded({2, uplinks}) == Approx(1 + 1. / uplinks));
}

TEST_CASE("the excess of many flows on the worst uplink grows with the square root of their number",
          "[network]") {
  const auto excess = [](int flows) { return most_loaded({flows, 8}) - flows / 8.; };
  CHECK(excess(2048) / excess(1024) == Approx(std::sqrt(2)).epsilon(0.01));
  CHECK(excess(8 * 2048) / excess(2048) == Approx(std::sqrt(8)));
}

TEST_CASE("a connection that is sprayed over k paths is spread as k connections are", "[network]") {
  Network network;
  network.uplinks = {.count = 8, .nics = 1, .leaves = 2};
  network.conditions = {.routing = Routing::spray, .paths = 16};
  CHECK(hashed_flows(network, 2).flows == 2 * 2 * 16);
  network.conditions.routing = Routing::ecmp;
  CHECK(hashed_flows(network, 2).flows == 2 * 2);
  network.kind = NetworkKind::efa;
  network.conditions = {.routing = Routing::spray};
  CHECK(hashed_flows(network, 1).flows == 2 * 64);  // SRD
  network.kind = NetworkKind::roce;
  CHECK(retransmission_of(network) == Retransmission::selective);
  network.conditions.routing = Routing::adaptive;
  CHECK(retransmission_of(network) == Retransmission::go_back_n);
}

TEST_CASE("more flows spread more evenly, and more switches find a worse hash", "[network]") {
  CHECK(hashed_share({16, 8, 1}) < hashed_share({64, 8, 1}));
  CHECK(hashed_share({64, 8, 1}) < hashed_share({2048, 8, 1}));
  CHECK(hashed_share({2048, 8, 1}) > 0.9);
  CHECK(hashed_share({16, 8, 64}) < hashed_share({16, 8, 1}));
}

TEST_CASE("hashes take their share of the joint uplinks, and repeated packets theirs of all links",
          "[network]") {
  auto fabric = star_fabric();
  fabric.kind = FabricDescription::Kind::leaf_spine;
  fabric.nodes_per_leaf = 1;
  fabric.spines = 4;
  fabric.uplink_bandwidth = BytesPerSecond{12.5e9};
  fabric.network.kind = NetworkKind::roce;
  fabric.network.conditions.routing = Routing::ecmp;
  const auto built = built_platform(nvswitch_node(4), 2, fabric);
  const auto rate = [](const Platform& platform, const std::string& name) {
    for (const auto& resource : platform.resources)
      if (platform.name_of(ResourceId{static_cast<std::size_t>(&resource - platform.resources.data())}) ==
          name)
        return resource.rate();
    return 0.0;
  };
  const auto under = [&](const NetworkConditions& conditions, int queue_pairs) {
    return with_network(built, conditions, queue_pairs);
  };
  CHECK(rate(under({.routing = Routing::adaptive}, 1), "leaf0 -> spines") == Approx(50e9));
  // Four NICs with two connections each, hashed to four uplinks up from and down to two leaves.
  const auto hashed = under({.routing = Routing::ecmp}, 1);
  CHECK(rate(hashed, "leaf0 -> spines") == Approx(50e9 * hashed_share({8, 4, 4})));
  CHECK(rate(hashed, "node0.nic0 -> leaf0") == Approx(12.5e9));
  CHECK(rate(under({.routing = Routing::ecmp}, 4), "leaf0 -> spines") ==
        Approx(50e9 * hashed_share({32, 4, 4})));
  CHECK(rate(under({.routing = Routing::spray, .paths = 4}, 1), "leaf0 -> spines") ==
        Approx(50e9 * hashed_share({32, 4, 4})));
  const auto lossy = under({.round_trip = 10_us, .loss = 1e-3}, 1);
  const auto arrives = goodput({12.5_GBps, 10_us, 1024_B, 1e-3}, Retransmission::go_back_n);
  CHECK(rate(lossy, "node0.nic0 -> leaf0") == Approx(12.5e9 * arrives));
}

// SPDX-License-Identifier: Apache-2.0
// The keys of `network`, which the fabric of a platform has as well, and of `traffic`.
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/key_context.hpp"

namespace gradway {

FieldTable make_fields(std::type_identity<NetworkConditions>) {
  using Conditions = NetworkConditions;
  constexpr auto needs_nodes = [](const KeyContext& context) {
    return lack_unless(context.platform == nullptr || context.platform->nodes > 1,
                       "all GPUs of the job are in one node",
                       "leave it out, or set job.gpus to more than one node has");
  };
  constexpr auto needs_loss = [](const KeyContext& context) {
    if (context.platform == nullptr) return Lack{};
    const auto& network = context.platform->network;
    return lack_unless(network && network->conditions.loss.value_or(0) > 0,
                       "no packets are lost between nodes", "leave it out, or set network.loss");
  };
  return {
      field("round_trip", &Conditions::round_trip, value::Amount{value::Unit::pause, "40 ms"},
            "round-trip time between nodes, or between the leaves of a fabric that has some",
            {.lack = needs_nodes}),
      field("loss", &Conditions::loss, value::Amount{value::Unit::share, "0.01 %"},
            "share of packets that are lost between nodes; needs round_trip", {.lack = needs_nodes}),
      field("window", &Conditions::window, value::Amount{value::Unit::size, "16 MB"},
            "TCP: window of a connection; default: as large as needed", {.lack = needs_nodes}),
      field("congestion", &Conditions::congestion, value::Words{"a congestion control", congestion_words},
            "TCP: congestion control of the senders; default: cubic", {.lack = needs_loss}),
      field("retransmission", &Conditions::retransmission,
            value::Words{"a way to retransmit", retransmission_words},
            "RDMA: what a sender repeats after a lost packet: all packets since then (go_back_n, the default "
            "but for EFA), or that packet alone (selective)",
            {.lack = needs_loss}),
      field(
          "routing", &Conditions::routing, value::Words{"a routing", routing_words},
          "how leaf switches spread flows over their uplinks: by a static hash of each connection (ecmp), "
          "evenly (adaptive), or by a hash of each path of a connection, among which the sender distributes "
          "its packets (spray); default: each ring of NCCL has the uplink of its number",
          {.lack = needs_nodes}),
      field("paths", &Conditions::paths, value::Whole{1, 256},
            "routing spray: number of paths of a connection, which its NIC limits; default: 64 over EFA, "
            "required for other networks",
            {.lack = needs_nodes})};
}

FieldTable make_fields(std::type_identity<BackgroundFlow>) {
  using Flow = BackgroundFlow;
  return {field("from", &Flow::from, value::Name{}, "device that sends, as named by gradway show platform",
                {.is_required = true}),
          field("to", &Flow::to, value::Name{}, "device that receives", {.is_required = true}),
          field("rate", &Flow::rate, value::Amount{value::Unit::bandwidth, "10 GB/s"},
                "bandwidth that the other job demands; use this key or load"),
          custom("load", value::Real{1e-6, 1},
                 "demand as a share of the slowest link on the path; use this key or rate"),
          custom("weight", value::Real{0.001, 1000},
                 "weight of the traffic on a link that it shares with the job, whose weight is 1",
                 {.default_text = "1"}),
          field("start", &Flow::start, value::Amount{value::Unit::pause, "2 s"},
                "time of its first start, after that of the simulated steps"),
          field("end", &Flow::end, value::Amount{value::Unit::pause, "5 s"},
                "time of its first end; default: never"),
          field("period", &Flow::period, value::Amount{value::Unit::pause, "20 s"},
                "time from one start to the next, for traffic that comes and goes; the mean step of whole "
                "periods is reported")};
}

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/config/check/check.hpp"
#include "sim/platform/networks.hpp"
#include "sim/scenario/field_tables.hpp"

namespace gradway::config {
namespace {

/// Checks conditions of the network that a scenario or its platform sets.
class NetworkCheck {
 public:
  NetworkCheck(const ScenarioSpec& scenario, const PlatformDescription& platform, Problems& problems)
      : scenario_{scenario}, platform_{platform}, problems_{problems} {}

  void check() {
    const auto* built = std::get_if<BuiltPlatform>(&platform_.hardware);
    if (built == nullptr || !built->fabric || platform_.collectives == CollectiveRules::ideal) {
      const auto* why =
          built == nullptr || !built->fabric ? "has no fabric between nodes" : "has ideal collectives";
      return refuse_all(fmt::format("the platform '{}' {}", platform_.name, why));
    }
    const auto& fabric = *built->fabric;
    const auto conditions = merged(fabric.network.conditions, scenario_.job.network);
    check_kind(fabric);
    const auto loss = conditions.loss.value_or(0);
    if (!conditions.round_trip && (loss > 0 || conditions.window))
      add(loss > 0 ? "loss" : "window", fabric, "network.round_trip is missing, on which its effect depends",
          "add it: some 10 us in a data centre, 40 ms over a WAN");
    const auto congestion = conditions.congestion.value_or(default_congestion);
    if (facts_of(fabric.network.kind).has_connections && loss >= most_loss(congestion))
      add("loss", fabric,
          fmt::format("{} collapses from {:.3g} % of lost packets on, which is not modelled",
                      name_of(congestion), 100 * most_loss(congestion)),
          "set a lower loss, or another network.congestion");
    else if (loss >= 1)
      add("loss", fabric, "no packet would arrive", "set a lower loss");
    const bool is_star = fabric.kind == FabricDescription::Kind::star;
    if (conditions.routing && (is_star || fabric.spines == 0))
      add("routing", fabric,
          is_star ? "the fabric is a star, whose switch is never the bottleneck"
                  : "the leaf switches of the fabric have no uplinks",
          "leave it out, or choose a platform with a fabric of kind leaf_spine or rail_optimised");
    check_spraying(fabric, conditions);
  }

 private:
  void check_spraying(const FabricDescription& fabric, const NetworkConditions& conditions) {
    const bool is_sprayed = conditions.routing == Routing::spray;
    if (conditions.paths && !is_sprayed)
      add("paths", fabric, "connections have one path unless routing is spray",
          "leave it out, or set network.routing to spray");
    if (!is_sprayed) return;
    const auto& facts = facts_of(fabric.network.kind);
    if (!conditions.paths && facts.paths == 0)
      add("routing", fabric,
          fmt::format("the number of paths of a connection over {} is unknown", facts.name),
          "set network.paths: 64 for SRD, 128 to 256 for MRC");
    if (conditions.retransmission == Retransmission::go_back_n)
      add("retransmission", fabric, "sprayed packets arrive in any order, which go_back_n takes for losses",
          "leave it out, or write 'selective'");
  }

  void check_kind(const FabricDescription& fabric) {
    const auto& facts = facts_of(fabric.network.kind);
    const auto refuse = [&](const char* key, bool is_set, const char* feature) {
      if (is_set) add(key, fabric, fmt::format("{} has {}", facts.name, feature), "leave it out");
    };
    const auto& changes = scenario_.job.network;
    const auto& conditions = fabric.network.conditions;
    if (facts.has_connections) {
      refuse("retransmission", changes.retransmission || conditions.retransmission,
             "TCP connections, which repeat lost packets alone");
      return;
    }
    refuse("window", changes.window.has_value(), "no TCP connections");
    refuse("congestion", changes.congestion || conditions.congestion, "no TCP connections");
  }

  void refuse_all(const std::string& why) {
    for (const auto& field : fields_of<NetworkConditions>()) {
      if (const auto key = fmt::format("network.{}", field.key); scenario_.given.contains(key))
        problems_.add(scenario_.place(key), fmt::format("{} has no effect: {}", key, why),
                      "leave it out, or choose a platform with a fabric and NCCL's collectives",
                      {{scenario_.place("platform"), "the platform is here"}});
    }
  }

  /// Reports a key of the scenario, or else of the fabric.
  void add(const std::string& name, const FabricDescription& fabric, const std::string& why,
           std::string hint) {
    const auto key = fmt::format("network.{}", name);
    const bool is_own = scenario_.given.contains(key);
    problems_.add(is_own ? scenario_.place(key) : fabric.where,
                  fmt::format("{}: {}", is_own ? key : fmt::format("fabric.{}", name), why), std::move(hint),
                  is_own ? std::vector<Note>{{fabric.where, "the fabric is here"}} : std::vector<Note>{});
  }

  const ScenarioSpec& scenario_;
  const PlatformDescription& platform_;
  Problems& problems_;
};

}  // namespace

void check_network(const ScenarioSpec& scenario, const PlatformSpec& platform, Problems& problems) {
  NetworkCheck{scenario, platform.description, problems}.check();
}

void set_segment(PlatformDescription& description, const ScenarioSpec& scenario, Problems& problems) {
  const auto segment = scenario.job.segment;
  if (segment == 0) return;
  auto* built = std::get_if<BuiltPlatform>(&description.hardware);
  if (built == nullptr || !built->nvlink_domain) {
    problems.add(scenario.place("job.segment"),
                 fmt::format("job.segment has no effect: the NVLinks of platform '{}' end at its nodes",
                             description.name),
                 "leave it out, or choose a platform of racks, such as nvidia-gb200-nvl72");
  } else if (segment > built->nvlink_domain->nodes) {
    problems.add(scenario.place("job.segment"),
                 fmt::format("job.segment {} exceeds the {} nodes of an NVLink domain", segment,
                             built->nvlink_domain->nodes),
                 "leave it out to use all nodes", {{built->nvlink_domain->where, "the domain is here"}});
  } else {
    built->nvlink_domain->nodes = segment;
  }
}

}  // namespace gradway::config

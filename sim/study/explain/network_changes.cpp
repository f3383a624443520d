// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/network_changes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cost/nccl_settings.hpp"
#include "sim/platform/networks.hpp"
#include "sim/platform/with_network.hpp"

namespace gradway {
namespace {

constexpr int most_queue_pairs = 128;  // of NCCL_IB_QPS_PER_CONNECTION
constexpr int most_sockets = 64;       // of NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD
constexpr int most_threads = 16;
constexpr int times_as_many = 4;

/// Applies changed conditions and variables to a scenario.
void apply(Scenario& scenario, const NetworkConditions& changes,
           const std::vector<std::pair<std::string, std::string>>& variables) {
  auto& job = scenario.job;
  job.network = merged(job.network, changes);
  for (const auto& [name, value] : variables) job.nccl[name] = value;
  const auto conditions = merged(scenario.platform.network->conditions, changes);
  scenario.platform =
      with_network(std::move(scenario.platform), conditions, nccl_settings(job.nccl).queue_pairs);
}

class NetworkChanges {
 public:
  explicit NetworkChanges(const Scenario& scenario)
      : network_{*scenario.platform.network}, settings_{nccl_settings(scenario.job.nccl)} {}

  std::vector<ScenarioChange> find() {
    if (network_.conditions.loss.value_or(0) > 0) ask_of_losses();
    if (network_.conditions.round_trip.value_or(Seconds{}) > Seconds{}) ask_of_distance();
    if (network_.spread < 1) ask_of_hashes();
    return std::move(changes_);
  }

 private:
  bool has_connections() const { return facts_of(network_.kind).has_connections; }

  void ask_of_losses() {
    change("no_loss", change::NoLoss{}, "network.loss", "0 %", {.loss = 0});
    const auto congestion = network_.conditions.congestion.value_or(default_congestion);
    if (!has_connections()) {
      if (retransmission_of(network_) == Retransmission::go_back_n)
        change("selective_retransmission", change::SelectiveRepeat{}, "network.retransmission", "selective",
               {.retransmission = Retransmission::selective});
    } else if (congestion != Congestion::bbr && *network_.conditions.loss < most_loss(Congestion::bbr)) {
      change("congestion_bbr", change::OtherCongestion{Congestion::bbr}, "network.congestion", "bbr",
             {.congestion = Congestion::bbr});
    }
  }

  void ask_of_distance() {
    const auto buffer = settings_.buffer.value_or(4_MiB) * times_as_many;
    variables("larger_buffers", change::LargerBuffers{times_as_many},
              {{"NCCL_BUFFSIZE", fmt::format("{:.0f}", buffer.value())}});
    if (!has_connections()) return;
    const auto connections =
        settings_.socket_threads || settings_.sockets_per_thread
            ? settings_.socket_threads.value_or(1) * settings_.sockets_per_thread.value_or(1)
            : network_.streams;
    const auto sockets = std::min(most_sockets, connections * times_as_many);
    if (sockets == connections) return;
    auto threads = std::min(most_threads, sockets);
    while (sockets % threads != 0) --threads;
    variables("more_connections", change::MoreSockets{sockets},
              {{"NCCL_NSOCKS_PERTHREAD", fmt::format("{}", sockets / threads)},
               {"NCCL_SOCKET_NTHREADS", fmt::format("{}", threads)}});
  }

  void ask_of_hashes() {
    change("adaptive_routing", change::AdaptiveRouting{}, "network.routing", "adaptive",
           {.routing = Routing::adaptive});
    const auto queue_pairs = std::min(most_queue_pairs, settings_.queue_pairs * times_as_many);
    if (queue_pairs > settings_.queue_pairs)
      variables("more_queue_pairs", change::MoreQueuePairs{queue_pairs},
                {{"NCCL_IB_QPS_PER_CONNECTION", fmt::format("{}", queue_pairs)}});
  }

  void change(std::string name, Change kind, std::string key, std::string value,
              const NetworkConditions& conditions) {
    changes_.push_back({std::move(name),
                        std::move(kind),
                        {{std::move(key), std::move(value)}},
                        [conditions](Scenario& scenario) { apply(scenario, conditions, {}); }});
  }

  void variables(std::string name, Change kind, std::vector<std::pair<std::string, std::string>> values) {
    std::vector<std::pair<std::string, std::string>> set;
    for (const auto& [key, value] : values) set.emplace_back(fmt::format("nccl.{}", key), value);
    changes_.push_back({std::move(name), std::move(kind), std::move(set),
                        [values = std::move(values)](Scenario& scenario) { apply(scenario, {}, values); }});
  }

  const Network& network_;
  NcclSettings settings_;
  std::vector<ScenarioChange> changes_;
};

}  // namespace

std::vector<ScenarioChange> network_changes(const Scenario& scenario) {
  const auto& platform = scenario.platform;
  if (!platform.network || platform.collectives == CollectiveRules::ideal || platform.nodes == 1) return {};
  return NetworkChanges{scenario}.find();
}

}  // namespace gradway

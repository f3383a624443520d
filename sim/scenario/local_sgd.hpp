// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/base/units.hpp"
#include "sim/platform/congestion.hpp"

namespace gradway {

/// Number format of the exchanged updates.
enum class Exchanged : std::uint8_t { fp32, bf16, fp16, int8, int4 };
inline constexpr std::array<std::string_view, 5> exchanged_words{"fp32", "bf16", "fp16", "int8", "int4"};
inline constexpr std::array<double, 5> exchanged_bytes{4, 2, 2, 1, 0.5};
constexpr std::string_view name_of(Exchanged numbers) {
  return exchanged_words[static_cast<std::size_t>(numbers)];
}

/// How the mean of all updates is applied.
enum class OuterOptimizer : std::uint8_t {
  average,  ///< weights become their mean: local SGD, FedAvg
  sgd,      ///< as the gradient of a step from the last common weights
  nesterov  ///< the same with momentum: DiLoCo
};
inline constexpr std::array<std::string_view, 3> outer_optimizer_words{"average", "sgd", "nesterov"};
constexpr std::string_view name_of(OuterOptimizer outer) {
  return outer_optimizer_words[static_cast<std::size_t>(outer)];
}
/// Bytes per trained parameter that a worker keeps in addition to its own optimizer states: the last common
/// weights and momentum, both in fp32. @source PrimeIntellect-ai/OpenDiloco a5b7236
constexpr Bytes outer_state(OuterOptimizer outer) {
  constexpr std::array<double, 3> bytes{0, 4, 8};
  return Bytes{bytes[static_cast<std::size_t>(outer)]};
}

/// The wide-area link from a worker to the next.
struct WanSettings {
  BytesPerSecond rate{};
  Seconds rtt{};
  std::optional<Bytes> window{};  ///< of a TCP connection; empty: as large as needed
  double loss = 0;                ///< share of packets that are lost
  int streams = 1;                ///< parallel connections
  Congestion congestion = Congestion::reno;
  double usd_per_gb = 0;  ///< egress of a worker
};

/// Clients with the same properties.
struct ClientClass {
  std::string name;
  int count = 1;
  BytesPerSecond down{}, up{};
  Seconds rtt{};
  double available = 1;                  ///< share of the time in which a client can be selected
  double slowdown = 1;                   ///< step time over that of the scenario's platform
  std::optional<Seconds> step{};         ///< instead: measured step time
  std::optional<FlopsPerSecond> rate{};  ///< instead: compute rate that training achieves
  std::string platform{};                ///< instead: platform on which the step time is predicted; "": none
  Where platform_at{};                   ///< place in the file
  double spread = 0;        ///< standard deviation of a client's compute time over the mean of its class
  double usd_per_hour = 0;  ///< while a client works
  double usd_per_gb = 0;    ///< egress of a client
  Bytes data{};             ///< stored at each client
};

/// Federated learning: a server selects some of many clients in each round.
struct ClientSettings {
  std::vector<ClientClass> classes;
  int target = 1;                     ///< number of updates that complete a round
  std::optional<int> asked{};         ///< clients selected in a round; empty: 130 % of the target
  double drop_out = 0;                ///< share of the selected clients that never answer
  std::optional<Seconds> deadline{};  ///< of a round, which then uses the updates that have arrived
  int least = 1;                      ///< a round with fewer updates is discarded
  Seconds retry{60};                  ///< waiting time if too few clients are available; assumed
  double usd_per_gb = 0;              ///< egress of the server

  /// Number of clients selected in a round: 130 % of the target by default.
  /// @source Bonawitz et al., arXiv 1902.01046
  int ask() const { return asked.value_or(static_cast<int>(std::ceil(target * 1.3 - 1e-9))); }
  int count() const {
    int sum = 0;
    for (const auto& client_class : classes) sum += client_class.count;
    return sum;
  }
};

/// Local SGD, FedAvg, DiLoCo: each worker runs the whole job of the scenario on its own, and workers exchange
/// updates every `inner_steps` steps.
struct LocalSgd {
  int workers = 2;        ///< with clients: their number
  int inner_steps = 500;  ///< between two exchanges; DiLoCo, arXiv 2311.08105
  OuterOptimizer outer = OuterOptimizer::average;
  Exchanged exchanged = Exchanged::fp32;
  double top_k = 1;   ///< share of an update's entries that is sent: the largest, each with a 4-byte index
  int fragments = 1;  ///< parts of the model that are exchanged in turn (Streaming DiLoCo, arXiv 2501.18512)
  int overlap_steps = 0;                    ///< inner steps that overlap with the exchange of a fragment
  Bytes data{};                             ///< stored at all workers together
  std::optional<WanSettings> wan{};         ///< between workers; empty with clients
  std::optional<ClientSettings> clients{};  ///< of a federated server
};

}  // namespace gradway

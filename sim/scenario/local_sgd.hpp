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

namespace gradway {

/// In which numbers workers send how far their weights have moved.
enum class Exchanged : std::uint8_t { fp32, bf16, fp16, int8, int4 };
inline constexpr std::array<std::string_view, 5> exchanged_words{"fp32", "bf16", "fp16", "int8", "int4"};
inline constexpr std::array<double, 5> exchanged_bytes{4, 2, 2, 1, 0.5};
constexpr std::string_view name_of(Exchanged numbers) {
  return exchanged_words[static_cast<std::size_t>(numbers)];
}

/// What is made of the mean of all updates.
enum class OuterOptimizer : std::uint8_t {
  average,  ///< weights become their mean: local SGD, FedAvg
  sgd,      ///< a step along it, from the weights that were common last
  nesterov  ///< the same with momentum: DiLoCo
};
inline constexpr std::array<std::string_view, 3> outer_optimizer_words{"average", "sgd", "nesterov"};
constexpr std::string_view name_of(OuterOptimizer outer) {
  return outer_optimizer_words[static_cast<std::size_t>(outer)];
}
/// What a worker keeps of each trained parameter beside its own optimizer: the weights that were common last,
/// and momentum, both in fp32. @source PrimeIntellect-ai/OpenDiloco a5b7236
constexpr Bytes outer_state(OuterOptimizer outer) {
  constexpr std::array<double, 3> bytes{0, 4, 8};
  return Bytes{bytes[static_cast<std::size_t>(outer)]};
}

/// The way of a worker to the next, far away.
struct WanSettings {
  BytesPerSecond rate{};
  Seconds rtt{};
  std::optional<Bytes> window{};  ///< of a TCP connection
  double loss = 0;                ///< share of packets
  int streams = 1;                ///< connections
  double usd_per_gb = 0;          ///< of what leaves a worker
};

/// Clients that are alike.
struct ClientClass {
  std::string name;
  int count = 1;
  BytesPerSecond down{}, up{};
  Seconds rtt{};
  double available = 1;                  ///< share of the time that it can be asked
  double slowdown = 1;                   ///< its step over that of the scenario's platform
  std::optional<Seconds> step{};         ///< instead: of a step, measured
  std::optional<FlopsPerSecond> rate{};  ///< instead: that training gets of it
  std::string platform{};                ///< instead: as predicted there; ""
  Where platform_at{};                   ///< where it was named
  double spread = 0;                     ///< standard deviation of a client's time over its class' mean
  double usd_per_hour = 0;               ///< while it works
  double usd_per_gb = 0;                 ///< of what leaves it
  Bytes data{};                          ///< that lies at each
};

/// A server asks some of many clients in each round (federated learning).
struct ClientSettings {
  std::vector<ClientClass> classes;
  int target = 1;                     ///< updates with which a round ends
  std::optional<int> asked{};         ///< clients; empty: 130 % of the target
  double drop_out = 0;                ///< share of those asked that never answer
  std::optional<Seconds> deadline{};  ///< of a round, which then takes what is there
  int least = 1;                      ///< with fewer updates a round counts for nothing
  Seconds retry{60};                  ///< where too few are there to be asked; assumed
  double usd_per_gb = 0;              ///< of what leaves the server

  /// How many are asked: 130 % of the target by default.
  /// @source Bonawitz et al., arXiv 1902.01046
  int ask() const { return asked.value_or(static_cast<int>(std::ceil(target * 1.3 - 1e-9))); }
  int count() const {
    int all = 0;
    for (const auto& one : classes) all += one.count;
    return all;
  }
};

/// Workers train by themselves, each with the whole job of the scenario, and meet every so many steps in what
/// they have learned: local SGD, FedAvg, DiLoCo.
struct LocalSgd {
  int workers = 2;        ///< clients: as many as they are
  int inner_steps = 500;  ///< between two exchanges; DiLoCo, arXiv 2311.08105
  OuterOptimizer outer = OuterOptimizer::average;
  Exchanged exchanged = Exchanged::fp32;
  double top_k = 1;       ///< share of an update that is sent, the largest, each with its place in 4 bytes
  int fragments = 1;      ///< of the model, exchanged in turn (Streaming DiLoCo, arXiv 2501.18512)
  int overlap_steps = 0;  ///< inner steps beside which a fragment is exchanged
  Bytes data{};           ///< of all workers together, that lie where they train
  std::optional<WanSettings> wan{};         ///< between workers; empty: clients
  std::optional<ClientSettings> clients{};  ///< of a server
};

}  // namespace gradway

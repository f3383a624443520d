// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/platform/congestion.hpp"
#include "sim/scenario/local_sgd.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// Size of the update that a worker sends. With `top_k`, only the largest entries are sent, with their
/// indices. Frozen parameters are not sent.
Bytes update_size(const Model& model, const LocalSgd& settings);

/// Size of all trained parameters in the exchanged format, as the server sends them.
Bytes exchanged_model_size(const Model& model, const LocalSgd& settings);

/// The outer loop of local SGD.
struct OuterLoop {
  int steps = 0;       ///< inner steps between exchanges of the same fragment
  int fragments = 1;   ///< exchanged one after the other in that time
  Bytes sent{};        ///< by a worker in a period
  Seconds exchange{};  ///< time of a fragment
  Seconds pause{};     ///< exposed time of a fragment
  Seconds inner{};     ///< time of the inner steps
  /// Share of time in which workers train.
  double use() const { return inner / period(); }
  Seconds period() const { return inner + pause * fragments; }
  /// Mean time of a step including exchanges.
  Seconds mean_step() const { return period() / steps; }
};

/// @param step predicted step time of a worker @pre the settings have a WAN between workers
OuterLoop outer_loop_of(const Model& model, const LocalSgd& settings, Seconds step);

/// The parts of a client's round.
struct ClientTurn {
  Seconds down{};     ///< download of the model
  Seconds compute{};  ///< all inner steps
  Seconds up{};       ///< upload of the update
  Seconds all() const { return down + compute + up; }
};

/// By class of clients. Each transfer takes half a round trip and the time of its bytes.
/// @param steps step time on each class @pre the settings have clients
std::vector<ClientTurn> client_turns(const Model& model, const LocalSgd& settings,
                                     const std::vector<Seconds>& steps);

/// A wide-area path between sites and the TCP connections on it.
struct WanPath {
  BytesPerSecond rate{};          ///< capacity of the path
  Seconds rtt{};                  ///< round-trip time
  std::optional<Bytes> window{};  ///< of each connection; empty: unlimited
  double loss = 0;                ///< packet loss rate
  int streams = 1;                ///< parallel connections
  Congestion congestion = Congestion::reno;
};

/// Rate of TCP on a path. Parallel connections, each of which is limited by its window and its losses
/// (`connection_rate`), add up to the capacity of the path.
BytesPerSecond tcp_rate(const WanPath& path);

/// Ring all-reduce between sites: each sends 2 (n-1)/n of the bytes in 2 (n-1) steps of half a round trip
/// each.
/// @param sites at least 1
Seconds exchange_time(int sites, Bytes size, const WanPath& path);

/// Ring all-gather between sites: each sends n-1 times the bytes in n-1 steps of half a round trip each.
/// @param size of one site's data
Seconds gather_time(int sites, Bytes size, const WanPath& path);

}  // namespace gradway

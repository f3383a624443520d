// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"
#include "sim/campaign/wan.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What a worker sends of its update, in its numbers; of `top_k` the largest entries alone, each with its
/// place. Frozen parameters do not move.
Bytes update_size(const Scenario& scenario, const LocalSgd& settings);

/// All trained parameters in those numbers: what a server sends.
Bytes exchanged_model_size(const Scenario& scenario, const LocalSgd& settings);

/// What workers far apart do every `inner_steps` steps, beside training.
struct OuterLoop {
  int steps = 0;       ///< between exchanges of the same part of the model
  int fragments = 1;   ///< exchanged in turn meanwhile
  Bytes sent{};        ///< by a worker in that time
  Seconds exchange{};  ///< of a fragment
  Seconds pause{};     ///< that workers wait for a fragment
  Seconds inner{};     ///< of the steps between
  /// Share of the time in which workers train.
  double use() const { return inner / period(); }
  Seconds period() const { return inner + pause * fragments; }
  /// Of a step, with its share of the exchanges.
  Seconds mean_step() const { return period() / steps; }
};

/// @param step of a worker, as predicted @pre workers that have a way to each other
OuterLoop outer_loop_of(const Scenario& scenario, const LocalSgd& settings, Seconds step);

/// What a client of a class does in a round.
struct ClientTurn {
  Seconds down{};     ///< the model comes
  Seconds compute{};  ///< all inner steps
  Seconds up{};       ///< the update goes
  Seconds all() const { return down + compute + up; }
};

/// One for each class: half a round trip and the bytes on its way, there and back.
/// @param steps the time of a step on each class @pre clients
std::vector<ClientTurn> client_turns(const Scenario& scenario, const LocalSgd& settings,
                                     const std::vector<Seconds>& steps);

}  // namespace gradway

// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/local_sgd.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

constexpr Bytes bytes_of_index{4};

double trained_parameters(const Model& model) {
  double count = 0;
  for (const auto& layer : model.layers) count += static_cast<double>(layer.parameter_count());
  return count;
}

double bytes_of(Exchanged numbers) {
  return exchanged_bytes[static_cast<std::size_t>(numbers)];
}

}  // namespace

Bytes update_size(const Model& model, const LocalSgd& settings) {
  if (settings.top_k >= 1) return exchanged_model_size(model, settings);
  return (Bytes{bytes_of(settings.exchanged)} + bytes_of_index) *
         (trained_parameters(model) * settings.top_k);
}

Bytes exchanged_model_size(const Model& model, const LocalSgd& settings) {
  return Bytes{bytes_of(settings.exchanged)} * trained_parameters(model);
}

OuterLoop outer_loop_of(const Model& model, const LocalSgd& settings, Seconds step) {
  expects(settings.wan.has_value(), "workers have a WAN between them");
  const auto& wan = *settings.wan;
  const WanPath path{wan.rate, wan.rtt, wan.window, wan.loss, wan.streams, wan.congestion};
  const auto fragment = update_size(model, settings) / settings.fragments;
  const bool is_sparse = settings.top_k < 1;
  OuterLoop loop{.steps = settings.inner_steps,
                 .fragments = settings.fragments,
                 .exchange = is_sparse ? gather_time(settings.workers, fragment, path)
                                       : exchange_time(settings.workers, fragment, path),
                 .inner = step * settings.inner_steps};
  const auto peers = settings.workers - 1.0;
  loop.sent = fragment * (settings.fragments * peers * (is_sparse ? 1 : 2.0 / settings.workers));
  loop.pause = std::max(Seconds{}, loop.exchange - step * settings.overlap_steps);
  return loop;
}

std::vector<ClientTurn> client_turns(const Model& model, const LocalSgd& settings,
                                     const std::vector<Seconds>& steps) {
  expects(settings.clients && settings.clients->classes.size() == steps.size(),
          "there is a step time for each class of clients");
  std::vector<ClientTurn> turns;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& client_class = settings.clients->classes[i];
    turns.push_back({.down = exchanged_model_size(model, settings) / client_class.down + client_class.rtt / 2,
                     .compute = steps[i] * settings.inner_steps,
                     .up = update_size(model, settings) / client_class.up + client_class.rtt / 2});
  }
  return turns;
}

BytesPerSecond tcp_rate(const WanPath& path) {
  const ConnectionLimits limits{path.rtt, path.window, path.loss, path.congestion};
  return std::min(path.rate * delivered_share(limits), connection_rate(limits) * path.streams);
}

Seconds exchange_time(int sites, Bytes size, const WanPath& path) {
  const auto steps = 2.0 * (sites - 1);
  return size * (steps / sites) / tcp_rate(path) + path.rtt * (steps / 2);
}

Seconds gather_time(int sites, Bytes size, const WanPath& path) {
  const auto steps = sites - 1.0;
  return size * steps / tcp_rate(path) + path.rtt * (steps / 2);
}

}  // namespace gradway

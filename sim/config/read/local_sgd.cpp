// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/scenario_parts.hpp"

#include <set>

#include <fmt/format.h>

#include "sim/config/read/fields.hpp"

namespace gradway::config {
namespace {

/// Reports a share of zero.
void check_positive(Reader& map, const char* key, double share) {
  if (share > 0 || !map.has(key) || !map.is_valid()) return;
  map.error(map.value_place(key), fmt::format("'{}' must be above 0 %", key));
}

ClientClass read_class(Reader client) {
  ClientClass result;
  read_fields(client, result);
  check_positive(client, "available", result.available);
  result.platform = client.optional("platform", text, result.platform);
  result.platform_at = client.value_place("platform");
  const char* first = nullptr;
  for (const auto* key : {"slowdown", "step", "rate", "platform"}) {
    if (!client.has(key)) continue;
    if (first != nullptr)
      client.error(client.value_place(key),
                   fmt::format("'{}' conflicts with '{}': both set the speed of a client", key, first),
                   "keep one of them");
    first = key;
  }
  client.finish();
  return result;
}

void check_classes(Reader& clients, const ClientSettings& settings) {
  std::set<std::string> names;
  for (const auto& client_class : settings.classes) {
    if (!names.insert(client_class.name).second)
      clients.error(clients.value_place("classes"),
                    fmt::format("duplicate class name '{}'", client_class.name),
                    "give each class its own name");
  }
  const auto limit = [&](const char* key, int value, int most, const char* noun) {
    if (value > most)
      clients.error(clients.value_place(key),
                    fmt::format("{} {} is more than the {} {}", key, value, most, noun),
                    fmt::format("at most {}", most));
  };
  const auto total = settings.count();
  limit("target", settings.target, total, "clients");
  limit("least", settings.least, settings.target, "updates that complete a round");
  if (!settings.asked) return;
  limit("asked", *settings.asked, total, "clients");
  if (*settings.asked < settings.target)
    clients.error(clients.value_place("asked"),
                  fmt::format("asked {} is less than the {} updates that complete a round", *settings.asked,
                              settings.target),
                  "set at least that many, and more if some clients do not answer");
}

ClientSettings read_clients(Reader clients) {
  ClientSettings result;
  for (auto& entry : clients.maps("classes")) result.classes.push_back(read_class(entry));
  if (!clients.has("classes")) clients.required("classes", text);
  read_fields(clients, result);
  if (result.drop_out >= 1)
    clients.error(clients.value_place("drop_out"),
                  "drop_out must be less than 100 %: no client would ever answer", "");
  if (clients.is_valid()) check_classes(clients, result);
  clients.finish();
  return result;
}

/// Reports keys without effect for clients, or for workers that exchange with each other.
void check_ways(Reader& strategy, const LocalSgd& result) {
  if (strategy.has("wan") == strategy.has("clients")) {
    strategy.error(
        strategy.key_place(strategy.has("wan") ? "wan" : "kind"),
        strategy.has("wan") ? "'wan' conflicts with 'clients'" : "the link between workers is missing",
        strategy.has("wan") ? "keep one of them" : "add 'wan: { rate: 1 GB/s, rtt: 70 ms }', or 'clients'");
    return;
  }
  const auto refuse = [&](std::initializer_list<const char*> keys, const char* why, const char* hint) {
    for (const auto* key : keys)
      if (strategy.has(key))
        strategy.error(strategy.value_place(key), fmt::format("strategy.{} has no effect: {}", key, why),
                       hint);
  };
  if (result.clients) {
    refuse({"workers"}, "each class of clients has its own count", "leave it out");
    refuse({"data"}, "each class of clients has its own data", "set 'data' in the classes");
    refuse({"fragments", "overlap_steps", "outer_optimizer"},
           "clients exchange updates with a server once per round",
           "leave it out, or set 'wan' instead of 'clients'");
    return;
  }
  if (result.fragments > result.inner_steps)
    strategy.error(
        strategy.value_place("fragments"),
        fmt::format("fragments {} is more than the {} inner steps", result.fragments, result.inner_steps),
        "at most one fragment per inner step");
  if (result.overlap_steps > result.inner_steps / result.fragments)
    strategy.error(strategy.value_place("overlap_steps"),
                   fmt::format("overlap_steps {} is longer than the {} steps between two exchanges",
                               result.overlap_steps, result.inner_steps / result.fragments),
                   fmt::format("at most {}", result.inner_steps / result.fragments));
}

}  // namespace

void read_local_sgd(Reader& strategy, bool is_local_sgd, ScenarioSpec& spec) {
  LocalSgd result;
  read_fields(strategy, result);
  check_positive(strategy, "top_k", result.top_k);
  if (auto group = strategy.maybe_map("wan")) result.wan = read_group<WanSettings>(*group);
  if (auto group = strategy.maybe_map("clients")) result.clients = read_clients(*group);
  if (!is_local_sgd) {
    const auto forbid = [&](std::string_view key) {
      strategy.forbid(key, fmt::format("'{}' requires strategy.kind local_sgd", key),
                      "leave it out, or write 'kind: local_sgd' and 'inner:' with the present kind");
    };
    forbid("inner");
    for (const auto& field : Record{result}.fields()) forbid(field.key);
    return;
  }
  if (strategy.is_valid()) check_ways(strategy, result);
  if (result.clients) result.workers = result.clients->count();
  spec.job.local_sgd = std::move(result);
}

}  // namespace gradway::config

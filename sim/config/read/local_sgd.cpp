// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/local_sgd.hpp"

#include <set>

#include <fmt/format.h>

#include "sim/config/read/fields.hpp"
#include "sim/scenario/local_sgd_fields.hpp"

namespace gradway::config {
namespace {

/// Some of it: nothing at all would be no update.
void check_some(Reader& map, const char* key, double share) {
  if (share > 0 || !map.has(key) || !map.sound()) return;
  map.error(map.value_place(key), fmt::format("'{}' of nothing", key), "more than 0 %");
}

WanSettings read_wan(Reader wan) {
  WanSettings result;
  read_fields(wan, result);
  wan.finish();
  return result;
}

ClientClass read_class(Reader client) {
  ClientClass result;
  read_fields(client, result);
  check_some(client, "available", result.available);
  result.platform = client.optional("platform", text, result.platform);
  result.platform_at = client.value_place("platform");
  const char* told = nullptr;
  for (const auto* key : {"slowdown", "step", "rate", "platform"}) {
    if (!client.has(key)) continue;
    if (told != nullptr)
      client.error(client.value_place(key), fmt::format("{} and {} both say how fast a client is", told, key),
                   "choose one");
    told = key;
  }
  client.finish();
  return result;
}

void check_classes(Reader& clients, const ClientSettings& settings) {
  std::set<std::string> names;
  for (const auto& one : settings.classes) {
    if (!names.insert(one.name).second)
      clients.error(clients.value_place("classes"), fmt::format("two classes are called '{}'", one.name),
                    "give each a name of its own");
  }
  const auto limit = [&](const char* key, int value, int most, const char* what) {
    if (value > most)
      clients.error(clients.value_place(key), fmt::format("{} {}, but {} {}", key, value, what, most),
                    fmt::format("at most {}", most));
  };
  const auto all = settings.count();
  limit("target", settings.target, all, "all clients together are");
  limit("least", settings.least, settings.target, "a round ends with");
  if (!settings.asked) return;
  limit("asked", *settings.asked, all, "all clients together are");
  if (*settings.asked < settings.target)
    clients.error(
        clients.value_place("asked"),
        fmt::format("asked {}, but a round needs the updates of {}", *settings.asked, settings.target),
        "ask as many, or more as some will not answer");
}

ClientSettings read_clients(Reader clients) {
  ClientSettings result;
  for (auto& one : clients.maps("classes")) result.classes.push_back(read_class(one));
  if (!clients.has("classes")) clients.required("classes", text);
  read_fields(clients, result);
  if (result.drop_out >= 1)
    clients.error(clients.value_place("drop_out"), "no client ever answers", "less than 100 %");
  if (clients.sound()) check_classes(clients, result);
  clients.finish();
  return result;
}

/// What means nothing to clients, or to workers that meet each other.
void check_ways(Reader& strategy, const LocalSgd& result) {
  if (strategy.has("wan") == strategy.has("clients")) {
    strategy.error(strategy.key_place(strategy.has("wan") ? "wan" : "kind"),
                   strategy.has("wan") ? "workers have a way to each other, and are clients of a server"
                                       : "it is not told how workers meet",
                   strategy.has("wan") ? "keep wan or clients"
                                       : "add 'wan: { rate: 1 GB/s, rtt: 70 ms }', or clients of a server");
    return;
  }
  const auto refuse = [&](std::initializer_list<const char*> keys, const char* why, const char* hint) {
    for (const auto* key : keys)
      if (strategy.has(key))
        strategy.error(strategy.value_place(key),
                       fmt::format("strategy.{} would change nothing: {}", key, why), hint);
  };
  if (result.clients) {
    refuse({"workers"}, "classes of clients have their number", "leave it out");
    refuse({"data"}, "each class of clients has its own", "give 'data' to the classes");
    refuse({"fragments", "overlap_steps", "outer_optimizer"},
           "a round of clients is one exchange with a server",
           "leave it out, or give 'wan' in the place of clients");
    return;
  }
  if (result.fragments > result.inner_steps)
    strategy.error(strategy.value_place("fragments"),
                   fmt::format("{} fragments in {} inner steps", result.fragments, result.inner_steps),
                   "at most one an inner step");
  if (result.overlap_steps > result.inner_steps / result.fragments)
    strategy.error(strategy.value_place("overlap_steps"),
                   fmt::format("the next exchange comes after {} steps, before {} of overlap are over",
                               result.inner_steps / result.fragments, result.overlap_steps),
                   fmt::format("at most {}", result.inner_steps / result.fragments));
}

}  // namespace

void read_local_sgd(Reader& strategy, bool is_local_sgd, ScenarioSpec& spec) {
  LocalSgd result;
  read_fields(strategy, result);
  check_some(strategy, "top_k", result.top_k);
  if (auto group = strategy.maybe_map("wan")) result.wan = read_wan(*group);
  if (auto group = strategy.maybe_map("clients")) result.clients = read_clients(*group);
  if (!is_local_sgd) {
    const auto forbid = [&](std::string_view key) {
      strategy.forbid(key, fmt::format("only a strategy of kind local_sgd has '{}'", key),
                      "leave it out, or write 'kind: local_sgd', with what stood there as 'inner'");
    };
    forbid("inner");
    for_each_row<LocalSgd>([&](const auto& row) { forbid(row.key); });
    return;
  }
  if (strategy.sound()) check_ways(strategy, result);
  if (result.clients) result.workers = result.clients->count();
  spec.job.local_sgd = std::move(result);
}

}  // namespace gradway::config

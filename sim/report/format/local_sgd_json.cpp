// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/scenario_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/fields_json.hpp"
#include "sim/scenario/local_sgd_fields.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json class_json(const ClientClass& client_class) {
  Json json = Json::object();
  add_fields(json, client_class, [&](std::string_view) {
    if (!client_class.step && !client_class.rate && !client_class.platform.empty())
      json["platform"] = client_class.platform;
  });
  return json;
}

Json clients_json(const ClientSettings& clients) {
  Json json = Json::object();
  add_fields(json, clients, [&](std::string_view) {
    for (const auto& client_class : clients.classes) json["classes"].push_back(class_json(client_class));
  });
  return json;
}

}  // namespace

void add_local_sgd_keys(Json& strategy, const LocalSgd& settings) {
  strategy["inner"] = strategy["kind"];
  strategy["kind"] = "local_sgd";
  add_fields(strategy, settings, [&](std::string_view key) {
    if (key == "clients" && settings.clients) strategy["clients"] = clients_json(*settings.clients);
    if (key == "wan" && settings.wan) strategy["wan"] = fields_json(*settings.wan);
  });
}

Json outer_loop_json(const OuterLoop& loop, const LocalSgd& settings) {
  return {{"workers", settings.workers},
          {"inner_steps", loop.steps},
          {"inner_s", loop.inner.value()},
          {"fragments", loop.fragments},
          {"exchange_s", loop.exchange.value()},
          {"pause_s", loop.pause.value()},
          {"sent_bytes", loop.sent.value()},
          {"use", loop.use()},
          {"mean_step_s", loop.mean_step().value()}};
}

}  // namespace gradway::report

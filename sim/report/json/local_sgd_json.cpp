// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/local_sgd_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/json/exact_text.hpp"
#include "sim/report/text/text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json wan_json(const WanSettings& wan) {
  Json json{{"rate", exact::rate(wan.rate)},
            {"rtt", exact::time(wan.rtt)},
            {"loss", exact::percent(wan.loss)},
            {"streams", wan.streams},
            {"egress", exact::egress(wan.usd_per_gb)}};
  if (wan.window) json["window"] = exact_bytes_text(*wan.window);
  return json;
}

Json class_json(const ClientClass& one) {
  Json json{{"name", one.name},
            {"count", one.count},
            {"down", exact::rate(one.down)},
            {"up", exact::rate(one.up)},
            {"rtt", exact::time(one.rtt)},
            {"available", exact::percent(one.available)}};
  if (one.step) {
    json["step"] = exact::time(*one.step);
  } else if (one.rate) {
    json["rate"] = fmt::format("{} TFLOP/s", one.rate->value() / 1e12);
  } else if (!one.platform.empty()) {
    json["platform"] = one.platform;
  } else {
    json["slowdown"] = one.slowdown;
  }
  json["spread"] = exact::percent(one.spread);
  if (one.usd_per_hour > 0) json["price"] = fmt::format("{} USD/h", one.usd_per_hour);
  json["egress"] = exact::egress(one.usd_per_gb);
  if (one.data > Bytes{}) json["data"] = exact_bytes_text(one.data);
  return json;
}

Json clients_json(const ClientSettings& clients) {
  Json classes = Json::array();
  for (const auto& one : clients.classes) classes.push_back(class_json(one));
  Json json{{"target", clients.target},
            {"asked", std::min(clients.ask(), clients.count())},
            {"drop_out", exact::percent(clients.drop_out)}};
  if (clients.deadline) json["deadline"] = exact::time(*clients.deadline);
  json.update({{"least", clients.least},
               {"retry", exact::time(clients.retry)},
               {"egress", exact::egress(clients.usd_per_gb)},
               {"classes", std::move(classes)}});
  return json;
}

}  // namespace

void add_local_sgd_keys(Json& strategy, const LocalSgd& settings) {
  strategy["inner"] = strategy["kind"];
  strategy["kind"] = "local_sgd";
  if (!settings.clients) strategy["workers"] = settings.workers;
  strategy["inner_steps"] = settings.inner_steps;
  strategy["exchanged"] = name_of(settings.exchanged);
  strategy["top_k"] = exact::percent(settings.top_k);
  if (settings.clients) {
    strategy["clients"] = clients_json(*settings.clients);
    return;
  }
  strategy.update({{"outer_optimizer", name_of(settings.outer)},
                   {"fragments", settings.fragments},
                   {"overlap_steps", settings.overlap_steps},
                   {"wan", wan_json(*settings.wan)}});
  if (settings.data > Bytes{}) strategy["data"] = exact_bytes_text(settings.data);
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "sim/scenario/fields.hpp"
#include "sim/scenario/local_sgd.hpp"

// The keys of `strategy` that local_sgd has beside those of its workers' own strategy.
namespace gradway {

namespace local_sgd_values {
inline constexpr int most_clients = 1'000'000;
inline constexpr int most_steps = 1'000'000;
}  // namespace local_sgd_values

constexpr auto fields_of(std::type_identity<WanSettings>) {
  using Wan = WanSettings;
  return std::tuple{field("rate", &Wan::rate, value::Amount{value::Unit::bandwidth, "125 MB/s"},
                          "that it carries", {.is_required = true}),
                    field("rtt", &Wan::rtt, value::Amount{value::Unit::pause, "70 ms"},
                          "a packet there and its acknowledgement back", {.is_required = true}),
                    field("loss", &Wan::loss, value::Amount{value::Unit::share, "0.001 %"},
                          "packets that are lost, by Mathis' formula"),
                    field("streams", &Wan::streams, value::Whole{1, 10000}, "connections side by side"),
                    field("egress", &Wan::usd_per_gb, value::Amount{value::Unit::data_price, "0.09 USD/GB"},
                          "of what leaves a worker"),
                    field("window", &Wan::window, value::Amount{value::Unit::size, "16 MB"},
                          "of a TCP connection; left out, as large as it takes")};
}

constexpr auto fields_of(std::type_identity<ClientClass>) {
  using Class = ClientClass;
  return std::tuple{
      field("name", &Class::name, value::Text{}, "of the class", {.is_required = true}),
      field("count", &Class::count, value::Whole{1, local_sgd_values::most_clients}, "clients",
            {.is_required = true}),
      field("down", &Class::down, value::Amount{value::Unit::bandwidth, "12.5 MB/s"}, "from the server",
            {.is_required = true}),
      field("up", &Class::up, value::Amount{value::Unit::bandwidth, "2.5 MB/s"}, "to the server",
            {.is_required = true}),
      field("rtt", &Class::rtt, value::Amount{value::Unit::pause, "30 ms"}, "to the server and back"),
      field("available", &Class::available, value::Amount{value::Unit::positive_share, "80 %"},
            "of the time that it can be asked"),
      field("step", &Class::step, value::Amount{value::Unit::pause, "800 ms"}, "of a step, measured"),
      field("rate", &Class::rate, value::Amount{value::Unit::compute_rate, "2 TFLOP/s"},
            "that training gets of it: the step is the model's FLOPs over it"),
      OwnField{"platform", value::Name{}, "a platform where the step is predicted"},
      field("slowdown", &Class::slowdown, value::Real{0.001, 1000},
            "its step over that of the scenario's platform; this, step, rate or platform",
            {.is_echoed = [](const Class& it) { return !it.step && !it.rate && it.platform.empty(); }}),
      field("spread", &Class::spread, value::Amount{value::Unit::share, "30 %"},
            "standard deviation of a client's time to compute over its class' mean, log-normal"),
      field("price", &Class::usd_per_hour, value::Amount{value::Unit::node_price, "3 USD/h"},
            "while it works", {.is_echoed = [](const Class& it) { return it.usd_per_hour > 0; }}),
      field("egress", &Class::usd_per_gb, value::Amount{value::Unit::data_price, "0.09 USD/GB"},
            "of what leaves it"),
      field("data", &Class::data, value::Amount{value::Unit::size, "50 GB"},
            "that lies at each: what moving it would take",
            {.is_echoed = [](const Class& it) { return it.data > Bytes{}; }})};
}

constexpr auto fields_of(std::type_identity<ClientSettings>) {
  using Clients = ClientSettings;
  constexpr value::Whole counts{1, local_sgd_values::most_clients};
  return std::tuple{
      field("target", &Clients::target, counts, "updates with which a round ends", {.is_required = true}),
      field("asked", &Clients::asked, counts,
            "clients asked in a round; left out, 130 % of the target, as Bonawitz et al. do",
            {.effective = [](const Clients& it) { return std::optional{std::min(it.ask(), it.count())}; }}),
      field("drop_out", &Clients::drop_out, value::Amount{value::Unit::share, "8 %"},
            "of those asked that never answer"),
      field("deadline", &Clients::deadline, value::Amount{value::Unit::span, "20 min"},
            "of a round, which then takes what is there; left out, it waits for all that answer"),
      field("least", &Clients::least, counts, "with fewer updates a round counts for nothing"),
      field("retry", &Clients::retry, value::Amount{value::Unit::span, "1 min"},
            "where fewer than that are there to be asked"),
      field("egress", &Clients::usd_per_gb, value::Amount{value::Unit::data_price, "0.09 USD/GB"},
            "of what leaves the server"),
      OwnField{"classes", value::Maps{}, "clients that are alike", "", true}};
}

constexpr auto fields_of(std::type_identity<LocalSgd>) {
  constexpr auto meet_each_other = [](const LocalSgd& it) { return !it.clients; };
  return std::tuple{
      field("workers", &LocalSgd::workers, value::Whole{2, 10000}, "each with the whole job, job.gpus GPUs",
            {.is_echoed = meet_each_other}),
      field("inner_steps", &LocalSgd::inner_steps, value::Whole{1, local_sgd_values::most_steps},
            "between two exchanges"),
      field("exchanged", &LocalSgd::exchanged, value::Words{"a format of numbers", exchanged_words},
            "in what updates are sent"),
      field(
          "top_k", &LocalSgd::top_k, value::Amount{value::Unit::positive_share, "1 %"},
          "of an update's entries those that are sent, the largest, each with its place in 4 bytes; workers "
          "then gather what all sent"),
      OwnField{"clients", value::Map{},
               "a server asks some of many clients in each round (federated learning)"},
      field("outer_optimizer", &LocalSgd::outer, value::Words{"an outer optimizer", outer_optimizer_words},
            "what becomes of the mean of updates: weights (local SGD, FedAvg), or a step (DiLoCo's is "
            "nesterov), "
            "which keeps 4 and 8 bytes of each parameter",
            {.is_echoed = meet_each_other}),
      field("fragments", &LocalSgd::fragments, value::Whole{1, local_sgd_values::most_steps},
            "parts of the model that are exchanged in turn (Streaming DiLoCo)",
            {.is_echoed = meet_each_other}),
      field("overlap_steps", &LocalSgd::overlap_steps, value::Whole{0, local_sgd_values::most_steps},
            "inner steps beside which a fragment is exchanged", {.is_echoed = meet_each_other}),
      OwnField{"wan", value::Map{}, "the way of a worker to the next; this, or clients"},
      field("data", &LocalSgd::data, value::Amount{value::Unit::size, "40 TB"},
            "that lies where workers train, of all together: what moving it would take",
            {.is_echoed = [](const LocalSgd& it) { return !it.clients && it.data > Bytes{}; }})};
}

}  // namespace gradway

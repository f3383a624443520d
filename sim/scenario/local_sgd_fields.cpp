// SPDX-License-Identifier: Apache-2.0
// The keys of `strategy` that local_sgd has in addition to those of its workers' strategy.
#include "sim/scenario/field_rows.hpp"

namespace gradway {
namespace {

namespace local_sgd_values {
constexpr int most_clients = 1'000'000;
constexpr int most_steps = 1'000'000;
}  // namespace local_sgd_values

}  // namespace

FieldTable make_fields(std::type_identity<WanSettings>) {
  using Wan = WanSettings;
  return {
      field("rate", &Wan::rate, value::Amount{value::Unit::bandwidth, "125 MB/s"}, "bandwidth of the link",
            {.is_required = true}),
      field("rtt", &Wan::rtt, value::Amount{value::Unit::pause, "70 ms"},
            "round-trip time of a packet and its acknowledgement", {.is_required = true}),
      field("loss", &Wan::loss, value::Amount{value::Unit::share, "0.001 %"},
            "share of packets that are lost; limits a connection as its congestion control responds to it"),
      field("congestion", &Wan::congestion, value::Words{"a congestion control", congestion_words},
            "congestion control of the senders: reno (Mathis' formula), cubic (RFC 9438, the default of "
            "Linux), bbr and bbr2 (versions 1 and 2), which do not slow down below 20 % and 2 % of losses"),
      field("streams", &Wan::streams, value::Whole{1, 10000}, "number of parallel connections"),
      field("egress", &Wan::usd_per_gb, value::Amount{value::Unit::data_price, "0.09 USD/GB"},
            "price of data that leaves a worker"),
      field("window", &Wan::window, value::Amount{value::Unit::size, "16 MB"},
            "window of a TCP connection; default: as large as needed")};
}

FieldTable make_fields(std::type_identity<ClientClass>) {
  using Class = ClientClass;
  return {
      field("name", &Class::name, value::Text{}, "name of the class", {.is_required = true}),
      field("count", &Class::count, value::Whole{1, local_sgd_values::most_clients},
            "number of clients in the class", {.is_required = true}),
      field("down", &Class::down, value::Amount{value::Unit::bandwidth, "12.5 MB/s"},
            "bandwidth from the server to a client", {.is_required = true}),
      field("up", &Class::up, value::Amount{value::Unit::bandwidth, "2.5 MB/s"},
            "bandwidth from a client to the server", {.is_required = true}),
      field("rtt", &Class::rtt, value::Amount{value::Unit::pause, "30 ms"}, "round-trip time to the server"),
      field("available", &Class::available, value::Amount{value::Unit::positive_share, "80 %"},
            "share of the time in which a client can be selected"),
      field("step", &Class::step, value::Amount{value::Unit::pause, "800 ms"},
            "measured step time of a client"),
      field("rate", &Class::rate, value::Amount{value::Unit::compute_rate, "2 TFLOP/s"},
            "compute rate that training achieves on a client; the step time is the model's FLOPs divided by "
            "it"),
      custom<Class>("platform", value::Name{}, "platform on which the step time is predicted", {},
                    [](const Class& client_class) {
                      return !client_class.step && !client_class.rate ? unless_empty(client_class.platform)
                                                                      : std::nullopt;
                    }),
      field("slowdown", &Class::slowdown, value::Real{0.001, 1000},
            "step time of a client over that of the scenario's platform; use one of slowdown, step, rate and "
            "platform",
            {.is_echoed =
                 [](const Class& client_class) {
                   return !client_class.step && !client_class.rate && client_class.platform.empty();
                 }}),
      field("spread", &Class::spread, value::Amount{value::Unit::share, "30 %"},
            "standard deviation of a client's compute time over the mean of its class, log-normally "
            "distributed"),
      field("price", &Class::usd_per_hour, value::Amount{value::Unit::node_price, "3 USD/h"},
            "price of a client while it works",
            {.is_echoed = [](const Class& client_class) { return client_class.usd_per_hour > 0; }}),
      field("egress", &Class::usd_per_gb, value::Amount{value::Unit::data_price, "0.09 USD/GB"},
            "price of data that leaves a client"),
      field("data", &Class::data, value::Amount{value::Unit::size, "50 GB"},
            "amount of data stored at each client, to estimate what it would take to move it",
            {.is_echoed = [](const Class& client_class) { return client_class.data > Bytes{}; }})};
}

FieldTable make_fields(std::type_identity<ClientSettings>) {
  using Clients = ClientSettings;
  constexpr value::Whole counts{1, local_sgd_values::most_clients};
  return {
      field("target", &Clients::target, counts, "number of updates that complete a round",
            {.is_required = true}),
      field("asked", &Clients::asked, counts,
            "number of clients that are selected in a round; default: 130 % of the target, as in Bonawitz et "
            "al.",
            {.effective =
                 [](const Clients& clients) {
                   return std::optional{std::min(clients.ask(), clients.count())};
                 }}),
      field("drop_out", &Clients::drop_out, value::Amount{value::Unit::share, "8 %"},
            "share of the selected clients that never answer"),
      field("deadline", &Clients::deadline, value::Amount{value::Unit::span, "20 min"},
            "time limit of a round, which then uses the updates that have arrived; default: it waits for all "
            "clients that answer"),
      field("least", &Clients::least, counts, "minimum number of updates; a round with fewer is discarded"),
      field("retry", &Clients::retry, value::Amount{value::Unit::span, "1 min"},
            "waiting time if fewer clients than that are available"),
      field("egress", &Clients::usd_per_gb, value::Amount{value::Unit::data_price, "0.09 USD/GB"},
            "price of data that leaves the server"),
      group("classes", &Clients::classes, "classes of clients with the same properties",
            {.is_required = true})};
}

FieldTable make_fields(std::type_identity<LocalSgd>) {
  constexpr auto meet_each_other = [](const LocalSgd& local_sgd) { return !local_sgd.clients; };
  return {
      field("workers", &LocalSgd::workers, value::Whole{2, 10000},
            "number of workers; each runs the whole job on its own job.gpus GPUs",
            {.is_echoed = meet_each_other}),
      field("inner_steps", &LocalSgd::inner_steps, value::Whole{1, local_sgd_values::most_steps},
            "number of steps between two exchanges"),
      field("exchanged", &LocalSgd::exchanged, value::Words{"a number format", exchanged_words},
            "number format of the exchanged updates"),
      field("top_k", &LocalSgd::top_k, value::Amount{value::Unit::positive_share, "1 %"},
            "share of an update's entries that is sent: the largest, each with its index in 4 bytes; workers "
            "then gather the entries of all workers"),
      group("clients", &LocalSgd::clients,
            "federated learning: a server selects some of many clients in each round"),
      field("outer_optimizer", &LocalSgd::outer, value::Words{"an outer optimizer", outer_optimizer_words},
            "use of the mean of the updates. average: as the new weights (local SGD, FedAvg); sgd and "
            "nesterov: as the gradient of an outer step (DiLoCo uses nesterov), which keeps 4 and 8 bytes "
            "per parameter",
            {.is_echoed = meet_each_other}),
      field("fragments", &LocalSgd::fragments, value::Whole{1, local_sgd_values::most_steps},
            "number of fragments of the model that are exchanged in turn (Streaming DiLoCo)",
            {.is_echoed = meet_each_other}),
      field("overlap_steps", &LocalSgd::overlap_steps, value::Whole{0, local_sgd_values::most_steps},
            "number of inner steps that overlap with the exchange of a fragment",
            {.is_echoed = meet_each_other}),
      group("wan", &LocalSgd::wan, "link from a worker to the next; use this key or clients"),
      field("data", &LocalSgd::data, value::Amount{value::Unit::size, "40 TB"},
            "amount of data stored at all workers together, to estimate what it would take to move it",
            {.is_echoed = [](const LocalSgd& local_sgd) {
              return !local_sgd.clients && local_sgd.data > Bytes{};
            }})};
}

}  // namespace gradway

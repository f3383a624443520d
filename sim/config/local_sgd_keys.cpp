// SPDX-License-Identifier: Apache-2.0
#include "sim/config/local_sgd_keys.hpp"

namespace gradway::config {
namespace {

constexpr bool must_stand = true;

/// A key of a class of clients, in a list.
ScenarioKey of_class(const char* name, const char* value, const char* meaning, const char* otherwise = "",
                     bool is_required = false) {
  return {"strategy.clients.classes." + std::string{name}, value, meaning, otherwise, is_required, false};
}

}  // namespace

std::vector<ScenarioKey> local_sgd_keys() {
  return {
      {"strategy.inner", "none, ddp, fsdp, fsdp1, zero, distributed_optimizer",
       "kind local_sgd: what the ranks of one worker do in each step, with the keys of that kind", "ddp"},
      {"strategy.workers", Whole{2, 10000}, "kind local_sgd: each with the whole job, job.gpus GPUs", "2"},
      {"strategy.inner_steps", Whole{1, 1000000}, "kind local_sgd: between two exchanges", "500"},
      {"strategy.outer_optimizer", "average, sgd, nesterov",
       "kind local_sgd: what becomes of the mean of updates: weights (local SGD, FedAvg), or a step "
       "(DiLoCo's is "
       "nesterov), which keeps 4 and 8 bytes of each parameter",
       "average"},
      {"strategy.exchanged", "fp32, bf16, fp16, int8, int4", "kind local_sgd: in what updates are sent",
       "fp32"},
      {"strategy.top_k", Amount{Unit::share, "1 %"},
       "kind local_sgd: of an update's entries those that are sent, the largest, each with its place in 4 "
       "bytes; "
       "workers then gather what all sent",
       "100 %"},
      {"strategy.fragments", Whole{1, 1000000},
       "kind local_sgd: parts of the model that are exchanged in turn (Streaming DiLoCo)", "1"},
      {"strategy.overlap_steps", Whole{0, 1000000},
       "kind local_sgd: inner steps beside which a fragment is exchanged", "0"},
      {"strategy.data", Amount{Unit::size, "40 TB"},
       "kind local_sgd: that lies where workers train, of all together: what moving it would take"},
      {"strategy.wan", Map{}, "kind local_sgd: the way of a worker to the next; this, or clients"},
      {"strategy.wan.rate", Amount{Unit::bandwidth, "125 MB/s"}, "that it carries", "", must_stand},
      {"strategy.wan.rtt", Amount{Unit::pause, "70 ms"}, "a packet there and its acknowledgement back", "",
       must_stand},
      {"strategy.wan.window", Amount{Unit::size, "16 MB"}, "of a TCP connection; left out, as large as it takes"},
      {"strategy.wan.loss", Amount{Unit::share, "0.001 %"}, "of packets, by Mathis' formula", "0 %"},
      {"strategy.wan.streams", Whole{1, 10000}, "connections side by side", "1"},
      {"strategy.wan.egress", Amount{Unit::data_price, "0.09 USD/GB"}, "of what leaves a worker", "0 USD/GB"},
      {"strategy.clients", Map{},
       "kind local_sgd: a server asks some of many clients in each round (federated learning)"},
      {"strategy.clients.target", Whole{1, 1000000}, "updates with which a round ends", "", must_stand},
      {"strategy.clients.asked", Whole{1, 1000000},
       "clients asked in a round; left out, 130 % of the target, as Bonawitz et al. do"},
      {"strategy.clients.drop_out", Amount{Unit::share, "8 %"}, "of those asked that never answer", "0 %"},
      {"strategy.clients.deadline", Amount{Unit::span, "20 min"},
       "of a round, which then takes what is there; left out, it waits for all that answer"},
      {"strategy.clients.least", Whole{1, 1000000}, "with fewer updates a round counts for nothing", "1"},
      {"strategy.clients.retry", Amount{Unit::span, "1 min"}, "where fewer than that are there to be asked",
       "1 min"},
      {"strategy.clients.egress", Amount{Unit::data_price, "0.09 USD/GB"}, "of what leaves the server",
       "0 USD/GB"},
      {"strategy.clients.classes", Maps{}, "clients that are alike", "", must_stand},
      of_class("name", Text{}, "of the class", "", must_stand),
      of_class("count", Whole{1, 1000000}, "clients", "", must_stand),
      of_class("down", Amount{Unit::bandwidth, "12.5 MB/s"}, "from the server", "", must_stand),
      of_class("up", Amount{Unit::bandwidth, "2.5 MB/s"}, "to the server", "", must_stand),
      of_class("rtt", Amount{Unit::pause, "30 ms"}, "to the server and back", "0 s"),
      of_class("available", Amount{Unit::share, "80 %"}, "of the time that it can be asked", "100 %"),
      of_class("slowdown", Real{0.001, 1000},
               "its step over that of the scenario's platform; this, step, rate or platform", "1"),
      of_class("step", Amount{Unit::pause, "800 ms"}, "of a step, measured"),
      of_class("rate", Amount{Unit::compute_rate, "2 TFLOP/s"},
               "that training gets of it: the step is the model's FLOPs over it"),
      of_class("platform", Name{}, "a platform where the step is predicted"),
      of_class("spread", Amount{Unit::share, "30 %"},
               "standard deviation of a client's time to compute over its class' mean, log-normal", "0 %"),
      of_class("price", Amount{Unit::node_price, "3 USD/h"}, "while it works", "0 USD/h"),
      of_class("egress", Amount{Unit::data_price, "0.09 USD/GB"}, "of what leaves it", "0 USD/GB"),
      of_class("data", Amount{Unit::size, "50 GB"}, "that lies at each: what moving it would take"),
  };
}

}  // namespace gradway::config

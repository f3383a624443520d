// SPDX-License-Identifier: Apache-2.0
#include "sim/config/campaign_keys.hpp"

#include "sim/scenario/failure_models.hpp"

namespace gradway::config {
namespace {

constexpr bool required = true;

template <class Models>
std::string names_of(const Models& models) {
  std::string names;
  for (const auto& model : models) names += (names.empty() ? "" : ", ") + std::string{model.name};
  return names;
}

}  // namespace

std::vector<ScenarioKey> campaign_keys() {
  return {
      {"campaign", Map{}, "the whole training of which this is a step: gradway campaign"},
      {"campaign.tokens", Amount{Unit::tokens, "300B"},
       "how much is trained on; this, samples, epochs or rounds"},
      {"campaign.samples", Amount{Unit::samples, "90M"}, "the same; for models of any kind"},
      {"campaign.epochs", Real{0.001, 1000}, "the same, with samples_per_epoch"},
      {"campaign.samples_per_epoch", Amount{Unit::samples, "1281167"}, "required with epochs"},
      {"campaign.rounds", Whole{1, 100000000}, "the same, of strategy.kind local_sgd: exchanges"},
      {"campaign.checkpoint", Map{}, "how the training is saved; left out, never"},
      {"campaign.checkpoint.interval", Amount{Unit::span, "30 min", "", "best"},
       "of training between two, kept to whole steps; best: that with which the campaign takes least time",
       "best"},
      {"campaign.checkpoint.mode", "sync, async",
       "sync: ranks wait until all is on storage; async: until it is in host memory, and it goes to storage "
       "beside "
       "the next steps",
       "sync"},
      {"campaign.checkpoint.sharded", Boolean{}, "each rank writes its own part; else one writes all",
       "true"},
      {"campaign.checkpoint.size", Amount{Unit::size, "105 GiB"},
       "of a checkpoint; left out, weights and states of the optimizer of all trained parameters"},
      {"campaign.checkpoint.write", Amount{Unit::bandwidth, "50 GB/s"},
       "that the storage takes from all ranks together; this, or storage"},
      {"campaign.checkpoint.storage", Name{},
       "a tier where checkpoints go: its rates, its price of what is kept; shared with the data if they lie "
       "there, "
       "too"},
      {"campaign.checkpoint.keep", WholeOrWord{"all", {1, 1000000}}, "with storage: checkpoints that stay there", "2"},
      {"campaign.checkpoint.read", Amount{Unit::bandwidth, "50 GB/s"},
       "back; left out, as it writes; with storage as the tier is read"},
      {"campaign.checkpoint.per_rank", Amount{Unit::bandwidth, "2 GB/s"},
       "most that one rank writes or reads; left out, as much as the storage"},
      {"campaign.checkpoint.staging", "pageable, pinned",
       "mode async: the host memory that each rank copies to: pageable: allocated for each checkpoint, as "
       "PyTorch's dcp.async_save does by itself; pinned: allocated by the first one after each start, and "
       "kept "
       "(torchtitan's async_with_pinned_mem, Megatron); left out, pinned with framework megatron or with "
       "device_copy, else pageable"},
      {"campaign.checkpoint.device_copy", Amount{Unit::bandwidth, "50 GB/s"},
       "mode async: from each GPU into host memory; left out, 25 GB/s into pinned memory, 1.3 GB/s into "
       "pageable"},
      {"campaign.checkpoint.overhead", Amount{Unit::pause, "2 s"},
       "of each beside the bytes: planning, metadata, barrier", "0 s"},
      {"campaign.checkpoint.slowdown", Slowdown{},
       "mode async: a step takes so many times as long while a checkpoint goes to storage", "1"},
      {"campaign.restart", Map{}, "what it takes to go on, beside reading the checkpoint"},
      {"campaign.restart.detection", Amount{Unit::pause, "1 min"}, "from a failure until the job is stopped",
       "1 min"},
      {"campaign.restart.requeue", Amount{Unit::pause, "2 min"},
       "until it has its nodes again and processes start", "2 min"},
      {"campaign.restart.communicators", Amount{Unit::pause, "1 min"}, "until all ranks have met", "1 min"},
      {"campaign.restart.loader", Amount{Unit::pause, "1 min"}, "until data flow again", "1 min"},
      {"campaign.failures", Map{}, "what interrupts the training; left out, nothing does"},
      {"campaign.failures.model", names_of(failure_models()),
       "published rates of nodes of 8 GPUs and their causes; this, or node_mttf"},
      {"campaign.failures.node_mttf", Amount{Unit::span, "150 days"}, "mean time until a node fails"},
      {"campaign.failures.job_mttf", Amount{Unit::span, "11 h"},
       "of faults that do not grow with the nodes, as those of software"},
      {"campaign.failures.again", Amount{Unit::share, "5 %"}, "of restarts that fail once more soon after", "0 %"},
      {"campaign.failures.again_within", Amount{Unit::span, "10 min"}, "how soon at most", "10 min"},
      {"campaign.spot", Map{}, "how nodes are taken away, with terms: spot"},
      {"campaign.spot.model", names_of(spot_models()), "measured or published; this, or node_up"},
      {"campaign.spot.node_up", Amount{Unit::span, "3 days"}, "mean time that a node stays"},
      {"campaign.spot.node_down", Amount{Unit::span, "1 h"},
       "mean time until another stands in for it; 1 h without a model"},
      {"campaign.spot.group", Whole{1, 100000}, "nodes that go together; 1 without a model"},
      {"campaign.spot.notice", Amount{Unit::pause, "2 min"}, "what can be saved within it is", "2 min"},
      {"campaign.spot.share", Amount{Unit::share, "50 %"}, "of the nodes that train; the others are on demand",
       "100 %"},
      {"campaign.stragglers", Map{}, "slow nodes, which the whole job waits for"},
      {"campaign.stragglers.node_every", Amount{Unit::span, "100 days"},
       "mean time between a node's slow episodes; left "
       "out, none is ever slow"},
      {"campaign.stragglers.slowdown", Slowdown{}, "a step takes so many times as long",
       "1.34"},
      {"campaign.stragglers.lasts", Amount{Unit::span, "72 min"}, "an episode, on average", "72 min"},
      {"campaign.stragglers.jitter", Amount{Unit::share, "1 %"},
       "standard deviation of a rank's step, normal: each step waits for the slowest", "0 %"},
      {"campaign.evaluation", Map{}, "pauses of the training; left out, none"},
      {"campaign.evaluation.every", Whole{1, 1000000000}, "steps", "", required},
      {"campaign.evaluation.time", Amount{Unit::span, "5 min"}, "of each", "", required},
      {"campaign.spares", Whole{0, 100000},
       "nodes that stand by and are paid; left out, another node always comes within requeue"},
      {"campaign.repair", Amount{Unit::span, "24 h"}, "with spares: until a failed node is back", "1 day"},
      {"campaign.elastic_from", Whole{1, 1048576},
       "with fewer nodes it goes on in whole replicas down to so many GPUs, the batch kept; left out, it "
       "waits for all"},
      {"campaign.terms", "on_demand, spot, reserved", "how nodes are paid for", "on_demand"},
      {"campaign.prices", Map{}, "what a node costs, beside the platform's own price on demand"},
      {"campaign.prices.on_demand", Amount{Unit::node_price, "98.32 USD/h"}, "of a node"},
      {"campaign.prices.spot", Amount{Unit::node_price, "40 USD/h"}, "of a node"},
      {"campaign.prices.reserved", Amount{Unit::node_price, "43 USD/h"}, "of a node"},
      {"campaign.carbon", Map{}, "what its electricity emits"},
      {"campaign.carbon.grid", Amount{Unit::emission, "380 g/kWh"}, "of CO2", "", required},
      {"campaign.carbon.node_power", Amount{Unit::power, "10.2 kW"}, "of a node that trains", "", required},
      {"campaign.carbon.pue", Slowdown{}, "power of the building over that of its nodes",
       "1"},
      {"campaign.seed", Whole{0, 1000000000}, "of random numbers; the same seed gives the same bytes", "1"},
  };
}

}  // namespace gradway::config

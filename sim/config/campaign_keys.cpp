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
      {"campaign", "a map", "the whole training of which this is a step: gradway campaign"},
      {"campaign.tokens", "a number of tokens such as 300B",
       "how much is trained on; this, samples, epochs or rounds"},
      {"campaign.samples", "a number of samples such as 90M", "the same; for models of any kind"},
      {"campaign.epochs", "a number from 0.001 to 1000", "the same, with samples_per_epoch"},
      {"campaign.samples_per_epoch", "a number of samples such as 1281167", "required with epochs"},
      {"campaign.rounds", "1 to 100000000", "the same, of strategy.kind local_sgd: exchanges"},
      {"campaign.checkpoint", "a map", "how the training is saved; left out, never"},
      {"campaign.checkpoint.interval", "best, or a span such as 30 min",
       "of training between two, kept to whole steps; best: that with which the campaign takes least time",
       "best"},
      {"campaign.checkpoint.mode", "sync, async",
       "sync: ranks wait until all is on storage; async: until it is in host memory, and it goes to storage "
       "beside "
       "the next steps",
       "sync"},
      {"campaign.checkpoint.sharded", "true or false", "each rank writes its own part; else one writes all",
       "true"},
      {"campaign.checkpoint.size", "a size such as 105 GiB",
       "of a checkpoint; left out, weights and states of the optimizer of all trained parameters"},
      {"campaign.checkpoint.write", "a bandwidth such as 50 GB/s",
       "that the storage takes from all ranks together; this, or storage"},
      {"campaign.checkpoint.storage", "a name",
       "a tier where checkpoints go: its rates, its price of what is kept; shared with the data if they lie "
       "there, "
       "too"},
      {"campaign.checkpoint.keep", "all, or 1 to 1000000", "with storage: checkpoints that stay there", "2"},
      {"campaign.checkpoint.read", "a bandwidth such as 50 GB/s",
       "back; left out, as it writes; with storage as the tier is read"},
      {"campaign.checkpoint.per_rank", "a bandwidth such as 2 GB/s",
       "most that one rank writes or reads; left out, as much as the storage"},
      {"campaign.checkpoint.staging", "pageable, pinned",
       "mode async: the host memory that each rank copies to: pageable: allocated for each checkpoint, as "
       "PyTorch's dcp.async_save does by itself; pinned: allocated by the first one after each start, and "
       "kept "
       "(torchtitan's async_with_pinned_mem, Megatron); left out, pinned with framework megatron or with "
       "device_copy, else pageable"},
      {"campaign.checkpoint.device_copy", "a bandwidth such as 50 GB/s",
       "mode async: from each GPU into host memory; left out, 25 GB/s into pinned memory, 1.3 GB/s into "
       "pageable"},
      {"campaign.checkpoint.overhead", "a pause such as 2 s",
       "of each beside the bytes: planning, metadata, barrier", "0 s"},
      {"campaign.checkpoint.slowdown", "a slow-down from 1 to 1000",
       "mode async: a step takes so many times as long while a checkpoint goes to storage", "1"},
      {"campaign.restart", "a map", "what it takes to go on, beside reading the checkpoint"},
      {"campaign.restart.detection", "a pause such as 1 min", "from a failure until the job is stopped",
       "1 min"},
      {"campaign.restart.requeue", "a pause such as 2 min",
       "until it has its nodes again and processes start", "2 min"},
      {"campaign.restart.communicators", "a pause such as 1 min", "until all ranks have met", "1 min"},
      {"campaign.restart.loader", "a pause such as 1 min", "until data flow again", "1 min"},
      {"campaign.failures", "a map", "what interrupts the training; left out, nothing does"},
      {"campaign.failures.model", names_of(failure_models()),
       "published rates of nodes of 8 GPUs and their causes; this, or node_mttf"},
      {"campaign.failures.node_mttf", "a span such as 150 days", "mean time until a node fails"},
      {"campaign.failures.job_mttf", "a span such as 11 h",
       "of faults that do not grow with the nodes, as those of software"},
      {"campaign.failures.again", "a share such as 5 %", "of restarts that fail once more soon after", "0 %"},
      {"campaign.failures.again_within", "a span such as 10 min", "how soon at most", "10 min"},
      {"campaign.spot", "a map", "how nodes are taken away, with terms: spot"},
      {"campaign.spot.model", names_of(spot_models()), "measured or published; this, or node_up"},
      {"campaign.spot.node_up", "a span such as 3 days", "mean time that a node stays"},
      {"campaign.spot.node_down", "a span such as 1 h",
       "mean time until another stands in for it; 1 h without a model"},
      {"campaign.spot.group", "1 to 100000", "nodes that go together; 1 without a model"},
      {"campaign.spot.notice", "a pause such as 2 min", "what can be saved within it is", "2 min"},
      {"campaign.spot.share", "a share such as 50 %", "of the nodes that train; the others are on demand",
       "100 %"},
      {"campaign.stragglers", "a map", "slow nodes, which the whole job waits for"},
      {"campaign.stragglers.node_every", "a span such as 100 days",
       "mean time between a node's slow episodes; left "
       "out, none is ever slow"},
      {"campaign.stragglers.slowdown", "a slow-down from 1 to 1000", "a step takes so many times as long",
       "1.34"},
      {"campaign.stragglers.lasts", "a span such as 72 min", "an episode, on average", "72 min"},
      {"campaign.stragglers.jitter", "a share such as 1 %",
       "standard deviation of a rank's step, normal: each step waits for the slowest", "0 %"},
      {"campaign.evaluation", "a map", "pauses of the training; left out, none"},
      {"campaign.evaluation.every", "1 to 1000000000", "steps", "", required},
      {"campaign.evaluation.time", "a span such as 5 min", "of each", "", required},
      {"campaign.spares", "0 to 100000",
       "nodes that stand by and are paid; left out, another node always comes within requeue"},
      {"campaign.repair", "a span such as 24 h", "with spares: until a failed node is back", "1 day"},
      {"campaign.elastic_from", "1 to 1048576",
       "with fewer nodes it goes on in whole replicas down to so many GPUs, the batch kept; left out, it "
       "waits for all"},
      {"campaign.terms", "on_demand, spot, reserved", "how nodes are paid for", "on_demand"},
      {"campaign.prices", "a map", "what a node costs, beside the platform's own price on demand"},
      {"campaign.prices.on_demand", "a price such as 98.32 USD/h", "of a node"},
      {"campaign.prices.spot", "a price such as 40 USD/h", "of a node"},
      {"campaign.prices.reserved", "a price such as 43 USD/h", "of a node"},
      {"campaign.carbon", "a map", "what its electricity emits"},
      {"campaign.carbon.grid", "what a grid emits such as 380 g/kWh", "of CO2", "", required},
      {"campaign.carbon.node_power", "a power such as 10.2 kW", "of a node that trains", "", required},
      {"campaign.carbon.pue", "a slow-down from 1 to 1000", "power of the building over that of its nodes",
       "1"},
      {"campaign.seed", "0 to 1000000000", "of random numbers; the same seed gives the same bytes", "1"},
  };
}

}  // namespace gradway::config

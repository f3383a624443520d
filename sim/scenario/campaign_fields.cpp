// SPDX-License-Identifier: Apache-2.0
// The keys of `campaign`, by its groups.
#include <fmt/format.h>

#include "sim/scenario/failure_models.hpp"
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/key_context.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway {
namespace {

/// What keys of `campaign` need.
namespace campaign_lacks {
bool has_interruptions(const CampaignSettings& campaign) {
  return campaign.failures || campaign.spot;
}
Lack interruptions(const KeyContext& context) {
  return lack_unless(has_interruptions(context.campaign), "nothing interrupts the training",
                     "set campaign.failures or campaign.spot, or leave it out");
}
Lack repeated_failures(const KeyContext& context) {
  const auto& failures = context.campaign.failures;
  return lack_unless(failures && (failures->again > 0 || !failures->model.empty()),
                     "campaign.failures.again is 0", "set it, or leave again_within out");
}
}  // namespace campaign_lacks

}  // namespace

FieldTable make_fields(std::type_identity<CheckpointSettings>) {
  using Checkpoint = CheckpointSettings;
  constexpr auto intervals = [](const KeyContext& context) {
    const auto interval = context.campaign.checkpoint->interval->value();
    return std::vector<std::string>{fmt::format("{} s", interval), "best"};
  };
  constexpr auto is_async = [](const Checkpoint& checkpoint) { return checkpoint.mode == SaveMode::async; };
  return {
      custom<Checkpoint>(
          "interval", value::Amount{value::Unit::span, "30 min", "", "best"},
          "training time between two checkpoints, rounded to whole steps; best: the interval with the "
          "shortest campaign",
          {.default_text = "best", .tries = {.by_scenario = intervals}},
          [](const Checkpoint& checkpoint) {
            return checkpoint.interval
                       ? value::text(value::Amount{value::Unit::span, {}}, *checkpoint.interval)
                       : "best";
          }),
      field("mode", &Checkpoint::mode, value::Words{"a checkpoint mode", save_mode_words},
            "sync: ranks wait until the checkpoint is on storage; async: they wait until it is in host "
            "memory, and it is written to storage during the next steps"),
      field("sharded", &Checkpoint::sharded, value::Boolean{},
            "each rank writes its own shard; false: one rank writes the whole checkpoint"),
      field("size", &Checkpoint::size, value::Amount{value::Unit::size, "105 GiB"},
            "size of a checkpoint; default: weights and optimizer states of all trained parameters"),
      custom<Checkpoint>(
          "storage", value::Name{},
          "storage tier of the checkpoints, with its bandwidth and price; checkpoints and training data "
          "share it if both use it",
          {},
          [](const Checkpoint& checkpoint) {
            return checkpoint.storage ? std::optional{checkpoint.storage->name} : std::nullopt;
          }),
      custom<Checkpoint>("keep", value::WholeOrWord{"all", {1, 1'000'000}},
                         "with storage: number of checkpoints that are kept", {.default_text = "2"},
                         [](const Checkpoint& checkpoint) -> FieldValue {
                           if (!checkpoint.storage) return std::monostate{};
                           return checkpoint.keep == 0 ? FieldValue{"all"} : std::int64_t{checkpoint.keep};
                         }),
      field("weight", &Checkpoint::weight, value::Real{0.001, 1000},
            "with storage that also holds the data and mode async: weight of the writes when both share its "
            "bandwidth; loaders have weight 1",
            {.is_echoed =
                 [](const Checkpoint& checkpoint) {
                   return checkpoint.storage && checkpoint.mode == SaveMode::async;
                 }}),
      field("write", &Checkpoint::write, value::Amount{value::Unit::bandwidth, "50 GB/s"},
            "write bandwidth of the storage, for all ranks together; use this key or storage",
            {.is_echoed = [](const Checkpoint& checkpoint) { return !checkpoint.storage; }}),
      field("read", &Checkpoint::read, value::Amount{value::Unit::bandwidth, "50 GB/s"},
            "bandwidth at which a checkpoint is read; default: the write bandwidth, or the read bandwidth of "
            "the storage tier",
            {.lack = campaign_lacks::interruptions}),
      field("per_rank", &Checkpoint::per_rank, value::Amount{value::Unit::bandwidth, "2 GB/s"},
            "maximum bandwidth at which one rank writes or reads; default: the bandwidth of the storage"),
      field("overhead", &Checkpoint::overhead, value::Amount{value::Unit::pause, "2 s"},
            "time per checkpoint that does not depend on its size: planning, metadata, barrier"),
      field("staging", &Checkpoint::staging, value::Words{"a kind of host memory", staging_words},
            "with mode async: host memory that each rank copies to. pageable: allocated for each checkpoint, "
            "as dcp.async_save does by default; pinned: allocated at the first checkpoint after each start "
            "and reused (async_with_pinned_mem of torchtitan, Megatron). Default: pinned with framework "
            "megatron or with device_copy, else pageable",
            {.is_echoed = is_async}),
      field("device_copy", &Checkpoint::device_copy, value::Amount{value::Unit::bandwidth, "50 GB/s"},
            "with mode async: bandwidth of the copy from each GPU to host memory; default: 25 GB/s to pinned "
            "memory, 1.3 GB/s to pageable memory",
            {.is_echoed = is_async}),
      field("slowdown", &Checkpoint::slowdown, value::slowdown,
            "with mode async: slow-down of the steps while a checkpoint is written to storage",
            {.is_echoed = is_async})};
}

FieldTable make_fields(std::type_identity<RestartSettings>) {
  constexpr auto pause = [](const char* example) { return value::Amount{value::Unit::pause, example}; };
  return {
      field("detection", &RestartSettings::detection, pause("1 min"),
            "time from a failure until the job is stopped", {.lack = campaign_lacks::interruptions}),
      field("requeue", &RestartSettings::requeue, pause("2 min"),
            "time until the job has its nodes again and its processes start",
            {.lack = campaign_lacks::interruptions}),
      field("communicators", &RestartSettings::communicators, pause("1 min"),
            "time until all ranks have initialised their communicators",
            {.lack = campaign_lacks::interruptions}),
      field("loader", &RestartSettings::loader, pause("1 min"),
            "time until the data loader delivers the first batch", {.lack = campaign_lacks::interruptions})};
}

FieldTable make_fields(std::type_identity<FailureSettings>) {
  using Failures = FailureSettings;
  return {
      custom<Failures>("model", value::Words{"a failure model", failure_model_names()},
                       "published failure rates and causes of nodes with 8 GPUs; use this key or node_mttf",
                       {}, [](const Failures& failures) { return unless_empty(failures.model); }),
      field("node_mttf", &Failures::node_mttf, value::Amount{value::Unit::span, "150 days"},
            "mean time to failure of a node"),
      field("job_mttf", &Failures::job_mttf, value::Amount{value::Unit::span, "11 h"},
            "mean time between failures whose rate does not grow with the number of nodes, such as software "
            "errors"),
      field("again", &Failures::again, value::Amount{value::Unit::share, "5 %"},
            "share of restarts that are followed by another failure"),
      field("again_within", &Failures::again_within, value::Amount{value::Unit::span, "10 min"},
            "longest time from a restart to such a failure", {.lack = campaign_lacks::repeated_failures})};
}

FieldTable make_fields(std::type_identity<SpotSettings>) {
  using Spot = SpotSettings;
  return {custom<Spot>("model", value::Words{"a spot model", spot_model_names()},
                       "measured or published availability of spot nodes; use this key or node_up", {},
                       [](const Spot& spot) { return unless_empty(spot.model); }),
          field("node_up", &Spot::node_up, value::Amount{value::Unit::span, "3 days"},
                "mean time until a spot node is taken away"),
          field("node_down", &Spot::node_down, value::Amount{value::Unit::span, "1 h"},
                "mean time until a node that was taken away is replaced; 1 h without a model"),
          field("group", &Spot::group, value::Whole{1, 100000},
                "number of nodes that are taken away together; 1 without a model"),
          field("notice", &Spot::notice, value::Amount{value::Unit::pause, "2 min"},
                "time between the notice and the loss of a node; a checkpoint that takes no longer is saved"),
          field("share", &Spot::share, value::Amount{value::Unit::share, "50 %"},
                "share of the training nodes that are spot nodes; the others are on demand",
                {.tries = {"0 %, 25 %, 50 %, 75 %, 100 %"}})};
}

FieldTable make_fields(std::type_identity<StragglerSettings>) {
  using Stragglers = StragglerSettings;
  constexpr auto are_slow = [](const Stragglers& stragglers) { return stragglers.node_every.has_value(); };
  return {field("node_every", &Stragglers::node_every, value::Amount{value::Unit::span, "100 days"},
                "mean time between two slow episodes of a node; default: no node is ever slow"),
          field("slowdown", &Stragglers::slowdown, value::slowdown,
                "slow-down of the steps during an episode", {.is_echoed = are_slow}),
          field("lasts", &Stragglers::lasts, value::Amount{value::Unit::span, "72 min"},
                "mean length of an episode", {.is_echoed = are_slow}),
          field("jitter", &Stragglers::jitter, value::Amount{value::Unit::share, "1 %"},
                "standard deviation of a rank's step time over its mean, normally distributed; "
                "each step waits for the slowest rank")};
}

FieldTable make_fields(std::type_identity<EvaluationSettings>) {
  return {field("every", &EvaluationSettings::every, value::Whole{1, 1'000'000'000},
                "number of steps between two evaluations", {.is_required = true}),
          field("time", &EvaluationSettings::time, value::Amount{value::Unit::span, "5 min"},
                "time of each evaluation", {.is_required = true})};
}

FieldTable make_fields(std::type_identity<CarbonSettings>) {
  using Carbon = CarbonSettings;
  return {field("grid", &Carbon::grams_per_kwh, value::Amount{value::Unit::emission, "380 g/kWh"},
                "carbon intensity of the electricity: CO2 per kilowatt-hour", {.is_required = true}),
          field("node_power", &Carbon::node_power, value::Amount{value::Unit::power, "10.2 kW"},
                "power of a node while it trains", {.is_required = true}),
          field("pue", &Carbon::pue, value::slowdown,
                "power usage effectiveness: power of the building over that of its nodes")};
}

FieldTable make_fields(std::type_identity<CampaignPhase>) {
  return {custom<CampaignPhase>(
              "until", value::Amount{value::Unit::tokens, "252M"},
              "tokens (or samples, like the length of the campaign) at which the phase ends; use this key "
              "or from and to",
              {}, [](const CampaignPhase& phase) { return phase.until; }),
          field("by", &CampaignPhase::by, value::Whole{1, 1'000'000'000},
                "with until: samples by which the global batch grows, in equal parts of the phase, from "
                "job.global_batch up to the batch that follows (Megatron-LM's --rampup-batch-size)"),
          field("from", &CampaignPhase::from, value::Real{0, 24},
                "hour of each day at which the phase begins; campaigns start at hour 0"),
          field("to", &CampaignPhase::to, value::Real{0, 24}, "hour of each day at which the phase ends"),
          custom("set", value::Map{}, "keys of the scenario with their values in this phase",
                 {.is_required = true})};
}

FieldTable make_fields(std::type_identity<BatchRule>) {
  return {
      field("exposed", &BatchRule::exposed, value::Amount{value::Unit::positive_share, "5 %"},
            "largest share of a step in which the exchange of gradients may be exposed"),
      field(
          "largest", &BatchRule::largest, value::Whole{1, 1'000'000'000},
          "largest global batch in samples; default: convergence.critical_batch, or 64 times the job's own")};
}

FieldTable make_fields(std::type_identity<StorageGrowth>) {
  using Growth = StorageGrowth;
  return {custom<Growth>("tiers", value::Names{}, "storage tiers into which input.storage grows, in order",
                         {.is_required = true}, [](const Growth& growth) { return growth.tiers; }),
          field("load", &Growth::load, value::Amount{value::Unit::positive_share, "80 %"},
                "use of the storage at which the next tier is requested"),
          field("delay", &Growth::delay, value::Amount{value::Unit::pause, "1 h"},
                "time from a request until the next tier serves; its price is paid from the request on",
                {.is_required = true}),
          field("cool_down", &Growth::cool_down, value::Amount{value::Unit::pause, "6 h"},
                "shortest time from one request to the next")};
}

FieldTable make_fields(std::type_identity<ConvergenceSettings>) {
  using Convergence = ConvergenceSettings;
  return {custom<Convergence>(
              "critical_batch", value::Amount{value::Unit::tokens, "2M"},
              "critical batch size (the gradient noise scale) in tokens, or in samples, like the length of "
              "the campaign; larger batches then need more of them to reach the same loss",
              {}, [](const Convergence& convergence) { return convergence.critical_batch; }),
          custom<Convergence>(
              "at_batch", value::Amount{value::Unit::tokens, "4M"},
              "with critical_batch: batch with which the length of the campaign reaches the target; default: "
              "the job's own",
              {}, [](const Convergence& convergence) { return convergence.at_batch; }),
          field("more_steps", &Convergence::more_steps, value::slowdown,
                "factor on the number of steps, such as that of lossy gradient compression")};
}

FieldTable make_fields(std::type_identity<CampaignSettings>) {
  using Campaign = CampaignSettings;
  return {
      field("tokens", &Campaign::tokens, value::Amount{value::Unit::tokens, "300B"},
            "length of the training in tokens; use one of tokens, samples, epochs and rounds"),
      field("samples", &Campaign::samples, value::Amount{value::Unit::samples, "90M"},
            "length of the training in samples, for models of any kind"),
      field("rounds", &Campaign::rounds, value::Whole{1, 100'000'000},
            "with strategy.kind local_sgd: length of the training in exchanges between workers"),
      field("epochs", &Campaign::epochs, value::Real{0.001, 1000},
            "length of the training in epochs; requires samples_per_epoch"),
      field("samples_per_epoch", &Campaign::samples_per_epoch, value::Amount{value::Unit::samples, "1281167"},
            "number of samples in an epoch; required with epochs",
            {.is_echoed = [](const Campaign& campaign) { return campaign.epochs.has_value(); }}),
      group("checkpoint", &Campaign::checkpoint, "how checkpoints are saved; default: no checkpoints"),
      group("restart", &Campaign::restart,
            "time to resume after an interruption, in addition to reading the checkpoint"),
      group("failures", &Campaign::failures, "failures that interrupt the training; default: none"),
      group("spot", &Campaign::spot, "with terms spot: how nodes are taken away"),
      group("stragglers", &Campaign::stragglers, "slow nodes, which the whole job waits for"),
      group("evaluation", &Campaign::evaluation, "pauses of the training for evaluation; default: none",
            {.is_echoed = [](const Campaign& campaign) { return campaign.evaluation.every > 0; }}),
      field("spares", &Campaign::spares, value::Whole{0, 100000},
            "number of spare nodes, which are paid for while they stand by; default: a replacement is always "
            "available within restart.requeue",
            {.tries = {"0, 1, 2, 4, 8"}}),
      field("repair", &Campaign::repair, value::Amount{value::Unit::span, "24 h"},
            "with spares: time until a failed node is back",
            {.is_echoed = [](const Campaign& campaign) { return campaign.spares.has_value(); }}),
      field("elastic_from", &Campaign::elastic_from, value::Whole{1, 1 << 20},
            "minimum number of GPUs with which the training continues after it lost nodes, in whole "
            "data-parallel replicas and with the same global batch; default: it waits for all nodes",
            {.lack = campaign_lacks::interruptions}),
      field("terms", &Campaign::terms, value::Words{"payment terms", terms_words},
            "payment terms of the nodes"),
      custom("prices", value::Map{}, "price of a node, instead of the platform's own on these terms"),
      group("carbon", &Campaign::carbon, "emissions of the electricity"),
      custom("phases", value::Maps{},
             "parts of the training in which keys of the scenario have other values: a growing batch, "
             "busy hours, priorities"),
      group("adapt", &Campaign::adapt,
            "a batch that follows the bandwidth: the smallest that hides the exchange of gradients; "
            "default: the batch does not change"),
      group("storage", &Campaign::storage, "storage that grows with the load; default: it does not"),
      group("convergence", &Campaign::convergence,
            "how the number of steps to the target depends on the batch and on lossy compression; "
            "default: not at all"),
      field("seed", &Campaign::seed, value::Whole{0, 1'000'000'000},
            "seed of the random numbers; the same seed gives the same result")};
}

}  // namespace gradway

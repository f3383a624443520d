// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/campaign.hpp"
#include "sim/scenario/failure_models.hpp"
#include "sim/scenario/fields.hpp"

// The keys of `campaign`, by its groups.
namespace gradway {

constexpr auto fields_of(std::type_identity<CheckpointSettings>) {
  using Checkpoint = CheckpointSettings;
  constexpr auto is_async = [](const Checkpoint& checkpoint) { return checkpoint.mode == SaveMode::async; };
  return std::tuple{
      OwnField{
          "interval", value::Amount{value::Unit::span, "30 min", "", "best"},
          "of training between two, kept to whole steps; best: that with which the campaign takes least time",
          "best"},
      field("mode", &Checkpoint::mode, value::Words{"a way to save", save_mode_words},
            "sync: ranks wait until all is on storage; async: until it is in host memory, and it goes to "
            "storage "
            "beside the next steps"),
      field("sharded", &Checkpoint::sharded, value::Boolean{},
            "each rank writes its own part; else one writes all"),
      field("size", &Checkpoint::size, value::Amount{value::Unit::size, "105 GiB"},
            "of a checkpoint; left out, weights and states of the optimizer of all trained parameters"),
      OwnField{
          "storage", value::Name{},
          "a tier where checkpoints go: its rates, its price of what is kept; shared with the data if they "
          "lie there, too"},
      OwnField{"keep", value::WholeOrWord{"all", {1, 1'000'000}}, "with storage: checkpoints that stay there",
               "2"},
      field("write", &Checkpoint::write, value::Amount{value::Unit::bandwidth, "50 GB/s"},
            "that the storage takes from all ranks together; this, or storage",
            {.is_echoed = [](const Checkpoint& checkpoint) { return !checkpoint.storage; }}),
      field("read", &Checkpoint::read, value::Amount{value::Unit::bandwidth, "50 GB/s"},
            "rate at which a checkpoint is read back; left out, as it writes; with storage as the tier is "
            "read"),
      field("per_rank", &Checkpoint::per_rank, value::Amount{value::Unit::bandwidth, "2 GB/s"},
            "most that one rank writes or reads; left out, as much as the storage"),
      field("overhead", &Checkpoint::overhead, value::Amount{value::Unit::pause, "2 s"},
            "time of each checkpoint beside the bytes: planning, metadata, barrier"),
      field(
          "staging", &Checkpoint::staging, value::Words{"a kind of host memory", staging_words},
          "mode async: the host memory that each rank copies to: pageable: allocated for each checkpoint, as "
          "PyTorch's dcp.async_save does by itself; pinned: allocated by the first one after each start, and "
          "kept (torchtitan's async_with_pinned_mem, Megatron); left out, pinned with framework megatron or "
          "with device_copy, else pageable",
          {.is_echoed = is_async}),
      field("device_copy", &Checkpoint::device_copy, value::Amount{value::Unit::bandwidth, "50 GB/s"},
            "mode async: from each GPU into host memory; left out, 25 GB/s into pinned memory, 1.3 GB/s into "
            "pageable",
            {.is_echoed = is_async}),
      field("slowdown", &Checkpoint::slowdown, value::Slowdown{},
            "mode async: a step takes so many times as long while a checkpoint goes to storage",
            {.is_echoed = is_async})};
}

constexpr auto fields_of(std::type_identity<RestartSettings>) {
  constexpr auto pause = [](const char* example) { return value::Amount{value::Unit::pause, example}; };
  return std::tuple{
      field("detection", &RestartSettings::detection, pause("1 min"),
            "from a failure until the job is stopped"),
      field("requeue", &RestartSettings::requeue, pause("2 min"),
            "until the job has its nodes again and processes start"),
      field("communicators", &RestartSettings::communicators, pause("1 min"), "until all ranks have met"),
      field("loader", &RestartSettings::loader, pause("1 min"), "until data flow again")};
}

inline auto fields_of(std::type_identity<FailureSettings>) {
  using Failures = FailureSettings;
  return std::tuple{OwnField{"model", value::Words{"a model of failures", failure_model_names()},
                             "published rates of nodes of 8 GPUs and their causes; this, or node_mttf"},
                    field("node_mttf", &Failures::node_mttf, value::Amount{value::Unit::span, "150 days"},
                          "mean time until a node fails"),
                    field("job_mttf", &Failures::job_mttf, value::Amount{value::Unit::span, "11 h"},
                          "mean time between faults that do not grow with the nodes, as those of software"),
                    field("again", &Failures::again, value::Amount{value::Unit::share, "5 %"},
                          "restarts that fail once more soon after"),
                    field("again_within", &Failures::again_within, value::Amount{value::Unit::span, "10 min"},
                          "how soon at most")};
}

inline auto fields_of(std::type_identity<SpotSettings>) {
  using Spot = SpotSettings;
  return std::tuple{
      OwnField{"model", value::Words{"a model of spot nodes", spot_model_names()},
               "measured or published; this, or node_up"},
      field("node_up", &Spot::node_up, value::Amount{value::Unit::span, "3 days"},
            "mean time that a node stays"),
      field("node_down", &Spot::node_down, value::Amount{value::Unit::span, "1 h"},
            "mean time until another stands in for it; 1 h without a model"),
      field("group", &Spot::group, value::Whole{1, 100000}, "nodes that go together; 1 without a model"),
      field("notice", &Spot::notice, value::Amount{value::Unit::pause, "2 min"},
            "what can be saved within it is"),
      field("share", &Spot::share, value::Amount{value::Unit::share, "50 %"},
            "share of the training nodes that are spot nodes; the others are on demand")};
}

constexpr auto fields_of(std::type_identity<StragglerSettings>) {
  using Stragglers = StragglerSettings;
  constexpr auto are_slow = [](const Stragglers& stragglers) { return stragglers.node_every.has_value(); };
  return std::tuple{field("node_every", &Stragglers::node_every, value::Amount{value::Unit::span, "100 days"},
                          "mean time between a node's slow episodes; left out, none is ever slow"),
                    field("slowdown", &Stragglers::slowdown, value::Slowdown{},
                          "a step takes so many times as long", {.is_echoed = are_slow}),
                    field("lasts", &Stragglers::lasts, value::Amount{value::Unit::span, "72 min"},
                          "an episode, on average", {.is_echoed = are_slow}),
                    field("jitter", &Stragglers::jitter, value::Amount{value::Unit::share, "1 %"},
                          "standard deviation of a rank's step, normal: each step waits for the slowest")};
}

constexpr auto fields_of(std::type_identity<EvaluationSettings>) {
  return std::tuple{field("every", &EvaluationSettings::every, value::Whole{1, 1'000'000'000}, "steps",
                          {.is_required = true}),
                    field("time", &EvaluationSettings::time, value::Amount{value::Unit::span, "5 min"},
                          "of each", {.is_required = true})};
}

constexpr auto fields_of(std::type_identity<CarbonSettings>) {
  using Carbon = CarbonSettings;
  return std::tuple{
      field("grid", &Carbon::grams_per_kwh, value::Amount{value::Unit::emission, "380 g/kWh"},
            "CO2 of a kilowatt-hour", {.is_required = true}),
      field("node_power", &Carbon::node_power, value::Amount{value::Unit::power, "10.2 kW"},
            "of a node that trains", {.is_required = true}),
      field("pue", &Carbon::pue, value::Slowdown{}, "power of the building over that of its nodes")};
}

constexpr auto fields_of(std::type_identity<CampaignSettings>) {
  using Campaign = CampaignSettings;
  return std::tuple{
      field("tokens", &Campaign::tokens, value::Amount{value::Unit::tokens, "300B"},
            "how much is trained on; this, samples, epochs or rounds"),
      field("samples", &Campaign::samples, value::Amount{value::Unit::samples, "90M"},
            "the same; for models of any kind"),
      field("rounds", &Campaign::rounds, value::Whole{1, 100'000'000},
            "the same, of strategy.kind local_sgd: exchanges"),
      field("epochs", &Campaign::epochs, value::Real{0.001, 1000}, "the same, with samples_per_epoch"),
      field("samples_per_epoch", &Campaign::samples_per_epoch, value::Amount{value::Unit::samples, "1281167"},
            "required with epochs", {.is_echoed = [](const Campaign& it) { return it.epochs.has_value(); }}),
      OwnField{"checkpoint", value::Map{}, "how the training is saved; left out, never"},
      OwnField{"restart", value::Map{}, "what it takes to go on, beside reading the checkpoint"},
      OwnField{"failures", value::Map{}, "what interrupts the training; left out, nothing does"},
      OwnField{"spot", value::Map{}, "how nodes are taken away, with terms: spot"},
      OwnField{"stragglers", value::Map{}, "slow nodes, which the whole job waits for"},
      OwnField{"evaluation", value::Map{}, "pauses of the training; left out, none"},
      field("spares", &Campaign::spares, value::Whole{0, 100000},
            "nodes that stand by and are paid; left out, another node always comes within requeue"),
      field("repair", &Campaign::repair, value::Amount{value::Unit::span, "24 h"},
            "with spares: until a failed node is back",
            {.is_echoed = [](const Campaign& it) { return it.spares.has_value(); }}),
      field(
          "elastic_from", &Campaign::elastic_from, value::Whole{1, 1 << 20},
          "with fewer nodes it goes on in whole replicas down to so many GPUs, the batch kept; left out, it "
          "waits for all"),
      field("terms", &Campaign::terms, value::Words{"terms of payment", terms_words},
            "how nodes are paid for"),
      OwnField{"prices", value::Map{}, "what a node costs, beside the platform's own price on demand"},
      OwnField{"carbon", value::Map{}, "what its electricity emits"},
      field("seed", &Campaign::seed, value::Whole{0, 1'000'000'000},
            "of random numbers; the same seed gives the same bytes")};
}

}  // namespace gradway

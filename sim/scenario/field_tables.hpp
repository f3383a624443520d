// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/campaign.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/input.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/local_sgd.hpp"

// The tables of fields, each in the file beside the settings (`*_fields.cpp`).
namespace gradway {

inline constexpr int most_ranks = 1 << 20;      // of a job
inline constexpr int most_accumulated = 10000;  // micro-batches per step
inline constexpr std::array<std::string_view, 3> finetune_words{"full", "lora", "qlora"};

FieldTable make_fields(std::type_identity<Job>);
FieldTable make_fields(std::type_identity<Layout>);
FieldTable make_fields(std::type_identity<NetworkConditions>);
FieldTable make_fields(std::type_identity<BackgroundFlow>);

FieldTable make_fields(std::type_identity<NoExchange>);
FieldTable make_fields(std::type_identity<Ddp>);
FieldTable make_fields(std::type_identity<OneCollective>);
FieldTable make_fields(std::type_identity<Fsdp>);
FieldTable make_fields(std::type_identity<Fsdp1>);
FieldTable make_fields(std::type_identity<Zero>);
FieldTable make_fields(std::type_identity<DistributedOptimizer>);

/// A kind of strategy, with the name and the defaults that it has in a scenario.
struct StrategyKind {
  std::string_view name;
  Strategy defaults;
};
/// In the order of the variant.
const std::vector<StrategyKind>& strategy_kinds();
/// With the table of the strategy's kind.
Record record_of(const Strategy& strategy);
MutableRecord record_of(Strategy& strategy);

FieldTable make_fields(std::type_identity<LocalSgd>);
FieldTable make_fields(std::type_identity<WanSettings>);
FieldTable make_fields(std::type_identity<ClientSettings>);
FieldTable make_fields(std::type_identity<ClientClass>);

FieldTable make_fields(std::type_identity<InputSettings>);
FieldTable make_fields(std::type_identity<Predicate>);
FieldTable make_fields(std::type_identity<Dataset>);
FieldTable make_fields(std::type_identity<Dataset::Cpu>);
FieldTable make_fields(std::type_identity<StorageTier>);
FieldTable make_fields(std::type_identity<StorageTier::Burst>);
FieldTable make_fields(std::type_identity<StorageTier::Price>);

FieldTable make_fields(std::type_identity<CampaignSettings>);
FieldTable make_fields(std::type_identity<CheckpointSettings>);
FieldTable make_fields(std::type_identity<RestartSettings>);
FieldTable make_fields(std::type_identity<FailureSettings>);
FieldTable make_fields(std::type_identity<SpotSettings>);
FieldTable make_fields(std::type_identity<StragglerSettings>);
FieldTable make_fields(std::type_identity<EvaluationSettings>);
FieldTable make_fields(std::type_identity<CarbonSettings>);
FieldTable make_fields(std::type_identity<CampaignPhase>);
FieldTable make_fields(std::type_identity<BatchRule>);
FieldTable make_fields(std::type_identity<StorageGrowth>);
FieldTable make_fields(std::type_identity<ConvergenceSettings>);

}  // namespace gradway
